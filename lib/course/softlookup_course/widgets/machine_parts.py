"""The parts of the encoder-decoder machine, in the order of the path: what each does, and where it is taught."""

from dataclasses import dataclass

CHAPTERS = {
    3: ("03_tokens_and_embeddings", "tokens and embeddings"),
    4: ("04_one_head", "one head of self-attention"),
    6: ("06_positions", "position"),
    7: ("07_encoder", "the encoder"),
    8: ("08_decoder_and_masks", "the decoder"),
    10: ("10_inference", "inference"),
}
"""The pages of the chapters where parts are taught, and their titles in a few words."""


@dataclass(frozen=True)
class Part:
    """One part of the machine."""

    slug: str  # its name in code
    name: str  # its name on the map
    side: str  # "encoder" (reads) or "decoder" (writes)
    does: str  # what it does, in a sentence
    chapter: int  # where it is taught: the number of the chapter
    topic: str  # the title of that chapter, in a few words
    link: str = ""  # where to read about it now, relative to the book's pages; empty where the chapter is to come
    block: bool = False  # whether it stands inside the block that is repeated, layer after layer


DOES = {
    "source": "A tokenizer cuts the sentence into tokens and replaces each token by its number in the vocabulary.",
    "embedding": "Each number selects a row of one learned table: the token becomes a vector.",
    "positions": "A pattern of sines and cosines, different at each position, is added: without it the order of the "
    "words would be lost.",
    "attention-norm": "Layer normalisation brings a copy of each token's vector to a standard size before attention "
    "reads it. The residual stream itself is not changed.",
    "self-attention": "Each token compares its query with the keys of all tokens of the sentence, and takes a "
    "weighted mean of their values.",
    "feed-forward-norm": "The vector, with the result of attention added, is normalised again before the feed-forward "
    "network reads it.",
    "feed-forward": "A network with one wide hidden layer (an MLP) works on each token alone; hidden activations "
    "below zero are set to zero.",
    "residual": "Each sublayer adds its result to the vector that was there. This running sum, the residual stream, "
    "leads from the embedding through all layers.",
    "encoder-norm": "After the last layer the residual stream itself is normalised, once.",
    "memory": "One vector for each token of the sentence, computed with all other tokens in view. The decoder attends "
    "to these vectors.",
    "target": "What has been written up to now, beginning with a start token. The next word is added here when it is "
    "known, and the decoder runs again.",
    "target-embedding": "The same embedding table and the same pattern of positions serve the French words too.",
    "masked-norm": "As in the encoder, a normalised copy of the vector is read by the sublayer.",
    "masked-attention": "Each written token attends to itself and to the tokens before it. A mask hides the tokens "
    "after it, which are not written yet.",
    "cross-norm": "A norm of its own stands before cross-attention.",
    "cross-attention": "The queries come from the words written, the keys and values from the encoder's output: here "
    "French words attend to English ones.",
    "decoder-feed-forward-norm": "The third norm of the layer stands before the feed-forward network.",
    "decoder-feed-forward": "As in the encoder: one wide hidden layer, for each token alone.",
    "decoder-residual": "As in the encoder: all three sublayers add to the vector, and none replaces it.",
    "decoder-norm": "After the last layer the residual stream is normalised, as at the end of the encoder.",
    "scores": "The last vector is compared with every row of the embedding table: one score, a logit, for each token "
    "of the vocabulary.",
    "distribution": "Softmax turns the logits into probabilities. The likeliest token is written here; other ways to "
    "choose are the subject of a later chapter.",
}
"""What each part does, in a sentence."""


def _part(in_code: str, name: str, side: str, chapter: int, label: str = "", *, block: bool = False) -> Part:
    """Make a part that is taught in a section of a chapter."""
    page, topic = CHAPTERS[chapter]
    return Part(in_code, name, side, DOES[in_code], chapter, topic, f"{page}.html#{label}" if label else "", block)


PARTS: tuple[Part, ...] = (
    _part("source", "Sentence", "encoder", 3, "tokens-words"),
    _part("embedding", "Embedding", "encoder", 3, "tokens-one-hot"),
    _part("positions", "Positions", "encoder", 6, "positions-sinusoids"),
    _part("attention-norm", "Norm", "encoder", 7, "encoder-norm", block=True),
    _part("self-attention", "Self-attention", "encoder", 4, "one-head-attention", block=True),
    _part("feed-forward-norm", "Norm", "encoder", 7, "encoder-norm", block=True),
    _part("feed-forward", "Feed-forward", "encoder", 7, "encoder-feed-forward", block=True),
    _part("residual", "Residual stream", "encoder", 7, "encoder-residual", block=True),
    _part("encoder-norm", "Norm", "encoder", 7, "encoder-norm"),
    _part("memory", "Encoder output", "encoder", 7, "encoder-stack"),
    _part("target", "Words so far", "decoder", 8, "decoder-french"),
    _part("target-embedding", "Embedding, positions", "decoder", 3, "tokens-tied"),
    _part("masked-norm", "Norm", "decoder", 7, "encoder-norm", block=True),
    _part("masked-attention", "Masked self-attention", "decoder", 4, "one-head-mask", block=True),
    _part("cross-norm", "Norm", "decoder", 7, "encoder-norm", block=True),
    _part("cross-attention", "Cross-attention", "decoder", 8, "decoder-cross", block=True),
    _part("decoder-feed-forward-norm", "Norm", "decoder", 7, "encoder-norm", block=True),
    _part("decoder-feed-forward", "Feed-forward", "decoder", 7, "encoder-feed-forward", block=True),
    _part("decoder-residual", "Residual stream", "decoder", 7, "encoder-residual", block=True),
    _part("decoder-norm", "Norm", "decoder", 7, "encoder-norm"),
    _part("scores", "Logits", "decoder", 8, "decoder-logits"),
    _part("distribution", "Next word", "decoder", 10),
)
"""From the sentence to the next word."""

WRITER_DOES = {
    "source": "A tokenizer cuts the text into tokens and replaces each token by its number in the vocabulary.",
    "embedding": DOES["embedding"],
    "attention-norm": "RMSNorm brings a copy of each token's vector to a standard size before attention reads it. The "
    "residual stream itself is not changed.",
    "masked-attention": "Queries and keys are rotated by an angle that grows with the position. Each token attends to "
    "itself and to the tokens before it; groups of query heads share a key and a value.",
    "feed-forward-norm": "A second RMSNorm stands before the feed-forward network.",
    "feed-forward": "SwiGLU: two products with the vector, of which one, through SiLU, is the gate of the other. The "
    "gated numbers are the hidden units.",
    "residual": DOES["residual"],
    "final-norm": "After the last layer the residual stream itself is normalised, once.",
    "scores": DOES["scores"],
    "distribution": "Softmax turns the logits into probabilities, of which temperature, top-k and top-p leave some. "
    "The next token is drawn from these.",
}
"""What each part of a decoder-only model does, in a sentence."""

_WRITER = {
    "source": ("Text so far", 3, "tokens-words"),
    "embedding": ("Embedding", 3, "tokens-one-hot"),
    "attention-norm": ("Norm", 7, "encoder-norm"),
    "masked-attention": ("Masked self-attention", 4, "one-head-mask"),
    "feed-forward-norm": ("Norm", 7, "encoder-norm"),
    "feed-forward": ("Feed-forward", 7, "encoder-feed-forward"),
    "residual": ("Residual stream", 7, "encoder-residual"),
    "final-norm": ("Norm", 7, "encoder-norm"),
    "scores": ("Logits", 8, "decoder-logits"),
    "distribution": ("Next token", 10, "inference-temperature"),
}
_IN_LAYER = ("attention-norm", "masked-attention", "feed-forward-norm", "feed-forward", "residual")

WRITER_PARTS: tuple[Part, ...] = tuple(
    Part(
        in_code,
        name,
        "decoder",
        WRITER_DOES[in_code],
        chapter,
        CHAPTERS[chapter][1],
        f"{CHAPTERS[chapter][0]}.html#{label}",
        in_code in _IN_LAYER,
    )
    for in_code, (name, chapter, label) in _WRITER.items()
)
"""From the text so far to the next token, in a decoder-only model."""
