"""What operations take and give: tiles, scalars and literals, with the dtypes and shapes that follow from them.

Source: the rules of ``triton.language``, version 3.9.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from softlookup_inside.tiles.halves import BFLOAT16, as_dtype

MOST_NUMBERS = 2**17  # numbers that a tile may hold

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
        "uint64",
    )
) + (BFLOAT16,)
"""Dtypes of tiles; a record gives their position here."""


def is_float(dtype: np.dtype) -> bool:
    """Whether a dtype of tiles is one of floats."""
    return dtype.kind == "f" or dtype == BFLOAT16


def name_of(dtype: np.dtype) -> str:
    """What a dtype of tiles is called."""
    return "bfloat16" if dtype == BFLOAT16 else dtype.name


class KernelError(Exception):
    """A kernel does what the language does not know, or what does not fit together; the message says what."""


Literal = bool | int | float
"""A number that stands in the kernel's text or is a ``tl.constexpr``: it has no dtype until it meets a tile."""

Value = np.ndarray | Literal  # what an operation takes: a tile, a scalar (an array without axes) or a literal


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
    """An operand as an array, in a dtype; KernelError if a whole number is outside of it."""
    if isinstance(value, np.ndarray):
        return value if dtype is None else as_dtype(value, dtype)
    dtype = literal_dtype(value) if dtype is None else dtype
    if is_float(dtype):
        with np.errstate(over="ignore"):
            return as_dtype(np.array(value, np.float64 if dtype.itemsize == 8 else np.float32), dtype)
    if not _is_in_range(int(value), dtype):
        raise KernelError(
            f"the number {value} is outside of {name_of(dtype)}: cast the tile first, as in `.to(tl.int32)`"
        )
    return np.array(value, dtype)


def common_dtype(a: Value, b: Value, sign: str = "") -> np.dtype:
    """The dtype in which two operands are computed by Triton's rules; ``sign`` says that they are divided, and how."""
    x, y = dtype_of(a), dtype_of(b)
    if isinstance(a, np.ndarray) != isinstance(b, np.ndarray):
        literal, tile = (y, x) if isinstance(a, np.ndarray) else (x, y)
        if _KINDS[literal.kind] <= _KINDS[tile.kind]:
            x = y = tile
    floats = [dtype for dtype in (x, y) if is_float(dtype)]
    if floats:
        if sign and np.float64 not in floats:
            return np.dtype(np.float32)
        # bfloat16 gives way to float16, and beside a whole number to float32.
        is_mixed = BFLOAT16 in floats and x != y and np.float16 not in floats
        return max(*floats, np.dtype(np.float32), key=_precision) if is_mixed else max(floats, key=_precision)
    if sign and (x.kind == "i") != (y.kind == "i"):
        raise KernelError(
            f"`{sign}` takes two numbers with a sign or two without, got {name_of(x)} and {name_of(y)}: cast one of "
            "them"
        )
    if x.itemsize == y.itemsize and x.kind != y.kind:
        return next((dtype for dtype in (x, y) if dtype.kind == "u"), max(x, y, key=lambda d: _KINDS[d.kind]))
    return max((x, y), key=lambda dtype: (_KINDS[dtype.kind], dtype.itemsize))


_KINDS = {"b": 0, "u": 1, "i": 1, "f": 2, BFLOAT16.kind: 2}


def _precision(dtype: np.dtype) -> tuple[int, bool]:
    return dtype.itemsize, dtype != BFLOAT16


def fitting_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """A tile's shape, if there may be such a tile."""
    if any(length < 1 or length & (length - 1) for length in shape):
        raise KernelError(f"a tile's sizes are powers of 2, got {tuple(shape)}")
    if math.prod(shape) > MOST_NUMBERS:
        raise KernelError(f"a tile of shape {tuple(shape)} is too large: it may hold {MOST_NUMBERS:,} numbers")
    return tuple(shape)


def broadcast_shape(*values: Value) -> tuple[int, ...]:
    """The common shape of some tiles; KernelError if they have none, or it is too large."""
    return _common_shape(tuple(np.shape(value) for value in values))


@lru_cache(maxsize=1024)
def _common_shape(shapes: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    try:
        return fitting_shape(np.broadcast_shapes(*shapes))
    except ValueError:
        raise KernelError(
            f"tiles of shapes {' and '.join(str(shape) for shape in shapes if shape)} do not fit together: "
            "`[:, None]` and `[None, :]` add an axis"
        ) from None
