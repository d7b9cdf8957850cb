"""Where whole numbers leave the range of their dtype: a place in memory that is computed so is nowhere."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from softlookup_inside.tiles.halves import as_dtype
from softlookup_inside.tiles.operations import OPERATIONS, compute
from softlookup_inside.tiles.values import Value


def wrapped(name: str, operands: Sequence[Value], numbers: Sequence[int], result: np.ndarray) -> np.ndarray | None:
    """Where the result of an operation is not the exact number, since its dtype is too narrow; None where all are."""
    exact = _EXACT.get(name)
    if exact is None or result.dtype.kind not in "iu":
        return None
    if name in ("add", "multiply") and result.dtype.itemsize >= 4 and all(map(_is_small, operands)):
        return None
    with np.errstate(all="ignore"):
        # Rounding in float64 is far less than what is lost by wrapping around, which is 2 to the power of all bits.
        gap = np.abs(exact(*(_floats(operand) for operand in operands), *numbers) - result.astype(np.float64))
    flags = ~(gap < 2.0 ** (8 * result.dtype.itemsize - 1))
    return np.broadcast_to(flags, result.shape) if flags.any() else None


def carried(
    name: str, operands: Sequence[Value], numbers: Sequence[int], flags: Sequence[np.ndarray | None], shape: Any
) -> np.ndarray | None:
    """Which numbers of a result come from numbers that have wrapped around, by the operands' ``flags``."""
    if all(flag is None for flag in flags):
        return None
    known = OPERATIONS[name]
    dense = [np.zeros(np.shape(op), bool) if f is None else f for op, f in zip(operands, flags, strict=True)]
    if known.is_view:
        return compute(name, dense, numbers)
    if name in ("max", "min", "sum", "argmax", "argmin"):
        return compute("max", dense, numbers) != 0
    if name in ("cumsum", "cumprod"):
        return compute("cumsum", dense, numbers) != 0
    if name == "gather":
        return dense[1] | compute(name, [dense[0], operands[1]], numbers)
    if name == "bitcast":
        return None
    if name == "where":
        return dense[0] | np.where(np.asarray(operands[0]) != 0, dense[1], dense[2])
    if not known.is_elementwise:
        return np.full(shape, any(flag.any() for flag in dense))
    return np.broadcast_to(np.any(np.broadcast_arrays(*dense), axis=0), shape)


def _is_small(value: Value) -> bool:
    """Whether it is a scalar, as most are, whose product with another such fits into 32 bits."""
    return np.ndim(value) == 0 and bool(0 <= value < 2**15)


def _floats(value: Value) -> np.ndarray:
    return as_dtype(value, _DOUBLE) if isinstance(value, np.ndarray) else np.asarray(value, np.float64)


_DOUBLE = np.dtype(np.float64)


def _scanned(ufunc: np.ufunc) -> Callable[..., Any]:
    def scan(value: np.ndarray, axis: int, is_reverse: int) -> np.ndarray:
        value = np.flip(value, axis) if is_reverse else value
        result = np.asarray(ufunc.accumulate(value, axis=axis))
        return np.flip(result, axis) if is_reverse else result

    return scan


def _summed(value: np.ndarray, axis: int, keeps_axis: int) -> np.ndarray:
    return np.asarray(np.sum(value, axis=None if axis == -1 else axis, keepdims=bool(keeps_axis)))


_EXACT: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "negative": np.negative,
    "abs": np.abs,
    # Beyond 64 bits nothing is left of a number; powers far below 1 would take numpy ten times as long.
    "left_shift": lambda value, by: np.where(by >= 0, value * np.exp2(np.clip(by, 0, 64)), np.nan),
    "cast": lambda value, dtype: np.trunc(value),
    "sum": _summed,
    "cumsum": _scanned(np.add),
    "cumprod": _scanned(np.multiply),
}
"""Operations whose result may need more bits than its dtype has, in float64."""
