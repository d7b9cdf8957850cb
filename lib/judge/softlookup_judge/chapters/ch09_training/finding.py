"""Two more tests that a student writes: whether a loss counts padding, and whether a model drops in use."""

from typing import Any

import numpy as np

from softlookup_inside.asking.candidates import INSIDES
from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _padding_cases(rng: Rng) -> list[Case]:
    def case(label: str, above: float, below: float, summed: bool = False, fixed: int | None = None) -> Case:
        n_words = int(rng.integers(5, 12))
        taken = None if fixed is None else fixed % n_words
        settings = {"above": above, "below": below, "summed": summed, "known": taken}
        return Case(label, ({"candidate": "loss of logits", **settings}, n_words))

    return [
        case("sound: a mean over real tokens", 0.0, 0.0),
        case("a mean over all places", 1.0, 1.0),
        case("left out of the sum, not of the count", 0.0, 1.0),
        case("sound: a sum over real tokens", 0.0, 0.0, summed=True),
        case("left out of the count, not of the sum", 1.0, 0.0),
        case("the id 0 is always taken for padding", 0.0, 0.0, fixed=0),
        case("a sum over all places", 1.0, 1.0, summed=True),
        case("the last id is always taken for padding", 0.0, 0.0, fixed=-1),
        case("padding counts a hundredth", 0.01, 0.01),
    ]


def _padding(loss_of: dict[str, Any], n_words: int) -> np.ndarray:
    counted = loss_of["above"] or (loss_of["below"] and not loss_of["summed"])
    return np.asarray(bool(counted) or loss_of["known"] is not None)


FIND_PADDING = described("09.find-padding", cases=_padding_cases, oracle=_padding, forbids=INSIDES, lends=False)


def _dropping_cases(rng: Rng) -> list[Case]:
    d = 12

    def case(label: str, *shares: tuple[float, float], training: bool = True) -> Case:
        weights = normal(rng, len(shares), d, d, scale=d**-0.5)
        settings = {"weights": weights, "shares": list(shares), "training": training}
        return Case(label, ({"candidate": "layers", **settings}, normal(rng, 100, d)))

    return [
        case("sound: drops in training alone", (0.3, 0.0), (0.1, 0.0)),
        case("drops in use as well", (0.3, 0.3), (0.1, 0.1)),
        case("sound: never drops", (0.0, 0.0), (0.0, 0.0)),
        case("one layer of three stays in training", (0.2, 0.0), (0.2, 0.0), (0.2, 0.2)),
        case("drops one number in two hundred in use", (0.1, 0.005), training=False),
        case("sound: handed over in use", (0.4, 0.0), training=False),
        case("drops in use alone", (0.0, 0.4), (0.0, 0.0)),
    ]


def _drops(model: dict[str, Any], x: Any) -> np.ndarray:
    return np.asarray(any(use > 0 for _, use in model["shares"]))


FIND_DROPOUT = described("09.find-dropout", cases=_dropping_cases, oracle=_drops, forbids=INSIDES, lends=False)
