"""The functions of ``tl`` that compute with the numbers of tiles: one by one, or along an axis."""

import enum
from collections.abc import Callable
from typing import Any

import numpy as np

from softlookup_inside.tiles.shapes import axis_of, cast
from softlookup_inside.tiles.tile import ChipTile, ElementType, KnownScalar, known, operation
from softlookup_inside.tiles.values import KernelError, dtype_of, is_float, name_of, tensor


class PropagateNan(enum.Enum):
    """Whether a maximum or minimum with NaN is NaN."""

    NONE = 0
    ALL = 1


def with_name(function: Callable[..., Any], name: str, way: str) -> Callable[..., Any]:
    """A function of ``tl`` with its name, and a docstring that says in which way it computes."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}`` of tiles, {way}."
    return function


def _unary(name: str) -> Callable[..., Any]:
    return with_name(lambda x: operation(name, x), name, "number by number")


def _sum_of_places(name: str, row: str) -> Callable[..., Any]:
    def apply(x: Any, y: Any, sanitize_overflow: bool = True) -> ChipTile:
        return operation(row, x, y)

    return with_name(apply, name, "number by number, as its sign does")


def _choice(name: str) -> Callable[..., Any]:
    def apply(x: Any, y: Any, propagate_nan: PropagateNan = PropagateNan.NONE) -> ChipTile:
        if not isinstance(propagate_nan, PropagateNan):
            raise KernelError(f"propagate_nan of tl.{name} is tl.PropagateNan.ALL or NONE, got {propagate_nan!r}")
        result = operation(name, x, y)
        if propagate_nan == PropagateNan.NONE or not result.dtype.is_floating():
            return result
        # Only NaN differs from itself, and what is added to it is NaN.
        x, y = (cast(value, result.dtype) for value in (x, y))
        return operation("where", (x != x) | (y != y), x + y, result)

    return with_name(apply, name, "number by number; of a number and NaN it is the number, but for propagate_nan")


maximum, minimum = _choice("maximum"), _choice("minimum")


def where(condition: Any, x: Any, y: Any) -> ChipTile:
    """``x`` where a condition holds, else ``y``."""
    return operation("where", condition, x, y)


def clamp(x: Any, min: Any, max: Any, propagate_nan: PropagateNan = PropagateNan.NONE) -> ChipTile:
    """Numbers that are at least ``min`` and at most ``max``."""
    result: ChipTile = minimum(maximum(x, min, propagate_nan), max, propagate_nan)
    return result


def fma(x: Any, y: Any, z: Any) -> ChipTile:
    """``x * y + z``, rounded once."""
    return operation("fma", x, y, z)


def fdiv(x: Any, y: Any, ieee_rounding: bool = False, approx: bool = False) -> ChipTile:
    """``x / y`` of floats; here it is always rounded as IEEE 754 does."""
    if not any(is_float(dtype_of(known(value))) for value in (x, y)):
        raise KernelError("tl.fdiv takes floats: write `/`, or cast them, as in `.to(tl.float32)`")
    if ieee_rounding and approx:
        raise KernelError("tl.fdiv takes ieee_rounding or approx, not both: leave out one of them")
    result = operation("divide", x, y)
    if (ieee_rounding or approx) and result.value.dtype != np.float32:
        raise KernelError("ieee_rounding and approx of tl.fdiv are for float32: leave them out")
    return result


def _checked_single(name: str, *operands: Any) -> None:
    for value in operands:
        if isinstance(value, ChipTile) and value.value.dtype != np.float32:
            raise KernelError(f"tl.{name} takes float32, got {name_of(value.value.dtype)}: write `.to(tl.float32)`")


def div_rn(x: Any, y: Any) -> ChipTile:
    """``x / y`` of float32, rounded to the nearest."""
    _checked_single("div_rn", x, y)
    return operation("divide", x, y)


def sqrt_rn(x: Any) -> ChipTile:
    """The square root of float32, rounded to the nearest."""
    _checked_single("sqrt_rn", x)
    return operation("sqrt", x)


def umulhi(x: Any, y: Any) -> ChipTile:
    """The upper half of the bits of a product of whole numbers."""
    return operation("umulhi", x, y)


def cdiv(x: Any, div: Any) -> Any:
    """The quotient of whole numbers, rounded up: how many tiles of ``div`` cover ``x``."""
    return (x + (div - 1)) // div


def to_tensor(x: Any) -> ChipTile:
    """A number that stands in the kernel as a scalar with a dtype; a tile as it is."""
    return x if isinstance(x, ChipTile) else KnownScalar(tensor(known(x)))


def _reduced(name: str, input: Any, axis: Any, keep_dims: bool) -> ChipTile:
    at = -1 if axis is None else axis_of(name, np.shape(known(input)), axis)
    return operation(name, input, numbers=(at, int(bool(keep_dims))))


def sum(input: Any, axis: int | None = None, keep_dims: bool = False, dtype: ElementType | None = None) -> ChipTile:
    """The sum along an axis, or of all numbers."""
    total = _reduced("sum", input if dtype is None else cast(input, dtype), axis, keep_dims)
    return total if dtype is None else cast(total, dtype)


def _position_of(name: str) -> Callable[..., Any]:
    def apply(input: Any, axis: int, tie_break_left: bool = True, keep_dims: bool = False) -> ChipTile:
        if axis is None:
            raise KernelError(f"tl.{name} takes one axis, such as 0 or 1: flatten the tile with tl.ravel first")
        return _reduced(name, input, axis, keep_dims)

    return with_name(apply, name, "along an axis: the first position of the largest or smallest number")


argmax, argmin = _position_of("argmax"), _position_of("argmin")


def _extreme(name: str) -> Callable[..., Any]:
    def apply(
        input: Any,
        axis: int | None = None,
        return_indices: bool = False,
        return_indices_tie_break_left: bool = True,
        keep_dims: bool = False,
    ) -> Any:
        result = _reduced(name, input, axis, keep_dims)
        if not return_indices:
            return result
        position = (argmax if name == "max" else argmin)(input, axis, return_indices_tie_break_left, keep_dims)
        return cast(result, ElementType(dtype_of(known(input)))), position

    return with_name(apply, name, "along an axis or of all numbers, and with return_indices its positions")


max, min = _extreme("max"), _extreme("min")


def _scan(name: str) -> Callable[..., Any]:
    def apply(input: Any, axis: int = 0, reverse: bool = False, dtype: ElementType | None = None) -> ChipTile:
        tile = input if dtype is None else cast(input, dtype)
        at = axis_of(name, np.shape(known(input)), axis)
        result = operation(name, tile, numbers=(at, int(bool(reverse))))
        return result if dtype is None else cast(result, dtype)

    return with_name(apply, name, "of all numbers up to each, along an axis")


def softmax(x: Any, dim: int | None = None, *, keep_dims: bool | None = None, ieee_rounding: bool = False) -> ChipTile:
    """The softmax along an axis: the first, where none is named."""
    axis = 0 if dim is None else dim
    weights = operation("exp", x - max(x, axis, keep_dims=True))
    return operation("divide", weights, sum(weights, axis, keep_dims=True))


def swizzle2d(i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> tuple[Any, Any]:
    """Indices of a matrix row by row as those of groups of ``size_g`` rows, each taken column by column."""
    at, group = i * size_j + j, size_g * size_j
    first = at // group * size_g
    rows = minimum(size_i - first, size_g)
    return first + at % group % rows, at % group // rows


UNARY = (
    *("abs", "ceil", "cos", "erf", "exp", "exp2", "floor", "log", "log2", "rsqrt", "sigmoid", "sin", "sqrt"),
)  # fmt: skip
ARITHMETIC: tuple[Callable[..., Any], ...] = (
    *map(_unary, UNARY),
    *(_sum_of_places(name, row) for name, row in (("add", "add"), ("sub", "subtract"), ("mul", "multiply"))),
    *(maximum, minimum, where, clamp, fma, fdiv, div_rn, sqrt_rn, umulhi, cdiv, to_tensor, softmax, swizzle2d),
    *(sum, argmax, argmin, max, min, _scan("cumsum"), _scan("cumprod")),
)
"""The functions of this file."""

MATH = (*UNARY, "div_rn", "fdiv", "fma", "sqrt_rn", "umulhi")
"""Names of those that ``tl.math`` has; all but ``sigmoid``."""
