"""Lecture 004, how masks are written down, applied and joined."""

import numpy as np

import softlookup as sl
from softlookup.slide_audit.compare import claim
from softlookup.slide_audit.item import Found, audited

WORDS = np.array([1, 1, 1, 0, 0])
"""The slide's padding mask: 1 at real tokens."""

TICKS = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])
"""The slide's look-ahead mask: 1 for a tick, 0 for a cross."""


@audited(
    "E085",
    lecture="004",
    slide="Masks in code: the padding mask's shape",
    section="08_decoder_and_masks#decoder-padding",
    states="The padding mask of a batch has one axis for sentences, two of size one, and one for tokens.",
    verdict="correct",
    tell="Scores have axes for sentences, heads, queries and keys. Padding is a property of keys, so the two in the "
    "middle may be one.",
)
def padding_shape() -> Found:
    ids = np.array([[5, 6, 7, 0, 0], [5, 6, 7, 8, 9]])
    mask = sl.reference.padding_mask(ids, pad_id=0)
    q, k = np.random.default_rng(0).normal(size=(2, 2, 3, 5, 4))
    weights = sl.reference.attention_weights(q, k, mask)
    return claim(
        mask.shape == (2, 1, 1, 5) and bool((weights[0, ..., WORDS == 0] == 0).all()),
        f"For {len(ids)} sentences of {ids.shape[1]} tokens the mask has the shape {mask.shape} and is spread over "
        f"weights of the shape {weights.shape}: every head and query gives fillers 0.",
    )


@audited(
    "E086",
    lecture="004",
    slide="Masks in code: minus infinity before the softmax",
    section="08_decoder_and_masks#decoder-softmax",
    states="Masked scores are set to minus infinity, which softmax turns into zero.",
    verdict="correct",
    tell="The exponential of minus infinity is 0, and what is left still sums to 1. Only a row in which everything "
    "is masked has nothing to divide by.",
)
def minus_infinity() -> Found:
    weights = sl.reference.softmax(np.array([0.0, 1.0, -np.inf]))
    with np.errstate(invalid="ignore"):
        nothing = np.exp(np.full(2, -np.inf)) / np.exp(np.full(2, -np.inf)).sum()
    return claim(
        bool(weights[-1] == 0 and np.isclose(weights.sum(), 1)),
        f"Scores 0, 1 and minus infinity give {', '.join(f'{one:.3f}' for one in weights)}; a row of minus infinities "
        f"alone gives {nothing[0]}, no number at all.",
    )


@audited(
    "E087",
    lecture="004",
    slide="Masks in code: the look-ahead mask",
    section="08_decoder_and_masks#decoder-causal",
    states="The look-ahead mask is an upper triangle of minus infinity, drawn as a triangle of ticks and crosses.",
    verdict="correct",
    tell="The first token must have a tick, for itself. So the triangle of minus infinity begins above the diagonal, "
    "as the drawing shows.",
)
def look_ahead() -> Found:
    added = np.triu(np.full(TICKS.shape, -np.inf), k=1)
    with_diagonal = np.isneginf(np.triu(np.full(TICKS.shape, -np.inf))).all(axis=1)
    right = sl.reference.causal_mask(len(TICKS))
    return claim(
        bool((TICKS == right).all() and (np.isneginf(added) == (TICKS == 0)).all()),
        f"{TICKS.sum()} ticks and {(TICKS == 0).sum()} crosses, those of the causal mask. With the diagonal in the "
        f"triangle, {with_diagonal.sum()} row, the first, would have nothing left to look at.",
    )


@audited(
    "E088",
    lecture="004",
    slide="Masks in code: two masks joined",
    section="08_decoder_and_masks#decoder-combine",
    states="Several masks are joined by OR, element by element; in both masks drawn beside it, a one or a tick means "
    "that one may attend.",
    verdict="wrong",
    tell="Joining masks must never let more through than each of them alone. Take one pair, the first token and the "
    "second: the triangle forbids it, the row of words allows it, and OR allows it.",
    cause="OR is right where True means hidden; the sentence follows that convention and the drawings the other.",
)
def joined() -> Found:
    may, words = TICKS.astype(bool), np.broadcast_to(WORDS.astype(bool), TICKS.shape)
    either, both = may | words, sl.reference.combine_masks(may, words)
    assert both is not None
    leaks = either & ~both
    ahead, pads = (leaks & ~may).sum(), (leaks & ~words).sum()
    hidden = ~((~may) | (~words))
    return claim(
        bool((either == both).all()),
        f"With the slide's masks OR lets {either.sum()} of {may.size} pairs look and AND {both.sum()}: {ahead} pairs "
        f"with the future leak and {pads} with fillers. With True for hidden, OR leaves {hidden.sum()}, "
        f"{'the same as AND' if (hidden == both).all() else 'others than AND'} here.",
    )
