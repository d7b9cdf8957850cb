"""Mixing values by given weights: with a pencil, and for many rows of amounts."""

from dataclasses import replace

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import known
from softlookup.checks.soft_lookup.page import PAGE
from softlookup.checks.task import Case, Task

VALUES = np.array([[-2.0, -1.0], [2.0, -1.5], [0.5, 2.0]])
"""Pomme, banane, citron, as the notebook places them."""


def _by_hand_cases(rng: Rng, apple: float, banana: float, lemon: float) -> list[Case]:
    return [Case("the three values", (), frame="plain", tolerance=0.0051, absolute=True)]


def _by_hand(apple: float, banana: float, lemon: float) -> np.ndarray:
    return np.einsum("s,sw->w", [apple, banana, lemon], VALUES)


MIXED = "weights @ VALUES"

BY_HAND = Task(
    id="02.by-hand",
    name="by_hand",
    title="An orange with a pencil",
    points=2,
    minutes=4,
    difficulty=1,
    page=PAGE,
    anchor="soft-lookup-mix",
    returns=("mixture",),
    cases=_by_hand_cases,
    oracle=_by_hand,
    frame="plain",
    reveals=False,
    variants=(
        {"apple": 0.1, "banana": 0.2, "lemon": 0.7},
        {"apple": 0.2, "banana": 0.1, "lemon": 0.7},
        {"apple": 0.6, "banana": 0.3, "lemon": 0.1},
        {"apple": 0.3, "banana": 0.5, "lemon": 0.2},
    ),
    mistakes=(
        known(
            "plain-mean",
            (MIXED, "VALUES.mean(axis=0)"),
            says="This is the plain mean of the three values: each is to count by its own weight.",
        ),
        known(
            "best-only",
            (MIXED, "VALUES[weights.argmax()]"),
            says="This is the value with the largest weight, alone: the other two have their share as well.",
            number=1,
        ),
        known(
            "added-up",
            (MIXED, "VALUES.sum(axis=0)"),
            says="The values are added up without their weights: multiply each by its weight first.",
            number=2,
        ),
        known(
            "divided-again",
            (MIXED, f"{MIXED} / 3"),
            says="The sum is divided by 3 once more: the weights sum to 1, so the sum is the mean already.",
        ),
        known(
            "wrong-order",
            ("[apple, banana, lemon]", "[lemon, banana, apple]"),
            says="The weights stand in the wrong order: the first belongs to apple : pomme, the last to lemon : "
            "citron.",
        ),
        known(
            "keys-as-values",
            (MIXED, "weights @ KEYS"),
            says="The keys are mixed. They have done their part in making the weights; what is mixed are the values.",
        ),
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


SHARES = "amounts / amounts.sum(axis=-1, keepdims=True)"

MIX = Task(
    id="02.mix",
    name="mix",
    title="Mixing by amounts",
    points=3,
    minutes=6,
    difficulty=1,
    page=PAGE,
    anchor="soft-lookup-mix",
    returns=("mixture",),
    cases=_mix_cases,
    oracle=_mix,
    frame="numpy",
    parts={"core": 0.8, "whole": 0.2},
    mistakes=(
        known(
            "not-normalised",
            (SHARES, "amounts"),
            says="The amounts are used as they are: divide each row by its sum first, so that its weights sum to 1.",
        ),
        known(
            "by-the-count",
            (SHARES, "amounts / amounts.shape[-1]"),
            says="The amounts are divided by how many there are: it is their sum that makes them weights.",
            number=2,
        ),
        known(
            "by-the-largest",
            ("amounts.sum(", "amounts.max("),
            says="The amounts are divided by the largest of them: it is their sum that makes them weights.",
            number=2,
        ),
        known(
            "unit-length",
            (SHARES, "amounts / np.linalg.norm(amounts, axis=-1, keepdims=True)"),
            says="Each row is divided by its length, so that its squares sum to 1: weights themselves sum to 1.",
            number=2,
        ),
        known(
            "over-queries",
            ("axis=-1", "axis=0"),
            says="The columns sum to 1: each row of amounts is a recipe of its own, so the sum runs along axis -1.",
        ),
        known(
            "whole-matrix",
            ("amounts.sum(axis=-1, keepdims=True)", "amounts.sum()"),
        ),
        known(
            "keepdim-forgotten",
            (", keepdims=True", ""),
            says="The sums lost their axis (keepdims=True is missing), so each column is divided by another row's sum.",
        ),
        known(
            "softmax-of-amounts",
            (SHARES, "np.exp(amounts) / np.exp(amounts).sum(axis=-1, keepdims=True)"),
            says="The amounts went through a softmax. They are amounts and no scores: twice as much is twice the "
            "weight. Divide by the sum.",
        ),
        known(
            "plain-mean",
            (SHARES, "np.ones_like(amounts) / amounts.shape[-1]"),
            says="Every result is the plain mean of the values: the amounts were not used.",
        ),
        known(
            "best-only",
            (SHARES, "np.eye(amounts.shape[-1])[amounts.argmax(axis=-1)]"),
            says="Each row takes the value of its largest amount alone: all values are mixed, each by its share.",
            number=1,
        ),
        known(
            "cut-to-whole-numbers",
            (SHARES, f"({SHARES}).astype(amounts.dtype)"),
            says="Where the amounts are whole numbers, so are the weights: what stands behind the point is lost, since "
            "an array made by `zeros_like(amounts)` has their dtype. Give it `dtype=float`.",
        ),
        known("elementwise", ("weights @ values", "weights * values")),
        known(
            "weights-transposed",
            ("weights @ values", "weights.T @ values"),
            says="The weights are transposed: row t of the weights makes row t of the result.",
        ),
    ),
)
