"""What each operation on tiles gives: the one definition, used to record a kernel and to run its record.

Dtypes follow Triton: a number that stands in the kernel's text takes the dtype of what is beside it, float16 is
computed in float32 where it is divided, whole numbers are divided as C does, and ``exp`` and its kind take float32
alone. Source: ``triton.language``, version 3.9; ``tests/tiles`` compares every operation with it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from softlookup.tiles.inside.halves import as_dtype

MOST_NUMBERS = 2**17
"""Numbers that a tile may hold."""

SMALLEST_DOT = 16
"""Length of each axis of a tile that a tensor core multiplies, at least."""

DTYPES = tuple(
    np.dtype(name)
    for name in (
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "float16",
        "float32",
        "float64",
    )
)
"""Dtypes of tiles; a record gives their position here."""


class KernelError(Exception):
    """A kernel does what the language does not know, or what does not fit together; the message says what."""


@dataclass(frozen=True)
class TileOperation:
    """One operation on tiles.

    Attributes:
        compute: Takes the operands, then the whole numbers of the record.
        operands: How many operands it has; None for a dot product, which has two or three.
        numbers: How many whole numbers stand beside them.
        is_view: Whether the result is the operand's own numbers in another shape.
        is_elementwise: Whether each number of the result needs those at the same index alone.
    """

    compute: Callable[..., np.ndarray]
    operands: int | None
    numbers: int = 0
    is_view: bool = False
    is_elementwise: bool = False


Literal = bool | int | float
"""A number that stands in the kernel's text or is a ``tl.constexpr``: it has no dtype until it meets a tile."""

Value = np.ndarray | Literal
"""What an operation takes: a tile, a scalar (an array without axes) or a literal."""


def literal_dtype(value: Literal) -> np.dtype:
    """The dtype of a number that meets no tile."""
    if isinstance(value, bool):
        return np.dtype(bool)
    if isinstance(value, int):
        return next((dtype for dtype in _WHOLE if _is_in_range(value, dtype)), np.dtype(np.int64))
    is_single = value == 0 or not math.isfinite(value) or 2**-126 <= abs(value) <= _LARGEST_SINGLE
    return np.dtype(np.float32 if is_single else np.float64)


_LARGEST_SINGLE = float(np.finfo(np.float32).max)

_WHOLE = tuple(map(np.dtype, (np.int32, np.uint32, np.int64)))


def _is_in_range(value: int, dtype: np.dtype) -> bool:
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return bool(low <= value <= high)


def dtype_of(value: Value) -> np.dtype:
    """The dtype of an operand."""
    return value.dtype if isinstance(value, np.ndarray) else literal_dtype(value)


def tensor(value: Value, dtype: np.dtype | None = None) -> np.ndarray:
    """An operand as an array, in a dtype.

    Raises:
        KernelError: If a whole number is outside of that dtype.
    """
    if isinstance(value, np.ndarray):
        return value if dtype is None else as_dtype(value, dtype)
    dtype = literal_dtype(value) if dtype is None else dtype
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.array(value, np.float64 if dtype.itemsize == 8 else np.float32).astype(dtype)
    if not _is_in_range(int(value), dtype):
        raise KernelError(f"the number {value} is outside of {dtype}: cast the tile first, as in `.to(tl.int32)`")
    return np.array(value, dtype)


def common_dtype(a: Value, b: Value, sign: str = "") -> np.dtype:
    """The dtype in which two operands are computed, by Triton's rules.

    Args:
        a: An operand.
        b: The other.
        sign: "/", "//" or "%" if they are divided.

    Raises:
        KernelError: If whole numbers with and without a sign are divided.
    """
    x, y = dtype_of(a), dtype_of(b)
    if isinstance(a, np.ndarray) != isinstance(b, np.ndarray):
        literal, tile = (y, x) if isinstance(a, np.ndarray) else (x, y)
        if _KINDS[literal.kind] <= _KINDS[tile.kind]:
            x = y = tile
    floats = [dtype for dtype in (x, y) if dtype.kind == "f"]
    if floats:
        return np.dtype(np.float32) if sign and np.float64 not in floats else max(floats, key=_size)
    if sign and (x.kind == "i") != (y.kind == "i"):
        raise KernelError(f"`{sign}` takes two numbers with a sign or two without, got {x} and {y}: cast one of them")
    if x.itemsize == y.itemsize and x.kind != y.kind:
        return next((dtype for dtype in (x, y) if dtype.kind == "u"), max(x, y, key=lambda d: _KINDS[d.kind]))
    return max((x, y), key=lambda dtype: (_KINDS[dtype.kind], dtype.itemsize))


_KINDS = {"b": 0, "u": 1, "i": 1, "f": 2}


def _size(dtype: np.dtype) -> int:
    return dtype.itemsize


def _fits(shape: Sequence[int]) -> tuple[int, ...]:
    """A tile's shape, if there may be such a tile."""
    if any(length < 1 or length & (length - 1) for length in shape):
        raise KernelError(f"a tile's sizes are powers of 2, got {tuple(shape)}")
    if math.prod(shape) > MOST_NUMBERS:
        raise KernelError(f"a tile of shape {tuple(shape)} is too large: it may hold {MOST_NUMBERS:,} numbers")
    return tuple(shape)


def broadcast_shape(*values: Value) -> tuple[int, ...]:
    """The common shape of some tiles.

    Raises:
        KernelError: If they have none, or it is too large.
    """
    return _common_shape(tuple(np.shape(value) for value in values))


@lru_cache(maxsize=1024)
def _common_shape(shapes: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    try:
        return _fits(np.broadcast_shapes(*shapes))
    except ValueError:
        raise KernelError(
            f"tiles of shapes {' and '.join(str(shape) for shape in shapes if shape)} do not fit together: "
            "`[:, None]` and `[None, :]` add an axis"
        ) from None


def _check_whole(sign: str, *values: Value) -> None:
    dtypes = [dtype_of(value) for value in values]
    if any(dtype.kind == "f" for dtype in dtypes):
        raise KernelError(f"`{sign}` takes whole numbers or booleans, got {' and '.join(map(str, dtypes))}")


def _binary(ufunc: Callable[..., Any], sign: str = "", divides: bool = False) -> TileOperation:
    """An operation on two tiles.

    Args:
        ufunc: Computes it.
        sign: What it is called in a kernel, if it takes whole numbers alone, or divides.
        divides: Whether it divides.
    """

    def compute(a: Value, b: Value) -> np.ndarray:
        broadcast_shape(a, b)
        if sign not in ("", "/", "%"):
            _check_whole(sign, a, b)
        dtype = common_dtype(a, b, sign if divides else "")
        x, y = tensor(a, dtype), tensor(b, dtype)
        if dtype == np.float16:
            return _by_singles(ufunc, x, y)
        if dtype.kind != "b" or ufunc in _LOGICAL:
            return np.asarray(ufunc(x, y))
        if sign not in ("", "/"):
            raise KernelError(f"`{sign}` takes no booleans: cast them, as in `.to(tl.int32)`")
        # A boolean is a number of one bit.
        return np.asarray(ufunc(x.astype(np.int8), y.astype(np.int8)) & 1).astype(bool)

    return TileOperation(compute, 2, is_elementwise=True)


def _by_singles(ufunc: Callable[..., Any], *halves: np.ndarray) -> np.ndarray:
    """An operation on float16, computed in float32 and rounded, as numpy does and processors do."""
    result = np.asarray(ufunc(*(as_dtype(half, _SINGLE) for half in halves)))
    return as_dtype(result, _HALF) if result.dtype.kind == "f" else result


_HALF, _SINGLE = np.dtype(np.float16), np.dtype(np.float32)

_LOGICAL = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.fmax, np.fmin) + (
    *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
)
"""What numpy computes with booleans as Triton does."""


def _divide(a: Value, b: Value) -> np.ndarray:
    broadcast_shape(a, b)
    dtype = common_dtype(a, b, "/")
    x, y = tensor(a, dtype), tensor(b, dtype)
    single = dtype if dtype.kind == "f" else _SINGLE
    return np.asarray(np.divide(as_dtype(x, single), as_dtype(y, single)))


def _whole_quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rounded to zero, as C does; by zero it is 0."""
    rest = np.fmod(a, b)
    return np.asarray((a - rest) // np.where(b == 0, 1, b)).astype(a.dtype)


def _shift(name: str, sign: str) -> TileOperation:
    """A shift, which keeps the sign of the number to the left if that has one."""
    plain = _binary(np.left_shift if name == "left" else np.right_shift, sign).compute

    def compute(a: Value, b: Value) -> np.ndarray:
        result = plain(a, b)
        shifted = dtype_of(a if isinstance(a, np.ndarray) else b)
        if name == "left" or shifted.kind != "i" or result.dtype.kind != "u":
            return result
        signed = np.dtype(f"i{result.dtype.itemsize}")
        return np.right_shift(tensor(a).astype(signed), tensor(b).astype(signed)).astype(result.dtype)

    return TileOperation(compute, 2, is_elementwise=True)


def _unary(ufunc: Callable[..., Any], name: str = "") -> TileOperation:
    def compute(value: Value) -> np.ndarray:
        a = tensor(value)
        if name and a.dtype not in (np.float32, np.float64):
            raise KernelError(f"tl.{name} takes float32, got {a.dtype}: write `.to(tl.float32)` before it")
        return np.asarray(ufunc(a))

    return TileOperation(compute, 1, is_elementwise=True)


def _minus(a: np.ndarray) -> np.ndarray:
    return a if a.dtype.kind == "b" else np.asarray(np.negative(a))


def _invert(value: Value) -> np.ndarray:
    _check_whole("~", value)
    return np.asarray(np.invert(tensor(value)))


def _where(condition: Value, a: Value, b: Value) -> np.ndarray:
    broadcast_shape(condition, a, b)
    dtype = common_dtype(a, b)
    return np.where(tensor(condition) != 0, tensor(a, dtype), tensor(b, dtype))


def _cast(value: Value, dtype: int) -> np.ndarray:
    return as_dtype(tensor(value), DTYPES[dtype])


def _expand(value: Value, axis: int) -> np.ndarray:
    a = tensor(value)
    if not 0 <= axis <= a.ndim or a.ndim > 2:
        raise KernelError(f"a tile of shape {a.shape} gets no axis {axis}")
    return np.expand_dims(a, axis)


def _transpose(value: Value) -> np.ndarray:
    a = tensor(value)
    if a.ndim != 2:
        raise KernelError(f"tl.trans takes a tile with two axes, got shape {a.shape}")
    return a.T


def _reshape(value: Value, *sizes: int) -> np.ndarray:
    a = tensor(value)
    shape = _fits([n for n in sizes if n])
    if np.prod(shape) != a.size:
        raise KernelError(f"a tile of shape {a.shape} cannot be reshaped to {shape}")
    return a.reshape(shape)


def _broadcast(value: Value, *sizes: int) -> np.ndarray:
    a, shape = tensor(value), _fits([n for n in sizes if n])
    if a.ndim not in (0, len(shape)) or any(n not in (1, size) for n, size in zip(a.shape, shape, strict=False)):
        raise KernelError(
            f"a tile of shape {a.shape} cannot be broadcast to {shape}: only axes of length 1 are repeated"
        )
    return np.broadcast_to(a, shape)


def _reduction(ufunc: Any, is_sum: bool = False) -> TileOperation:
    def compute(value: Value, axis: int, keeps_axis: int) -> np.ndarray:
        """The axis -1 stands for all axes."""
        a = tensor(value)
        if not -1 <= axis < a.ndim or a.ndim == 0:
            raise KernelError(f"a tile of shape {a.shape} has no axis {axis}")
        dtype = a.dtype
        if dtype.kind != "f" and dtype.itemsize < 4:
            dtype = np.dtype(np.uint32 if is_sum and dtype.kind != "i" else np.int32)
        computed = _SINGLE if dtype == _HALF else dtype
        axes = None if axis == -1 else axis
        result = np.asarray(ufunc.reduce(as_dtype(a, computed), axis=axes, keepdims=bool(keeps_axis)), dtype=computed)
        # The order of a sum is the device's, and so is what it rounds on the way: here it is rounded once.
        return as_dtype(result, _HALF) if is_sum and dtype == _HALF else result

    return TileOperation(compute, 1, 2)


def _dot(a: np.ndarray, b: np.ndarray, *rest: Any) -> np.ndarray:
    """The product, and added to a third tile if there is one; the last of ``rest`` says whether it is float16."""
    *added, is_half = rest
    if np.ndim(a) != 2 or np.ndim(b) != 2 or a.shape[1] != b.shape[0]:
        raise KernelError(f"tl.dot multiplies tiles (M, K) and (K, N), got {np.shape(a)} and {np.shape(b)}")
    if min(*a.shape, *b.shape) < SMALLEST_DOT:
        raise KernelError(
            f"tl.dot takes tiles of at least {SMALLEST_DOT} by {SMALLEST_DOT}, got {a.shape} and {b.shape}"
        )
    if a.dtype != b.dtype or a.dtype.name not in ("int8", "float16", "float32", "float64"):
        raise KernelError(
            f"tl.dot takes two tiles of one dtype, float16, float32, float64 or int8, got {a.dtype} and {b.dtype}: "
            "cast one of them"
        )
    dtype = np.dtype(_DOT_GIVES.get(a.dtype.name, a.dtype))
    _fits((a.shape[0], b.shape[1]))
    product = as_dtype(as_dtype(a, dtype) @ as_dtype(b, dtype), _HALF if is_half and a.dtype == _HALF else dtype)
    if not added:
        return product
    (total,) = added
    if np.shape(total) != product.shape or total.dtype != product.dtype:
        raise KernelError(
            f"tl.dot adds to a {product.dtype} tile of shape {product.shape}, got {dtype_of(total)} of shape "
            f"{np.shape(total)}"
        )
    return _by_singles(np.add, total, product) if product.dtype == _HALF else np.asarray(total + product)


_DOT_GIVES = {"int8": np.int32, "float16": np.float32}


def _arange(start: int, end: int) -> np.ndarray:
    count = end - start
    if count < 1 or count & (count - 1) or not -(2**31) <= start < end <= 2**31 - 1:
        raise KernelError(f"the length of tl.arange({start}, {end}) must be a power of 2, at least 1")
    _fits((count,))
    return np.arange(start, end, dtype=np.int32)


def _full(value: Value, dtype: int, *sizes: int) -> np.ndarray:
    if np.size(value) != 1:
        raise KernelError(f"tl.full takes one number, got a tile of shape {np.shape(value)}")
    if isinstance(value, float) and value == 0:
        value = 0
    if isinstance(value, float) and DTYPES[dtype].kind != "f":
        raise KernelError(f"tl.full takes a whole number for {DTYPES[dtype]}, got {value}")
    number = tensor(value, None if isinstance(value, np.ndarray) else DTYPES[dtype])
    return np.full(_fits([n for n in sizes if n]), as_dtype(number.reshape(()), DTYPES[dtype]))


OPERATIONS: Mapping[str, TileOperation] = {
    "add": _binary(np.add),
    "subtract": _binary(np.subtract),
    "multiply": _binary(np.multiply),
    "divide": TileOperation(_divide, 2, is_elementwise=True),
    "floor_divide": _binary(_whole_quotient, "//", divides=True),
    "remainder": _binary(np.fmod, "%", divides=True),
    "less": _binary(np.less),
    "less_equal": _binary(np.less_equal),
    "greater": _binary(np.greater),
    "greater_equal": _binary(np.greater_equal),
    "equal": _binary(np.equal),
    "not_equal": _binary(np.not_equal),
    "and": _binary(np.bitwise_and, "&"),
    "or": _binary(np.bitwise_or, "|"),
    "xor": _binary(np.bitwise_xor, "^"),
    "left_shift": _shift("left", "<<"),
    "right_shift": _shift("right", ">>"),
    "maximum": _binary(np.fmax),
    "minimum": _binary(np.fmin),
    "negative": _unary(_minus),
    "invert": TileOperation(_invert, 1, is_elementwise=True),
    "exp": _unary(np.exp, "exp"),
    "exp2": _unary(np.exp2, "exp2"),
    "log": _unary(np.log, "log"),
    "log2": _unary(np.log2, "log2"),
    "sqrt": _unary(np.sqrt, "sqrt"),
    "rsqrt": _unary(lambda a: 1 / np.sqrt(a), "rsqrt"),
    "sigmoid": _unary(lambda a: 1 / (1 + np.exp(-a)), "sigmoid"),
    "abs": _unary(np.abs),
    "where": TileOperation(_where, 3, is_elementwise=True),
    "cast": TileOperation(_cast, 1, 1, is_elementwise=True),
    "expand": TileOperation(_expand, 1, 1, is_view=True),
    "transpose": TileOperation(_transpose, 1, is_view=True),
    "reshape": TileOperation(_reshape, 1, 3, is_view=True),
    "broadcast": TileOperation(_broadcast, 1, 3, is_view=True),
    "max": _reduction(np.fmax),
    "min": _reduction(np.fmin),
    "sum": _reduction(np.add, is_sum=True),
    "dot": TileOperation(_dot, None, 1),
    "arange": TileOperation(_arange, 0, 2),
    "full": TileOperation(_full, 1, 4),
}
"""Everything that is computed on chip, by name; a record gives an operation's position here."""

NAMES = (*OPERATIONS, "constant", "load", "store")
"""Names of all rows of a record: operations, a constant, and what goes to and from main memory."""


def compute(name: str, operands: Sequence[Value], numbers: Sequence[int]) -> np.ndarray:
    """Compute one operation.

    Args:
        name: As in OPERATIONS.
        operands: Tiles, scalars and literals.
        numbers: The whole numbers beside them.

    Returns:
        The new tile, in a dtype of DTYPES.

    Raises:
        KernelError: If they do not fit together.
    """
    with np.errstate(all="ignore"):
        return OPERATIONS[name].compute(*operands, *numbers)
