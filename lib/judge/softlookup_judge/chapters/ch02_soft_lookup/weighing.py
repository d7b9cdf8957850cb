"""From vectors to similarities, and from similarities to weights at a temperature."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import LARGE_TOLERANCE, Rng, normal
from softlookup_judge.chapters.forbidden import SOFTMAXES
from softlookup_judge.data.published import described
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
        return Case(label, (q, k), frame="numpy", tolerance=EPSILON)

    def vectors(count: int, width: int) -> np.ndarray:
        # Lengths differ from row to row, and none is near 1.
        return normal(rng, count, width, dtype="float64") * (2.0 + np.arange(count))[:, None]

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
            Case(f"{name} of length 0.00003", pair, frame="numpy", tolerance=1e-3)
            for name, pair in (("queries", (tiny * unit[0], unit[1])), ("keys", (unit[0], tiny * unit[1])))
        ),
        Case(
            "queries and keys of length 0.000005",
            (tiniest * unit[0], tiniest * unit[1]),
            frame="numpy",
            tolerance=0.03,  # an answer may still add 1e-8 to each length; cosines of 0 are far off
        ),
        Case(
            "rows that are short, sum to 0 or hold a single 0",
            (some_q, some_k),
            frame="numpy",
            tolerance=1e-3,  # an answer may still add a small number to the lengths
        ),
    ]


def _similarity(q: np.ndarray, k: np.ndarray) -> Any:
    import torch

    a, b = torch.from_numpy(q), torch.from_numpy(k)
    return torch.nn.functional.cosine_similarity(a[:, None, :], b[None, :, :], dim=-1).numpy()


SIMILARITY = described("02.similarity", cases=_similarity_cases, oracle=_similarity, frame="numpy", forbids=COSINES)


def _weights_cases(rng: Rng) -> list[Case]:
    def case(label: str, scores: np.ndarray, tau: float, part: str = "core") -> Case:
        # An answer in float32 is as good, where it can be: a score of a thousand has few digits left behind the point.
        tolerance = LARGE_TOLERANCE if part == "large" else 1e-9
        return Case(label, (scores, tau), frame="numpy", part=part, tolerance=tolerance)

    def scores(*shape: int) -> np.ndarray:
        return normal(rng, *shape, dtype="float64", scale=1.5)

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


def _weights(scores: Any, tau: float) -> Any:
    import torch

    return torch.softmax(torch.as_tensor(scores) / tau, dim=-1).numpy()


WEIGHTS = described(
    "02.weights",
    cases=_weights_cases,
    oracle=_weights,
    frame="numpy",
    parts={"core": 0.7, "large": 0.3},
    properties=(rows_sum_to_one,),
    forbids=SOFTMAXES,
)
