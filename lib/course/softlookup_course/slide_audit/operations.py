"""What the steps of an item may call, beside the functions of its own module."""

import math
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from softlookup_course.slide_audit.compare import table


def draw_normal(*shapes: int | tuple[int, ...], seed: int = 0) -> list[np.ndarray]:
    """Draw standard normal numbers, an array for each shape."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for shape in shapes]


def off_cells(printed: Any, true: Any, decimals: int = 2) -> np.ndarray:
    """Say which cells of a printed table rounding cannot explain."""
    return np.asarray(table(printed, true, decimals).off)


def largest_gap(first: Any, second: Any) -> float:
    """The largest difference of two arrays, cell by cell."""
    return float(abs(first - second).max())


def differing(first: Iterable[Any], second: Iterable[Any]) -> int:
    """In how many places two words, or lists of one length, differ."""
    return sum(a != b for a, b in zip(first, second, strict=True))


def equal(first: float, second: float) -> bool:
    """Whether two numbers are the same, to nine digits."""
    return math.isclose(first, second)


def in_words(gap: float) -> str:
    """A gap that only a computer's rounding makes, in words that do not depend on the computer."""
    for limit, words in ((1e-9, "a billionth"), (1e-6, "a millionth")):
        if gap < limit:
            return words
    return f"{gap:.0e}"


def join_rows(template: str, *columns: Iterable[Any], between: str = ", ") -> str:
    """Fill a template from each row of some columns, and write what comes out one after another."""
    return between.join(template.format(*row) for row in zip(*columns, strict=True))


_NUMPY = (
    "allclose append arange argmax argsort argwhere array array_equal broadcast_to concatenate cos delete diagonal "
    "diff exp eye flatnonzero float16 float32 full geomspace inf isclose isneginf linalg log maximum ones pi prod ptp "
    "shares_memory sin sqrt stack swapaxes triu trunc unique vstack where zeros"
)


@cache
def operations() -> Mapping[str, Any]:
    """Functions by their names: numpy's, the reference's, and those of this module."""
    from softlookup import reference  # here, since tables are read where no reference is: beside a submission

    functions = (draw_normal, off_cells, largest_gap, differing, equal, in_words, join_rows)
    return {
        **{name: getattr(np, name) for name in _NUMPY.split()},
        **{name: getattr(reference, name) for name in reference.__all__},
        **{function.__name__: function for function in functions},
    }
