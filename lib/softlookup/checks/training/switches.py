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
    if "no-softmax" in flags:
        return logits
    axis = 1 if "over-positions" in flags else -1
    shifted = logits - logits.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def averaged(flags: Flags, loss: Array, real: Array) -> Array:
    """One number from a loss for each position: the mean over real tokens."""
    dtype = loss.dtype
    if "padding-counted" in flags:
        real = np.ones_like(real)
    if "summed" in flags:
        return np.asarray(loss[real].sum(), dtype=dtype)
    if "mask-inverted" in flags:
        real = ~real
        if not real.any():
            return np.asarray(np.nan, dtype=dtype)
    if "by-sentences" in flags:
        return np.asarray(loss[real].sum() / len(loss), dtype=dtype)
    if "padding-in-the-count" in flags:
        return np.asarray(loss[real].sum() / loss.size, dtype=dtype)
    if "mean-of-means" in flags:
        rows = [row[kept].sum() / kept.sum() for row, kept in zip(loss, real, strict=True)]
        return np.asarray(np.mean(rows), dtype=dtype)
    return np.asarray(loss[real].mean(), dtype=dtype)


def picked(log_p: Array, labels: Array) -> Array:
    """The entry of each right label."""
    return np.take_along_axis(log_p, labels[..., None], axis=-1)[..., 0]


def real_tokens(flags: Flags, labels: Array, pad_id: int) -> Array:
    """Which labels are no padding."""
    return labels != (0 if "zero-for-padding" in flags else pad_id)


def cross_entropy(flags: Flags, logits: Array, labels: Array, pad_id: int) -> Array:
    """Mean cross-entropy of the tokens that are no padding."""
    right = picked(log_softmax(flags, logits), labels)
    if "no-logarithm" in flags:
        right = np.exp(right)
    if "bits" in flags:
        right = right / np.asarray(np.log(2), right.dtype)
    return averaged(flags, right if "sign-forgotten" in flags else -right, real_tokens(flags, labels, pad_id))


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
    if "right-without-share" in flags:
        rest = rest - right / n_words
    if "nothing-spread" in flags:
        rest = np.zeros_like(rest)
    return averaged(flags, -share * right - epsilon * rest, real_tokens(flags, labels, pad_id))
