"""What a soft lookup becomes at very low and very high temperatures, and how clear a lead must be in between."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _limit_cases(rng: Rng) -> list[Case]:
    def case(label: str, scores: np.ndarray, width: int) -> Case:
        v = normal(rng, scores.shape[1], width, dtype="float64")
        # Gaps are a ten-thousandth or more: a softmax at 1e-6 is as good an answer as the limit, one at 1e-5 is none.
        return Case(label, (scores, v), frame="numpy", tolerance=1e-7)

    def scores(t: int, s: int) -> np.ndarray:
        return np.stack([rng.permutation(s) for _ in range(t)]) / 2.0 - 0.25

    tied = scores(3, 5)
    tied[0, [1, 3]] = tied[1, [0, 2, 4]] = 4.0
    below = -2.0 - scores(2, 4) / 4
    near = rng.permuted(np.array([[1.2, 1.15, 0.9, -1.0], [2.0, 1.95, 1.9, 0.0]]), axis=1)
    nearer = rng.permuted(np.array([[1.2, 1.1999, 0.9, -1.0], [2.0, 1.9999, 1.9998, 0.0]]), axis=1)
    return [
        case("three queries, five keys", scores(3, 5), 2),
        case("four queries, four keys, values of width four", scores(4, 4), 4),
        case("keys that tie for the best", tied, 3),
        case("all keys tie", np.full((2, 3), 1.5), 2),
        case("scores below 0", below, 3),
        case("keys that nearly tie", near, 2),
        case("keys that differ by a ten-thousandth", nearer, 2),
        # Multiples of 1/1024, which float32 holds, too: here a tolerance that grows with the scores makes them equal.
        case("large scores that differ by a thousandth", scores(3, 4) / 512 + 3000.0, 2),
        case("one key", scores(2, 1) + 2.0, 2),
    ]


def _limit(scores: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    cold = [v[[s for s, score in enumerate(row) if score == max(row)]].mean(axis=0) for row in scores]
    return np.stack(cold), np.stack([v.mean(axis=0)] * len(scores))


LIMIT = described("02.limit", cases=_limit_cases, oracle=_limit, frame="numpy")


def _lead_cases(rng: Rng, tau: float) -> list[Case]:
    some = ((2, 0.9), (3, 0.8), (11, 0.5), (1000, 0.99), (12, 0.05))
    drawn = ((int(rng.integers(4, 90)), float(np.round(rng.uniform(0.2, 0.95), 3))) for _ in range(2))
    return [
        Case(f"{n} keys, a share of {share:g}", (n, share), frame="plain", tolerance=1e-6)
        for n, share in (*some, *drawn)
    ]


def _lead(n_keys: int, share: float, tau: float) -> float:
    # The logit of p is 2 artanh(2p - 1); the others' weights add up like one key that leads by log(n - 1).
    return float(tau * (2 * np.arctanh(2 * share - 1) + np.log(n_keys - 1)))


LEAD = described(
    "02.lead",
    cases=_lead_cases,
    oracle=_lead,
    frame="plain",
    variants=tuple({"tau": tau} for tau in (0.5, 3.0, 0.25, 1.5, 2.5, 0.75, 4.0, 0.4, 0.6)),
)
