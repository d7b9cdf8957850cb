"""One head in numpy with switches: each known mistake is a name in ``flags`` that changes one step.

With no flag it is right. Inputs keep their dtype, so that an overflow happens where the student's happened.
"""

import numpy as np

Flags = frozenset[str]
Array = np.ndarray


def swap(x: Array) -> Array:
    """The last two axes exchanged."""
    return np.swapaxes(x, -2, -1)


def scores(flags: Flags, q: Array, k: Array) -> Array:
    """Raw scores (..., T, S)."""
    if "swapped" in flags:
        return k @ swap(q)
    if "no-transpose" in flags:
        return q @ k
    if "fixed-transpose" in flags:
        return q @ np.swapaxes(k, 1, 2)
    if "same-position" in flags:
        return (q * k).sum(axis=-1)
    if "scaled-early" in flags:
        return q @ swap(k) / np.sqrt(q.shape[-1]).astype(q.dtype)
    return q @ swap(k)


def divisor(flags: Flags, head_width: int, n_queries: int, n_keys: int, d_model: int = 0) -> float:
    """What the scores are divided by."""
    if "no-sqrt" in flags:
        return 1.0
    if "divided-by-width" in flags:
        return float(head_width)
    if "sqrt-of-tokens" in flags:
        return float(np.sqrt(n_keys))
    if "multiplied" in flags:
        return float(1 / np.sqrt(head_width))
    if "sqrt-of-model-width" in flags:
        return float(np.sqrt(d_model))
    if "always-eight" in flags:
        return 8.0
    return float(np.sqrt(head_width))


def softmax(flags: Flags, x: Array) -> Array:
    """Weights from scores; a row of -inf gives NaN."""
    axis: int | None = -1
    if "over-queries" in flags:
        axis = -2
    if "fixed-axis" in flags:
        axis = 1
    if "whole-matrix" in flags:
        axis = None
        if x.ndim > 2:
            axes = (-2, -1)
            return _softmax(flags, x, axes)
    once = _softmax(flags, x, axis)
    return _softmax(flags, once, axis) if "softmax-twice" in flags else once


def _softmax(flags: Flags, x: Array, axis: int | tuple[int, ...] | None) -> Array:
    if "hard-argmax" in flags:
        return (x == x.max(axis=axis, keepdims=True)).astype(x.dtype)
    if "one-max-for-all" in flags:
        x = x - x.max()
    elif "no-max" not in flags:
        x = x - x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e if "not-normalised" in flags else e / e.sum(axis=axis, keepdims=True)


def weights(flags: Flags, q: Array, k: Array, mask: Array | None = None, d_model: int = 0) -> Array:
    """Attention weights (..., T, S), masked."""
    s = scores(flags, q, k)
    n_keys = k.shape[-2]
    root = np.asarray(divisor(flags, q.shape[-1], q.shape[-2], n_keys, d_model), dtype=q.dtype)
    if "scaled-after" not in flags:
        s = s / root
    if mask is None or "mask-ignored" in flags:
        a = softmax(flags, s)
        return a / root if "scaled-after" in flags else a
    if "mask-inverted" in flags:
        mask = ~mask
    if "mask-transposed" in flags:
        mask = swap(mask)
    if "mask-after-softmax" in flags:
        a = softmax(flags, s) * mask
    elif "masked-to-zero" in flags:
        a = softmax(flags, np.where(mask, s, 0).astype(s.dtype))
    elif "uniform-where-blind" in flags:
        a = softmax(flags, np.where(mask, s, np.finfo(s.dtype).min))
    else:
        blind = ~mask.any(axis=-1, keepdims=True)
        a = softmax(flags, np.where(mask, s, -np.inf).astype(s.dtype))
        if "nan-rows" not in flags:
            a = np.where(np.isnan(a) & blind, 0, a).astype(s.dtype)
    return a / root if "scaled-after" in flags else a


def mix(flags: Flags, a: Array, v: Array) -> Array:
    """Weighted sums of the values (..., T, H)."""
    if "weights-transposed" in flags:
        return swap(a) @ v
    if "plain-mean" in flags:
        return np.ones_like(a) / a.dtype.type(a.shape[-1]) @ v
    if "best-only" in flags:
        hard = (a == a.max(axis=-1, keepdims=True)).astype(a.dtype)
        return hard @ v
    if "summed-again" in flags:
        return (a @ v).sum(axis=-2)
    return a @ v


def attention(flags: Flags, q: Array, k: Array, v: Array, mask: Array | None = None, d_model: int = 0) -> Array:
    """The whole of scaled dot-product attention (..., T, H')."""
    a = weights(flags, q, k, mask, d_model)
    return mix(flags, a, k if "keys-as-values" in flags else v)


def project(flags: Flags, x: Array, w_q: Array, w_k: Array, w_v: Array) -> tuple[Array, Array, Array]:
    """Queries, keys and values, each (..., T, H)."""
    if "weights-transposed-in-projection" in flags:
        w_q, w_k, w_v = w_q.T, w_k.T, w_v.T
    if "one-matrix" in flags:
        w_k = w_v = w_q
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    if "roles-swapped" in flags:
        q, k = k, q
    if "values-from-keys" in flags:
        v = k
    return q, k, v
