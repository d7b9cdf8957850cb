"""The gradient through softmax and attention, worked by hand: no automatic differentiation."""

import numpy as np
from jaxtyping import Bool, Float64, Real

from softlookup.reference._sizes import check_values, to_float64
from softlookup.reference.attention import attention_weights


def softmax_backward(
    weights: Real[np.ndarray, "*rows S"], grad: Real[np.ndarray, "*rows S"]
) -> Float64[np.ndarray, "*rows S"]:
    """Carry a gradient back through a softmax along the last axis.

    The Jacobian of one row is diag(a) - a a^T. Applied to the gradient g it gives a * (g - a.g), so the
    matrix itself is never built.

    Args:
        weights: What the softmax gave: a, one distribution for each row.
        grad: The gradient of the loss with respect to the weights: g.

    Returns:
        The gradient with respect to the scores. Each row sums to 0: adding one number to all scores of a row
        changes no weight. Where a weight is 0 the gradient is 0, so a row of zeros gives zeros.

    Raises:
        ValueError: If the two shapes differ.

    >>> softmax_backward(np.array([0.5, 0.5]), np.array([1.0, 0.0]))
    array([ 0.25, -0.25])
    """
    a, g = to_float64(weights), to_float64(grad)
    if a.shape != g.shape:
        raise ValueError(f"weights have shape {a.shape}, grad has {g.shape}: they must be equal")
    return a * (g - (a * g).sum(axis=-1, keepdims=True))


def attention_backward(
    q: Real[np.ndarray, "*batch T H"],
    k: Real[np.ndarray, "*batch S H"],
    v: Real[np.ndarray, "*batch S Hv"],
    grad: Real[np.ndarray, "*batch T Hv"],
    mask: Bool[np.ndarray, "..."] | None = None,
) -> tuple[
    Float64[np.ndarray, "*batch T H"],
    Float64[np.ndarray, "*batch S H"],
    Float64[np.ndarray, "*batch S Hv"],
]:
    """Carry a gradient back through scaled dot-product attention, step by step from the end.

    With a = softmax(s), s = q k^T / sqrt(H) and z = a v:
    dv = a^T dz, da = dz v^T, ds = a * (da - rowsum(a * da)), dq = ds k / sqrt(H), dk = ds^T q / sqrt(H).

    Args:
        q: Queries.
        k: Keys.
        v: Values.
        grad: The gradient of the loss with respect to the output: dz.
        mask: The mask of the forward pass: boolean, True = may attend.

    Returns:
        The gradients (dq, dk, dv), each in the shape of its array. A query with nothing to see gets zeros and
        gives the keys and values nothing.

    Raises:
        ValueError: If sizes do not fit together; the message names them.
        TypeError: If the mask is not boolean.

    Source: Dao et al. 2022, appendix B.
    """
    q_TH, k_SH, v_SH, dz_TH = to_float64(q), to_float64(k), to_float64(v), to_float64(grad)
    a_TS = attention_weights(q_TH, k_SH, mask)
    check_values(k_SH, v_SH)
    expected = (*q_TH.shape[:-1], v_SH.shape[-1])
    if dz_TH.shape != expected:
        raise ValueError(f"grad has shape {dz_TH.shape}; the output of attention has {expected}")
    scale = 1.0 / np.sqrt(q_TH.shape[-1])
    dv_SH = np.swapaxes(a_TS, -1, -2) @ dz_TH
    da_TS = dz_TH @ np.swapaxes(v_SH, -1, -2)
    ds_TS = softmax_backward(a_TS, da_TS)  # the mask needs no line of its own: where a is 0, so is ds
    dq_TH = ds_TS @ k_SH * scale
    dk_SH = np.swapaxes(ds_TS, -1, -2) @ q_TH * scale
    return dq_TH, dk_SH, dv_SH
