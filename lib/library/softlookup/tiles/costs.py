"""What the judge's own work on a record takes: it is counted before it is done, by operation and dtype.

Entries are nanoseconds for each number with the slowest numbers that there are (the smallest, the largest, NaN), on the
machine that measured them, rounded up to at least twice. ``tests/tiles/test_costs.py`` measures them.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from softlookup_inside.tiles.halves import BFLOAT16
from softlookup_inside.tiles.operations import OPERATIONS
from softlookup_inside.tiles.values import DTYPES, Value, broadcast_shape, dtype_of

MOST_WORK_NS = 60 * 10**9
"""Work that a launch may be."""

JUDGED_WORK_NS = 6 * 10**8
"""Work that a launch of the judge's may be: all questions of all tasks of a notebook take less than a minute."""

ROW_NS = 50_000
"""What a row of a record takes, however small its tile is."""

ACCESS_ROW_NS = 100_000
"""The same of a row that reads or writes."""

TILE_NS = 30
"""What a number of a tile takes that is read or written, whether its mask lets it or not."""

ACCESS_NS = 270
"""What a number takes besides that its mask lets through."""

PLACE_NS = 50
"""What a number takes besides in an operation that computes a place: whether it wraps around is looked at, too."""

_COLUMNS = ("bool", "whole", "float16", "float32", "float64")


def _cost(costs: Sequence[int], dtype: np.dtype) -> int:
    if dtype == BFLOAT16:
        # It is taken to float32, computed with there, and rounded.
        return costs[_COLUMNS.index("float16")] + costs[_COLUMNS.index("float32")]
    return costs[_COLUMNS.index({"b": "bool", "i": "whole", "u": "whole"}.get(dtype.kind, dtype.name))]


_SIMPLE = (10, 10, 10, 10, 10)
_ARITHMETIC = (20, 10, 60, 40, 80)
_COMPARISON = (10, 20, 50, 10, 10)
_BITS = (10, 10, 10, 10, 10)
_FUNCTION = (100, 100, 100, 100, 150)
_REDUCTION = (20, 20, 40, 40, 60)

_COSTS: Mapping[str, tuple[int, int, int, int, int]] = {
    **dict.fromkeys(("add", "subtract", "multiply"), _ARITHMETIC),
    "divide": (40, 40, 60, 40, 80),
    "floor_divide": (80, 80, 80, 80, 80),
    "remainder": (30, 30, 500, 5_000, 40_000),
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"), _COMPARISON),
    **dict.fromkeys(("and", "or", "xor", "left_shift", "right_shift"), _BITS),
    **dict.fromkeys(("maximum", "minimum"), (10, 10, 80, 20, 20)),
    **dict.fromkeys(("negative", "invert", "abs"), _SIMPLE),
    **dict.fromkeys(("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sigmoid"), _FUNCTION),
    **dict.fromkeys(("floor", "ceil"), _FUNCTION),
    **dict.fromkeys(("sin", "cos"), (100, 100, 100, 100, 300)),
    "erf": (400, 400, 400, 400, 400),
    "fma": (200, 200, 200, 200, 200),
    "umulhi": (40, 40, 40, 40, 40),
    "where": (40, 40, 40, 40, 40),
    "cast": (60, 60, 80, 40, 40),
    "bitcast": _SIMPLE,
    **dict.fromkeys(("expand", "transpose", "reshape", "broadcast"), _SIMPLE),
    **dict.fromkeys(("max", "min", "sum"), _REDUCTION),
    **dict.fromkeys(("argmax", "argmin"), (40, 40, 60, 60, 60)),
    **dict.fromkeys(("cumsum", "cumprod"), (40, 40, 80, 80, 120)),
    "gather": (60, 60, 60, 60, 60),
    "dot": (10, 10, 20, 20, 40),
    "arange": _SIMPLE,
    "full": _SIMPLE,
}

COST_NS: Mapping[str, Mapping[np.dtype, int]] = {
    name: {dtype: _cost(costs, dtype) for dtype in DTYPES} for name, costs in _COSTS.items()
}
"""Nanoseconds for each number: of a tile that is made or, where it is larger, of one that it is made of; of a product
for each multiplication."""


def work_of(name: str, operands: Sequence[Value], numbers: Sequence[int], is_place: bool = False) -> int:
    """Nanoseconds that an operation takes the judge, at most.

    ``numbers`` are the whole numbers beside the operands; ``is_place``: the result says where a load or a store goes.
    KernelError if the operands do not fit together.
    """
    size = _size_of(name, operands, numbers)
    dtypes = [dtype_of(operand) for operand in operands]
    dtypes += [DTYPES[numbers[0]]] if name in ("bitcast", "cast", "full") else []
    costs = COST_NS[name]
    cost_ns = ROW_NS + size * max((costs[dtype] for dtype in dtypes), default=costs[np.dtype(np.int32)])
    return cost_ns + ROW_NS + size * PLACE_NS if is_place else cost_ns


def _size_of(name: str, operands: Sequence[Value], numbers: Sequence[int]) -> int:
    """The numbers of the largest tile of an operation; of a product its multiplications."""
    if name == "arange":
        return max(0, numbers[1] - numbers[0])
    if name == "full":
        return math.prod(n for n in numbers[1:] if n > 0)
    if OPERATIONS[name].is_view or name == "gather":
        return max(np.size(operand) for operand in operands)
    if name == "dot" and np.ndim(operands[0]) == np.ndim(operands[1]) == 2:
        return np.size(operands[0]) * np.shape(operands[1])[1]
    return math.prod(broadcast_shape(*operands))


def flops_of(name: str, operands: Sequence[Value]) -> int:
    """Operations on numbers, where they are not those of the result: of a product and of a reduction; else 0."""
    if name == "dot" and np.ndim(operands[0]) == np.ndim(operands[1]) == 2:
        return 2 * np.size(operands[0]) * np.shape(operands[1])[1]
    return np.size(operands[0]) if name in ("max", "min", "sum", "argmax", "argmin") else 0
