"""A task on sums whose bits do not depend on the batch: splits of a fixed size, added in a fixed order."""

from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.chapters.oracles import torch

HUGE = float(2**60)
"""Beside it small whole numbers vanish: a sum of both tells in which order its terms were added."""


def _rows(rng: Rng, rows: int, width: int, pairs: int) -> np.ndarray:
    """Small numbers, among them huge ones that cancel each other."""
    x = rng.integers(1, 30, (rows, width)).astype(float) * rng.choice([-1, 1], (rows, width))
    for row in x:
        columns = rng.permutation(width)[: 2 * pairs]
        row[columns] = HUGE * np.repeat([1, -1], pairs)
    return x


def _split_cases(rng: Rng) -> list[Case]:
    def case(label: str, rows: int, width: int, size: int, pairs: int) -> Case:
        return Case(label, (_rows(rng, rows, width, pairs), size))

    long = _rows(rng, 1, 1433, 0)
    for start in (0, 700):  # a pair that is gone before its split ends, and with it what was added before
        first, second = start + rng.integers(50, 300), start + rng.integers(310, 600)
        long[0, [first, second]] = HUGE, -HUGE
    return [
        case("B = 2, F = 12, splits of 4", 2, 12, 4, 2),
        case("one row alone", 1, 12, 4, 2),
        case("many rows", 9, 15, 5, 3),
        case("a last split of 3", 3, 27, 8, 4),
        case("a last split of one number", 4, 13, 6, 3),
        case("splits longer than the row", 3, 11, 16, 3),
        case("splits of a single number", 2, 9, 1, 2),
        case("B = F = size", 7, 7, 7, 2),
        case("long splits", 2, 120, 40, 9),
        case("splits that would go into each other", 5, 64, 16, 6),
        Case("splits of 700 numbers", (long, 700)),
        case("hundreds of splits", 2, 809, 2, 40),
        case("three hundred rows", 300, 5, 2, 2),
    ]


def _added(first: float, second: float) -> float:
    return float(Fraction(first) + Fraction(second))


@graded("16.split-sum", _split_cases)
def _split_sum(x: Any, size: int) -> Any:
    """Each addition in exact fractions, then rounded, as IEEE 754 defines it."""
    sums = [
        reduce(_added, [reduce(_added, row[start : start + size]) for start in range(0, len(row), size)])
        for row in x.tolist()
    ]
    return torch.tensor(sums, dtype=x.dtype)
