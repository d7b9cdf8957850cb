"""Many heads in numpy with switches: each known mistake is a name in ``flags`` that changes one step.

With no flag it is right. What happens inside one head is ``one_head.pipeline``'s, with its own switches. Inputs keep
their dtype.
"""

import numpy as np

from softlookup.checks.one_head import pipeline

Flags = frozenset[str]
Array = np.ndarray


def split(flags: Flags, x: Array, n_heads: int) -> Array:
    """Rows of all heads (..., T, N*H) as (..., N, T, H)."""
    lead, t, width = x.shape[:-2], x.shape[-2], x.shape[-1] // n_heads
    if "reshape-alone" in flags:
        return x.reshape(*lead, n_heads, t, width)
    if "interleaved" in flags:
        return np.moveaxis(x.reshape(*lead, t, width, n_heads), -1, -3)
    if "counts-swapped" in flags:
        return np.swapaxes(x.reshape(*lead, t, width, n_heads), -2, -3)
    cut = x.reshape(*lead, t, n_heads, width)
    if "not-transposed" in flags:
        return cut
    if "heads-in-front" in flags:
        return np.moveaxis(cut, -2, 0)
    if "positions-last" in flags:
        return np.moveaxis(cut, -3, -1)
    if "fixed-axes" in flags:
        return np.swapaxes(cut, 1, 2)
    return np.swapaxes(cut, -3, -2)


def merge(flags: Flags, z: Array) -> Array:
    """Heads (..., N, T, H) side by side as (..., T, N*H)."""
    lead, (n, t, width) = z.shape[:-3], z.shape[-3:]
    if "heads-averaged" in flags:
        return z.mean(axis=-3, dtype=z.dtype)
    if "heads-added" in flags:
        return z.sum(axis=-3)
    if "merged-without-transpose" in flags:
        return z.reshape(*lead, t, n * width)
    if "below-each-other" in flags:
        return z.reshape(*lead, n * t, width)
    if "interleaved" in flags:
        return np.moveaxis(z, -3, -1).reshape(*lead, t, n * width)
    if "fixed-axes" in flags:
        turned = np.swapaxes(z, 1, 2)
        return turned.reshape(*turned.shape[:2], -1)
    return np.swapaxes(z, -3, -2).reshape(*lead, t, n * width)


def project(flags: Flags, x: Array, w: Array, n_heads: int) -> Array:
    """Tokens (..., T, D) through w (D, N*H), head by head (..., N, T, H)."""
    width = w.shape[1] // n_heads
    if "input-sliced" in flags:
        d = x.shape[-1] // n_heads
        pieces = [
            x[..., i * d : (i + 1) * d] @ w[i * d : (i + 1) * d, i * width : (i + 1) * width] for i in range(n_heads)
        ]
        return np.stack(pieces, axis=-3)
    if "one-for-all" in flags:
        one = x @ w[:, :width]
        return np.stack([one] * n_heads, axis=-3)
    if "weights-reshaped-alone" in flags:
        return x[..., None, :, :] @ w.reshape(n_heads, w.shape[0], -1)
    y = x @ (w.T if "weights-transposed-in-projection" in flags else w)
    return y if "not-split" in flags else split(flags, y, n_heads)


def share(flags: Flags, k: Array, n_heads: int) -> Array:
    """Key-value heads (..., K, S, H) given out to N query heads (..., N, S, H)."""
    group = n_heads // k.shape[-3]
    if "tiled" in flags:
        return np.concatenate([k] * group, axis=-3)
    if "first-for-all" in flags:
        return np.repeat(k[..., :1, :, :], n_heads, axis=-3)
    if "mean-for-all" in flags:
        return np.repeat(k.mean(axis=-3, keepdims=True, dtype=k.dtype), n_heads, axis=-3)
    if "n-copies" in flags:
        return np.repeat(k, n_heads, axis=-3)
    if "along-positions" in flags:
        return np.repeat(k, group, axis=-2)
    if "fixed-axes" in flags:
        return np.repeat(k, group, axis=1)
    return np.repeat(k, group, axis=-3)


def spread_mask(flags: Flags, mask: Array, batch: int, n_heads: int) -> Array:
    """A mask (T, S) or (B, T, S) as one that broadcasts to the scores (B, N, T, S)."""
    if mask.ndim != 3 or "mask-on-heads" in flags:
        return mask
    if "mask-tiled" in flags:
        return np.tile(mask, (n_heads, 1, 1)).reshape(batch, n_heads, *mask.shape[1:])
    return mask[:, :, None] if "mask-axis-behind" in flags else mask[:, None]


def attend(flags: Flags, q: Array, k: Array, v: Array, mask: Array | None = None, d_model: int = 0) -> Array:
    """All heads at once: q (B, N, T, H), k and v (B, N, S, H) -> (B, N, T, H)."""
    batch, n, _, width = q.shape
    if mask is not None:
        mask = spread_mask(flags, mask, batch, n)
    asked = q
    if "sqrt-of-heads" in flags:  # the head's own divisor comes after: what is multiplied in leaves the one meant
        asked = q.astype(np.float64) * np.sqrt(width / n)
    elif "sqrt-of-all-widths" in flags:
        asked = q.astype(np.float64) * np.sqrt(1 / n)
    elif "sqrt-of-share" in flags or "sqrt-of-exact-share" in flags:
        share = d_model // n if "sqrt-of-share" in flags else d_model / n
        asked = q.astype(np.float64) * (np.sqrt(width / share) if share else np.inf)
    a = pipeline.weights(flags, asked, k, mask, d_model)
    if "one-map-for-all" in flags:
        a = np.broadcast_to(a.mean(axis=1, keepdims=True, dtype=a.dtype), a.shape)
    return pipeline.mix(flags, a, k if "keys-as-values" in flags else v)


def blend(flags: Flags, z: Array, w_o: Array) -> Array:
    """Heads (..., N, T, H) through w_o (N*H, D) to (..., T, D)."""
    width = z.shape[-1]
    if "heads-averaged" in flags or "heads-added" in flags:
        return merge(flags, z) @ w_o[:width]
    if "first-head-alone" in flags:
        return z[..., 0, :, :] @ w_o[:width]
    merged = merge(flags, z)
    if "output-missing" in flags:
        return merged
    return merged @ (w_o.T if "output-transposed" in flags else w_o)


def shares(flags: Flags, z: Array, w_o: Array) -> Array:
    """What each head adds to the output, (..., N, T, D)."""
    n, width = z.shape[-3], z.shape[-1]
    rows = w_o.reshape(n, width, -1)
    if "same-rows" in flags:
        rows = rows[:1]
    if "interleaved" in flags:
        rows = np.swapaxes(w_o.reshape(width, n, -1), 0, 1)
    if "rows-of-the-transpose" in flags:
        rows = np.ascontiguousarray(w_o.T).reshape(n, width, -1)
    if "fixed-axes" in flags:
        each = np.stack([z[:, i] @ rows[i % len(rows)] for i in range(n)], axis=1)
    else:
        each = z @ rows
    if "heads-in-front" in flags:
        each = np.moveaxis(each, -3, 0)
    if "heads-averaged" in flags:
        each = each / each.dtype.type(n)
    return each.sum(axis=-3) if "added-up" in flags else each
