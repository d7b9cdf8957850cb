"""The functions of ``tl`` that give a tile's numbers in another shape or order."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from softlookup_inside.tiles.tile import ChipTile, ElementType, is_whole, known, operation, position
from softlookup_inside.tiles.values import KernelError

CONSTEXPR = "whole numbers that stand in the kernel, or arguments marked as in `BLOCK: tl.constexpr`"
_MOST_AXES = 3


def sizes(shape: Any) -> tuple[int, ...]:
    """A shape as a record holds it: three sizes, 0 for no axis; KernelError if it is no shape of a tile."""
    lengths = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if not all(map(is_whole, lengths)):
        raise KernelError(f"a shape is made of {CONSTEXPR}; got {shape!r}")
    if len(lengths) > _MOST_AXES or min(lengths, default=1) < 1:
        raise KernelError(f"a shape has up to three sizes, at least 1 each; got {shape!r}")
    return (*map(int, lengths), *(0,) * (_MOST_AXES - len(lengths)))


def _unpacked(values: Sequence[Any]) -> Any:
    """Sizes or axes, which come one by one or as a tuple."""
    return values[0] if len(values) == 1 else values


def axis_of(name: str, shape: Sequence[int], axis: Any) -> int:
    """The axis that a function, ``name``, is called with, counted from 0; KernelError if the shape has none such."""
    if not is_whole(axis):
        raise KernelError(f"tl.{name} takes one axis, such as 0 or 1, got {axis!r}")
    if not -len(shape) <= axis < len(shape):
        raise KernelError(f"a tile of shape {tuple(shape)} has no axis {axis}, which tl.{name} is called with")
    return int(axis) % len(shape)


def trans(input: Any, *dims: Any) -> ChipTile:
    """A tile with its last two axes exchanged, or its axes in another order."""
    count = np.ndim(known(input))
    if not dims and count < 2:
        raise KernelError(f"tl.trans takes a tile with two axes or more, got shape {np.shape(known(input))}")
    return permute(input, *(dims or (*range(count - 2), count - 1, count - 2)))


def permute(input: Any, *dims: Any) -> ChipTile:
    """A tile with its axes in another order."""
    order, shape = _unpacked(dims), np.shape(known(input))
    order = tuple(order) if isinstance(order, tuple | list) else (order,)
    if not all(map(is_whole, order)) or sorted(order) != list(range(len(shape))):
        raise KernelError(f"the axes of a tile of shape {shape} are ordered by each of their numbers once, got {order}")
    return operation("transpose", input, numbers=(*map(int, order), *(0,) * (_MOST_AXES - len(order))))


def expand_dims(input: Any, axis: int | Sequence[int]) -> ChipTile:
    """A tile with one more axis, of length 1, or with several."""
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    if not all(map(is_whole, axes)):
        raise KernelError(f"tl.expand_dims takes an axis or a tuple of them, got {axis!r}")
    count = np.ndim(known(input)) + len(axes)
    for at in sorted(at + count if at < 0 else at for at in axes):
        input = operation("expand", input, numbers=(int(at),))
    result: ChipTile = input
    return result


def reshape(input: Any, *shape: Any, can_reorder: bool = False) -> ChipTile:
    """A tile in another shape; here its numbers stay in their order."""
    return operation("reshape", input, numbers=sizes(_unpacked(shape)))


def view(input: Any, *shape: Any) -> ChipTile:
    """A tile in another shape."""
    return reshape(input, *shape)


def ravel(x: Any, can_reorder: bool = False) -> ChipTile:
    """A tile with one axis."""
    return reshape(x, np.size(known(x)))


def squeeze(x: Any, dim: int) -> ChipTile:
    """A tile without an axis of length 1."""
    shape = np.shape(known(x))
    axis = axis_of("squeeze", shape, dim)
    if shape[axis] != 1:
        raise KernelError(f"tl.squeeze takes an axis of length 1, got axis {dim} of shape {shape}")
    return reshape(x, (*shape[:axis], *shape[axis + 1 :]))


def unsqueeze(x: Any, dim: int) -> ChipTile:
    """A tile with one more axis, of length 1."""
    return expand_dims(x, dim)


def broadcast_to(input: Any, *shape: Any) -> ChipTile:
    """A tile repeated along axes of length 1."""
    return operation("broadcast", input, numbers=sizes(_unpacked(shape)))


def broadcast(input: Any, other: Any) -> tuple[ChipTile, ChipTile]:
    """Two tiles in their common shape."""
    shape = (operation("equal", input, other)).shape
    return _repeated(input, shape), _repeated(other, shape)


def _repeated(tile: Any, shape: Sequence[int]) -> ChipTile:
    """A tile in a shape that may have more axes in front."""
    count = np.ndim(known(tile))
    return broadcast_to(expand_dims(tile, tuple(range(len(shape) - count))) if count else tile, shape)


def join(a: Any, b: Any) -> ChipTile:
    """Two tiles side by side on a new last axis, of length 2."""
    a, b = broadcast(a, b)
    if a.dtype != b.dtype:
        raise KernelError(f"tl.join takes two tiles of one dtype, got {a.dtype} and {b.dtype}: cast one of them")
    count = len(a.shape)
    is_second = operation("arange", numbers=(0, 2))
    if count:
        is_second = reshape(is_second, (1,) * count + (2,))
        a, b = expand_dims(a, count), expand_dims(b, count)
    return operation("where", is_second == 0, a, b)


def split(a: Any) -> tuple[ChipTile, ChipTile]:
    """The two halves of a tile whose last axis has length 2."""
    shape = np.shape(known(a))
    if not shape or shape[-1] != 2:
        raise KernelError(f"tl.split takes a tile whose last axis has length 2, got shape {shape}: reshape it first")
    parts = [_along(a, len(shape) - 1, operation("arange", numbers=(at, at + 1))) for at in (0, 1)]
    first, second = (reshape(part, shape[:-1]) for part in parts)
    return first, second


def _along(tile: Any, axis: int, positions: ChipTile) -> ChipTile:
    """The numbers of a tile at positions along an axis."""
    shape = list(np.shape(known(tile)))
    for at in range(len(shape)):
        positions = expand_dims(positions, at) if at != axis else positions
    shape[axis] = positions.numel
    return operation("gather", tile, broadcast_to(positions, tuple(shape)), numbers=(axis,))


def interleave(a: Any, b: Any) -> ChipTile:
    """Numbers of two tiles in turn, along the last axis."""
    joined = join(a, b)
    *before, last, two = (1, *joined.shape)
    return joined if len(joined.shape) == 1 else reshape(joined, (*before[1:], last * two))


def cat(input: Any, other: Any, can_reorder: bool = False, dim: int = 0) -> ChipTile:
    """Two tiles of one shape behind each other along an axis; here their numbers stay in their order."""
    shape = np.shape(known(input))
    if shape != np.shape(known(other)):
        raise KernelError(f"tl.cat takes tiles of one shape, got {shape} and {np.shape(known(other))}")
    axis = axis_of("cat", shape, dim)
    order = list(range(len(shape)))
    order.insert(axis, len(shape))
    lengths = [2 * length if at == axis else length for at, length in enumerate(shape)]
    return reshape(permute(join(input, other), *order), tuple(lengths))


def flip(x: Any, dim: int | None = None) -> ChipTile:
    """A tile with its numbers in the reverse order along an axis, the last if none is named."""
    shape = np.shape(known(x))
    axis = axis_of("flip", shape, -1 if dim is None else dim)
    return _along(x, axis, (shape[axis] - 1) - operation("arange", numbers=(0, shape[axis])))


def gather(src: Any, index: Any, axis: int) -> ChipTile:
    """The numbers of a tile at the positions of another, along an axis."""
    return operation("gather", src, index, numbers=(axis_of("gather", np.shape(known(src)), axis),))


_ROUNDINGS = (None, "rtne")


def cast(input: Any, dtype: ElementType, fp_downcast_rounding: str | None = None, bitcast: bool = False) -> ChipTile:
    """A tile in another dtype, or its bits as numbers of that dtype."""
    if fp_downcast_rounding not in _ROUNDINGS:
        raise KernelError(f"floats are rounded to the nearest here, 'rtne', not {fp_downcast_rounding!r}")
    return operation("bitcast" if bitcast else "cast", input, numbers=(position(dtype),))


SHAPES: tuple[Callable[..., Any], ...] = (
    *(broadcast, broadcast_to, cast, cat, expand_dims, flip, gather, interleave, join, permute, ravel, reshape, split),
    *(squeeze, trans, unsqueeze, view),
)
"""The functions of this file."""
