"""From vectors to similarities and weights, the whole soft lookup, its limits, and embedding arithmetic."""

from dataclasses import replace
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import LARGE, graded, variants_by
from softlookup_judge.chapters.draws import LARGE_TOLERANCE, Rng, doubles, large_logits
from softlookup_judge.chapters.forbidden import ATTENTIONS, SOFTMAXES
from softlookup_judge.chapters.oracles import torch
from softlookup_judge.data.words import rows_sum_to_one

COSINES = (
    "torch.cosine_similarity",
    "torch.nn.functional.cosine_similarity",
    "torch.nn.CosineSimilarity",
    "scipy.spatial.distance.cdist",  # which can compute cosines
    "scipy.spatial.distance.cosine",
    "softlookup.reference",
    "softlookup.model",
)

EPSILON = 1e-6
"""An answer may add 1e-8 to each length instead of asking whether it is 0: no other vector is nearly as short."""


def _similarity_cases(rng: Rng) -> list[Case]:
    def case(label: str, q: np.ndarray, k: np.ndarray) -> Case:
        return Case(label, (q, k), tolerance=EPSILON)

    def vectors(count: int, width: int) -> np.ndarray:
        # Lengths differ from row to row, and none is near 1.
        return doubles(rng, count, width) * (2.0 + np.arange(count))[:, None]

    q, k = vectors(3, 4), vectors(5, 4)
    zero_q, zero_k = vectors(3, 2), vectors(4, 2)
    zero_q[1] = zero_k[2] = 0.0
    # What may be taken for a vector of zeros: a zero in it, a sum of 0, a small length.
    some_q, some_k = np.array([[1.0, 0.0], [1.0, -1.0], [0.1, 0.1]]), np.array([[2.0, -2.0], [0.0, 3.0], [0.03, 0.04]])
    same = vectors(2, 3)
    # Short on one side, or on both: the product of the lengths is then below 1e-8, a length alone is far above it.
    unit = [x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (vectors(3, 4), vectors(4, 4))]
    tiny, tiniest, large = 3e-5, 5e-6, 1e6
    return [
        case("three queries, five keys of width four", q, k),
        case("four queries, four keys of width four", vectors(4, 4), vectors(4, 4)),
        case("a query and a key of zeros", zero_q, zero_k),
        case("keys that point as the queries do, or the other way", same, np.vstack([7.0 * same, -0.5 * same])),
        case("one query, one key", vectors(1, 3), -vectors(1, 3)),
        case("queries and keys of length 1,000,000", large * unit[0], large * unit[1]),
        *(
            Case(f"{name} of length 0.00003", pair, tolerance=1e-3)
            for name, pair in (("queries", (tiny * unit[0], unit[1])), ("keys", (unit[0], tiny * unit[1])))
        ),
        # An answer may still add 1e-8 to each length; cosines of 0 are far off.
        Case("queries and keys of length 0.000005", (tiniest * unit[0], tiniest * unit[1]), tolerance=0.03),
        # An answer may still add a small number to the lengths.
        Case("rows that are short, sum to 0 or hold a single 0", (some_q, some_k), tolerance=1e-3),
    ]


@graded("02.similarity", _similarity_cases, frame="numpy", forbids=COSINES)
def _similarity(q: np.ndarray, k: np.ndarray) -> Any:
    a, b = torch.from_numpy(q), torch.from_numpy(k)
    return torch.nn.functional.cosine_similarity(a[:, None, :], b[None, :, :], dim=-1).numpy()


def _weights_cases(rng: Rng) -> list[Case]:
    def case(label: str, scores: np.ndarray, tau: float, part: str = "core") -> Case:
        # An answer in float32 is as good, where it can be: a score of a thousand has few digits left behind the point.
        tolerance = LARGE_TOLERANCE if part == "large" else 1e-9
        return Case(label, (scores, tau), part=part, tolerance=tolerance)

    def scores(*shape: int) -> np.ndarray:
        return doubles(rng, *shape, scale=1.5)

    # Three cases tell three slips apart: no maximum goes wrong in all of them, one that was not divided by tau in the
    # first and the last, the minimum in the first alone.
    apart = np.round(8 * scores(3, 4)) / 8
    apart[0] += 900.0
    apart[2] -= 900.0
    cold = np.array([[0.5, 2.5, 2.25, -3.0], [-40.0, -41.0, -40.5, -60.0]]) + np.round(scores(2, 1), 1)
    return [
        case("three rows of five, tau = 0.5", scores(3, 5), 0.5),
        case("three rows of five, tau = 2", scores(3, 5), 2.0),
        case("four rows of four, tau = 0.7", scores(4, 4), 0.7),
        case("one axis, tau = 3", scores(6), 3.0),
        case("three axes, tau = 1.5", scores(2, 3, 4), 1.5),
        case("a single key, tau = 0.25", scores(2, 1), 0.25),
        case("scores that tie, tau = 0.3", np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]), 0.3),
        case("a small temperature, tau = 0.001", cold, 0.001, "large"),
        case("rows near +900 and -900, tau = 0.75", apart, 0.75, "large"),
        case("rows near +900 and -900, tau = 0.125", apart, 0.125, "large"),
    ]


@graded(
    "02.weights",
    _weights_cases,
    frame="numpy",
    parts={"core": 0.7, "large": 0.3},
    properties=(rows_sum_to_one,),
    forbids=SOFTMAXES,
)
def _weights(scores: Any, tau: float) -> Any:
    return torch.softmax(torch.as_tensor(scores) / tau, dim=-1).numpy()


def _lookup_cases(rng: Rng, tau: float) -> list[Case]:
    def case(label: str, t: int, s: int, h: int, w: int) -> Case:
        qkv = tuple(doubles(rng, *shape) for shape in ((t, h), (s, h), (s, w)))
        return Case(label, qkv, tolerance=1e-9)

    q, k = (a.astype("float64") for a in large_logits(rng, 3, 5))
    return [
        case("three queries, five keys of width four, values of width two", 3, 5, 4, 2),
        case("four queries, keys and values of width four", 4, 4, 4, 4),
        case("two queries, three keys, values as wide as keys", 2, 3, 5, 5),
        case("three queries, six keys of width seven", 3, 6, 7, 3),
        case("one query", 1, 4, 3, 2),
        case("one key", 3, 1, 2, 4),
        Case("scores in the thousands", (q, k, doubles(rng, 5, 3)), **LARGE),
    ]


@graded(
    "02.lookup",
    _lookup_cases,
    frame="numpy",
    parts={"core": 0.8, "large": 0.2},
    forbids=ATTENTIONS,
    variants=variants_by(tau=(0.5, 3.0, 0.25, 1.5, 2.5, 0.75, 4.0, 0.4, 0.6)),
)
def _lookup(q: np.ndarray, k: np.ndarray, v: np.ndarray, tau: float) -> Any:
    queries, keys, values = (torch.as_tensor(array)[None, None] for array in (q, k, v))
    attended = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, scale=1 / tau)
    return attended[0, 0].numpy()


def _limit_cases(rng: Rng) -> list[Case]:
    def case(label: str, scores: np.ndarray, width: int) -> Case:
        v = doubles(rng, scores.shape[1], width)
        # Gaps are a ten-thousandth or more: a softmax at 1e-6 is as good an answer as the limit, one at 1e-5 is none.
        return Case(label, (scores, v), tolerance=1e-7)

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


@graded("02.limit", _limit_cases, frame="numpy")
def _limit(scores: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    cold = [v[[s for s, score in enumerate(row) if score == max(row)]].mean(axis=0) for row in scores]
    return np.stack(cold), np.stack([v.mean(axis=0)] * len(scores))


def _lead_cases(rng: Rng, tau: float) -> list[Case]:
    some = ((2, 0.9), (3, 0.8), (11, 0.5), (1000, 0.99), (12, 0.05))
    random_pairs = ((int(rng.integers(4, 90)), float(np.round(rng.uniform(0.2, 0.95), 3))) for _ in range(2))
    return [
        Case(f"{n} keys, a share of {fraction:g}", (n, fraction), tolerance=1e-6)
        for n, fraction in (*some, *random_pairs)
    ]


@graded(
    "02.lead", _lead_cases, frame="plain", variants=variants_by(tau=(0.5, 3.0, 0.25, 1.5, 2.5, 0.75, 4.0, 0.4, 0.6))
)
def _lead(n_keys: int, share: float, tau: float) -> float:
    # The logit of p is 2 artanh(2p - 1); the others' weights add up like one key that leads by log(n - 1).
    return float(tau * (2 * np.arctanh(2 * share - 1) + np.log(n_keys - 1)))


def _analogy_cases(rng: Rng) -> list[Case]:
    def table(words: int, width: int) -> np.ndarray:
        return doubles(rng, words, width) * rng.uniform(0.4, 2.5, (words, 1))

    def case(label: str, rows: np.ndarray, *words: int) -> Case:
        return Case(label, (rows, *words), tolerance=1e-9)

    # All but the three point away from the target: the best is the least bad, and its cosine is below 0.
    away = table(6, 3)
    towards = away[0] - away[1] + away[2]
    away[3:] = -towards * rng.uniform(0.5, 2.0, (3, 1)) + doubles(rng, 3, 3, scale=0.2)
    # The longest row is not the one that points best.
    long = table(7, 4)
    aim = long[4] - long[2] + long[0]
    long[5] = 0.3 * aim + doubles(rng, 4, scale=0.02)
    long[6] = 6.0 * aim + doubles(rng, 4, scale=4.0)
    # Each of the three words of the question is the nearest in one of these tables.
    first, middle, last = table(8, 5), table(8, 5), table(8, 5)
    first[2] *= 8.0
    middle[5] = 0.3 * (middle[2] + middle[6])
    last[6] *= 8.0
    return [
        case("a long first word", first, 2, 5, 6),
        case("a middle word that points where the sum does", middle, 2, 5, 6),
        case("a long last word", last, 2, 5, 6),
        case("nine words of width five", table(9, 5), 3, 7, 1),
        case("twelve words of width three", table(12, 3), 0, 5, 9),
        case("thirty words of width four", table(30, 4), 17, 2, 25),
        case("four words: one is left", table(4, 6), 2, 0, 3),
        case("four words of width one", np.array([[-4.0], [2.0], [-1.0], [-1.0]]), 1, 2, 3),
        case("a short row that points best, and a long one", long, 4, 2, 0),
        case("a table in which all others point away", away, 0, 1, 2),
        # An answer may add 1e-8 to each length instead of asking whether it is 0.
        replace(case("rows that are all short", 1e-4 * table(10, 4), 6, 1, 8), tolerance=1e-3),
    ]


@graded("02.analogy", _analogy_cases, frame="numpy", forbids=COSINES)
def _analogy(table: np.ndarray, a: int, b: int, c: int) -> tuple[np.ndarray, np.ndarray]:
    rows = torch.as_tensor(table)
    cosines = torch.nn.functional.cosine_similarity(rows, (rows[a] - rows[b] + rows[c])[None], dim=-1)
    allowed = [row for row in range(len(rows)) if row not in (a, b, c)]
    best = max(allowed, key=lambda row: float(cosines[row]))
    return np.array(best), cosines[best].numpy()
