"""Positions: sinusoids to add to tokens, rotations of queries and keys, and ALiBi's numbers to add to scores.

Letters of its own: P pairs of numbers, D / 2 of them.
"""

import numpy as np
from jaxtyping import Float64, Integer, Real

from softlookup.reference._sizes import to_float64


def angles(
    positions: Integer[np.ndarray, "*batch T"], width: int, base: float = 10000.0
) -> Float64[np.ndarray, "*batch T half"]:
    """Say how far each pair of numbers has turned at each position.

    Pair i turns by base^(-2i/width) at each step: the first by one radian, each later one slower.

    Args:
        positions: Integers of any sign.
        width: How many numbers there are to pair up; even.
        base: Sets the slowest pair's speed.

    Returns:
        One angle for each of the width/2 pairs, in radians.

    Raises:
        ValueError: If the width is odd or below 2.
        TypeError: If positions holds no integers.

    Source: Vaswani et al. 2017, section 3.5.

    >>> angles(np.array([0, 3]), 4)
    array([[0.  , 0.  ],
           [3.  , 0.03]])
    """
    positions = np.asarray(positions)
    if not np.issubdtype(positions.dtype, np.integer):
        raise TypeError(f"positions has dtype {positions.dtype}; wanted integers")
    if width < 2 or width % 2:
        raise ValueError(f"width must be even and at least 2, for pairs of numbers; got {width}")
    speeds = base ** (-np.arange(0, width, 2) / width)
    return positions[..., None] * speeds


def sinusoidal(
    length: int, d_model: int, *, offset: int = 0, base: float = 10000.0, layout: str = "interleaved"
) -> Float64[np.ndarray, "T D"]:
    """Write positions offset to offset + length - 1 as sines and cosines of their angles.

    Args:
        length: T.
        d_model: D, even.
        offset: The first position.
        base: Sets the slowest pair's speed.
        layout: interleaved is the paper's: sine in the even columns, cosine in the odd ones. halves puts all sines
            first.

    Returns:
        One row for each position.

    Raises:
        ValueError: If length is below 1, D is odd or below 2, or the layout is unknown.

    Source: Vaswani et al. 2017, section 3.5.
    """
    if length < 1:
        raise ValueError(f"length must be at least 1; got {length}")
    angles_TP = angles(np.arange(offset, offset + length), d_model, base)
    if layout == "halves":
        return np.concatenate([np.sin(angles_TP), np.cos(angles_TP)], axis=-1)
    if layout != "interleaved":
        raise ValueError(f"layout is {layout!r}; wanted interleaved or halves")
    rows_TD = np.empty((length, d_model))
    rows_TD[:, 0::2] = np.sin(angles_TP)
    rows_TD[:, 1::2] = np.cos(angles_TP)
    return rows_TD


def rotary(
    x: Real[np.ndarray, "*batch T H"], *, offset: int = 0, base: float = 10000.0, pairing: str = "neighbours"
) -> Float64[np.ndarray, "*batch T H"]:
    """Turn each pair of numbers by its position's angle: (a, b) -> (a cos - b sin, a sin + b cos).

    Args:
        x: Queries or keys.
        offset: The first row's position.
        base: Sets the slowest pair's speed.
        pairing: neighbours pairs number 2i with 2i + 1, as in the paper; halves pairs i with i + H/2.

    Returns:
        The turned rows, as long as before. The dot product of two of them depends on the difference of their
        positions alone.

    Raises:
        ValueError: If x has fewer than two axes, H is odd, or the pairing is unknown.

    Source: Su et al. 2021 (RoFormer), equation 34.
    """
    x_TH = to_float64(x)
    if x_TH.ndim < 2:
        raise ValueError(f"x has shape {x_TH.shape}; wanted at least two axes, (..., T, H)")
    length, width = x_TH.shape[-2:]
    angles_TP = angles(np.arange(offset, offset + length), width, base)
    if pairing == "neighbours":
        first, second = np.arange(0, width, 2), np.arange(1, width, 2)
    elif pairing == "halves":
        first, second = np.arange(width // 2), np.arange(width // 2, width)
    else:
        raise ValueError(f"pairing is {pairing!r}; wanted neighbours or halves")
    a, b = x_TH[..., first], x_TH[..., second]
    turned_TH = np.empty_like(x_TH)
    turned_TH[..., first] = a * np.cos(angles_TP) - b * np.sin(angles_TP)
    turned_TH[..., second] = a * np.sin(angles_TP) + b * np.cos(angles_TP)
    return turned_TH


def alibi_slopes(n_heads: int) -> Float64[np.ndarray, " N"]:
    """Give each head the slope by which its scores fall with distance.

    For a power of two of heads: 2^(-8/N), 2^(-16/N), ..., 2^-8, so that the factor from head to head is 2^(-8/N). For
    another number of heads, the slopes of the next smaller power of two come first; then every second slope of twice
    that power, from its first on.

    Args:
        n_heads: N.

    Returns:
        Positive slopes.

    Raises:
        ValueError: If there is no head.

    Source: Press, Smith & Lewis 2022, section 3, and its published code (other numbers).

    >>> alibi_slopes(3)
    array([0.0625    , 0.00390625, 0.25      ])
    """
    if n_heads < 1:
        raise ValueError(f"n_heads must be at least 1; got {n_heads}")
    power = 2 ** int(np.log2(n_heads))
    slopes = 2.0 ** (-8 * np.arange(1, power + 1) / power)
    finer = 2.0 ** (-8 * np.arange(1, 2 * power + 1) / (2 * power))
    return np.concatenate([slopes, finer[0::2][: n_heads - power]])


def alibi_bias(
    n_heads: int, length: int, keys: int, *, offset: int = 0, causal: bool = True
) -> Float64[np.ndarray, "N T S"]:
    """Give the numbers that ALiBi adds to the scaled scores: less, the farther the key.

    Args:
        n_heads: N.
        length: T, queries.
        keys: S.
        offset: The first query's position less the first key's.
        causal: Whether keys after the query, which a mask has to hide, get 0; else distance counts on both sides.

    Returns:
        -slope * distance.

    Raises:
        ValueError: If there is no head.

    Source: Press, Smith & Lewis 2022, section 3.
    """
    back_TS = np.arange(offset, offset + length)[:, None] - np.arange(keys)[None, :]
    distance_TS = np.maximum(back_TS, 0) if causal else np.abs(back_TS)
    return -alibi_slopes(n_heads)[:, None, None] * distance_TS
