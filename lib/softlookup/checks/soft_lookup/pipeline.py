"""A soft lookup in numpy with switches: each known mistake is a name in ``flags`` that changes one step."""

import numpy as np

from softlookup.checks.known import softmax_axis

Flags = frozenset[str]
Array = np.ndarray


ONE_MAX = (
    "One maximum is subtracted from the whole table: rows far below it underflow to 0/0. Each row has its own maximum."
)
"""What is said of a softmax with the maximum of the whole table, in two tasks."""


def divided(flags: Flags, scores: Array, tau: float) -> Array:
    """Scores over the temperature."""
    if "tau-ignored" in flags:
        return scores
    if "tau-multiplied" in flags:
        return scores * tau
    if "root-of-tau" in flags:
        return scores / np.sqrt(tau)
    return scores if "tau-after" in flags else scores / tau


def weights(flags: Flags, scores: Array, tau: float) -> Array:
    """Weights from scores, along the last axis."""
    u = divided(flags, scores, tau)
    if "no-softmax" in flags:
        return u
    axis = softmax_axis(flags)
    a = _softmax(flags, u, axis, scores if "max-not-divided" in flags else u)
    if "softmax-twice" in flags:
        a = _softmax(flags, a, axis, a)
    return a / tau if "tau-after" in flags else a


def _softmax(flags: Flags, u: Array, axis: int | tuple[int, ...] | None, highest_of: Array) -> Array:
    highest = np.min if "min-subtracted" in flags else np.max
    top = highest(highest_of) if "one-max-for-all" in flags else highest(highest_of, axis=axis, keepdims=True)
    if "hard-argmax" in flags:
        return (u == u.max(axis=axis, keepdims=True)).astype(u.dtype)
    e = np.exp(u if "no-max" in flags else u - top)
    if "not-normalised" in flags:
        return e
    if "shares-of-scores" in flags:
        return u / u.sum(axis=axis, keepdims=True)
    return e / e.sum(axis=axis, keepdims="keepdim-forgotten" not in flags)


def lookup(flags: Flags, q: Array, k: Array, v: Array, tau: float) -> Array:
    """The whole soft lookup (T, W)."""
    if "keys-and-values-exchanged" in flags:
        k, v = v, k
    asked = v if "compared-with-values" in flags else q if "queries-with-queries" in flags else k
    scores = k @ q.T if "swapped" in flags else q @ asked.T
    if "scaled" in flags:
        scores = scores / np.sqrt(q.shape[-1])
    if "cosine-for-dot" in flags:
        scores = scores / np.outer(np.linalg.norm(q, axis=-1), np.linalg.norm(k, axis=-1))
    a = weights(flags, scores, tau)
    if "plain-mean" in flags:
        a = np.ones_like(a) / a.shape[-1]
    if "weights-transposed" in flags:
        a = a.T
    return a @ (k if "keys-as-values" in flags else v)
