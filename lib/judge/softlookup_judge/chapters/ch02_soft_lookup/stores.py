"""Hard lookups, in a dictionary and as a matrix of zeros and ones, and mixing values by given weights."""

from dataclasses import replace

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded, variants_by
from softlookup_judge.chapters.draws import Rng, doubles

FRUIT = ("banana", "lemon", "pear", "fig", "plum", "cherry", "mango", "kiwi")


def _hard_cases(rng: Rng) -> list[Case]:
    def prices(*names: str) -> dict[str, int]:
        return {name: int(rng.integers(5, 900)) for name in names}

    def case(label: str, store: dict[str, int], name: str) -> Case:
        # Not among the prices, and not 0: what is returned says where it comes from.
        # The name is a text of its own: `is` does not find it.
        return Case(label, (store, "".join(list(name)), -int(rng.integers(2, 900))))

    some = [str(name) for name in rng.permutation(FRUIT)]
    free = prices("apple", *some[:3])
    free[some[1]] = 0
    return [
        case("a name that is there", prices("apple", *some[:3]), "apple"),
        case("a name that is not there", prices("apple", *some[:3]), "orange"),
        case("another name that is there", prices(*some[:4], "apple"), some[2]),
        case("something that costs 0", free, some[1]),
        case("a name that is a part of a key", prices("pineapple", *some[:2]), "apple"),
        case("a name that holds a key", prices("apple", *some[:2]), "pineapple"),
        case("a name that a key begins with", prices(*some[:2], "apple tart"), "apple"),
        case("a name that begins with a key", prices(*some[:2], "apple"), "apple tart"),
        case("a name misspelt", prices(*some[:2], "apple"), "aple"),
        case("a key and a longer one before it", prices("pineapple", "apple", some[0]), "apple"),
        case("a key and a shorter one before it", prices("apple", "pineapple", some[0]), "pineapple"),
        case("a name and a space behind it", prices("apple", *some[:2]), "apple "),
        case("a name in capitals", prices("apple", *some[:2]), "Apple"),
        case("an empty dictionary", {}, "apple"),
    ]


@graded("02.hard-lookup", _hard_cases, frame="plain")
def _hard(prices: dict[str, int], name: str, otherwise: int) -> int:
    return next((price for key, price in prices.items() if key == name), otherwise)


def _store_cases(rng: Rng) -> list[Case]:
    slide = np.arange(100, 111)
    gaps = rng.permutation(np.array([3, 8, 21, 104, 250]))
    small = np.array([2, 0, 3, 1])
    long = np.array([500_000, 2**24 + 1, 500_001, 2**24])
    return [
        Case("order_100 to order_110, asked for 104 and 106", (np.array([104, 106]), slide)),
        Case("five orders in another order, three asked for", (gaps[[3, 0, 3]], gaps)),
        Case("as many asked for as there are", (rng.permutation(small)[:4], small)),
        Case("four orders numbered from 0, asked for 1, 0 and 2", (np.array([1, 0, 2]), small)),
        Case("one that is not there", (np.array([gaps[1], 22, gaps[4]]), gaps)),
        Case("nothing but strangers", (np.array([7, 105]), gaps)),
        Case("a single order", (np.array([5, 6]), np.array([6]))),
        # Neighbours that are equal within a tolerance, or in float32 (2 ** 24 and more), are two orders.
        Case("long numbers that differ by 1", (long[[2, 0, 3]] + [0, 0, 1], long)),
    ]


@graded("02.store", _store_cases, frame="numpy")
def _store(asked: np.ndarray, orders: np.ndarray) -> np.ndarray:
    rows = [[1.0 if int(key) == int(query) else 0.0 for key in orders] for query in asked]
    return np.array(rows).reshape(len(asked), len(orders))


VALUES = np.array([[-2.0, -1.0], [2.0, -1.5], [0.5, 2.0]])
"""Pomme, banane, citron, as the notebook places them."""


def _by_hand_cases(rng: Rng, apple: float, banana: float, lemon: float) -> list[Case]:
    return [Case("the three values", (), tolerance=0.0051, absolute=True)]


@graded(
    "02.by-hand",
    _by_hand_cases,
    frame="plain",
    reveals=False,
    variants=variants_by(
        apple=(0.1, 0.2, 0.6, 0.3, 0.5, 0.2, 0.6, 0.1, 0.4),
        banana=(0.2, 0.1, 0.3, 0.5, 0.3, 0.3, 0.1, 0.6, 0.1),
        lemon=(0.7, 0.7, 0.1, 0.2, 0.2, 0.5, 0.3, 0.3, 0.5),
    ),
)
def _by_hand(apple: float, banana: float, lemon: float) -> np.ndarray:
    return np.einsum("s,sw->w", [apple, banana, lemon], VALUES)


def _amounts(rng: Rng, *shape: int) -> np.ndarray:
    """Amounts as a recipe has them, no row of which sums to 1, nor to the number of its places."""
    return np.round(rng.uniform(0.3, 6.0, shape), 2) + np.arange(shape[0])[:, None]


def _mix_cases(rng: Rng) -> list[Case]:
    def case(label: str, amounts: np.ndarray, width: int) -> Case:
        return Case(label, (amounts, doubles(rng, amounts.shape[1], width)))

    single = _amounts(rng, 3, 4)
    single[1] = [1.0, 0.0, 0.0, 0.0]
    with_nothing = _amounts(rng, 2, 5)
    with_nothing[0, [1, 4]] = with_nothing[1, 2] = 0.0
    return [
        case("three recipes of five values", _amounts(rng, 3, 5), 2),
        case("1, 1 and 8 parts", np.array([[1.0, 1.0, 8.0]]), 2),
        case("four recipes of four values of width four", _amounts(rng, 4, 4), 4),
        case("amounts of 0", with_nothing, 3),
        case("a recipe that takes one value alone", single, 3),
        case("very small amounts", _amounts(rng, 2, 3) * 1e-9, 4),
        case("a single value", _amounts(rng, 3, 1), 2),
        replace(case("amounts in whole numbers", rng.integers(1, 9, (2, 3)), 2), part="whole"),
    ]


@graded("02.mix", _mix_cases, frame="numpy", parts={"core": 0.8, "whole": 0.2})
def _mix(amounts: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.stack([np.average(values, axis=0, weights=row) for row in amounts])
