"""Linear attention with its weights written out: the slow way, T*S weights, that says what is computed."""

import numpy as np
from jaxtyping import Bool, Float64, Real

from softlookup.reference._sizes import check_mask, check_queries_and_keys, check_values, to_float64


def elu_plus_one(x: Real[np.ndarray, "*shape"]) -> Float64[np.ndarray, "*shape"]:
    """Make every number positive, gently: x + 1 above 0, exp(x) below.

    Args:
        x: Numbers of any shape.

    Returns:
        Positive numbers in the shape of x.

    Source: Katharopoulos et al. 2020, equation 7.

    >>> elu_plus_one(np.array([-1.0, 0.0, 2.0])).round(3)
    array([0.368, 1.   , 3.   ])
    """
    x = to_float64(x)
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0.0)))


def linear_attention_weights(
    q: Real[np.ndarray, "*batch T H"],
    k: Real[np.ndarray, "*batch S H"],
    mask: Bool[np.ndarray, "..."] | None = None,
) -> Float64[np.ndarray, "*batch T S"]:
    """Say how much each query attends to each key, by the dot product of their features.

    Args:
        q: Queries.
        k: Keys.
        mask: Boolean, True = may attend; (T, S), or as many axes as the weights, each 1 or of their size.

    Returns:
        Weights, none negative; a row sums to 1, or holds zeros where nothing may be seen.

    Raises:
        ValueError: If sizes of q, k or mask do not fit together.
        TypeError: If the mask is not boolean.

    Source: Katharopoulos et al. 2020, equation 3.
    """
    q_TH, k_SH = to_float64(q), to_float64(k)
    check_queries_and_keys(q_TH, k_SH)
    q_TH, k_SH = elu_plus_one(q_TH), elu_plus_one(k_SH)
    similar_TS = q_TH @ np.swapaxes(k_SH, -1, -2)
    if mask is not None:
        similar_TS = np.where(check_mask(mask, similar_TS.shape), similar_TS, 0.0)
    total_T1 = similar_TS.sum(axis=-1, keepdims=True)
    return similar_TS / np.where(total_T1 == 0.0, 1.0, total_T1)


def linear_attention(
    q: Real[np.ndarray, "*batch T H"],
    k: Real[np.ndarray, "*batch S H"],
    v: Real[np.ndarray, "*batch S Hv"],
    mask: Bool[np.ndarray, "..."] | None = None,
) -> Float64[np.ndarray, "*batch T Hv"]:
    """Mix the values by weights without a softmax.

    Args:
        q: Queries.
        k: Keys.
        v: Values, one for each key.
        mask: Boolean, True = may attend, of any kind; a causal one makes this the causal form.

    Returns:
        For each query, the weighted mean of the values it may see; zeros where it may see none.

    Raises:
        ValueError: If sizes of q, k, v or mask do not fit together.
        TypeError: If the mask is not boolean.

    Source: Katharopoulos et al. 2020, equation 3.

    >>> linear_attention(np.zeros((1, 2)), np.ones((2, 2)), np.array([[1.0], [3.0]]))
    array([[2.]])
    """
    v_SH = to_float64(v)
    weights_TS = linear_attention_weights(q, k, mask)
    check_values(np.asarray(k), v_SH)
    return weights_TS @ v_SH
