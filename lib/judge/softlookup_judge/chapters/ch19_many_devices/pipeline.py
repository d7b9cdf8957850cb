"""Layers on different devices: the order of one stage's work, and the time of all of them. No ranks here."""

from graphlib import CycleError, TopologicalSorter
from math import inf

import numpy as np

from softlookup_inside.asking.case import CORE, Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described
from softlookup_judge.data.variant import Expression

DEADLOCK = "deadlock"
"""The part of questions whose orders wait for each other for ever."""


def _schedule_cases(rng: Rng, first: int) -> list[Case]:
    sizes = {
        "the first of four stages, six micro-batches": (0, 4, 6),
        "the second stage": (1, 4, 6),
        "the last stage": (3, 4, 6),
        "as many micro-batches as stages": (0, 3, 3),
        "fewer micro-batches than stages": (0, 5, 2),
        "fewer than the warm-up, in a later stage": (2, 6, 2),
        "as many micro-batches as the stages before": (3, 5, 4),
        "one stage": (0, 1, 3),
        "one micro-batch": (1, 3, 1),
        "eleven micro-batches": (2, 5, 11),
        "three hundred micro-batches": (3, 8, 300),
        "three hundred stages": (20, 300, 290),
    }
    stages = int(rng.integers(3, 7))
    sizes["drawn"] = (int(rng.integers(0, stages)), stages, int(rng.integers(2, 9)))
    return [Case(label, args) for label, args in sizes.items()]


def _one_forward_one_backward(stage: int, stages: int, micro_batches: int, first: int) -> list[str]:
    """Forwards as soon as fewer than so many micro-batches are alive, else a backward."""
    most_alive = stages - stage
    order: list[str] = []
    forwards = backwards = 0
    while backwards < micro_batches:
        if forwards < micro_batches and forwards - backwards < most_alive:
            order.append(f"F{first + forwards}")
            forwards += 1
        else:
            order.append(f"B{first + backwards}")
            backwards += 1
    return order


SCHEDULE = described(
    "19.schedule", _schedule_cases, _one_forward_one_backward, frame="text", variants=({"first": 0}, {"first": 1})
)


def _all_forwards_first(stages: int, micro_batches: int, is_reversed: bool = True) -> list[list[str]]:
    numbers = range(micro_batches)
    backwards = reversed(numbers) if is_reversed else numbers
    order = [*(f"F{i}" for i in numbers), *(f"B{i}" for i in backwards)]
    return [list(order) for _ in range(stages)]


def _by_turns(stages: int, micro_batches: int) -> list[list[str]]:
    return [_one_forward_one_backward(stage, stages, micro_batches, 0) for stage in range(stages)]


def _bubble_cases(rng: Rng, fraction: str, idle: str) -> list[Case]:
    mixed = [["F0", "F1", "F2", "B0", "B1", "B2"], ["F0", "B0", "F1", "B1", "F2", "B2"]]
    # Stage 0 does not go on before micro-batch 0 comes back, which stage 1 keeps until it has the next one.
    no_warm_up = [["F0", "B0", "F1", "B1"], ["F0", "F1", "B0", "B1"]]
    swapped = [["F0", "F1", "B0", "B1"], ["F1", "F0", "B1", "B0"]]
    # Each stage begins with what the other does last: stage 0 never gets to F1, stage 1 needs it first.
    stuck = [["F0", "B0", "F1", "B1"], ["F1", "B1", "F0", "B0"]]
    backward_first = [["F0", "F1", "B0", "B1"], ["B0", "F0", "F1", "B1"]]
    two_digits = [["F0", "F10", "B0", "B10"], ["F0", "B10", "F10", "B0"]]
    late = ["F0", "B0", "F1", "F2", "F3", "B1", "B2", "B3"]
    rows: list[tuple[str, list[list[str]], float, float, str]] = [
        ("two stages, three micro-batches, all forwards first", _all_forwards_first(2, 3), 1.0, 2.0, CORE),
        ("one forward, one backward", _by_turns(4, 6), 1.0, 2.0, CORE),
        ("all forwards first, four stages", _all_forwards_first(4, 6), 0.5, 1.25, CORE),
        ("a forward takes longer", _by_turns(3, 4), 3.0, 0.5, CORE),
        ("backwards in the order of the forwards", _all_forwards_first(3, 3, is_reversed=False), 1.0, 1.5, CORE),
        ("fewer micro-batches than stages", _by_turns(5, 2), 1.0, 2.0, CORE),
        ("one stage", _by_turns(1, 3), 0.25, 0.5, CORE),
        ("stages with different schedules", mixed, 1.0, 3.0, CORE),
        ("micro-batches in another order", swapped, 2.0, 1.0, CORE),
        ("eleven micro-batches", _by_turns(3, 11), float(rng.integers(1, 5)) / 2, float(rng.integers(1, 7)) / 2, CORE),
        (
            "milliseconds and less",
            _by_turns(4, 5),
            float(rng.uniform(0.001, 0.009)),
            float(rng.uniform(1e-5, 1e-4)),
            CORE,
        ),
        ("three hundred micro-batches", _by_turns(3, 300), 0.0137, 0.0291, CORE),
        ("three hundred micro-batches, all forwards first", _all_forwards_first(2, 300), 1.0, 1.7, CORE),
        ("forty stages", _by_turns(40, 3), 1.25, 2.5, CORE),
        ("most micro-batches kept late", [late, late], 1.0, 2.0, CORE),
        ("orders that wait for each other", stuck, 1.0, 2.0, DEADLOCK),
        ("a first stage without warm-up", no_warm_up, 1.0, 2.0, DEADLOCK),
        ("a backward before its forward", backward_first, 1.0, 2.0, DEADLOCK),
        ("a backward before its forward, micro-batches 0 and 10", two_digits, 1.0, 2.0, DEADLOCK),
    ]
    return [Case(label, args, part, "plain") for label, *args_, part in rows for args in [tuple(args_)]]


_OF_ALL, _OF_WORK = "the time of all stages", "the time in which stages work"


@graded(
    "19.bubble",
    _bubble_cases,
    frame="plain",
    parts={CORE: 0.8, DEADLOCK: 0.2},
    variants=(
        {"fraction": _OF_ALL, "idle": Expression("1 - work / (stages * seconds)")},
        {"fraction": _OF_WORK, "idle": Expression("stages * seconds / work - 1")},
    ),
)
def _pipeline_time(
    orders: list[list[str]], forward_s: float, backward_s: float, fraction: str, idle: str
) -> tuple[float, float, int]:
    """Each step after all that it waits for, in an order without circles."""
    waits: dict[tuple[int, str], set[tuple[int, str]]] = {}
    for stage, order in enumerate(orders):
        for position, step in enumerate(order):
            before = {(stage, order[position - 1])} if position else set()
            if step[0] == "F" and stage > 0:
                before.add((stage - 1, step))
            if step[0] == "B":
                before.add((stage, "F" + step[1:]) if stage == len(orders) - 1 else (stage + 1, step))
            waits[stage, step] = before
    seconds_of = {"F": forward_s, "B": backward_s}
    ends: dict[tuple[int, str], float] = {}
    try:
        for at in TopologicalSorter(waits).static_order():
            ends[at] = max((ends[other] for other in waits[at]), default=0.0) + seconds_of[at[1][0]]
    except CycleError:
        return inf, 1.0, 0
    seconds = max(ends.values())
    work_s = sum(seconds_of[step[0]] for _, step in ends)
    room = seconds * len(orders)
    most = max(
        int(np.cumsum([1 if step[0] == "F" else -1 for step in order]).max(initial=0)) for order in orders
    )  # fmt: skip
    return seconds, (room - work_s) / (room if fraction == _OF_ALL else work_s), most
