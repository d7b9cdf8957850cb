"""``tl``: the part of Triton's language that chapter 18 uses, as a kernel sees it while it is recorded.

A tile knows its shape and dtype, and no number from memory: whatever is done with it becomes a row of the record.
Source: the names and rules of ``triton.language``, version 3.
"""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlookup.tiles.inside.operations import DTYPES, KernelError
from softlookup.tiles.inside.recording import Entry, recorder


@dataclass(frozen=True)
class ElementType:
    """A dtype of the language, ``tl.float32``; of a pointer, what it points to is its ``element_ty``."""

    dtype: np.dtype

    @property
    def element_ty(self) -> "ElementType":
        """What a pointer of this dtype points to."""
        return self

    def __repr__(self) -> str:
        return f"tl.{'int1' if self.dtype == bool else self.dtype.name}"


class Tile:
    """A tile on chip, or a scalar.

    Attributes:
        entry: Its row in the record of its program, and zeros of its shape and dtype.
    """

    __array_ufunc__ = None

    def __init__(self, entry: Entry) -> None:
        self.entry = entry

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return self.entry[1].shape

    @property
    def dtype(self) -> ElementType:
        """Its dtype."""
        return ElementType(self.entry[1].dtype)

    @property
    def T(self) -> "Tile":
        """The tile transposed."""
        return _record("transpose", self)

    def to(self, dtype: ElementType) -> "Tile":
        """The tile in another dtype."""
        return _record("cast", self, numbers=(_position(dtype),))

    def __getitem__(self, key: Any) -> "Tile":
        keys = key if isinstance(key, tuple) else (key,)
        tile, axis = self, 0
        for part in keys:
            if part is None:
                tile = _record("expand", tile, numbers=(axis,))
            elif part != slice(None):
                raise KernelError(
                    "a tile is indexed with `:` and `None` alone: choose numbers with pointers or tl.where"
                )
            axis += 1
        if sum(part is not None for part in keys) > len(self.shape):
            raise KernelError(f"too many indices for a tile of shape {self.shape}")
        return tile

    def __bool__(self) -> bool:
        raise KernelError(_NO_VALUE.format("`if`, `and`, `or` and `not` need them", "use tl.where, or `&` and `|`"))

    def __index__(self) -> int:
        raise KernelError(
            _NO_VALUE.format("a loop or an index needs them", "loop over whole numbers, and mask the rest")
        )

    __int__ = __float__ = __index__

    def __iter__(self) -> Any:
        raise KernelError(_NO_VALUE.format("a loop over a tile needs them", "work on the whole tile at once"))

    def __array__(self, *args: Any, **named: Any) -> Any:
        raise KernelError("numpy and torch cannot compute with a tile: use tl")

    def __neg__(self) -> "Tile":
        return _record("negative", self)

    def __invert__(self) -> "Tile":
        return _record("invert", self)

    __hash__ = object.__hash__


_NO_VALUE = "a tile's numbers are not known while the kernel is built, and {}: {}"


class Pointer:
    """A place in main memory, or a tile of places: an argument of the kernel and offsets in it, counted in numbers."""

    __array_ufunc__ = None

    def __init__(self, argument: int, dtype: np.dtype, offset: "Tile | int" = 0) -> None:
        self.argument, self.element, self.offset = argument, dtype, offset

    @property
    def dtype(self) -> ElementType:
        """What it points to, as ``dtype.element_ty``."""
        return ElementType(self.element)

    def _moved(self, offset: Any) -> "Pointer":
        return Pointer(self.argument, self.element, offset)

    def __add__(self, offset: Any) -> "Pointer":
        kind = offset.dtype.dtype.kind if isinstance(offset, Tile) else "i" if _is_whole(offset) else "f"
        if kind not in "iu":
            raise KernelError("a pointer moves by whole numbers, or a tile of them")
        return self._moved(self.offset + offset)

    __radd__ = __add__

    def __sub__(self, offset: Any) -> "Pointer":
        return self + (-offset)

    def __getitem__(self, key: Any) -> "Pointer":
        if not isinstance(self.offset, Tile):
            raise KernelError("numbers are read with tl.load(pointer + offsets), not with an index")
        return self._moved(self.offset[key])


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)


def _position(dtype: Any) -> int:
    if not isinstance(dtype, ElementType):
        raise KernelError(f"a dtype of tl is needed here (tl.float32, tl.float16, tl.int32), got {dtype!r}")
    return DTYPES.index(dtype.dtype)


def _tile(value: Any) -> Tile:
    """A tile as it is, a number as a constant."""
    if isinstance(value, Tile):
        return value
    if isinstance(value, Pointer):
        raise KernelError("a pointer is no tile: read what it points to with tl.load")
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return Tile(recorder().constant(value))
    raise KernelError(f"a tile or a number is needed here, got {type(value).__name__}")


def _record(name: str, *operands: Any, numbers: Sequence[int] = ()) -> Tile:
    return Tile(recorder().computed(name, [_tile(operand).entry for operand in operands], numbers))


def _binary(name: str, swapped: bool = False) -> Callable[[Any, Any], Any]:
    def method(a: Any, b: Any) -> Any:
        if isinstance(b, Pointer):
            return NotImplemented
        return _record(name, b, a) if swapped else _record(name, a, b)

    return method


_OPERATORS = {
    **{"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide"},
    **{"mod": "remainder", "and": "and", "or": "or", "xor": "xor", "lshift": "left_shift", "rshift": "right_shift"},
}
for _name, _operation in _OPERATORS.items():
    setattr(Tile, f"__{_name}__", _binary(_operation))
    setattr(Tile, f"__r{_name}__", _binary(_operation, swapped=True))
for _name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
    setattr(Tile, f"__{_name[0]}{'e' if 'equal' in _name else 't'}__", _binary(_name))


def program_id(axis: int) -> int:
    """Which program this is, along one axis of the grid."""
    return _of_grid("program_id", recorder().program, axis)


def num_programs(axis: int) -> int:
    """How many programs run, along one axis of the grid."""
    return _of_grid("num_programs", recorder().grid, axis)


def _of_grid(name: str, sizes: Sequence[int], axis: int) -> int:
    if axis not in (0, 1, 2):
        raise KernelError(f"tl.{name} takes an axis 0, 1 or 2, got {axis!r}")
    return (*sizes, *((1, 1, 1) if name == "num_programs" else (0, 0, 0)))[axis]


def arange(start: int, end: int) -> Tile:
    """Whole numbers from ``start`` to ``end``, without it; their count is a power of 2."""
    if not (_is_whole(start) and _is_whole(end)):
        raise KernelError("tl.arange takes whole numbers that are known before the kernel runs (tl.constexpr)")
    return _record("arange", numbers=(int(start), int(end)))


def _sizes(shape: Any) -> tuple[int, ...]:
    sizes = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if not all(map(_is_whole, sizes)) or not 1 <= len(sizes) <= 3:
        raise KernelError(f"a shape is one to three whole numbers, got {shape!r}")
    return (*map(int, sizes), *(0,) * (3 - len(sizes)))


def full(shape: Sequence[int], value: Any, dtype: ElementType) -> Tile:
    """A tile of one number."""
    return _record("full", value, numbers=(_position(dtype), *_sizes(shape)))


def zeros(shape: Sequence[int], dtype: ElementType) -> Tile:
    """A tile of zeros."""
    return full(shape, 0, dtype)


def zeros_like(input: Tile) -> Tile:
    """A tile of zeros, of the shape and dtype of another."""
    return zeros(input.shape, input.dtype)


def load(pointer: Pointer, mask: Any = None, other: Any = None) -> Tile:
    """Read from main memory: the numbers that ``pointer`` points to, ``other`` where ``mask`` is false."""
    _check_pointer("load", pointer)
    if mask is None and other is not None:
        raise KernelError("tl.load takes `other` beside a `mask` alone")
    offset, mask_entry, other_entry = map(_entry, (pointer.offset, mask, other))
    return Tile(recorder().load(pointer.argument, pointer.element, offset, mask_entry, other_entry))


def store(pointer: Pointer, value: Any, mask: Any = None) -> None:
    """Write to main memory: ``value`` where ``pointer`` points to, but where ``mask`` is false."""
    _check_pointer("store", pointer)
    offset, mask_entry, value_entry = map(_entry, (pointer.offset, mask, value))
    recorder().store(pointer.argument, offset, mask_entry, value_entry)


def _entry(value: Any) -> Any:
    return None if value is None else _tile(value).entry


def _check_pointer(name: str, pointer: Any) -> None:
    if not isinstance(pointer, Pointer):
        raise KernelError(f"tl.{name} takes a pointer first: an argument of the kernel and offsets, as in `x + cols`")


def _reduction(name: str) -> Callable[..., Tile]:
    def reduce(input: Any, axis: int | None = None, keep_dims: bool = False) -> Tile:
        if axis is not None and not _is_whole(axis):
            raise KernelError(f"tl.{name} reduces along an axis 0 or 1, got {axis!r}")
        tile = _tile(input)
        axis = -1 if axis is None else axis + len(tile.shape) if axis < 0 else axis
        return _record(name, tile, numbers=(axis, int(bool(keep_dims))))

    return _named(reduce, name, "along an axis, or all axes")


def _elementwise(name: str, count: int) -> Callable[..., Tile]:
    def apply(*inputs: Any) -> Tile:
        if len(inputs) != count:
            raise KernelError(f"tl.{name} takes {count} tile{'s' * (count > 1)}, got {len(inputs)}")
        return _record(name, *inputs)

    return _named(apply, name, "number by number")


def _named(function: Callable[..., Tile], name: str, way: str) -> Callable[..., Tile]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}`` of tiles, {way}."
    return function


def dot(input: Any, other: Any, acc: Any = None, input_precision: Any = None, out_dtype: Any = None) -> Tile:
    """The matrix product of tiles (M, K) and (K, N), in float32, added to ``acc`` if it is there."""
    if out_dtype not in (None, tl.float32, tl.int32):
        raise KernelError("tl.dot gives float32 here: write `.to(tl.float16)` behind it")
    return _record("dot", input, other, *(() if acc is None else (acc,)))


def trans(input: Any) -> Tile:
    """A tile transposed."""
    return _record("transpose", input)


def expand_dims(input: Any, axis: int) -> Tile:
    """A tile with one more axis, of length 1."""
    tile = _tile(input)
    return _record("expand", tile, numbers=(axis + len(tile.shape) + 1 if axis < 0 else axis,))


def reshape(input: Any, *shape: Any) -> Tile:
    """A tile in another shape."""
    return _record("reshape", input, numbers=_sizes(shape[0] if len(shape) == 1 else shape))


def broadcast_to(input: Any, *shape: Any) -> Tile:
    """A tile repeated along axes of length 1."""
    return _record("broadcast", input, numbers=_sizes(shape[0] if len(shape) == 1 else shape))


def cast(input: Any, dtype: ElementType) -> Tile:
    """A tile in another dtype."""
    return _tile(input).to(dtype)


def cdiv(x: int, div: int) -> int:
    """The quotient of whole numbers, rounded up: how many tiles of ``div`` cover ``x``."""
    return -(-x // div)


class constexpr:
    """Marks an argument that is known before the kernel is built, ``BLOCK: tl.constexpr``."""

    def __new__(cls, value: Any) -> Any:
        """The value itself."""
        return value


class Language:
    """The names of ``tl``; others are refused with what there is."""

    def __init__(self) -> None:
        names: dict[str, Any] = {dtype.name: ElementType(dtype) for dtype in DTYPES[1:]}
        names |= {"int1": ElementType(np.dtype(bool)), "constexpr": constexpr, "range": range, "static_range": range}
        functions = (program_id, num_programs, arange, full, zeros, zeros_like, load, store, dot, trans, cdiv)
        names |= {function.__name__: function for function in (*functions, expand_dims, reshape, broadcast_to, cast)}
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

    def __repr__(self) -> str:
        return "tl, the part of triton.language that softlookup.tiles knows"


tl = Language()
"""The language."""
