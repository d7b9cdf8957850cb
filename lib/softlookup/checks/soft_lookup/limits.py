"""What a soft lookup becomes at very low and very high temperatures, and how clear a lead must be in between."""

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import known
from softlookup.checks.soft_lookup.page import PAGE
from softlookup.checks.task import Case, Task


def _limit_cases(rng: Rng) -> list[Case]:
    def case(label: str, scores: np.ndarray, width: int) -> Case:
        v = normal(rng, scores.shape[1], width, dtype="float64")
        # Gaps are a twentieth or more, so that a softmax at a very small temperature is as good an answer.
        return Case(label, (scores, v), frame="numpy", tolerance=1e-6)

    def scores(t: int, s: int) -> np.ndarray:
        return np.stack([rng.permutation(s) for _ in range(t)]) / 2.0 - 0.25

    tied = scores(3, 5)
    tied[0, [1, 3]] = tied[1, [0, 2, 4]] = 4.0
    below = -2.0 - scores(2, 4) / 4
    near = rng.permuted(np.array([[1.2, 1.15, 0.9, -1.0], [2.0, 1.95, 1.9, 0.0]]), axis=1)
    return [
        case("three queries, five keys", scores(3, 5), 2),
        case("four queries, four keys, values of width four", scores(4, 4), 4),
        case("keys that tie for the best", tied, 3),
        case("all keys tie", np.full((2, 3), 1.5), 2),
        case("scores below 0", below, 3),
        case("keys that nearly tie", near, 2),
        case("one key", scores(2, 1) + 2.0, 2),
    ]


def _limit(scores: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    cold = [v[[s for s, score in enumerate(row) if score == max(row)]].mean(axis=0) for row in scores]
    return np.stack(cold), np.stack([v.mean(axis=0)] * len(scores))


BEST = "scores == scores.max(axis=-1, keepdims=True)"
COLD = "cold = best / best.sum(axis=-1, keepdims=True) @ v"
HOT = "hot = np.full_like(scores, 1 / scores.shape[-1]) @ v"

LIMIT = Task(
    id="02.limit",
    name="limits",
    title="Cold and hot",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="soft-lookup-limits",
    returns=("cold", "hot"),
    cases=_limit_cases,
    oracle=_limit,
    frame="numpy",
    mistakes=(
        known(
            "first-of-the-tied",
            (COLD, "cold = v[best.argmax(axis=-1)]"),
            says="Where several keys tie for the best, the first one takes all: softmax treats equal scores alike at "
            "every temperature, so they share equally.",
            number=1,
        ),
        known(
            "tied-added-up",
            (COLD, "cold = best @ v"),
            says="The values of keys that tie are added up: they share the weight of 1, so it is their mean.",
            number=2,
        ),
        known(
            "smallest-wins",
            ("scores.max(", "scores.min("),
            says="The smallest score wins: as tau goes to 0, the largest takes all.",
        ),
        known(
            "one-best-for-all",
            (BEST, "scores == scores.max()"),
            says="One best score is taken for the whole table: each query has a best key of its own.",
            number=10,
        ),
        known(
            "over-queries",
            (BEST, "scores == scores.max(axis=0, keepdims=True)"),
            says="The best score of each column is taken: each query looks along its own row, axis -1.",
        ),
        known(
            "cold-overflows",
            (COLD, "e = np.exp(scores / 1e-6)\n    cold = e / e.sum(axis=-1, keepdims=True) @ v"),
            says="The cold answer is a softmax at a very small temperature, and its exponentials overflow or vanish: "
            "subtract each row's largest score first, or find the best keys without any exponential.",
            number=14,
        ),
        known(
            "hot-is-zero",
            (HOT, "hot = np.zeros((len(scores), v.shape[-1]))"),
            says="In great heat nothing is said to come back. The scores over tau go to 0, all of them, and e to the 0 "
            "is 1: each key gets the same share.",
        ),
        known(
            "hot-added-up",
            (HOT, "hot = np.ones_like(scores) @ v"),
            says="In great heat the values are added up: each weight is 1/S, so it is their mean.",
            number=2,
        ),
        known(
            "hot-at-one",
            (HOT, "e = np.exp(scores)\n    hot = e / e.sum(axis=-1, keepdims=True) @ v"),
            says="The second result is the lookup at tau = 1: in great heat the scores do not count at all.",
        ),
        known(
            "one-hot-row",
            (HOT, "hot = v.mean(axis=0)"),
            says="The hot answer is there once: return it for each query, as one row of the second result.",
        ),
        known("exchanged", ("return cold, hot", "return hot, cold"), says="Cold and hot have changed places."),
    ),
)


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


LEADS = "return tau * math.log(odds * (n_keys - 1))"

LEAD = Task(
    id="02.lead",
    name="needed_lead",
    title="How clear a lead",
    points=3,
    minutes=10,
    difficulty=3,
    page=PAGE,
    anchor="soft-lookup-lead",
    returns=("lead",),
    cases=_lead_cases,
    oracle=_lead,
    frame="plain",
    variants=({"tau": 0.5}, {"tau": 3.0}, {"tau": 0.25}, {"tau": 1.5}),
    mistakes=(
        known(
            "counted-itself",
            ("(n_keys - 1)", "n_keys"),
            says="The key is counted among the others: there are n_keys - 1 of those.",
        ),
        known(
            "others-forgotten",
            (" * (n_keys - 1)", ""),
            says="The number of the others is missing: each of them takes its share, so more keys need a clearer lead.",
        ),
        known(
            "divided-by-the-others",
            ("odds * (n_keys - 1)", "odds / (n_keys - 1)"),
            says="The logarithm of the number of the others is taken away: it is added, since more keys need a clearer "
            "lead.",
        ),
        known(
            "share-for-odds",
            ("share / (1 - share)", "share"),
            says="The logarithm is taken of the share: it is the share over what is left for the others, "
            "share / (1 - share).",
        ),
        known(
            "odds-upside-down",
            ("share / (1 - share)", "(1 - share) / share"),
            says="The odds are upside down: what the key gets stands above what is left for the others.",
        ),
        known(
            "no-logarithm",
            ("math.log(odds * (n_keys - 1))", "odds * (n_keys - 1)"),
            says="This is a ratio of weights: the lead in scores is its logarithm, times tau.",
        ),
        known(
            "ten-for-e",
            ("math.log(", "math.log10("),
            says="This is a logarithm to the base 10: softmax takes powers of e, so it is `math.log`.",
        ),
        known(
            "two-for-e",
            ("math.log(", "math.log2("),
            says="This is a logarithm to the base 2: softmax takes powers of e, so it is `math.log`.",
        ),
        known(
            "tau-ignored",
            ("return tau * ", "return "),
            says="The temperature has no effect: the higher it is, the larger the lead has to be.",
        ),
        known(
            "divided-by-tau",
            (LEADS, "return math.log(odds * (n_keys - 1)) / tau"),
            says="The lead is divided by tau: softmax sees lead / tau, so the lead itself is tau times as large.",
        ),
    ),
)
