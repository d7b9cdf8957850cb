"""The parts of an encoder in numpy with switches: each known mistake is a name in ``flags`` that changes one step.

With no flag it is right. Inputs keep their dtype.
"""

import math
from collections.abc import Callable

import numpy as np

from softlookup.checks.many_heads import switches as heads
from softlookup.checks.one_head import pipeline

Flags = frozenset[str]
Array = np.ndarray

NONE: Flags = frozenset()

EPS = 1e-5
"""What tasks that do not hand over an eps take, as they say."""

_erf = np.vectorize(math.erf, otypes=[np.float64])


def norm_axis(flags: Flags, ndim: int) -> int | tuple[int, ...]:
    """Say along which axes the statistics of a norm run: the features, unless a mistake says otherwise."""
    wrong: dict[str, int | tuple[int, ...]] = {
        "over-tokens": -2,
        "over-batch": 0,
        "over-tokens-and-features": (-2, -1),
        "fixed-axis": 1,
        "whole-tensor": tuple(range(ndim)),
    }
    return next((axis for slug, axis in wrong.items() if slug in flags), -1)


def layer_norm(flags: Flags, x: Array, gain: Array, shift: Array, eps: float) -> Array:
    """Each token to mean 0 and variance 1, then gain and shift."""
    axis = norm_axis(flags, x.ndim)
    mean = x.mean(axis=axis, keepdims=True)
    centred = x - mean
    count = np.prod([x.shape[a] for a in np.atleast_1d(axis)])
    divisor = count - 1 if "unbiased" in flags else count
    measured = x if "not-centred-variance" in flags else centred
    variance = (measured**2).sum(axis=axis, keepdims=True)
    if "summed-variance" not in flags:
        variance = variance / x.dtype.type(divisor)
    eps = 0.0 if "no-eps" in flags else EPS if "fixed-eps" in flags else eps
    if "eps-outside" in flags:
        root = np.sqrt(variance) + x.dtype.type(eps)
    elif "eps-as-floor" in flags:
        root = np.sqrt(np.maximum(variance, x.dtype.type(eps)))
    elif "no-root" in flags:
        root = variance + x.dtype.type(eps)
    else:
        root = np.sqrt(variance + x.dtype.type(eps))
    y = (x if "mean-kept" in flags else centred) / root
    if "sign-turned" in flags:
        y = -y
    if "gain-and-shift-exchanged" in flags:
        gain, shift = shift, gain
    if "one-plus-gain" in flags:
        gain = gain + x.dtype.type(1)
    if "shift-before-gain" in flags:
        return (y + shift) * gain
    if "gain-dropped" not in flags:
        y = y * gain
    return y if "shift-dropped" in flags else y + shift


def rms_norm(flags: Flags, x: Array, gain: Array, eps: float, base: float = 0.0) -> Array:
    """Each token divided by the root of its mean square, then base + gain."""
    axis = norm_axis(flags, x.ndim)
    centred = x - x.mean(axis=axis, keepdims=True)
    measured = centred if flags & {"spread", "centred", "unbiased-spread"} else x
    squares = (measured**2).sum(axis=axis, keepdims=True)
    if "sum-of-squares" not in flags:
        count = np.prod([x.shape[a] for a in np.atleast_1d(axis)])
        squares = squares / x.dtype.type(count - ("unbiased-spread" in flags))
    fixed = {"no-eps": 0.0, "fixed-eps": 1e-6, "fixed-eps-of-layer-norm": EPS}
    eps_ = x.dtype.type(next((number for slug, number in fixed.items() if slug in flags), eps))
    if "eps-outside" in flags:
        root = np.sqrt(squares) + eps_
    elif "eps-as-floor" in flags:
        root = np.sqrt(np.maximum(squares, eps_))
    elif "no-root" in flags:
        root = squares + eps_
    else:
        root = np.sqrt(squares + eps_)
    y = (centred if "centred" in flags else x) / root
    return y if "gain-dropped" in flags else y * (x.dtype.type(base) + gain)


def layer_norm_backward(flags: Flags, g: Array, x: Array, gain: Array, eps: float) -> tuple[Array, Array, Array]:
    """The gradients of a loss with respect to x, gain and shift; g is the one with respect to the result."""
    number = x.dtype.type
    along = 0 if "means-over-tokens" in flags else -1
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True, ddof=int("unbiased" in flags))
    inside = number(0.0 if flags & {"no-eps", "eps-outside"} else eps)
    root = np.sqrt(variance + inside) + number(eps if "eps-outside" in flags else 0.0)
    y = centred / root
    h = g if "gain-forgotten" in flags else g * gain
    dx = h.copy()
    if "mean-constant" not in flags:
        dx = dx - (h.sum(axis=along, keepdims=True) if "summed-mean" in flags else h.mean(axis=along, keepdims=True))
    if "variance-constant" not in flags:
        way = centred if "centred-for-normalised" in flags else y
        share = (h * way).sum(axis=along, keepdims=True)
        if "summed-share" not in flags:
            share = share / number(x.shape[along])
        dx = dx - (share if "share-without-y" in flags else way * share)
    if "not-divided" not in flags:
        dx = dx / root
    if "gain-last" in flags:
        bare = g - g.mean(axis=-1, keepdims=True) - y * (g * y).mean(axis=-1, keepdims=True)
        dx = gain * bare / root
    dshift = h if "gain-counted-twice" in flags else g
    dgain = dshift * (x if "gain-against-x" in flags else y)
    if "gain-and-shift-exchanged" in flags:
        dgain, dshift = dshift, dgain
    if "per-token" in flags:
        return dx, dgain, dshift
    axis = -1 if "summed-over-features" in flags else 0
    if "tokens-averaged" in flags:
        return dx, dgain.mean(axis=axis), dshift.mean(axis=axis)
    return dx, dgain.sum(axis=axis), dshift.sum(axis=axis)


def gelu(flags: Flags, x: Array) -> tuple[Array, Array]:
    """GELU by the error function, and by a tanh."""
    wide = x.astype(np.float64)
    cube = 0.0 if "no-cube" in flags else 0.44715 if "cube-tenfold" in flags else 0.044715
    root = math.sqrt(2 * math.pi) if "pi-above" in flags else math.sqrt(2 / math.pi)
    root = 2 / math.pi if "no-root-of-two-over-pi" in flags else root
    cubed = cube * (wide**2 if "squared" in flags else wide**3)
    inner = root * wide + cubed if "cube-outside" in flags else root * (wide + cubed)
    exact = 1 + _erf(wide if "no-root-of-two" in flags else wide / math.sqrt(2))
    by_tanh = 2 / (1 + np.exp(-1.702 * wide)) if "by-sigmoid" in flags else 1 + np.tanh(inner)
    if "share-alone" in flags:
        wide = np.ones_like(wide)
    half = 1.0 if "not-halved" in flags else 0.5
    halves = (1.0 if "exact-not-halved" in flags else half), (1.0 if "tanh-not-halved" in flags else half)
    both = (halves[0] * wide * exact).astype(x.dtype), (halves[1] * wide * by_tanh).astype(x.dtype)
    if "exact-twice" in flags:
        return both[0], both[0]
    if "tanh-twice" in flags:
        return both[1], both[1]
    return both[::-1] if "forms-exchanged" in flags else both


def swiglu(flags: Flags, x: Array, w_gate: Array, w_1: Array, w_2: Array, beta: float) -> Array:
    """A feed-forward network whose hidden numbers are multiplied by a gate."""
    if "roles-of-matrices-exchanged" in flags:
        w_gate, w_1 = w_1, w_gate
    if "weights-transposed" in flags:
        w_gate, w_1, w_2 = w_gate.T, w_1.T, w_2.T
    z, hidden = x @ w_gate, x @ (w_gate if "gate-matrix-twice" in flags else w_1)

    def swish(z: Array) -> Array:
        share = 1 / (1 + np.exp(-x.dtype.type(beta) * z))
        return share if "sigmoid-alone" in flags else z * share

    if "relu-gate" in flags:
        gate = np.maximum(z, 0)
    elif "gelu-gate" in flags:
        gate = gelu(frozenset(), z)[0]
    else:
        gate = z if flags & {"bent-product", "gate-not-bent"} else swish(z)
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
    if "weights-transposed" in flags:
        w_1, w_2 = w_1.T, w_2.T
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
            if "gelu-for-relu" in flags:
                hidden = gelu(NONE, hidden)[0]
            else:
                hidden = np.abs(hidden) if "absolute" in flags else np.maximum(hidden, 0)
    if "hidden-averaged" in flags:
        hidden = np.broadcast_to(hidden.mean(axis=-2, keepdims=True, dtype=hidden.dtype), hidden.shape)
    y = hidden @ w_2
    if "second-bias-forgotten" not in flags:
        y = y + b_2
    if "residual-inside" in flags:
        y = x + y
    return np.maximum(y, 0) if flags & {"bend-at-the-end", "bent-twice"} else y


def attention(flags: Flags, x: Array, weights: Array, n_heads: int, keep: Array | None) -> Array:
    """Self-attention of many heads, as the notebook hands it to the student; keep (B, T) says which tokens are real."""
    w_q, w_k, w_v, w_o = weights
    q, k, v = (heads.split(NONE, x @ w, n_heads) for w in (w_q, w_k, w_v))
    seen = None
    if keep is not None and "mask-ignored" not in flags:
        if "mask-inverted" in flags:
            keep = ~keep
        if "padding-on-queries" in flags:
            seen = keep[:, None, :, None]
        elif "padding-sees-nothing" in flags:
            seen = keep[:, None, None, :] & keep[:, None, :, None]
        elif "mask-without-axes" in flags:
            seen = keep
        elif "mask-on-heads" in flags:
            seen = keep[None, :, None, :]
        else:
            seen = keep[:, None, None, :]
    return heads.merge(NONE, pipeline.attention(NONE, q, k, v, seen)) @ w_o


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
    if flags & {"always-pre", "always-post"}:
        pre_norm = "always-pre" in flags
    if "norm-missing" in flags:
        return road + part(x)
    if "sum-not-normed" in flags:
        return road + norm(part(x))
    if "residual-missing" in flags:
        return part(norm(x)) if pre_norm else norm(part(x))
    if pre_norm:
        inside = norm(x)
        if "residual-from-normed" in flags:
            road = inside
        return norm(road + part(inside)) if "normed-twice" in flags else road + part(inside)
    if "normed-twice" in flags:
        return norm(road + part(norm(x)))
    if "residual-from-normed" in flags:
        inside = norm(x)
        return norm(inside + part(inside))
    return norm(road + part(x))
