"""Tasks on collectives made of messages: a broadcast along a tree, and the rings."""

from collections.abc import Callable, Sequence

import numpy as np

from softlookup_inside.asking.case import Arrays, Case
from softlookup_judge.chapters.ch19_many_devices.worlds import EXACT, all_digits, ask_world, rank_task
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.variant import Expression
from softlookup_judge.judging.ranks import on_all_ranks


def _broadcast_cases(rng: Rng) -> list[Case]:
    def ask(label: str, world: int, root: int, n: int, dtype: str = "float32", limited: bool = False) -> Case:
        x = [normal(rng, n, dtype=dtype) for _ in range(world)]
        limits = (None, world - 1, (world - 1).bit_length()) if limited else None
        return ask_world(label, (x, root), world, offers=("send", "recv"), limits=limits, tolerance=EXACT)

    return [
        ask("two ranks", 2, 0, 3),
        ask("four ranks, from rank 2", 4, 2, 2),
        ask("five ranks, from rank 3", 5, 3, 4),
        ask("three ranks, from the last one", 3, 2, 2),
        ask("one rank", 1, 0, 3),
        # With fewer ranks, trees that are too high fit into the limit.
        ask("messages of seven ranks, all digits of float64", 7, 4, 2, "float64", limited=True),
    ]


@rank_task("19.broadcast", _broadcast_cases)
def _broadcast(x: Sequence[np.ndarray], root: int) -> Arrays:
    return on_all_ranks([x[root]] * len(x))


def _at_most(n_bytes: int) -> tuple[int | None, ...]:
    """Limits of a program in a ring: so many bytes on a link, sent by a rank, and received by one."""
    return n_bytes, None, None, n_bytes


def _reduce_scatter_cases(rng: Rng, which: str, parts: str) -> list[Case]:
    def ask(label: str, world: int, m: int, limited: bool = False) -> Case:
        x = [normal(rng, world * m) for _ in range(world)]
        return ask_world(label, (x,), world, limits=_at_most(4 * (world - 1) * m) if limited else None)

    def ask_for_all_digits(label: str, world: int, m: int) -> Case:
        x = [all_digits(rng, world * m) for _ in range(world)]
        return ask_world(label, (x,), world, limits=_at_most(8 * (world - 1) * m), tolerance=EXACT)

    return [
        ask("two ranks", 2, 2),
        ask("three ranks", 3, 2),
        ask("five ranks, parts of one number", 5, 1),
        ask("one rank", 1, 3),
        ask("bytes of four ranks", 4, 3, limited=True),
        ask_for_all_digits("bytes of three ranks, all digits of float64", 3, 2),
    ]


_OWNERS: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "r": ("np.split(x, world)", lambda rank, world: rank),
    "P - 1 - r": ("np.split(x, world)[::-1]", lambda rank, world: world - 1 - rank),
    "(r + 1) % P": ("np.split(np.roll(x, -(x.size // world)), world)", lambda rank, world: (rank + 1) % world),
}


@rank_task(
    "19.reduce-scatter",
    _reduce_scatter_cases,
    variants=tuple({"which": which, "parts": Expression(parts)} for which, (parts, _) in _OWNERS.items()),
)
def _reduce_scatter(x: Sequence[np.ndarray], which: str, parts: str) -> Arrays:
    world = len(x)
    sums = np.stack(x).sum(axis=0).reshape(world, -1)
    return on_all_ranks([sums[_OWNERS[which][1](rank, world)] for rank in range(world)])


def _all_gather_cases(rng: Rng, which: str, whole: str) -> list[Case]:
    def ask(label: str, world: int, m: int, dtype: str = "float32", limited: bool = False) -> Case:
        part = [normal(rng, m, dtype=dtype) for _ in range(world)]
        limits = _at_most((world - 1) * part[0].nbytes) if limited else None
        return ask_world(label, (part,), world, limits=limits, tolerance=EXACT)

    return [
        ask("two ranks", 2, 3),
        ask("three ranks", 3, 2),
        ask("five ranks, parts of one number", 5, 1),
        ask("one rank", 1, 3),
        ask("bytes of four ranks", 4, 2, limited=True),
        ask("bytes of three ranks, all digits of float64", 3, 3, "float64", limited=True),
    ]


_FROM_FIRST, _FROM_LAST = "from rank 0 to rank P - 1", "from rank P - 1 to rank 0"


@rank_task(
    "19.all-gather",
    _all_gather_cases,
    variants=(
        {"which": _FROM_FIRST, "whole": Expression("rows")},
        {"which": _FROM_LAST, "whole": Expression("rows[::-1]")},
    ),
)
def _all_gather(part: Sequence[np.ndarray], which: str, whole: str) -> Arrays:
    parts = np.stack(part if which == _FROM_FIRST else part[::-1])
    return on_all_ranks([parts.ravel()] * len(part))


def _all_reduce_cases(rng: Rng, which: str, both: str) -> list[Case]:
    def ask(label: str, world: int, n: int, limited: bool = False) -> Case:
        x = [normal(rng, n) for _ in range(world)]
        return ask_world(label, (x,), world, limits=_at_most(4 * 2 * (world - 1) * n // world) if limited else None)

    def ask_for_all_digits(label: str, world: int, n: int) -> Case:
        x = [all_digits(rng, n) for _ in range(world)]
        return ask_world(label, (x,), world, limits=_at_most(8 * 2 * (world - 1) * n // world), tolerance=EXACT)

    return [
        ask("two ranks", 2, 4),
        ask("three ranks, seven numbers", 3, 7),
        ask("five ranks, three numbers", 5, 3),
        ask("one rank", 1, 3),
        ask("bytes of four ranks", 4, 8, limited=True),
        # Whole arrays to all are 3.5 times the bytes, too many in 16 bits, too.
        ask("bytes of seven ranks", 7, 14, limited=True),
        # Whole arrays along a chain and back are 1.5 times the bytes, too many for numbers of 51 bits.
        ask_for_all_digits("bytes of three ranks, all digits of float64", 3, 6),
    ]


_COMBINED: dict[str, tuple[str, Callable[..., np.ndarray]]] = {
    "sum": ("parts[into] + received", np.sum),
    "maximum": ("np.maximum(parts[into], received)", np.max),
    "minimum": ("np.minimum(parts[into], received)", np.min),
}


@rank_task(
    "19.all-reduce",
    _all_reduce_cases,
    variants=tuple({"which": which, "both": Expression(both)} for which, (both, _) in _COMBINED.items()),
)
def _all_reduce(x: Sequence[np.ndarray], which: str, both: str) -> Arrays:
    return on_all_ranks([_COMBINED[which][1](np.stack(x), axis=0)] * len(x))
