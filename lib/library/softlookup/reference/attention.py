"""Scaled dot-product attention in four plain steps: score, scale, softmax, mix."""

import numpy as np
from jaxtyping import Bool, Float64, Real

from softlookup.reference._sizes import check_mask, check_queries_and_keys, check_values, to_float64


def softmax(x: Real[np.ndarray, "*shape"], axis: int = -1) -> Float64[np.ndarray, "*shape"]:
    """Turn scores into weights: none negative, and summing to 1 along one axis.

    The largest score is subtracted first. That changes nothing in the result, since it multiplies numerator
    and denominator by the same number, and it keeps exp() from overflowing: the largest exponent is then 0.

    Args:
        x: Scores of any shape; -inf stands for "may not be chosen".
        axis: The axis along which the weights sum to 1.

    Returns:
        Weights in the shape of x. A slice that holds nothing but -inf gets zeros: no choice, no weight.

    Raises:
        ValueError: If a score is +inf; no finite weight is right then.

    Source: Milakov & Gimelshein 2018 (the subtraction).

    >>> softmax(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    x = to_float64(x)
    if np.isposinf(x).any():
        raise ValueError(f"softmax got +inf in scores of shape {x.shape}; scores must be finite or -inf")
    largest = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    largest = np.where(np.isneginf(largest), 0.0, largest)  # -inf - (-inf) would be NaN
    raised = np.exp(x - largest)
    total = raised.sum(axis=axis, keepdims=True)
    return raised / np.where(total == 0.0, 1.0, total)


def attention_weights(
    q: Real[np.ndarray, "*batch T H"],
    k: Real[np.ndarray, "*batch S H"],
    mask: Bool[np.ndarray, "..."] | None = None,
) -> Float64[np.ndarray, "*batch T S"]:
    """Say how much each query attends to each key.

    Row t holds query t's weights: they sum to 1, or are all zero where the mask leaves nothing to see.

    Args:
        q: Queries, one row for each position that looks.
        k: Keys, one row for each position that is looked at.
        mask: Boolean, True = may attend; (T, S), or as many axes as the weights, each 1 or of their size.

    Returns:
        softmax(q k^T / sqrt(H)), the softmax running along the keys.

    Raises:
        ValueError: If widths or batch axes of q and k differ, or the mask's shape does not fit.
        TypeError: If the mask is not boolean.

    Source: Vaswani et al. 2017, equation 1.

    >>> attention_weights(np.array([[0.0, 0.0]]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[0.5, 0.5]])
    """
    q_TH, k_SH = to_float64(q), to_float64(k)
    check_queries_and_keys(q_TH, k_SH)
    head_width = q_TH.shape[-1]
    scores_TS = q_TH @ np.swapaxes(k_SH, -1, -2) / np.sqrt(head_width)
    if mask is not None:
        mask_TS = check_mask(mask, scores_TS.shape)
        scores_TS = np.where(mask_TS, scores_TS, -np.inf)
    return softmax(scores_TS, axis=-1)


def scaled_dot_product_attention(
    q: Real[np.ndarray, "*batch T H"],
    k: Real[np.ndarray, "*batch S H"],
    v: Real[np.ndarray, "*batch S Hv"],
    mask: Bool[np.ndarray, "..."] | None = None,
) -> Float64[np.ndarray, "*batch T Hv"]:
    """Mix the values, each query in its own proportions: the soft lookup.

    Args:
        q: Queries.
        k: Keys.
        v: Values, one for each key; their width Hv may differ from H.
        mask: Boolean, True = may attend; (T, S), or as many axes as the weights, each 1 or of their size.

    Returns:
        For each query, the weighted mean of the values it may see; zeros where it may see none.

    Raises:
        ValueError: If sizes of q, k, v or mask do not fit together; the message names them.
        TypeError: If the mask is not boolean.

    Source: Vaswani et al. 2017, equation 1.

    >>> q, k, v = np.zeros((1, 2)), np.ones((2, 2)), np.array([[1.0], [3.0]])
    >>> scaled_dot_product_attention(q, k, v)
    array([[2.]])
    """
    v_SH = to_float64(v)
    weights_TS = attention_weights(q, k, mask)
    check_values(np.asarray(k), v_SH)
    return weights_TS @ v_SH
