"""The parts of an encoder in numpy with switches: each known mistake is a name in ``flags`` that changes one step.

With no flag it is right. Inputs keep their dtype.
"""

import math
from collections.abc import Callable

import numpy as np

Flags = frozenset[str]
Array = np.ndarray

EPS = 1e-5
"""What tasks that do not hand over an eps take, as they say."""

_erf = np.vectorize(math.erf, otypes=[np.float64])


def norm_axis(flags: Flags) -> int | tuple[int, ...]:
    """Say along which axes the statistics of a norm run: the features, unless a mistake says otherwise."""
    wrong: dict[str, int | tuple[int, ...]] = {
        "over-tokens": -2,
        "over-batch": 0,
        "over-tokens-and-features": (-2, -1),
        "fixed-axis": 1,
    }
    return next((axis for slug, axis in wrong.items() if slug in flags), -1)


def layer_norm(flags: Flags, x: Array, gain: Array, shift: Array, eps: float) -> Array:
    """Each token to mean 0 and variance 1, then gain and shift."""
    axis = norm_axis(flags)
    mean = x.mean(axis=axis, keepdims=True)
    centred = x - mean
    count = np.prod([x.shape[a] for a in np.atleast_1d(axis)])
    divisor = count - 1 if "unbiased" in flags else count
    measured = x if "not-centred-variance" in flags else centred
    variance = (measured**2).sum(axis=axis, keepdims=True) / x.dtype.type(divisor)
    if "no-eps" in flags:
        eps = 0.0
    if "eps-outside" in flags:
        root = np.sqrt(variance) + x.dtype.type(eps)
    elif "eps-as-floor" in flags:
        root = np.sqrt(np.maximum(variance, x.dtype.type(eps)))
    elif "no-root" in flags:
        root = variance + x.dtype.type(eps)
    else:
        root = np.sqrt(variance + x.dtype.type(eps))
    y = (x if "mean-kept" in flags else centred) / root
    if "shift-before-gain" in flags:
        return (y + shift) * gain
    if "gain-dropped" not in flags:
        y = y * gain
    return y if "shift-dropped" in flags else y + shift


def rms_norm(flags: Flags, x: Array, gain: Array, eps: float, base: float = 0.0) -> Array:
    """Each token divided by the root of its mean square, then base + gain."""
    axis = norm_axis(flags)
    centred = x - x.mean(axis=axis, keepdims=True)
    measured = centred if flags & {"spread", "centred"} else x
    squares = (measured**2).sum(axis=axis, keepdims=True)
    if "sum-of-squares" not in flags:
        squares = squares / x.dtype.type(np.prod([x.shape[a] for a in np.atleast_1d(axis)]))
    eps_ = x.dtype.type(0.0 if "no-eps" in flags else eps)
    if "eps-outside" in flags:
        root = np.sqrt(squares) + eps_
    elif "no-root" in flags:
        root = squares + eps_
    else:
        root = np.sqrt(squares + eps_)
    y = (centred if "centred" in flags else x) / root
    return y if "gain-dropped" in flags else y * (x.dtype.type(base) + gain)


def layer_norm_backward(flags: Flags, g: Array, x: Array, gain: Array, eps: float) -> tuple[Array, Array, Array]:
    """The gradients of a loss with respect to x, gain and shift; g is the one with respect to the result."""
    mean = x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)
    root = np.sqrt(variance + x.dtype.type(eps))
    y = (x - mean) / root
    h = g if "gain-forgotten" in flags else g * gain
    dx = h.copy()
    if "mean-constant" not in flags:
        dx = dx - h.mean(axis=-1, keepdims=True)
    if "variance-constant" not in flags:
        share = (h * y).sum(axis=-1, keepdims=True)
        if "summed-share" not in flags:
            share = share / x.dtype.type(x.shape[-1])
        dx = dx - (share if "share-without-y" in flags else y * share)
    if "not-divided" not in flags:
        dx = dx / root
    if "gain-last" in flags:
        bare = g - g.mean(axis=-1, keepdims=True) - y * (g * y).mean(axis=-1, keepdims=True)
        dx = gain * bare / root
    against = x if "gain-against-x" in flags else y
    dgain, dshift = g * against, g
    if "tokens-averaged" in flags:
        return dx, dgain.mean(axis=0), dshift.mean(axis=0)
    if "per-token" in flags:
        return dx, dgain, dshift
    return dx, dgain.sum(axis=0), dshift.sum(axis=0)


def gelu(flags: Flags, x: Array) -> tuple[Array, Array]:
    """GELU by the error function, and by a tanh."""
    wide = x.astype(np.float64)
    cube = 0.0 if "no-cube" in flags else 0.44715 if "cube-tenfold" in flags else 0.044715
    root = math.sqrt(2 * math.pi) if "pi-above" in flags else math.sqrt(2 / math.pi)
    inner = root * (wide + cube * wide**3)
    exact = 1 + _erf(wide if "no-root-of-two" in flags else wide / math.sqrt(2))
    by_tanh = 1 + np.tanh(inner)
    if "share-alone" in flags:
        wide = np.ones_like(wide)
    half = 1.0 if "not-halved" in flags else 0.5
    both = (half * wide * exact).astype(x.dtype), (half * wide * by_tanh).astype(x.dtype)
    if "exact-twice" in flags:
        return both[0], both[0]
    if "tanh-twice" in flags:
        return both[1], both[1]
    return both[::-1] if "forms-exchanged" in flags else both


def swiglu(flags: Flags, x: Array, w_gate: Array, w_1: Array, w_2: Array, beta: float) -> Array:
    """A feed-forward network whose hidden numbers are multiplied by a gate."""
    if "roles-of-matrices-exchanged" in flags:
        w_gate, w_1 = w_1, w_gate
    z, hidden = x @ w_gate, x @ (w_gate if "gate-matrix-twice" in flags else w_1)

    def swish(z: Array) -> Array:
        share = 1 / (1 + np.exp(-x.dtype.type(beta) * z))
        return share if "sigmoid-alone" in flags else z * share

    if "relu-gate" in flags:
        gate = np.maximum(z, 0)
    elif "gelu-gate" in flags:
        gate = gelu(frozenset(), z)[0]
    else:
        gate = z if "bent-product" in flags else swish(z)
    if "no-gate" in flags:
        return swish(hidden) @ w_2
    if "both-bent" in flags:
        hidden = swish(hidden)
    mixed = gate + hidden if "gate-added" in flags else gate * hidden
    return (swish(mixed) if "bent-product" in flags else mixed) @ w_2


def feed_forward(flags: Flags, x: Array, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> Array:
    """Widen each token, bend it, narrow it again."""
    if "relu-before" in flags:
        x = np.maximum(x, 0)
    if "positions-mixed" in flags:
        hidden = np.swapaxes(np.swapaxes(x, -1, -2) @ w_1 + b_1, -1, -2)
        hidden = np.maximum(hidden, 0)
        return np.swapaxes(np.swapaxes(hidden, -1, -2) @ w_2 + b_2, -1, -2)
    hidden = x @ w_1
    if "bias-after-bend" in flags:
        hidden = np.maximum(hidden, 0) + b_1
    else:
        if "first-bias-forgotten" not in flags:
            hidden = hidden + b_1
        if not flags & {"no-bend", "bend-at-the-end", "relu-before"}:
            hidden = np.abs(hidden) if "absolute" in flags else np.maximum(hidden, 0)
    if "hidden-averaged" in flags:
        hidden = np.broadcast_to(hidden.mean(axis=-2, keepdims=True, dtype=hidden.dtype), hidden.shape)
    y = hidden @ w_2
    if "second-bias-forgotten" not in flags:
        y = y + b_2
    return np.maximum(y, 0) if "bend-at-the-end" in flags else y


def attention(flags: Flags, x: Array, weights: Array, n_heads: int, keep: Array | None) -> Array:
    """Self-attention of many heads, as the notebook hands it to the student; keep (B, T) says which tokens are real."""
    w_q, w_k, w_v, w_o = weights
    b, t, d = x.shape

    def heads(w: Array) -> Array:
        return np.swapaxes((x @ w).reshape(b, t, n_heads, d // n_heads), 1, 2)

    q, k, v = heads(w_q), heads(w_k), heads(w_v)
    scores = q @ np.swapaxes(k, -1, -2) / x.dtype.type(np.sqrt(d // n_heads))
    if keep is not None and "mask-ignored" not in flags:
        if "mask-inverted" in flags:
            keep = ~keep
        if "padding-on-queries" in flags:
            seen = keep[:, None, :, None]
        elif "mask-without-axes" in flags:
            seen = keep
        elif "mask-on-heads" in flags:
            seen = keep[None, :, None, :]
        else:
            seen = keep[:, None, None, :]
        scores = np.where(seen, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=-1, keepdims=True)
    a = np.where(total > 0, e / np.where(total > 0, total, 1), 0).astype(x.dtype)
    return np.swapaxes(a @ v, 1, 2).reshape(b, t, d) @ w_o


def residual(
    flags: Flags,
    x: Array,
    part: Callable[[Array], Array],
    gain: Array,
    shift: Array,
    pre_norm: bool,
    road: Array | None = None,
) -> Array:
    """One sublayer with its residual connection and norm.

    Args:
        flags: The mistakes.
        x: What comes in.
        part: The sublayer.
        gain: Of the norm.
        shift: Of the norm.
        pre_norm: Whether the norm comes before the sublayer.
        road: What the sublayer's result is added to; None takes x.
    """
    road = x if road is None else road

    def norm(inside: Array) -> Array:
        return layer_norm(flags, inside, gain, shift, EPS)

    if "orders-exchanged" in flags:
        pre_norm = not pre_norm
    if "norm-missing" in flags:
        return road + part(x)
    if "residual-missing" in flags:
        return part(norm(x)) if pre_norm else norm(part(x))
    if pre_norm:
        inside = norm(x)
        if "residual-from-normed" in flags:
            road = inside
        return norm(road + part(inside)) if "normed-twice" in flags else road + part(inside)
    if "normed-twice" in flags:
        return norm(road + part(norm(x)))
    if "sum-not-normed" in flags:
        return road + norm(part(x))
    if "residual-from-normed" in flags:
        inside = norm(x)
        return norm(inside + part(inside))
    return norm(road + part(x))
