"""Masks: which query may attend to which key. Boolean throughout, True = may attend."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from softlookup.model.parts._places import check_integers


@dataclass(frozen=True)
class CausalMask:
    """Each position may look at itself and at what is before it, as a value: kernels know it without a matrix.

    A kernel that is told so skips the half that is hidden, where a matrix of T*S booleans would be made, read and
    turned into numbers to be added. The last query stands at the last key, so that T queries may follow a cache.
    Rows filled up at the end need no other mask: what fills them up stands behind every token. No row sees nothing.

    Source: Vaswani et al. 2017, section 3.2.3; Dao et al. 2022 (blocks that are hidden are not computed).
    """

    def matrix(self, length: int, keys: int, device: torch.device | str | None = None) -> Bool[Tensor, "T S"]:
        """Write the mask out.

        Args:
            length: T, how many positions look.
            keys: S, how many there are to look at, at least T.
            device: Where the mask is made.

        Returns:
            True where the key is not after the query.

        Raises:
            ValueError: If there are fewer keys than queries, or no query.
        """
        return causal_mask(length, keys=keys, offset=keys - length, device=device)


def causal_mask(
    length: int,
    *,
    keys: int | None = None,
    offset: int = 0,
    device: torch.device | str | None = None,
) -> Bool[Tensor, "T S"]:
    """Let each position look at itself and at what is before it.

    Args:
        length: T, how many positions look.
        keys: S, how many there are to look at; None means offset + T, all up to the last query.
        offset: How many keys come before the first query, where those are kept in a cache.
        device: Where the mask is made.

    Returns:
        True where the key is not after the query: s <= offset + t.

    Raises:
        ValueError: If length or keys is below 1, or the offset below 0.

    Source: Vaswani et al. 2017, section 3.2.3.
    """
    position_T1, key_1S = _positions(length, keys, offset, device)
    return key_1S <= position_T1


def window_mask(
    length: int,
    width: int,
    *,
    causal: bool = True,
    offset: int = 0,
    keys: int | None = None,
    device: torch.device | str | None = None,
) -> Bool[Tensor, "T S"]:
    """Let each position look at itself and at its nearest neighbours alone.

    Args:
        length: T, how many positions look.
        width: How many positions the window holds on one side, the query's own counted: 1 is itself alone.
        causal: Whether the window ends at the query; else it reaches width - 1 positions to both sides.
        offset: How many keys come before the first query.
        keys: S, how many there are to look at; None means offset + T.
        device: Where the mask is made.

    Returns:
        True where the key is less than width positions away, and not after the query if causal.

    Raises:
        ValueError: If length, keys or width is below 1, or the offset below 0.

    Source: Beltagy et al. 2020, section 3.1; Jiang et al. 2023 (causal), section 2.
    """
    if width < 1:
        raise ValueError(f"width must be at least 1, the position itself; got {width}")
    position_T1, key_1S = _positions(length, keys, offset, device)
    near_TS = (position_T1 - key_1S).abs() < width
    return near_TS & (key_1S <= position_T1) if causal else near_TS


def padding_mask(ids: Int[Tensor, "B S"], pad_id: int) -> Bool[Tensor, "B 1 1 S"]:
    """Hide the places that only fill up short rows.

    Args:
        ids: The ids of the tokens that are looked at.
        pad_id: The id that fills up.

    Returns:
        True at real tokens, with axes for heads and queries: the same for all of them.

    Raises:
        ValueError: If ids has not two axes.
        TypeError: If ids holds no integers.
    """
    check_integers("ids", ids)
    if ids.ndim != 2:
        raise ValueError(f"ids has shape {tuple(ids.shape)}; wanted two axes, (B, S)")
    return (ids != pad_id)[:, None, None, :]


def combine_masks(*masks: Bool[Tensor, "..."] | None) -> Bool[Tensor, "..."] | None:
    """Let look only where every mask lets look.

    Args:
        masks: Masks of two axes, (T, S), or of as many as the one with the most; an axis of size 1 stands for
            "the same all along". None stands for "no restriction" and is left out.

    Returns:
        The masks joined by "and", in their common shape; None if every one is None.

    Raises:
        ValueError: If two shapes do not fit, or the masks are on different devices. Three axes beside four are
            refused, though torch would broadcast them: (B, T, S) would be laid along the heads of (B, N, T, S).
        TypeError: If a mask is not boolean.
    """
    present_masks = [mask for mask in masks if mask is not None]
    if not present_masks:
        return None
    shapes = ", ".join(str(tuple(mask.shape)) for mask in present_masks)
    axes = max(mask.ndim for mask in present_masks)
    for mask in present_masks:
        if mask.dtype != torch.bool:
            raise TypeError(f"a mask has dtype {mask.dtype}; wanted torch.bool, where True means: may attend")
        if mask.ndim < 2 or mask.ndim not in (2, axes):
            raise ValueError(f"masks have shapes {shapes}: each needs 2 axes, (T, S), or all {max(axes, 2)}")
        if mask.device != present_masks[0].device:
            raise ValueError(f"masks are on {present_masks[0].device} and {mask.device}: move one to the other")
    try:
        shape = torch.broadcast_shapes(*(mask.shape for mask in present_masks))
    except RuntimeError:
        raise ValueError(f"masks have shapes {shapes}: sizes of an axis must be equal, or 1") from None
    result = present_masks[0].expand(shape)
    for mask in present_masks[1:]:
        result = result & mask
    return result


def _positions(length: int, keys: int | None, offset: int, device: torch.device | str | None) -> tuple[Tensor, Tensor]:
    keys = offset + length if keys is None else keys
    if length < 1 or keys < 1:
        raise ValueError(f"length and keys must be at least 1; got length {length}, keys {keys}")
    if offset < 0:
        raise ValueError(f"offset must be at least 0; got {offset}")
    position_T = torch.arange(offset, offset + length, device=device)
    return position_T[:, None], torch.arange(keys, device=device)[None, :]
