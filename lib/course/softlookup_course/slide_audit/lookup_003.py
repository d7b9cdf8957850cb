"""Lecture 003: the soft dictionary, the next word, and one head and several of them in symbols and shapes."""

from typing import Any

import numpy as np

from softlookup.reference import attention_weights, multi_head_attention, one_head, project, split_heads
from softlookup_course.slide_audit.operations import draw_normal

FRENCH = {"apple": "pomme", "banana": "banane", "lemon": "citron"}
SHARES = np.array([0.1, 0.1, 0.8])
"""The mixing percentages, in the dictionary's order."""
SENTENCE = "To date, the cleverest thinker of all time was Issac."
PAIRS = {
    "To date the": "cleverest",
    "To date the cleverest": "thinker",
    "To date the cleverest thinker": "was",
    "To date the cleverest thinker of all time was": "Issac",
}
"""The slide's features and labels."""
WORDS = SENTENCE.replace(",", "").replace(".", "").split()


def missing_key() -> dict[str, Any]:
    try:
        got = FRENCH["orange"]
    except KeyError as complaint:
        got = f"{type(complaint).__name__}: {complaint}"
    return {"got": got}


def next_word(*prefix: str) -> str:
    """The word of the sentence that follows a prefix of it."""
    if tuple(WORDS[: len(prefix)]) != prefix:
        raise ValueError(f"{prefix} is no beginning of the sentence")
    return WORDS[len(prefix)]


PUBLISHED_HEADS = {
    "Transformer base": (512, 8),
    "BERT base": (768, 12),
    "GPT-2 small": (768, 12),
    "GPT-3 175B": (12_288, 96),
    "Llama 2 7B": (4096, 32),
}
"""Width and heads of published models."""


def five_heads() -> dict[str, Any]:
    n, d, width, heads = 2, 4, 3, 5
    x, w_o = draw_normal((n, d), (heads * width, d))
    each = [draw_normal((d, width), (d, width), (d, width), seed=1 + h) for h in range(heads)]
    q = project(x, each[0][0])
    a = attention_weights(q, project(x, each[0][1]))
    z = [one_head(x, *matrices) for matrices in each]
    joined = np.concatenate(z, axis=-1)
    out = joined @ w_o
    computed = [array.shape for array in (each[0][0], w_o, x, q, a, z[0], joined, out)]
    printed = [(4, 3), (15, 4), (2, 4), (2, 3), (2, 2), (2, 3), (2, 15), (2, 4)]
    packed = (np.concatenate(matrices, axis=1) for matrices in zip(*each, strict=True))
    w_q, w_k, w_v = packed
    same = bool(np.allclose(out, multi_head_attention(x, w_q, w_k, w_v, w_o, heads)))
    learned = sum(m.size for matrices in each for m in matrices) + w_o.size
    return {"d": d, "found": computed, "joined": joined, "learned": learned, "printed": printed, "same": same}


def joined_heads() -> dict[str, Any]:
    outcomes = []
    for heads, width, d in ((5, 3, 4), (2, 4, 8), (1, 6, 3)):
        x, w_q, w_k, w_v, w_o = draw_normal((4, d), *[(d, heads * width)] * 3, (heads * width, d))
        z = split_heads(project(x, w_v), heads)
        fits = z.shape == (heads, 4, width) and w_o.shape == (heads * width, d)
        outcomes.append(fits and multi_head_attention(x, w_q, w_k, w_v, w_o, heads).shape == x.shape)
    return {"held": outcomes}
