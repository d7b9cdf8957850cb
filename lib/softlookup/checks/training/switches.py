"""The losses in numpy with switches: each known mistake is a name in ``flags`` that changes one step."""

import numpy as np

from softlookup.checks.one_head.pipeline import softmax
from softlookup.checks.training.page import Flags

Array = np.ndarray
NONE: Flags = frozenset()


def log_softmax(flags: Flags, logits: Array) -> Array:
    """Logarithms of the probabilities, along the last axis."""
    if "softmax-first" in flags:
        logits = softmax(NONE, logits)
    if "log-of-softmax" in flags:
        return np.log(softmax(NONE, logits))
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def averaged(flags: Flags, loss: Array, real: Array) -> Array:
    """One number from a loss for each position: the mean over real tokens."""
    dtype = loss.dtype
    if "padding-counted" in flags:
        real = np.ones_like(real)
    if "summed" in flags:
        return np.asarray(loss[real].sum(), dtype=dtype)
    if "padding-in-the-count" in flags:
        return np.asarray(loss[real].sum() / loss.size, dtype=dtype)
    if "mean-of-means" in flags:
        rows = [row[kept].mean() for row, kept in zip(loss, real, strict=True)]
        return np.asarray(np.mean(rows), dtype=dtype)
    return np.asarray(loss[real].mean(), dtype=dtype)


def picked(log_p: Array, labels: Array) -> Array:
    """The entry of each right label."""
    return np.take_along_axis(log_p, labels[..., None], axis=-1)[..., 0]


def cross_entropy(flags: Flags, logits: Array, labels: Array, pad_id: int) -> Array:
    """Mean cross-entropy of the tokens that are no padding."""
    right = picked(log_softmax(flags, logits), labels)
    if "no-logarithm" in flags:
        right = np.exp(right)
    value = averaged(flags, right if "sign-forgotten" in flags else -right, labels != pad_id)
    return value


def smoothed_loss(flags: Flags, logits: Array, labels: Array, pad_id: int, epsilon: float) -> Array:
    """The same with label smoothing."""
    log_p = log_softmax(flags, logits)
    right, n_words = picked(log_p, labels), logits.shape[-1]
    rest, share = log_p.mean(axis=-1), 1 - epsilon
    if "others-alone" in flags:
        rest = (log_p.sum(axis=-1) - right) / (n_words - 1)
    if "padding-class-too" in flags:
        rest = (log_p.sum(axis=-1) - right - log_p[..., pad_id]) / (n_words - 2)
    if "not-shared-out" in flags:
        rest = rest * n_words
    if "nothing-taken" in flags:
        share = 1.0
    if "shares-exchanged" in flags:
        share, epsilon = epsilon, 1 - epsilon
    if "not-smoothed" in flags:
        share, epsilon = 1.0, 0.0
    return averaged(flags, -share * right - epsilon * rest, labels != pad_id)
