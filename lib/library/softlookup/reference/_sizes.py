"""What every function here does first: convert to float64, and refuse sizes that do not fit together."""

from typing import Any

import numpy as np


def to_float64(x: Any) -> np.ndarray:
    """Give any real array as float64, so that every result here is float64.

    Args:
        x: An array of any real dtype and any shape; float64 is passed on without a copy.

    Returns:
        The same numbers as float64.

    Raises:
        TypeError: If the numbers are complex; dropping their imaginary parts would pass silently.
    """
    array = np.asarray(x)
    if np.iscomplexobj(array):
        raise TypeError(f"got complex numbers ({array.dtype}); attention is written for real ones")
    return array.astype(np.float64, copy=False)


def check_queries_and_keys(q: np.ndarray, k: np.ndarray) -> None:
    """Refuse queries and keys whose dot products do not exist.

    Args:
        q: Queries, (*batch, T, H).
        k: Keys, (*batch, S, H).

    Raises:
        ValueError: If an array has fewer than two axes, if the head widths differ or are zero, or if the
            batch axes differ. The message names the sizes.
    """
    for name, array, axes in (("q", q, "(..., T, H)"), ("k", k, "(..., S, H)")):
        if array.ndim < 2:
            raise ValueError(f"{name} has shape {array.shape}; wanted at least two axes, {axes}")
    if k.shape[-1] != q.shape[-1]:
        raise ValueError(
            f"k has head width {k.shape[-1]}, q has {q.shape[-1]}: a dot product needs equal widths "
            f"(q {q.shape}, k {k.shape})"
        )
    if q.shape[-1] == 0:
        raise ValueError(f"q has head width 0: there is nothing to compare (q {q.shape}, k {k.shape})")
    if k.shape[:-2] != q.shape[:-2]:
        raise ValueError(f"k has batch axes {k.shape[:-2]}, q has {q.shape[:-2]}: they must be equal")


def check_values(k: np.ndarray, v: np.ndarray) -> None:
    """Refuse values that do not come one for each key.

    Args:
        k: Keys, (*batch, S, H).
        v: Values, (*batch, S, Hv).

    Raises:
        ValueError: If the values' number or batch axes are not those of the keys.
    """
    if v.ndim < 2 or v.shape[:-1] != k.shape[:-1]:
        raise ValueError(
            f"v has shape {v.shape}, k has {k.shape}: each key needs one value, so all axes but the last must be equal"
        )


def check_mask(mask: Any, scores_shape: tuple[int, ...]) -> np.ndarray:
    """Refuse a mask that is not boolean, or that would line up with the wrong axes of the scores.

    A mask with some of the batch axes but not all is refused even where numpy would broadcast it: (B, T, S)
    would be laid along the heads of (B, N, T, S), silently wherever B is 1 or N.

    Args:
        mask: Boolean, True = may attend: (T, S), or as many axes as the scores, each 1 or the scores' size.
        scores_shape: The shape of the scores, (*batch, T, S).

    Returns:
        The mask as an array, not yet broadcast.

    Raises:
        TypeError: If the mask is not boolean.
        ValueError: If its shape does not fit; the message names both shapes.
    """
    array = np.asarray(mask)
    if array.dtype != np.bool_:
        raise TypeError(f"mask has dtype {array.dtype}; wanted bool, where True means: may attend")
    fits = array.ndim in (2, len(scores_shape)) and all(
        got in (1, want) for got, want in zip(array.shape[::-1], scores_shape[::-1], strict=False)
    )
    if not fits:
        raise ValueError(
            f"mask has shape {array.shape}; the scores have {scores_shape}: give {scores_shape[-2:]}, or "
            f"all {len(scores_shape)} axes with 1 where the mask is the same all along"
        )
    return array
