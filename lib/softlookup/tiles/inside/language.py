"""``tl``: the part of Triton's language that chapter 18 uses, as a kernel sees it while it is recorded.

Source: the names and rules of ``triton.language``, version 3.9.
"""

import difflib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from softlookup.tiles.inside.operations import DTYPES, KernelError
from softlookup.tiles.inside.recording import recorder
from softlookup.tiles.inside.tile import (
    METHODS,
    ChipTile,
    ElementType,
    KnownScalar,
    Pointer,
    entry_of,
    is_whole,
    known,
    operation,
    position,
)


def program_id(axis: int) -> KnownScalar:
    """Which program this is, along one axis of the grid."""
    return _of_grid("program_id", (*recorder().program, 0, 0), axis)


def num_programs(axis: int) -> KnownScalar:
    """How many programs run, along one axis of the grid."""
    return _of_grid("num_programs", (*recorder().grid, 1, 1), axis)


def _of_grid(name: str, sizes: Sequence[int], axis: int) -> KnownScalar:
    if not is_whole(axis) or axis not in (0, 1, 2):
        raise KernelError(f"tl.{name} takes an axis 0, 1 or 2, got {axis!r}")
    return KnownScalar(np.array(sizes[axis], np.int32))


_CONSTEXPR = "whole numbers that stand in the kernel, or arguments marked as in `BLOCK: tl.constexpr`"


def arange(start: int, end: int) -> ChipTile:
    """Whole numbers from ``start`` to ``end``, without it; their count is a power of 2."""
    if not (is_whole(start) and is_whole(end)):
        raise KernelError(f"tl.arange takes {_CONSTEXPR}")
    return operation("arange", numbers=(int(start), int(end)))


def _sizes(shape: Any) -> tuple[int, ...]:
    sizes = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if not all(map(is_whole, sizes)):
        raise KernelError(f"a shape is made of {_CONSTEXPR}; got {shape!r}")
    if len(sizes) > 3 or min(sizes, default=1) < 1:
        raise KernelError(f"a shape has up to three sizes, at least 1 each; got {shape!r}")
    return (*map(int, sizes), *(0,) * (3 - len(sizes)))


def full(shape: Sequence[int], value: Any, dtype: ElementType) -> ChipTile:
    """A tile of one number."""
    return operation("full", value, numbers=(position(dtype), *_sizes(shape)))


def zeros(shape: Sequence[int], dtype: ElementType) -> ChipTile:
    """A tile of zeros."""
    return full(shape, 0, dtype)


def zeros_like(input: ChipTile) -> ChipTile:
    """A tile of zeros, of the shape and dtype of another."""
    return zeros(np.shape(known(input)), input.dtype)


def load(
    pointer: Pointer, mask: Any = None, other: Any = None, *, cache_modifier: str = "", eviction_policy: str = ""
) -> ChipTile:
    """Read from main memory: the numbers that ``pointer`` points to, ``other`` where ``mask`` is false.

    Without ``other`` such numbers are undefined on a GPU; here they are NaN, or the largest whole number. What is said
    about caches is a hint to a GPU, and changes nothing here.
    """
    _check_pointer("load", pointer)
    if mask is None and other is not None:
        raise KernelError("tl.load takes `other` beside a `mask` alone")
    mask_entry, other_entry = (None if part is None else entry_of(part) for part in (mask, other))
    return ChipTile(
        *recorder().load(pointer.argument, pointer.element, entry_of(pointer.offset), mask_entry, other_entry)
    )


def store(
    pointer: Pointer, value: Any, mask: Any = None, *, cache_modifier: str = "", eviction_policy: str = ""
) -> None:
    """Write to main memory: ``value`` where ``pointer`` points to, but where ``mask`` is false."""
    _check_pointer("store", pointer)
    mask_entry = None if mask is None else entry_of(mask)
    recorder().store(pointer.argument, entry_of(pointer.offset), mask_entry, entry_of(value))


def _check_pointer(name: str, pointer: Any) -> None:
    if not isinstance(pointer, Pointer):
        raise KernelError(f"tl.{name} takes a pointer first: an argument of the kernel and offsets, as in `x + cols`")


def _reduction(name: str) -> Callable[..., ChipTile]:
    def reduce(input: Any, axis: int | None = None, keep_dims: bool = False, dtype: Any = None) -> ChipTile:
        if axis is not None and not is_whole(axis):
            raise KernelError(f"tl.{name} reduces along an axis 0 or 1, got {axis!r}")
        if dtype is not None and name != "sum":
            raise KernelError(f"tl.{name} takes no dtype")
        shape = np.shape(known(input))
        if axis is not None and not -len(shape) <= axis < len(shape):
            raise KernelError(f"a tile of shape {shape} has no axis {axis}, along which tl.{name} reduces")
        tile = input if dtype is None else cast(input, dtype)
        return operation(name, tile, numbers=(-1 if axis is None else axis % len(shape), int(bool(keep_dims))))

    return _named(reduce, name, "along an axis, or all axes")


def _elementwise(name: str, count: int) -> Callable[..., ChipTile]:
    def apply(*inputs: Any) -> ChipTile:
        if len(inputs) != count:
            raise KernelError(f"tl.{name} takes {count} tile{'s' * (count > 1)}, got {len(inputs)}")
        return operation(name, *inputs)

    return _named(apply, name, "number by number")


def _named(function: Callable[..., ChipTile], name: str, way: str) -> Callable[..., ChipTile]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}`` of tiles, {way}."
    return function


def dot(input: Any, other: Any, acc: Any = None, input_precision: Any = None, out_dtype: Any = None) -> ChipTile:
    """The matrix product of tiles (M, K) and (K, N), added to ``acc`` if it is there.

    It is computed in float32, and given in float32 but for ``out_dtype=tl.float16`` or an ``acc`` in float16.
    """
    if out_dtype not in (None, tl.float16, tl.float32, tl.int32, tl.float64):
        raise KernelError(f"tl.dot gives tl.float32 or tl.float16, not {out_dtype!r}")
    if out_dtype is None and isinstance(acc, ChipTile):
        out_dtype = acc.dtype
    operands = (input, other) if acc is None else (input, other, acc)
    return operation("dot", *operands, numbers=(int(out_dtype == tl.float16),))


def trans(input: Any) -> ChipTile:
    """A tile transposed."""
    return operation("transpose", input)


def expand_dims(input: Any, axis: int) -> ChipTile:
    """A tile with one more axis, of length 1."""
    if not is_whole(axis):
        raise KernelError(f"tl.expand_dims takes one axis, got {axis!r}")
    return operation("expand", input, numbers=(axis + np.ndim(known(input)) + 1 if axis < 0 else axis,))


def reshape(input: Any, *shape: Any) -> ChipTile:
    """A tile in another shape."""
    return operation("reshape", input, numbers=_sizes(shape[0] if len(shape) == 1 else shape))


def broadcast_to(input: Any, *shape: Any) -> ChipTile:
    """A tile repeated along axes of length 1."""
    return operation("broadcast", input, numbers=_sizes(shape[0] if len(shape) == 1 else shape))


def cast(input: Any, dtype: ElementType) -> ChipTile:
    """A tile in another dtype."""
    return operation("cast", input, numbers=(position(dtype),))


def cdiv(x: Any, div: Any) -> Any:
    """The quotient of whole numbers, rounded up: how many tiles of ``div`` cover ``x``."""
    return (x + (div - 1)) // div


def loop(start: Any, end: Any = None, step: Any = 1, **hints: Any) -> range:
    """``tl.range`` and ``tl.static_range``: Python's ``range``; hints to a compiler change nothing here."""
    return range(0, start, step) if end is None else range(start, end, step)


def hint(input: Any, *hints: Any) -> Any:
    """``tl.multiple_of`` and others, which help a compiler: here they give the tile as it is."""
    return input


def static_assert(condition: Any, message: str = "") -> None:
    """Stop if what is known while the kernel is built is not so.

    Raises:
        KernelError: If it is not.
    """
    if not condition:
        raise KernelError(message or "tl.static_assert: this does not hold")


class constexpr:
    """Marks an argument that is known before the kernel is built, ``BLOCK: tl.constexpr``."""

    def __new__(cls, value: Any) -> Any:
        """The value itself."""
        return value


class Language:
    """The names of ``tl``; others are refused with what there is."""

    def __init__(self) -> None:
        names: dict[str, Any] = {dtype.name: ElementType(dtype) for dtype in DTYPES[1:]}
        names |= {"int1": ElementType(np.dtype(bool)), "constexpr": constexpr, "range": loop, "static_range": loop}
        functions: tuple[Callable[..., Any], ...] = (
            program_id,
            num_programs,
            arange,
            full,
            zeros,
            zeros_like,
            load,
            store,
        )
        functions += (dot, trans, cdiv, cast, expand_dims, reshape, broadcast_to, static_assert)
        names |= {function.__name__: function for function in functions}
        names |= {name: hint for name in ("assume", "multiple_of", "max_contiguous")}
        names |= {name: _reduction(name) for name in ("max", "min", "sum")}
        names |= {name: _elementwise(name, 1) for name in ("exp", "exp2", "log", "log2", "sqrt", "rsqrt")}
        names |= {name: _elementwise(name, 1) for name in ("sigmoid", "abs")}
        names |= {name: _elementwise(name, 2) for name in ("maximum", "minimum")}
        names["where"] = _elementwise("where", 3)
        self.__dict__.update(names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        near = difflib.get_close_matches(name, vars(self), 1)
        hint = f"did you mean tl.{near[0]}?" if near else f"it has {', '.join(sorted(vars(self)))}."
        raise AttributeError(f"tl has no {name!r} here: {hint}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"tl.{name} is not to be set: give what you make a name of its own")

    def __repr__(self) -> str:
        return "tl, the part of triton.language that softlookup.tiles knows"


tl = Language()
"""The language: what ``triton.language`` is to a kernel, as far as chapter 18 needs it.

Book: 18_kernels.html#kernels-launch.
"""
METHODS |= {
    name: getattr(tl, name)
    for name in (
        *("abs", "broadcast_to", "cast", "cdiv", "exp", "exp2", "expand_dims", "log", "log2", "max", "min", "reshape"),
        *("rsqrt", "sigmoid", "sqrt", "sum", "trans"),
    )
}
