"""The parts of the encoder-decoder machine, in the order of the path: what each does, and where it is taught."""

from dataclasses import dataclass

HEAD = "04_one_head.html#one-head-attention"
MASK = "04_one_head.html#one-head-mask"


@dataclass(frozen=True)
class Part:
    """One part of the machine.

    Attributes:
        slug: Its name in code.
        name: Its name on the map.
        side: "encoder" (reads) or "decoder" (writes).
        does: What it does, in a sentence.
        chapter: Where it is taught: the number of the chapter.
        topic: The title of that chapter, in a few words.
        link: Where to read about it now, relative to the book's pages; empty where the chapter is to come.
        block: Whether it stands inside the block that is repeated, layer after layer.
    """

    slug: str
    name: str
    side: str
    does: str
    chapter: int
    topic: str
    link: str = ""
    block: bool = False


PARTS: tuple[Part, ...] = (
    Part(
        "source",
        "Sentence",
        "encoder",
        "The sentence is cut into pieces, and each piece is replaced by its number in the vocabulary.",
        3,
        "tokens and embeddings",
        "03_tokens_and_embeddings.html#tokens-words",
    ),
    Part(
        "embedding",
        "Embedding",
        "encoder",
        "Each number picks a row of one learned table: the token becomes a vector.",
        3,
        "tokens and embeddings",
        "03_tokens_and_embeddings.html#tokens-one-hot",
    ),
    Part(
        "positions",
        "Positions",
        "encoder",
        "A pattern of sines and cosines is added, which is different at each place: without it the order of the words "
        "would be lost.",
        6,
        "position",
        "06_positions.html#positions-sinusoids",
    ),
    Part(
        "self-attention",
        "Self-attention",
        "encoder",
        "Each token asks all tokens of the sentence, and takes a mixture of what they offer.",
        4,
        "one head of self-attention",
        HEAD,
        True,
    ),
    Part(
        "feed-forward",
        "Feed-forward",
        "encoder",
        "Each token thinks by itself: a wide hidden layer, in which numbers below zero are set to zero, and back.",
        7,
        "the encoder",
        "07_encoder.html#encoder-feed-forward",
        True,
    ),
    Part(
        "residual",
        "Add and norm",
        "encoder",
        "What attention and the feed-forward network find is added to the vector that was there, so that nothing is "
        "lost on the way. Each of the two is given the vector in a standard size.",
        7,
        "the encoder",
        "07_encoder.html#encoder-residual",
        True,
    ),
    Part(
        "memory",
        "What was read",
        "encoder",
        "The sentence as the last layer leaves it: one vector for each token, made with a view of the others. The "
        "decoder will look at these.",
        7,
        "the encoder",
        "07_encoder.html#encoder-stack",
    ),
    Part(
        "target",
        "Words so far",
        "decoder",
        "What has been written up to now, beginning with a sign for the start. When the next word is known it is added "
        "here, and the decoder runs again.",
        8,
        "the decoder",
        "08_decoder_and_masks.html#decoder-french",
    ),
    Part(
        "target-embedding",
        "Embedding, positions",
        "decoder",
        "The same table of vectors and the same pattern of places serve the French words too.",
        3,
        "tokens and embeddings",
        "03_tokens_and_embeddings.html#tokens-tied",
    ),
    Part(
        "masked-attention",
        "Masked self-attention",
        "decoder",
        "Each written token asks itself and those before it. What comes after is hidden by a mask, since it is not "
        "written yet.",
        4,
        "one head of self-attention",
        MASK,
        True,
    ),
    Part(
        "cross-attention",
        "Cross-attention",
        "decoder",
        "The queries come from what was written, the keys and values from what was read: here French looks at English.",
        8,
        "the decoder",
        "08_decoder_and_masks.html#decoder-cross",
        True,
    ),
    Part(
        "decoder-feed-forward",
        "Feed-forward",
        "decoder",
        "As in the encoder: each token by itself, a wide hidden layer and back.",
        7,
        "the encoder",
        "07_encoder.html#encoder-feed-forward",
        True,
    ),
    Part(
        "decoder-residual",
        "Add and norm",
        "decoder",
        "As in the encoder: every part adds to the vector, and nothing replaces it.",
        7,
        "the encoder",
        "07_encoder.html#encoder-residual",
        True,
    ),
    Part(
        "scores",
        "Scores",
        "decoder",
        "The last vector is compared with every row of the embedding table: one score, a logit, for each piece of the "
        "vocabulary.",
        8,
        "the decoder",
        "08_decoder_and_masks.html#decoder-logits",
    ),
    Part(
        "distribution",
        "Next word",
        "decoder",
        "Softmax turns the scores into probabilities. The likeliest piece is written here; other ways to choose are "
        "another chapter.",
        10,
        "inference",
    ),
)
"""From the sentence to the next word."""
