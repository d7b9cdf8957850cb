"""Questions that launch a kernel, and the task that asks them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from softlookup.tiles import cdiv
from softlookup_inside.asking.case import CORE, Case
from softlookup_judge.chapters.cases import OfOracle, graded
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.limits import WITHIN_LIMITS

TRAFFIC = "traffic"
"""The part of questions that look at the bytes."""

_ARRAYS = 1e-4
"""Tolerance for sums of a hundred products in float32, in any order."""

SHARES = 1e-5
"""Tolerance for small shares and for means of many numbers: those of numbers that were float16 on chip are wrong."""

FAR_BELOW = -150_000.0
"""Less than numbers that stand for minus infinity by mistake; what counts lies so far apart that rounding does not."""


def launch(
    label: str,
    grid: tuple[int, ...],
    args: Sequence[Any],
    outputs: tuple[int, ...],
    limits: tuple[int, int, int] | None = None,
    tolerance: float | None = _ARRAYS,
) -> Case:
    """A question that launches a kernel; without limits (bytes read, written and held on chip) values alone count."""
    part = CORE if limits is None else TRAFFIC
    return Case(label, tuple(args), part, "numpy", grid=grid, outputs=outputs, limits=limits, tolerance=tolerance)


def kernel_task(task_id: str, cases: Callable[..., list[Case]], **facts: Any) -> OfOracle:
    """A task whose answer is a kernel: 70 % for values (see ``within``), 30 % for bytes."""
    return graded(task_id, cases, frame="numpy", cuts=False, parts={CORE: 0.7, TRAFFIC: 0.3}, **facts)


def within(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """The right results of a kernel: what it writes, and no byte beyond its limits."""
    return (*arrays, WITHIN_LIMITS)


def whole(rng: Rng, low: int, high: int) -> int:
    """A whole number from ``low`` to ``high``: no size is fixed, so that a kernel cannot be right for some alone."""
    return int(rng.integers(low, high, endpoint=True))


def uneven(rng: Rng, tile: int, low: int, high: int) -> int:
    """A length of ``low`` to ``high`` full tiles and a part of another one."""
    return tile * whole(rng, low, high) + whole(rng, 1, tile - 1)


def grid_of(*pairs: tuple[int, int]) -> tuple[int, ...]:
    """How many programs cover so many numbers with tiles of that size, for each axis."""
    return tuple(cdiv(length, tile) for length, tile in pairs)
