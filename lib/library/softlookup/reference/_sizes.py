"""What every function here does first: convert to float64, and refuse sizes that do not fit together."""

from typing import Any

import numpy as np


def to_float64(x: Any) -> np.ndarray:
    """Give any real array as float64, so that every result here is float64.

    float64 is passed on without a copy. TypeError if the numbers are complex: dropping their imaginary parts would pass
    silently.
    """
    array = np.asarray(x)
    if np.iscomplexobj(array):
        raise TypeError(f"got complex numbers ({array.dtype}); attention is written for real ones")
    return array.astype(np.float64, copy=False)


def check_queries_and_keys(q: np.ndarray, k: np.ndarray) -> None:
    """Refuse queries and keys whose dot products do not exist.

    q is (*batch, T, H), k (*batch, S, H). ValueError, with the sizes, if an array has fewer than two axes, the head
    widths differ or are zero, or the batch axes differ.
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

    k is (*batch, S, H), v (*batch, S, Hv). ValueError if the values' number or batch axes are not those of the keys.
    """
    if v.ndim < 2 or v.shape[:-1] != k.shape[:-1]:
        raise ValueError(
            f"v has shape {v.shape}, k has {k.shape}: each key needs one value, so all axes but the last must be equal"
        )


def check_mask(mask: Any, scores_shape: tuple[int, ...]) -> np.ndarray:
    """Refuse a mask that is not boolean, or that would line up with the wrong axes of the scores.

    A mask with some of the batch axes but not all is refused even where numpy would broadcast it: (B, T, S)
    would be laid along the heads of (B, N, T, S), silently wherever B is 1 or N.

    The mask, True = may attend, is (T, S), or has as many axes as ``scores_shape`` (*batch, T, S), each 1 or its size;
    it is returned as an array, not yet broadcast. TypeError if it is not boolean; ValueError with both shapes if they
    do not fit.
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
