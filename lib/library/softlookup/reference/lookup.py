"""The soft lookup before it is called attention: similarities, weights at a temperature, and a mixture."""

import numpy as np
from jaxtyping import Float64, Real

from softlookup.reference._sizes import check_queries_and_keys, check_values, to_float64
from softlookup.reference.attention import softmax


def cosine_similarity(
    q: Real[np.ndarray, "*batch T H"], k: Real[np.ndarray, "*batch S H"]
) -> Float64[np.ndarray, "*batch T S"]:
    """Compare directions alone: the dot product of each query with each key, divided by both lengths.

    Args:
        q: Queries, one in each row.
        k: Keys, one in each row.

    Returns:
        Cosines from -1 to 1. The zero vector has no direction: its cosine with anything is 0.

    Raises:
        ValueError: If widths or batch axes of q and k differ.

    >>> cosine_similarity(np.array([[3.0, 0.0]]), np.array([[5.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    array([[1., 0., 0.]])
    """
    q_TH, k_SH = to_float64(q), to_float64(k)
    check_queries_and_keys(q_TH, k_SH)
    # Each is made a unit vector first: a product of two lengths could underflow where the lengths do not.
    return np.clip(_unit_vectors(q_TH) @ np.swapaxes(_unit_vectors(k_SH), -1, -2), -1.0, 1.0)


def _unit_vectors(x_TH: Float64[np.ndarray, "*batch T H"]) -> Float64[np.ndarray, "*batch T H"]:
    """Divide each row by its length; a row of zeros stays as it is."""
    # A length squares its numbers, and 1e200 squared overflows. A power of two takes the largest number of each row
    # to between 1/2 and 1 first, without any rounding.
    _, exponents_T1 = np.frexp(np.abs(x_TH).max(axis=-1, keepdims=True))
    x_TH = np.ldexp(x_TH, -exponents_T1)
    lengths_T1 = np.linalg.norm(x_TH, axis=-1, keepdims=True)
    return x_TH / np.where(lengths_T1 == 0.0, 1.0, lengths_T1)


def lookup_weights(scores: Real[np.ndarray, "*shape S"], tau: float | int = 1.0) -> Float64[np.ndarray, "*shape S"]:
    """Turn scores into weights at a temperature, both limits included.

    Args:
        scores: How well each key fits; the last axis runs over the keys. -inf stands for "may not be chosen".
        tau: The temperature. 0 is the hard lookup: the best key takes all, and keys that tie for it share equally.
            Infinity gives each key that may be chosen the same weight.

    Returns:
        Weights along the last axis, none negative, with sum 1 (0 where no key may be chosen).

    Raises:
        ValueError: If tau is negative or not a number, or a score is +inf.

    Source: Hinton, Vinyals & Dean 2015, equation 1.

    >>> lookup_weights(np.array([1.0, 3.0, 3.0]), tau=0.0)
    array([0. , 0.5, 0.5])
    """
    if not tau >= 0.0:
        raise ValueError(f"tau is {tau}; a temperature is 0 or more")
    scores = to_float64(scores)
    if np.isposinf(scores).any():
        raise ValueError(f"got +inf in scores of shape {scores.shape}; scores must be finite or -inf")
    largest = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    gaps = scores - np.where(np.isneginf(largest), 0.0, largest)  # 0 for the best key, below 0 for the others
    if tau == 0.0:
        return softmax(np.where(gaps == 0.0, 0.0, -np.inf))
    if np.isposinf(tau):
        return softmax(np.where(np.isneginf(gaps), -np.inf, 0.0))
    with np.errstate(over="ignore"):  # a gap that becomes -inf is a weight of 0, as it should be
        return softmax(gaps / tau)


def soft_lookup(
    q: Real[np.ndarray, "*batch T H"],
    k: Real[np.ndarray, "*batch S H"],
    v: Real[np.ndarray, "*batch S Hv"],
    tau: float | int = 1.0,
) -> Float64[np.ndarray, "*batch T Hv"]:
    """Look every query up: dot products with all keys, weights at a temperature, the mixture of all values.

    Attention is this with tau = sqrt(H).

    Args:
        q: Queries.
        k: Keys.
        v: Values, one for each key; their width Hv may differ from H.
        tau: The temperature, 0 and infinity included.

    Returns:
        One mixture for each query.

    Raises:
        ValueError: If sizes of q, k and v do not fit together, or tau is negative.

    >>> k, v = np.eye(2), np.array([[10.0], [20.0]])
    >>> soft_lookup(np.array([[1.0, 1.0]]), k, v)
    array([[15.]])
    """
    q_TH, k_SH, v_SH = to_float64(q), to_float64(k), to_float64(v)
    check_queries_and_keys(q_TH, k_SH)
    check_values(k_SH, v_SH)
    return lookup_weights(q_TH @ np.swapaxes(k_SH, -1, -2), tau) @ v_SH
