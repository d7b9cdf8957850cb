"""Masks: which query may attend to which key. Boolean throughout, True = may attend."""

import numpy as np
from jaxtyping import Bool, Integer


def causal_mask(length: int, *, keys: int | None = None, offset: int = 0) -> Bool[np.ndarray, "T S"]:
    """Let each position look at itself and at what is before it.

    Args:
        length: T, how many positions look.
        keys: S, how many there are to look at; None means offset + T, all up to the last query.
        offset: How many keys come before the first query.

    Returns:
        True where the key is not after the query: s <= offset + t.

    Raises:
        ValueError: If length or keys is below 1, or the offset below 0.

    Source: Vaswani et al. 2017, section 3.2.3.

    >>> causal_mask(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    query_T1, key_1S = _positions(length, keys, offset)
    return key_1S <= query_T1


def window_mask(
    length: int, width: int, *, causal: bool = True, offset: int = 0, keys: int | None = None
) -> Bool[np.ndarray, "T S"]:
    """Let each position look at itself and at its nearest neighbours alone.

    Args:
        length: T, how many positions look.
        width: How many positions the window holds on one side, the query's own counted: 1 is itself alone.
        causal: Whether the window ends at the query; else it reaches width - 1 positions to both sides.
        offset: How many keys come before the first query.
        keys: S, how many there are to look at; None means offset + T.

    Returns:
        True where the key is less than width positions away, and not after the query if causal.

    Raises:
        ValueError: If length, keys or width is below 1, or the offset below 0.

    Source: Beltagy et al. 2020, section 3.1; Jiang et al. 2023 (causal), section 2.

    >>> window_mask(3, 2).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 1]])
    """
    if width < 1:
        raise ValueError(f"width must be at least 1, the position itself; got {width}")
    query_T1, key_1S = _positions(length, keys, offset)
    near_TS = np.abs(query_T1 - key_1S) < width
    return near_TS & (key_1S <= query_T1) if causal else near_TS


def padding_mask(ids: Integer[np.ndarray, "B S"], pad_id: int) -> Bool[np.ndarray, "B 1 1 S"]:
    """Hide the places that only fill up short rows.

    Args:
        ids: The ids of the tokens that are looked at.
        pad_id: The id that fills up.

    Returns:
        True at real tokens, with axes for heads and queries: the same for all of them.

    Raises:
        ValueError: If ids has not two axes.
        TypeError: If ids holds no integers.

    >>> padding_mask(np.array([[5, 6, 0]]), pad_id=0)
    array([[[[ True,  True, False]]]])
    """
    ids_BS = np.asarray(ids)
    if not np.issubdtype(ids_BS.dtype, np.integer):
        raise TypeError(f"ids has dtype {ids_BS.dtype}; wanted integers")
    if ids_BS.ndim != 2:
        raise ValueError(f"ids has shape {ids_BS.shape}; wanted two axes, (B, S)")
    return (ids_BS != pad_id)[:, None, None, :]


def combine_masks(*masks: Bool[np.ndarray, "..."] | None) -> Bool[np.ndarray, "..."] | None:
    """Let look only where every mask lets look.

    Args:
        masks: Masks of two axes, (T, S), or of as many as the one with the most; an axis of size 1 stands for
            "the same all along". None stands for "no restriction" and is left out.

    Returns:
        The masks joined by "and", in their common shape; None if every one is None.

    Raises:
        ValueError: If two shapes do not fit. Three axes beside four are refused, though numpy would broadcast
            them: (B, T, S) would be laid along the heads of (B, N, T, S).
        TypeError: If a mask is not boolean.

    >>> combine_masks(causal_mask(2), np.array([[False, True]])).astype(int)
    array([[0, 0],
           [0, 1]])
    """
    present_masks = [np.asarray(mask) for mask in masks if mask is not None]
    if not present_masks:
        return None
    shapes = ", ".join(str(mask.shape) for mask in present_masks)
    axes = max(mask.ndim for mask in present_masks)
    for mask in present_masks:
        if mask.dtype != np.bool_:
            raise TypeError(f"a mask has dtype {mask.dtype}; wanted bool, where True means: may attend")
        if mask.ndim < 2 or mask.ndim not in (2, axes):
            raise ValueError(f"masks have shapes {shapes}: each needs 2 axes, (T, S), or all {max(axes, 2)}")
    try:
        return np.logical_and.reduce(np.broadcast_arrays(*present_masks))
    except ValueError:
        raise ValueError(f"masks have shapes {shapes}: sizes of an axis must be equal, or 1") from None


def _positions(length: int, keys: int | None, offset: int) -> tuple[np.ndarray, np.ndarray]:
    keys = offset + length if keys is None else keys
    if length < 1 or keys < 1:
        raise ValueError(f"length and keys must be at least 1; got length {length}, keys {keys}")
    if offset < 0:
        raise ValueError(f"offset must be at least 0; got {offset}")
    return np.arange(offset, offset + length)[:, None], np.arange(keys)[None, :]
