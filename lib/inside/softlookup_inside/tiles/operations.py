"""What each operation on tiles gives: the one definition, used to record a kernel and to run its record.

Dtypes follow Triton 3.9 (``triton.language``); ``tests/tiles`` compares every operation with it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlookup_inside.tiles.halves import BFLOAT16, as_dtype
from softlookup_inside.tiles.values import (
    DTYPES,
    KernelError,
    Value,
    broadcast_shape,
    common_dtype,
    dtype_of,
    fitting_shape,
    is_float,
    name_of,
    tensor,
)

SMALLEST_DOT = {1: 32, 2: 16, 4: 8, 8: 4}
"""Length at least of the axis that a product sums over, by the bytes of a number, as Triton has it for NVIDIA."""


@dataclass(frozen=True)
class TileOperation:
    """One operation on tiles."""

    compute: Callable[..., np.ndarray]  # takes the operands, then the whole numbers of the record
    operands: int | None  # how many it has; None for a dot product, which has two or three
    numbers: int = 0  # how many whole numbers stand beside them
    is_view: bool = False  # whether the result is the operand's own numbers in another shape
    is_elementwise: bool = False  # whether each number of the result needs those at the same index alone


def _check_whole(sign: str, *values: Value) -> None:
    dtypes = [dtype_of(value) for value in values]
    if any(map(is_float, dtypes)):
        raise KernelError(f"`{sign}` takes whole numbers or booleans, got {' and '.join(map(name_of, dtypes))}")


def _binary(ufunc: Callable[..., Any], sign: str = "", divides: bool = False) -> TileOperation:
    """An operation on two tiles; ``sign`` is what a kernel calls one that takes whole numbers alone, or divides."""

    def compute(a: Value, b: Value) -> np.ndarray:
        broadcast_shape(a, b)
        if sign not in ("", "/", "%"):
            _check_whole(sign, a, b)
        dtype = common_dtype(a, b, sign if divides else "")
        x, y = tensor(a, dtype), tensor(b, dtype)
        if dtype in _SHORT:
            return _by_singles(ufunc, x, y)
        if dtype.kind != "b" or ufunc in _LOGICAL:
            return np.asarray(ufunc(x, y))
        if sign not in ("", "/"):
            raise KernelError(f"`{sign}` takes no booleans: cast them, as in `.to(tl.int32)`")
        # A boolean is a number of one bit.
        return np.asarray(ufunc(x.astype(np.int8), y.astype(np.int8)) & 1).astype(bool)

    return TileOperation(compute, 2, is_elementwise=True)


def _by_singles(ufunc: Callable[..., Any], *halves: np.ndarray) -> np.ndarray:
    """An operation on float16 or bfloat16, computed in float32 and rounded, as numpy does and processors do."""
    result = np.asarray(ufunc(*(as_dtype(half, _SINGLE) for half in halves)))
    return as_dtype(result, halves[0].dtype) if result.dtype.kind == "f" else result


_HALF, _SINGLE = np.dtype(np.float16), np.dtype(np.float32)

_SHORT = (_HALF, BFLOAT16)

_LOGICAL = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.fmax, np.fmin) + (
    *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
)
"""What numpy computes with booleans as Triton does."""


def _divide(a: Value, b: Value) -> np.ndarray:
    broadcast_shape(a, b)
    dtype = common_dtype(a, b, "/")
    x, y = tensor(a, dtype), tensor(b, dtype)
    single = dtype if is_float(dtype) else _SINGLE
    return np.asarray(np.divide(as_dtype(x, single), as_dtype(y, single)))


def _whole_quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rounded to zero, as C does; by zero it is 0."""
    remainder = np.fmod(a, b)
    return np.asarray((a - remainder) // np.where(b == 0, 1, b)).astype(a.dtype)


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
            raise KernelError(f"tl.{name} takes float32, got {name_of(a.dtype)}: write `.to(tl.float32)` before it")
        return _by_singles(ufunc, a) if a.dtype == BFLOAT16 else np.asarray(ufunc(a))

    return TileOperation(compute, 1, is_elementwise=True)


def _minus(a: np.ndarray) -> np.ndarray:
    return a if a.dtype.kind == "b" else np.asarray(np.negative(a))


def _invert(value: Value) -> np.ndarray:
    _check_whole("~", value)
    return np.asarray(np.invert(tensor(value)))


def _where(condition: Value, a: Value, b: Value) -> np.ndarray:
    broadcast_shape(condition, a, b)
    dtype = common_dtype(a, b)
    return np.where(as_dtype(tensor(condition), np.dtype(bool)), tensor(a, dtype), tensor(b, dtype))


def _cast(value: Value, dtype: int) -> np.ndarray:
    return as_dtype(tensor(value), DTYPES[dtype])


def _expand(value: Value, axis: int) -> np.ndarray:
    a = tensor(value)
    if not 0 <= axis <= a.ndim or a.ndim > 2:
        raise KernelError(f"a tile of shape {a.shape} gets no axis {axis}")
    return np.expand_dims(a, axis)


def _transpose(value: Value, *axes: int) -> np.ndarray:
    a = tensor(value)
    order = axes[: a.ndim]
    if sorted(order) != list(range(a.ndim)):
        raise KernelError(f"a tile of shape {a.shape} has no axes in the order {order}")
    return a.transpose(order)


def _reshape(value: Value, *sizes: int) -> np.ndarray:
    a = tensor(value)
    shape = fitting_shape([n for n in sizes if n])
    if np.prod(shape) != a.size:
        raise KernelError(f"a tile of shape {a.shape} cannot be reshaped to {shape}")
    return a.reshape(shape)


def _broadcast(value: Value, *sizes: int) -> np.ndarray:
    a, shape = tensor(value), fitting_shape([n for n in sizes if n])
    if a.ndim not in (0, len(shape)) or any(n not in (1, size) for n, size in zip(a.shape, shape, strict=False)):
        raise KernelError(
            f"a tile of shape {a.shape} cannot be broadcast to {shape}: only axes of length 1 are repeated"
        )
    return np.broadcast_to(a, shape)


def _reduction(ufunc: Any, is_sum: bool = False) -> TileOperation:
    def compute(value: Value, axis: int, keeps_axis: int) -> np.ndarray:
        """The axis -1 stands for all axes."""
        a = _with_axis(value, axis, least=-1)
        dtype = _summed_dtype(a.dtype)
        if not is_sum and dtype != a.dtype:
            dtype = np.dtype(np.int32)
        computed = _SINGLE if dtype in _SHORT else dtype
        axes = None if axis == -1 else axis
        result = np.asarray(ufunc.reduce(as_dtype(a, computed), axis=axes, keepdims=bool(keeps_axis)), dtype=computed)
        # The order of a sum is the device's, and so is what it rounds on the way: here it is rounded once.
        return as_dtype(result, dtype) if is_sum and dtype in _SHORT else result

    return TileOperation(compute, 1, 2)


def _with_axis(value: Value, axis: int, least: int = 0) -> np.ndarray:
    a = tensor(value)
    if not least <= axis < a.ndim or a.ndim == 0:
        raise KernelError(f"a tile of shape {a.shape} has no axis {axis}")
    return a


def _summed_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype in which numbers are added up."""
    if is_float(dtype) or dtype.itemsize >= 4:
        return dtype
    return np.dtype(np.int32 if dtype.kind == "i" else np.uint32)


def _scan(ufunc: np.ufunc) -> TileOperation:
    """Sums or products of all numbers up to each along an axis; from the end where the second number says so."""

    def compute(value: Value, axis: int, is_reverse: int) -> np.ndarray:
        a = _with_axis(value, axis)
        dtype = _summed_dtype(a.dtype)
        computed = _SINGLE if dtype in _SHORT else dtype
        numbers = as_dtype(a, computed)
        numbers = np.flip(numbers, axis) if is_reverse else numbers
        result = ufunc.accumulate(numbers, axis=axis, dtype=computed)
        return as_dtype(np.flip(result, axis) if is_reverse else result, dtype)

    return TileOperation(compute, 1, 2)


def _position_of(choose: Callable[..., Any], last: float) -> TileOperation:
    """The first position of the largest or smallest number; ``last`` stands for NaN, which is never it."""

    def compute(value: Value, axis: int, keeps_axis: int) -> np.ndarray:
        a = _with_axis(value, axis)
        numbers = as_dtype(a, _SINGLE) if a.dtype in _SHORT else a
        if numbers.dtype.kind == "f":
            numbers = np.where(np.isnan(numbers), numbers.dtype.type(last), numbers)
        return np.asarray(choose(numbers, axis=axis, keepdims=bool(keeps_axis)), np.int32)

    return TileOperation(compute, 1, 2)


def _gather(value: Value, index: Value, axis: int) -> np.ndarray:
    """The numbers at positions along an axis."""
    a, at = _with_axis(value, axis), tensor(index)
    if at.dtype.kind not in "iu" or at.ndim != a.ndim or at.shape[:axis] != a.shape[:axis]:
        raise KernelError(f"tl.gather takes whole numbers of shape {a.shape} but for the axis, got {at.shape}")
    if at.shape[axis + 1 :] != a.shape[axis + 1 :]:
        raise KernelError(f"tl.gather takes positions of shape {a.shape} but for the axis, got {at.shape}")
    if at.min() < 0 or at.max() >= a.shape[axis]:
        raise KernelError(f"tl.gather takes positions from 0 to {a.shape[axis] - 1}, got {at.min()} to {at.max()}")
    return np.take_along_axis(a, at.astype(np.int64), axis)


def _fused(a: Value, b: Value, c: Value) -> np.ndarray:
    """A product and a sum, rounded once as far as float64 can do it."""
    broadcast_shape(a, b, c)
    tiles_first = sorted((a, b, c), key=lambda value: not isinstance(value, np.ndarray))
    dtype = dtype_of(tiles_first[0])
    for value in tiles_first[1:]:
        dtype = common_dtype(np.empty((), dtype), value)
    if not is_float(dtype):
        raise KernelError(f"tl.fma takes floats, got {name_of(dtype)}: cast them, as in `.to(tl.float32)`")
    x, y, z = (as_dtype(tensor(value, dtype), np.dtype(np.float64)) for value in (a, b, c))
    return as_dtype(np.asarray(x * y + z), dtype)


def _high_product(a: Value, b: Value) -> np.ndarray:
    """The upper 32 bits of a product of 64."""
    broadcast_shape(a, b)
    dtype = common_dtype(a, b)
    if dtype.kind not in "iu" or dtype.itemsize != 4:
        raise KernelError(f"tl.umulhi takes int32 or uint32 here, got {name_of(dtype)}: cast both")
    x, y = (tensor(value, dtype).astype(np.uint32).astype(np.uint64) for value in (a, b))
    return np.asarray((x * y) >> np.uint64(32)).astype(dtype)


def _bitcast(value: Value, dtype: int) -> np.ndarray:
    a, to = tensor(value), DTYPES[dtype]
    if a.dtype.itemsize != to.itemsize or (a.dtype.kind == "b") != (to.kind == "b"):
        raise KernelError(f"the bits of {name_of(a.dtype)} are no {name_of(to)}: their numbers differ")
    return np.ascontiguousarray(a).view(to).reshape(a.shape)


def _error_function(a: np.ndarray) -> np.ndarray:
    return np.asarray(_ERF(a)).astype(a.dtype)


_ERF = np.frompyfunc(math.erf, 1, 1)


def _dot(a: np.ndarray, b: np.ndarray, *others: Any) -> np.ndarray:
    """The product, and added to a third tile if there is one; the last of ``others`` says whether it is float16."""
    *added, is_half = others
    if np.ndim(a) != 2 or np.ndim(b) != 2 or a.shape[1] != b.shape[0]:
        raise KernelError(f"tl.dot multiplies tiles (M, K) and (K, N), got {np.shape(a)} and {np.shape(b)}")
    dtypes = tuple(name_of(dtype_of(operand)) for operand in (a, b))
    if dtypes[0] != dtypes[1] or dtypes[0] not in ("int8", "float16", "bfloat16", "float32", "float64"):
        raise KernelError(
            "tl.dot takes two tiles of one dtype, float16, bfloat16, float32, float64 or int8, got "
            f"{dtypes[0]} and {dtypes[1]}: cast one of them"
        )
    if a.shape[1] < SMALLEST_DOT[a.dtype.itemsize]:
        raise KernelError(
            f"tl.dot of {dtypes[0]} multiplies tiles (M, K) and (K, N) where K is at least "
            f"{SMALLEST_DOT[a.dtype.itemsize]}, got {a.shape} and {b.shape}: sum a product with tl.sum instead, or "
            "take larger tiles"
        )
    dtype = np.dtype(_DOT_GIVES.get(dtypes[0], a.dtype))
    fitting_shape((a.shape[0], b.shape[1]))
    product = as_dtype(as_dtype(a, dtype) @ as_dtype(b, dtype), _HALF if is_half and a.dtype == _HALF else dtype)
    if not added:
        return product
    (total,) = added
    if np.shape(total) != product.shape or dtype_of(total) != product.dtype:
        raise KernelError(
            f"tl.dot adds to a {name_of(product.dtype)} tile of shape {product.shape}, got "
            f"{name_of(dtype_of(total))} of shape {np.shape(total)}"
        )
    return _by_singles(np.add, total, product) if product.dtype == _HALF else np.asarray(total + product)


_DOT_GIVES = {"int8": np.int32, "float16": np.float32, "bfloat16": np.float32}


def _arange(start: int, end: int) -> np.ndarray:
    count = end - start
    if count < 1 or count & (count - 1) or not -(2**31) <= start < end <= 2**31 - 1:
        raise KernelError(f"the length of tl.arange({start}, {end}) must be a power of 2, at least 1")
    fitting_shape((count,))
    return np.arange(start, end, dtype=np.int32)


def _full(value: Value, dtype: int, *sizes: int) -> np.ndarray:
    if np.size(value) != 1:
        raise KernelError(f"tl.full takes one number, got a tile of shape {np.shape(value)}")
    if isinstance(value, float) and value == 0:
        value = 0
    if isinstance(value, float) and not is_float(DTYPES[dtype]):
        raise KernelError(f"tl.full takes a whole number for {name_of(DTYPES[dtype])}, got {value}")
    fill_value = tensor(value, None if isinstance(value, np.ndarray) else DTYPES[dtype])
    return np.full(fitting_shape([n for n in sizes if n]), as_dtype(fill_value.reshape(()), DTYPES[dtype]))


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
    "sin": _unary(np.sin, "sin"),
    "cos": _unary(np.cos, "cos"),
    "erf": _unary(_error_function, "erf"),
    "floor": _unary(np.floor, "floor"),
    "ceil": _unary(np.ceil, "ceil"),
    "sigmoid": _unary(lambda a: 1 / (1 + np.exp(-a)), "sigmoid"),
    "abs": _unary(np.abs),
    "fma": TileOperation(_fused, 3, is_elementwise=True),
    "umulhi": TileOperation(_high_product, 2, is_elementwise=True),
    "where": TileOperation(_where, 3, is_elementwise=True),
    "cast": TileOperation(_cast, 1, 1, is_elementwise=True),
    "bitcast": TileOperation(_bitcast, 1, 1, is_elementwise=True),
    "expand": TileOperation(_expand, 1, 1, is_view=True),
    "transpose": TileOperation(_transpose, 1, 3, is_view=True),
    "reshape": TileOperation(_reshape, 1, 3, is_view=True),
    "broadcast": TileOperation(_broadcast, 1, 3, is_view=True),
    "max": _reduction(np.fmax),
    "min": _reduction(np.fmin),
    "sum": _reduction(np.add, is_sum=True),
    "argmax": _position_of(np.argmax, -np.inf),
    "argmin": _position_of(np.argmin, np.inf),
    "cumsum": _scan(np.add),
    "cumprod": _scan(np.multiply),
    "gather": TileOperation(_gather, 2, 1),
    "dot": TileOperation(_dot, None, 1),
    "arange": TileOperation(_arange, 0, 2),
    "full": TileOperation(_full, 1, 4),
}
"""Everything that is computed on chip, by name; a record gives an operation's position here."""

NAMES = (*OPERATIONS, "constant", "load", "store", "barrier")
"""Names of all rows of a record: operations, a constant, and what goes to and from main memory."""


def compute(name: str, operands: Sequence[Value], numbers: Sequence[int]) -> np.ndarray:
    """Compute one of OPERATIONS; ``numbers`` stand beside its operands. KernelError if these do not fit together."""
    with np.errstate(all="ignore"):
        return OPERATIONS[name].compute(*operands, *numbers)
