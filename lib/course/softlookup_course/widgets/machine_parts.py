"""The parts of the encoder-decoder machine, in the order of the path: what each does, and where it is taught."""

from dataclasses import dataclass

HEAD = "04_one_head.html#one-head-attention"
MASK = "04_one_head.html#one-head-mask"
NORM = "07_encoder.html#encoder-norm"


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


def _norm(part_id: str, side: str, does: str, *, block: bool = True) -> Part:
    return Part(part_id, "Norm", side, does, 7, "the encoder", NORM, block)


PARTS: tuple[Part, ...] = (
    Part(
        "source",
        "Sentence",
        "encoder",
        "A tokenizer cuts the sentence into tokens and replaces each token by its number in the vocabulary.",
        3,
        "tokens and embeddings",
        "03_tokens_and_embeddings.html#tokens-words",
    ),
    Part(
        "embedding",
        "Embedding",
        "encoder",
        "Each number selects a row of one learned table: the token becomes a vector.",
        3,
        "tokens and embeddings",
        "03_tokens_and_embeddings.html#tokens-one-hot",
    ),
    Part(
        "positions",
        "Positions",
        "encoder",
        "A pattern of sines and cosines, different at each position, is added: without it the order of the words "
        "would be lost.",
        6,
        "position",
        "06_positions.html#positions-sinusoids",
    ),
    _norm(
        "attention-norm",
        "encoder",
        "Layer normalisation brings a copy of each token's vector to a standard size before attention reads it. The "
        "residual stream itself is not changed.",
    ),
    Part(
        "self-attention",
        "Self-attention",
        "encoder",
        "Each token compares its query with the keys of all tokens of the sentence, and takes a weighted mean of their "
        "values.",
        4,
        "one head of self-attention",
        HEAD,
        True,
    ),
    _norm(
        "feed-forward-norm",
        "encoder",
        "The vector, with the result of attention added, is normalised again before the feed-forward network reads it.",
    ),
    Part(
        "feed-forward",
        "Feed-forward",
        "encoder",
        "A network with one wide hidden layer (an MLP) works on each token alone; hidden activations below zero are "
        "set to zero.",
        7,
        "the encoder",
        "07_encoder.html#encoder-feed-forward",
        True,
    ),
    Part(
        "residual",
        "Residual stream",
        "encoder",
        "Each sublayer adds its result to the vector that was there. This running sum, the residual stream, leads from "
        "the embedding through all layers.",
        7,
        "the encoder",
        "07_encoder.html#encoder-residual",
        True,
    ),
    _norm(
        "encoder-norm",
        "encoder",
        "After the last layer the residual stream itself is normalised, once.",
        block=False,
    ),
    Part(
        "memory",
        "Encoder output",
        "encoder",
        "One vector for each token of the sentence, computed with all other tokens in view. The decoder attends to "
        "these vectors.",
        7,
        "the encoder",
        "07_encoder.html#encoder-stack",
    ),
    Part(
        "target",
        "Words so far",
        "decoder",
        "What has been written up to now, beginning with a start token. The next word is added here when it is known, "
        "and the decoder runs again.",
        8,
        "the decoder",
        "08_decoder_and_masks.html#decoder-french",
    ),
    Part(
        "target-embedding",
        "Embedding, positions",
        "decoder",
        "The same embedding table and the same pattern of positions serve the French words too.",
        3,
        "tokens and embeddings",
        "03_tokens_and_embeddings.html#tokens-tied",
    ),
    _norm("masked-norm", "decoder", "As in the encoder, a normalised copy of the vector is read by the sublayer."),
    Part(
        "masked-attention",
        "Masked self-attention",
        "decoder",
        "Each written token attends to itself and to the tokens before it. A mask hides the tokens after it, which are "
        "not written yet.",
        4,
        "one head of self-attention",
        MASK,
        True,
    ),
    _norm("cross-norm", "decoder", "A norm of its own stands before cross-attention."),
    Part(
        "cross-attention",
        "Cross-attention",
        "decoder",
        "The queries come from the words written, the keys and values from the encoder's output: here French words "
        "attend to English ones.",
        8,
        "the decoder",
        "08_decoder_and_masks.html#decoder-cross",
        True,
    ),
    _norm(
        "decoder-feed-forward-norm", "decoder", "The third norm of the layer stands before the feed-forward network."
    ),
    Part(
        "decoder-feed-forward",
        "Feed-forward",
        "decoder",
        "As in the encoder: one wide hidden layer, for each token alone.",
        7,
        "the encoder",
        "07_encoder.html#encoder-feed-forward",
        True,
    ),
    Part(
        "decoder-residual",
        "Residual stream",
        "decoder",
        "As in the encoder: all three sublayers add to the vector, and none replaces it.",
        7,
        "the encoder",
        "07_encoder.html#encoder-residual",
        True,
    ),
    _norm(
        "decoder-norm",
        "decoder",
        "After the last layer the residual stream is normalised, as at the end of the encoder.",
        block=False,
    ),
    Part(
        "scores",
        "Logits",
        "decoder",
        "The last vector is compared with every row of the embedding table: one score, a logit, for each token of the "
        "vocabulary.",
        8,
        "the decoder",
        "08_decoder_and_masks.html#decoder-logits",
    ),
    Part(
        "distribution",
        "Next word",
        "decoder",
        "Softmax turns the logits into probabilities. The likeliest token is written here; other ways to choose are "
        "the subject of a later chapter.",
        10,
        "inference",
    ),
)
"""From the sentence to the next word."""
