"""One head in numpy with switches: each known mistake is a name in ``flags`` that changes one step.

With no flag it is right. Inputs keep their dtype, so that an overflow happens where the student's happened.
"""

import numpy as np

from softlookup.checks.known import softmax_axis

Flags = frozenset[str]
Array = np.ndarray


def swap(x: Array) -> Array:
    """The last two axes exchanged."""
    return np.swapaxes(x, -2, -1)


def scores(flags: Flags, q: Array, k: Array) -> Array:
    """Raw scores (..., T, S)."""
    if "queries-with-queries" in flags:
        return q @ swap(q)
    if "swapped" in flags:
        return k @ swap(q)
    if "no-transpose" in flags:
        return q @ k
    if "fixed-transpose" in flags:
        return q @ np.swapaxes(k, 1, 2)
    if "elementwise" in flags:
        return q * k
    if "reversed-axes" in flags:
        return q @ k.T
    if "same-position" in flags:
        return (q * k).sum(axis=-1)
    if "scaled-early" in flags:
        return q @ swap(k) / np.sqrt(q.shape[-1]).astype(q.dtype)
    return q @ swap(k)


def divisor(flags: Flags, head_width: int, n_keys: int, d_model: int = 0) -> float:
    """What the scores are divided by."""
    if "no-sqrt" in flags:
        return 1.0
    if "divided-by-width" in flags:
        return float(head_width)
    if "sqrt-of-tokens" in flags:
        return float(np.sqrt(n_keys))
    if "half-for-root" in flags:
        return head_width / 2
    if "twice-the-width" in flags:
        return head_width * 2
    if "multiplied" in flags:
        return float(1 / np.sqrt(head_width))
    if "sqrt-of-model-width" in flags:
        return float(np.sqrt(d_model))
    if "always-eight" in flags:
        return 8.0
    return float(np.sqrt(head_width))


def softmax(flags: Flags, x: Array) -> Array:
    """Weights from scores; a row of -inf gives NaN."""
    if "no-softmax" in flags:
        return x
    axis = softmax_axis(flags)
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
    if "keepdim-forgotten" in flags:
        return e / e.sum(axis=axis)
    return e if "not-normalised" in flags else e / e.sum(axis=axis, keepdims=True)


def weights(flags: Flags, q: Array, k: Array, mask: Array | None = None, d_model: int = 0) -> Array:
    """Attention weights (..., T, S), masked."""
    root = np.asarray(divisor(flags, q.shape[-1], k.shape[-2], d_model), dtype=q.dtype)
    s = scores(flags, q, k)
    if "scaled-after" not in flags:
        s = s / root
    a = softmax(flags, s) if mask is None or "mask-ignored" in flags else _masked(flags, s, mask)
    return a / root if "scaled-after" in flags else a


def _masked(flags: Flags, s: Array, mask: Array) -> Array:
    if "mask-inverted" in flags:
        mask = ~mask
    if "mask-transposed" in flags:
        mask = swap(mask)
    if "mask-after-softmax" in flags:
        return softmax(flags, s) * mask
    if "mask-renormalised" in flags:
        a = softmax(flags, s) * mask
        total = a.sum(axis=-1, keepdims=True)
        return a / (total if "nan-rows" in flags else np.where(total == 0, 1, total)).astype(s.dtype)
    fill = -np.inf
    if "masked-to-zero" in flags:
        return softmax(flags, np.where(mask, s, 0).astype(s.dtype))
    if "uniform-where-blind" in flags:
        return softmax(flags, np.where(mask, s, np.finfo(s.dtype).min))
    if "weak-fill" in flags:
        fill = -1000.0
    if "minus-ten-thousand" in flags:
        fill = -1e4
    a = softmax(flags, np.where(mask, s, fill).astype(s.dtype))
    return a if "nan-rows" in flags else np.where(mask, a, 0).astype(s.dtype)


def mix(flags: Flags, a: Array, v: Array) -> Array:
    """Weighted sums of the values (..., T, H)."""
    if "weights-transposed" in flags:
        return swap(a) @ v
    if "elementwise" in flags:
        return a * v
    if "plain-mean" in flags:
        return np.ones_like(a) / a.dtype.type(a.shape[-1]) @ v
    if "best-only" in flags:
        hard = (a == a.max(axis=-1, keepdims=True)).astype(a.dtype)
        return hard @ v
    if "renormalised" in flags:
        a = a / a.sum(axis=-1, keepdims=True)
    if "softmax-again" in flags:
        a = softmax(frozenset(), a)
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
    if "keys-values-swapped" in flags:
        k, v = v, k
    if "values-from-keys" in flags:
        v = k
    return q, k, v
