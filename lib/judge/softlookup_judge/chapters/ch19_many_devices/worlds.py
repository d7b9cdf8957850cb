"""Questions to all ranks of a world, and the task that asks them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from softlookup_inside.asking.case import CORE, Case
from softlookup_judge.chapters.cases import OfOracle, graded
from softlookup_judge.chapters.draws import Rng

TRAFFIC = "traffic"
"""The part of questions that look at the messages."""

MESSAGES = ("send", "recv", "isend", "irecv")
"""What a collective is made of."""

_SUMS = {"float32": 1e-4, "float64": 1e-14}
"""Tolerance for sums in any order, by dtype. In float64, numbers of fewer than some 47 bits do not reach it."""

EXACT = 0.0
"""Tolerance for numbers that are moved, and for sums of ``all_digits``."""

_MOST_WORLD = 8
"""Ranks up to which sums of ``all_digits`` are exact."""

_FINISHED = ("softlookup_inside.ranks.collectives",)
"""Collectives that are finished: a task that offers messages alone forbids them."""


def ask_world(
    label: str,
    args: Sequence[Any],
    world: int,
    *,
    offers: Sequence[str] = MESSAGES,
    limits: tuple[int | None, ...] | None = None,
    tolerance: float | None = None,
) -> Case:
    """A question to all ranks; a list among ``args`` has an entry for each, and without limits values alone count."""
    if tolerance is None:
        arrays = [array for arg in args for array in (arg if isinstance(arg, list) else [arg])]
        tolerance = min(_SUMS[array.dtype.name] for array in arrays if isinstance(array, np.ndarray))
    part = CORE if limits is None else TRAFFIC
    return Case(
        label, tuple(args), part, "numpy", world=world, offers=tuple(offers), limits=limits, tolerance=tolerance
    )


def all_digits(rng: Rng, *shape: int) -> np.ndarray:
    """Whole numbers of 51 bits in float64: sums over ranks are exact in any order, and fewer bits do not hold them."""
    most = 2**53 // _MOST_WORLD
    return rng.integers(-most, most, shape, endpoint=True).astype(np.float64)


def rank_task(task_id: str, cases: Callable[..., list[Case]], *, finished: bool = False, **facts: Any) -> OfOracle:
    """A task whose answer is one rank of a program: 70 % for values (see ``on_all_ranks``), 30 % for messages."""
    facts |= {"frame": "numpy", "cuts": False, "parts": {CORE: 0.7, TRAFFIC: 0.3}}
    return graded(task_id, cases, forbids=() if finished else _FINISHED, **facts)
