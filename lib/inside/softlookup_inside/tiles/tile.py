"""What a kernel computes with while it is recorded: tiles, scalars that are known, and pointers.

A tile knows its shape and dtype, and no number from memory: whatever is done with it becomes a row of the record.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlookup_inside.tiles import names
from softlookup_inside.tiles.operations import OPERATIONS, compute
from softlookup_inside.tiles.overflow import wrapped
from softlookup_inside.tiles.recording import Entry, recorder
from softlookup_inside.tiles.values import DTYPES, KernelError, Value, is_float, name_of


@dataclass(frozen=True)
class ElementType:
    """A dtype of the language, ``tl.float32``."""

    dtype: np.dtype

    @property
    def element_ty(self) -> "ElementType":
        """The dtype of a tile's numbers, of the tile's type."""
        return self

    scalar = element_ty

    @property
    def primitive_bitwidth(self) -> int:
        """Bits of a number."""
        return 1 if self.dtype == bool else 8 * self.dtype.itemsize

    def is_floating(self) -> bool:
        """Whether it is a dtype of floats."""
        return is_float(self.dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"{self!r} has no {name!r} here: compare dtypes, as in `x.dtype == tl.float16`")

    def __call__(self, *args: Any) -> Any:
        """Say how to cast, where it is called as numpy's dtypes are."""
        raise KernelError(f"{self!r} is no function: cast a tile or a scalar with `.to({self!r})`")

    def __repr__(self) -> str:
        return f"tl.{'int1' if self.dtype == bool else name_of(self.dtype)}"


@dataclass(frozen=True)
class PointerType:
    """The dtype of a pointer, which is no dtype of numbers."""

    element_ty: ElementType

    @property
    def scalar(self) -> "PointerType":
        """The dtype of one pointer of a tile."""
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(
            f"the dtype of a pointer has no {name!r}: write `.dtype.element_ty` for that of its numbers"
        )

    def __repr__(self) -> str:
        return f"the dtype of a pointer to {self.element_ty}"


_INT32, _INT64 = ElementType(np.dtype(np.int32)), ElementType(np.dtype(np.int64))


class ChipTile:
    """A tile on chip, or a scalar: its row in its program's record, and zeros of its shape and dtype."""

    def __init__(self, row: int, value: np.ndarray) -> None:
        self.row, self.value = row, value
        self._recorder, self._program = recorder(), recorder().number

    @property
    def entry(self) -> Entry:
        """What stands for it in the record; KernelError if it is of another program."""
        if self._recorder is not recorder() or self._program != recorder().number:
            raise KernelError("a tile of another program is not on this chip: programs share main memory alone")
        return self.row, self.value

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return self.value.shape

    @property
    def dtype(self) -> ElementType:
        """Its dtype."""
        return ElementType(self.value.dtype)

    type = dtype

    @property
    def numel(self) -> int:
        """How many numbers it has."""
        return self.value.size

    @property
    def T(self) -> "ChipTile":
        """The tile transposed."""
        if self.value.ndim < 2:
            raise KernelError(f"only a tile with two axes or more is transposed, got shape {self.shape}")
        return self.trans()

    def to(self, dtype: ElementType, fp_downcast_rounding: str | None = None, bitcast: bool = False) -> "ChipTile":
        """The tile in another dtype, or its bits as numbers of that dtype."""
        return self.cast(dtype, fp_downcast_rounding, bitcast)

    def __getitem__(self, key: Any) -> "ChipTile":
        keys = key if isinstance(key, tuple) else (key,)
        if any(not (part is None or isinstance(part, slice) and part == slice(None)) for part in keys):
            raise KernelError("a tile is indexed with `:` and `None` alone: choose numbers with pointers or tl.where")
        if sum(part is not None for part in keys) > len(self.shape):
            raise KernelError(f"too many indices for a tile of shape {self.shape}")
        tile = self
        for axis, part in enumerate(keys):
            tile = operation("expand", tile, numbers=(axis,)) if part is None else tile
        return tile

    def __getattr__(self, name: str) -> Any:
        """A function of ``tl`` whose first argument this is, as in ``x.sum(axis=0)``."""
        if name not in METHODS:
            raise AttributeError(names.refusal_of_method(name, METHODS))
        return functools.partial(METHODS[name], self)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise KernelError("a tile's numbers are not set one by one: make a new tile with tl.where")

    def __repr__(self) -> str:
        return f"<{self.dtype} tile of shape {self.shape}>"

    def __bool__(self) -> bool:
        if not self.shape:
            raise KernelError(_NO_NUMBER.format("a condition", "use tl.where, tl.maximum, tl.minimum or a mask"))
        raise KernelError(
            _NO_VALUE.format(
                "`if`, `and`, `or`, `not`, `a < b < c`, `max` and `min` need them",
                "use tl.where, `&` and `|`, tl.maximum and tl.minimum",
            )
        )

    def __index__(self) -> int:
        if not self.shape:
            raise KernelError(_NO_NUMBER.format("a bound of a loop", "loop to an argument, and mask the rest"))
        raise KernelError(
            _NO_VALUE.format("a loop or an index needs them", "loop over whole numbers, and mask the rest")
        )

    def __int__(self) -> int:
        return self.__index__()

    def __float__(self) -> float:
        raise KernelError("Python's functions of numbers cannot compute with a tile or a scalar: use those of tl")

    def __iter__(self) -> Any:
        raise KernelError(_NO_VALUE.format("a loop over a tile needs them", "work on the whole tile at once"))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise KernelError("numpy and torch cannot compute with a tile: use tl")

    __array_ufunc__ = __array_function__ = __array__

    @classmethod
    def __torch_function__(cls, *args: Any, **kwargs: Any) -> Any:
        raise KernelError("numpy and torch cannot compute with a tile: use tl")

    def __matmul__(self, other: Any) -> Any:
        raise KernelError("`@` multiplies no tiles: use tl.dot(a, b)")

    __rmatmul__ = __matmul__

    def __pow__(self, other: Any) -> Any:
        raise KernelError(
            "`**` takes constants alone in Triton: write `x * x`, tl.sqrt(x), or tl.exp2(y * tl.log2(x)) for `x ** y`"
        )

    __rpow__ = __pow__

    def __pos__(self) -> Any:
        raise KernelError("Triton's compiler knows no `+x`: write `x`")

    def __neg__(self) -> "ChipTile":
        return operation("negative", self)

    def __invert__(self) -> "ChipTile":
        return operation("invert", self)

    __hash__ = object.__hash__


_NO_NUMBER = (
    "a number that is loaded, or computed from such, can be {} in Triton, and not here, where a kernel is recorded "
    "before there are numbers: {}"
)
_NO_VALUE = "a tile's numbers are not known while the kernel is built, and {}: {}"

METHODS: dict[str, Callable[..., Any]] = {}  # functions of ``tl`` that are methods of a tile; ``language.py`` fills it


class KnownScalar(ChipTile):
    """A scalar whose number is known, an array without axes: a plain argument, or the index of a program."""

    def __init__(self, value: np.ndarray) -> None:
        self.value = value

    @property
    def entry(self) -> Entry:
        """What stands for it in the record: a constant."""
        return recorder().constant(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        if self.value.dtype.kind == "f":
            raise KernelError(f"a whole number is needed here, got {self.value}")
        return int(self.value)

    def __repr__(self) -> str:
        return str(self.value)


class Pointer:
    """A place in main memory, or a tile of places: an argument of the kernel and offsets in it, counted in numbers."""

    __array_ufunc__ = None

    def __init__(self, argument: int, dtype: np.dtype, offset: "ChipTile | int" = 0) -> None:
        self.argument, self.element, self.offset = argument, dtype, offset

    @property
    def dtype(self) -> PointerType:
        """The dtype of a pointer: what it points to is ``dtype.element_ty``."""
        return PointerType(ElementType(self.element))

    type = dtype

    def _moved(self, offset: Any) -> "Pointer":
        return Pointer(self.argument, self.element, offset)

    def __add__(self, offset: Any) -> "Pointer":
        dtype_kind = offset.dtype.dtype.kind if isinstance(offset, ChipTile) else "i" if is_whole(offset) else ""
        if dtype_kind not in ("i", "u"):
            got = "a pointer" if isinstance(offset, Pointer) else f"{offset!r}"
            raise KernelError(f"a pointer moves by whole numbers, or a tile of them; got {got}")
        if isinstance(offset, ChipTile) and offset.value.dtype not in (_INT32.dtype, _INT64.dtype):
            # Sums of places do not wrap around where numbers of a narrow dtype would.
            offset = offset.to(_INT32 if offset.value.dtype.itemsize < 4 else _INT64)
        if not isinstance(self.offset, ChipTile) and self.offset == 0:
            return self._moved(offset)
        is_large = not isinstance(offset, ChipTile) and abs(offset) >= 2**31
        start = self.offset.to(_INT64) if is_large and isinstance(self.offset, ChipTile) else self.offset
        return self._moved(start + offset)

    __radd__ = __add__

    def __sub__(self, offset: Any) -> "Pointer":
        if isinstance(offset, Pointer):
            raise KernelError("pointers are not subtracted from each other")
        if isinstance(offset, ChipTile) and offset.dtype.dtype.kind == "u":
            offset = offset.to(_INT64)
        return self + (-offset)

    def __getitem__(self, key: Any) -> "Pointer":
        if not isinstance(self.offset, ChipTile) or not self.offset.shape:
            raise KernelError("numbers are read with tl.load(pointer + offsets), not with an index")
        return self._moved(self.offset[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        raise KernelError("numbers are written with tl.store(pointer + offsets, value), not with an index")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"a pointer has no {name!r}: read what it points to with tl.load, then compute")

    def __lt__(self, other: Any) -> Any:
        raise KernelError("a pointer is not compared: write `x + cols` and the mask `cols < n` apart")

    __le__ = __gt__ = __ge__ = __lt__

    def __mul__(self, other: Any) -> Any:
        raise KernelError("a pointer is a place, no number: read what it points to with tl.load, then compute")

    __rmul__ = __truediv__ = __rtruediv__ = __neg__ = __mul__

    def __repr__(self) -> str:
        return f"<pointer to {self.dtype.element_ty}>"


def is_whole(value: Any) -> bool:
    """Whether something is a whole number that stands in the kernel."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)


def position(dtype: Any) -> int:
    """What stands for a dtype in the record."""
    if isinstance(dtype, PointerType):
        raise KernelError(f"{dtype} is no dtype of numbers: write `.dtype.element_ty`")
    if not isinstance(dtype, ElementType) or dtype.dtype not in DTYPES:
        raise KernelError(f"a dtype of tl is needed here (tl.float32, tl.float16, tl.int32), got {dtype!r}")
    return DTYPES.index(dtype.dtype)


def known(value: Any) -> Value:
    """What is known of an operand: a literal, or a tile's value; KernelError if it is neither number nor tile."""
    if isinstance(value, ChipTile):
        return value.value
    if isinstance(value, Pointer):
        raise KernelError("a pointer is no tile: read what it points to with tl.load")
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool | int | float):
        return plain
    raise KernelError(f"a tile or a number is needed here, got {type(value).__name__}")


def entry_of(value: Any) -> Entry:
    """What stands for an operand in the record."""
    plain = known(value)
    return value.entry if isinstance(value, ChipTile) else recorder().constant(plain)


def operation(name: str, *operands: Any, numbers: Sequence[int] = ()) -> ChipTile:
    """Take down an operation, and give its result; of numbers that are known the result is known."""
    values = [known(operand) for operand in operands]
    if OPERATIONS[name].is_elementwise and all(
        isinstance(operand, KnownScalar) or not isinstance(operand, ChipTile) for operand in operands
    ):
        result = compute(name, values, numbers)
        # A number that wraps around is left to the record: as a place in memory it is refused.
        if wrapped(name, values, numbers, result) is None:
            return KnownScalar(result)
    return ChipTile(*recorder().computed(name, [entry_of(operand) for operand in operands], numbers))


def _binary(name: str, swapped: bool = False) -> Callable[[Any, Any], Any]:
    def method(a: Any, b: Any) -> Any:
        if isinstance(b, Pointer):
            return NotImplemented
        return operation(name, b, a) if swapped else operation(name, a, b)

    return method


_OPERATORS = {
    **{"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide"},
    **{"mod": "remainder", "and": "and", "or": "or", "xor": "xor", "lshift": "left_shift", "rshift": "right_shift"},
}
for _name, _operation in _OPERATORS.items():
    setattr(ChipTile, f"__{_name}__", _binary(_operation))
    setattr(ChipTile, f"__r{_name}__", _binary(_operation, swapped=True))
_COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}
for _name, _operation in _COMPARISONS.items():
    setattr(ChipTile, f"__{_name}__", _binary(_operation))
