"""Mixing values by given weights: with a pencil, and for many rows of amounts."""

from dataclasses import replace

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described

VALUES = np.array([[-2.0, -1.0], [2.0, -1.5], [0.5, 2.0]])
"""Pomme, banane, citron, as the notebook places them."""


def _by_hand_cases(rng: Rng, apple: float, banana: float, lemon: float) -> list[Case]:
    return [Case("the three values", (), frame="plain", tolerance=0.0051, absolute=True)]


def _by_hand(apple: float, banana: float, lemon: float) -> np.ndarray:
    return np.einsum("s,sw->w", [apple, banana, lemon], VALUES)


BY_HAND = described(
    "02.by-hand",
    cases=_by_hand_cases,
    oracle=_by_hand,
    frame="plain",
    reveals=False,
    variants=(
        {"apple": 0.1, "banana": 0.2, "lemon": 0.7},
        {"apple": 0.2, "banana": 0.1, "lemon": 0.7},
        {"apple": 0.6, "banana": 0.3, "lemon": 0.1},
        {"apple": 0.3, "banana": 0.5, "lemon": 0.2},
        {"apple": 0.5, "banana": 0.3, "lemon": 0.2},
        {"apple": 0.2, "banana": 0.3, "lemon": 0.5},
        {"apple": 0.6, "banana": 0.1, "lemon": 0.3},
        {"apple": 0.1, "banana": 0.6, "lemon": 0.3},
        {"apple": 0.4, "banana": 0.1, "lemon": 0.5},
    ),
)


def _amounts(rng: Rng, *shape: int) -> np.ndarray:
    """Amounts as a recipe has them, no row of which sums to 1, nor to the number of its places."""
    return np.round(rng.uniform(0.3, 6.0, shape), 2) + np.arange(shape[0])[:, None]


def _mix_cases(rng: Rng) -> list[Case]:
    def case(label: str, amounts: np.ndarray, width: int) -> Case:
        return Case(label, (amounts, normal(rng, amounts.shape[1], width, dtype="float64")), frame="numpy")

    shares = _amounts(rng, 3, 4)
    shares[1] = [1.0, 0.0, 0.0, 0.0]
    with_nothing = _amounts(rng, 2, 5)
    with_nothing[0, [1, 4]] = with_nothing[1, 2] = 0.0
    return [
        case("three recipes of five values", _amounts(rng, 3, 5), 2),
        case("1, 1 and 8 parts", np.array([[1.0, 1.0, 8.0]]), 2),
        case("four recipes of four values of width four", _amounts(rng, 4, 4), 4),
        case("amounts of 0", with_nothing, 3),
        case("a recipe that takes one value alone", shares, 3),
        case("very small amounts", _amounts(rng, 2, 3) * 1e-9, 4),
        case("a single value", _amounts(rng, 3, 1), 2),
        replace(case("amounts in whole numbers", rng.integers(1, 9, (2, 3)), 2), part="whole"),
    ]


def _mix(amounts: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.stack([np.average(values, axis=0, weights=row) for row in amounts])


MIX = described("02.mix", cases=_mix_cases, oracle=_mix, frame="numpy", parts={"core": 0.8, "whole": 0.2})
