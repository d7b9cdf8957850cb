"""What each operation on tiles gives: the one definition, used to record a kernel and to run its record.

Dtypes follow Triton: a scalar takes the dtype of the tile beside it, float16 is computed in float32 where it is
divided, whole numbers are divided as C does, and ``exp`` and its kind take float32 alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
class Operation:
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


def common_dtype(a: np.ndarray, b: np.ndarray, divides: bool = False) -> np.dtype:
    """The dtype in which two operands are computed, by Triton's rules.

    Args:
        a: An operand; an array without axes is a scalar.
        b: The other.
        divides: Whether they are divided.
    """
    x, y = a.dtype, b.dtype
    if (a.ndim == 0) != (b.ndim == 0):
        scalar, tile = (x, y) if a.ndim == 0 else (y, x)
        if _KINDS[scalar.kind] <= _KINDS[tile.kind]:
            x = y = tile
    floats = [dtype for dtype in (x, y) if dtype.kind == "f"]
    if floats:
        return np.dtype(np.float32) if divides and np.float64 not in floats else max(floats, key=_size)
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
    if np.prod(shape, dtype=np.float64) > MOST_NUMBERS:
        raise KernelError(f"a tile of shape {tuple(shape)} is too large: it may hold {MOST_NUMBERS:,} numbers")
    return tuple(shape)


def broadcast_shape(*arrays: np.ndarray) -> tuple[int, ...]:
    """The common shape of some tiles.

    Raises:
        KernelError: If they have none, or it is too large.
    """
    try:
        return _fits(np.broadcast_shapes(*(a.shape for a in arrays)))
    except ValueError:
        shapes = " and ".join(str(a.shape) for a in arrays)
        raise KernelError(f"tiles of shapes {shapes} do not fit together") from None


def _whole(name: str, *arrays: np.ndarray) -> None:
    if any(a.dtype.kind == "f" for a in arrays):
        raise KernelError(f"`{name}` takes whole numbers or booleans, got {' and '.join(str(a.dtype) for a in arrays)}")


def _binary(ufunc: Callable[..., Any], sign: str = "", divides: bool = False) -> Operation:
    def compute(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        broadcast_shape(a, b)
        if sign:
            _whole(sign, a, b)
        dtype = common_dtype(a, b, divides)
        return np.asarray(ufunc(a.astype(dtype), b.astype(dtype)))

    return Operation(compute, 2, is_elementwise=True)


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    broadcast_shape(a, b)
    dtype = common_dtype(a, b, divides=True)
    return np.asarray(np.divide(a.astype(dtype), b.astype(dtype), dtype=dtype if dtype.kind == "f" else np.float32))


def _whole_quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rounded to zero, as C does; by zero it is 0."""
    rest = np.fmod(a, b)
    return np.asarray((a - rest) // np.where(b == 0, 1, b)).astype(a.dtype)


def _remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(np.fmod(a, b))


def _unary(ufunc: Callable[..., Any], name: str = "") -> Operation:
    def compute(a: np.ndarray) -> np.ndarray:
        if name and a.dtype not in (np.float32, np.float64):
            raise KernelError(f"tl.{name} takes float32, got {a.dtype}: write `.to(tl.float32)` before it")
        return np.asarray(ufunc(a))

    return Operation(compute, 1, is_elementwise=True)


def _invert(a: np.ndarray) -> np.ndarray:
    _whole("~", a)
    return np.asarray(np.invert(a))


def _where(condition: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    broadcast_shape(condition, a, b)
    dtype = common_dtype(a, b)
    return np.where(condition != 0, a.astype(dtype), b.astype(dtype))


def _cast(a: np.ndarray, dtype: int) -> np.ndarray:
    return a.astype(DTYPES[dtype])


def _expand(a: np.ndarray, axis: int) -> np.ndarray:
    if not 0 <= axis <= a.ndim or a.ndim > 2:
        raise KernelError(f"a tile of shape {a.shape} gets no axis {axis}")
    return np.expand_dims(a, axis)


def _transpose(a: np.ndarray) -> np.ndarray:
    if a.ndim != 2:
        raise KernelError(f"tl.trans takes a tile with two axes, got shape {a.shape}")
    return a.T


def _reshape(a: np.ndarray, *sizes: int) -> np.ndarray:
    shape = _fits([n for n in sizes if n])
    if np.prod(shape) != a.size:
        raise KernelError(f"a tile of shape {a.shape} cannot be reshaped to {shape}")
    return a.reshape(shape)


def _broadcast(a: np.ndarray, *sizes: int) -> np.ndarray:
    shape = _fits([n for n in sizes if n])
    try:
        return np.broadcast_to(a, shape)
    except ValueError:
        raise KernelError(f"a tile of shape {a.shape} cannot be broadcast to {shape}") from None


def _reduction(ufunc: Any, keeps_half: bool) -> Operation:
    def compute(a: np.ndarray, axis: int, keeps_axis: int) -> np.ndarray:
        """The axis -1 stands for all axes."""
        if not -1 <= axis < a.ndim or a.ndim == 0:
            raise KernelError(f"a tile of shape {a.shape} has no axis {axis}")
        dtype = a.dtype
        if dtype.kind != "f" and dtype.itemsize < 4:
            dtype = np.dtype(np.int32)
        elif dtype == np.float16 and not keeps_half:
            dtype = np.dtype(np.float32)
        axes = None if axis == -1 else axis
        return np.asarray(ufunc.reduce(a.astype(dtype), axis=axes, keepdims=bool(keeps_axis)), dtype=dtype)

    return Operation(compute, 1, 2)


def _dot(a: np.ndarray, b: np.ndarray, added: np.ndarray | None = None) -> np.ndarray:
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise KernelError(f"tl.dot multiplies tiles (M, K) and (K, N), got {a.shape} and {b.shape}")
    if min(*a.shape, *b.shape) < SMALLEST_DOT:
        raise KernelError(
            f"tl.dot takes tiles of at least {SMALLEST_DOT} by {SMALLEST_DOT}, got {a.shape} and {b.shape}"
        )
    if a.dtype != b.dtype or a.dtype.name not in ("int8", "uint8", "float16", "float32", "float64"):
        raise KernelError(f"tl.dot takes two tiles of one dtype, float16 or float32, got {a.dtype} and {b.dtype}")
    dtype = a.dtype if a.dtype == np.float64 else np.dtype(np.float32 if a.dtype.kind == "f" else np.int32)
    _fits((a.shape[0], b.shape[1]))
    product = a.astype(dtype) @ b.astype(dtype)
    if added is None:
        return product
    if added.shape != product.shape or added.dtype != dtype:
        raise KernelError(
            f"tl.dot adds to a {dtype} tile of shape {product.shape}, got {added.dtype} of shape {added.shape}"
        )
    return np.asarray(added + product)


def _arange(start: int, end: int) -> np.ndarray:
    count = end - start
    if count < 1 or count & (count - 1) or not -(2**31) <= start < end <= 2**31 - 1:
        raise KernelError(f"the length of tl.arange({start}, {end}) must be a power of 2, at least 1")
    _fits((count,))
    return np.arange(start, end, dtype=np.int32)


def _full(value: np.ndarray, dtype: int, *sizes: int) -> np.ndarray:
    return np.full(_fits([n for n in sizes if n]), value, DTYPES[dtype])


OPERATIONS: Mapping[str, Operation] = {
    "add": _binary(np.add),
    "subtract": _binary(np.subtract),
    "multiply": _binary(np.multiply),
    "divide": Operation(_divide, 2, is_elementwise=True),
    "floor_divide": _binary(_whole_quotient, "//"),
    "remainder": _binary(_remainder),
    "less": _binary(np.less),
    "less_equal": _binary(np.less_equal),
    "greater": _binary(np.greater),
    "greater_equal": _binary(np.greater_equal),
    "equal": _binary(np.equal),
    "not_equal": _binary(np.not_equal),
    "and": _binary(np.bitwise_and, "&"),
    "or": _binary(np.bitwise_or, "|"),
    "xor": _binary(np.bitwise_xor, "^"),
    "left_shift": _binary(np.left_shift, "<<"),
    "right_shift": _binary(np.right_shift, ">>"),
    "maximum": _binary(np.fmax),
    "minimum": _binary(np.fmin),
    "negative": _unary(np.negative),
    "invert": Operation(_invert, 1, is_elementwise=True),
    "exp": _unary(np.exp, "exp"),
    "exp2": _unary(np.exp2, "exp2"),
    "log": _unary(np.log, "log"),
    "log2": _unary(np.log2, "log2"),
    "sqrt": _unary(np.sqrt, "sqrt"),
    "rsqrt": _unary(lambda a: 1 / np.sqrt(a), "rsqrt"),
    "sigmoid": _unary(lambda a: 1 / (1 + np.exp(-a)), "sigmoid"),
    "abs": _unary(np.abs),
    "where": Operation(_where, 3, is_elementwise=True),
    "cast": Operation(_cast, 1, 1, is_elementwise=True),
    "expand": Operation(_expand, 1, 1, is_view=True),
    "transpose": Operation(_transpose, 1, is_view=True),
    "reshape": Operation(_reshape, 1, 3, is_view=True),
    "broadcast": Operation(_broadcast, 1, 3, is_view=True),
    "max": _reduction(np.fmax, keeps_half=False),
    "min": _reduction(np.fmin, keeps_half=False),
    "sum": _reduction(np.add, keeps_half=True),
    "dot": Operation(_dot, None),
    "arange": Operation(_arange, 0, 2),
    "full": Operation(_full, 1, 4),
}
"""Everything that is computed on chip, by name; a record gives an operation's position here."""

NAMES = (*OPERATIONS, "constant", "load", "store")
"""Names of all rows of a record: operations, a constant, and what goes to and from main memory."""


def compute(name: str, operands: Sequence[np.ndarray], numbers: Sequence[int]) -> np.ndarray:
    """Compute one operation.

    Args:
        name: As in OPERATIONS.
        operands: Tiles, and scalars as arrays without axes.
        numbers: The whole numbers beside them.

    Returns:
        The new tile, in a dtype of DTYPES.

    Raises:
        KernelError: If they do not fit together.
    """
    with np.errstate(all="ignore"):
        return OPERATIONS[name].compute(*operands, *numbers)
