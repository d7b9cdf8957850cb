"""From vectors to similarities, and from similarities to weights at a temperature."""

from typing import Any

import numpy as np

from softlookup.checks.draws import LARGE_TOLERANCE, Rng, normal
from softlookup.checks.known import SOFTMAXES, known
from softlookup.checks.soft_lookup.page import ONE_MAX, PAGE
from softlookup.checks.task import Case, Task
from softlookup.checks.words import rows_sum_to_one

COSINES = (
    "torch.cosine_similarity",
    "torch.nn.functional.cosine_similarity",
    "torch.nn.CosineSimilarity",
    "scipy.spatial.distance.cdist",  # which can be told to take cosines
    "scipy.spatial.distance.cosine",
    "softlookup.reference",
    "softlookup.model",
)

EPSILON = 1e-6
"""An answer may add 1e-8 to a length instead of asking whether it is 0: no other vector is nearly as short."""


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
    return [
        case("three queries, five keys of width four", q, k),
        case("four queries, four keys of width four", vectors(4, 4), vectors(4, 4)),
        case("a query and a key of zeros", zero_q, zero_k),
        case("keys that point as the queries do, or the other way", same, np.vstack([7.0 * same, -0.5 * same])),
        case("one query, one key", vectors(1, 3), -vectors(1, 3)),
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


Q_LENGTHS, K_LENGTHS = "np.linalg.norm(q, axis=-1)[:, None]", "np.linalg.norm(k, axis=-1)[None, :]"
COSINE = "dots / np.where(lengths == 0, 1, lengths)"

SIMILARITY = Task(
    id="02.similarity",
    name="similarity",
    title="Cosine similarity",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="soft-lookup-similarity",
    returns=("cosines",),
    cases=_similarity_cases,
    oracle=_similarity,
    frame="numpy",
    forbids=COSINES,
    mistakes=(
        known(
            "dot-product",
            (f"return {COSINE}", "return dots"),
            says="These are dot products: divide each by the lengths of its two vectors.",
        ),
        known(
            "lengths-of-queries-alone",
            (f" * {K_LENGTHS}", " * np.ones(len(k))"),
            says="Only the queries' lengths are divided out: a long key still looks more similar than a short one.",
        ),
        known(
            "lengths-of-keys-alone",
            (f"{Q_LENGTHS} * ", "np.ones((len(q), 1)) * "),
            says="Only the keys' lengths are divided out: divide by the query's length as well.",
        ),
        known(
            "no-root",
            (Q_LENGTHS, "(q**2).sum(axis=-1)[:, None]"),
            (K_LENGTHS, "(k**2).sum(axis=-1)[None, :]"),
            says="The lengths lack their root: a vector's length is the root of the sum of its squares.",
        ),
        known(
            "one-length-for-all",
            (Q_LENGTHS, "np.linalg.norm(q)"),
            (K_LENGTHS, "np.linalg.norm(k)"),
            says="One length is used for the whole matrix: without `axis=-1`, `norm` takes all rows for one long "
            "vector.",
        ),
        known(
            "lengths-added",
            (f"{Q_LENGTHS} * ", f"{Q_LENGTHS} + "),
            says="The two lengths are added: the dot product is divided by their product.",
        ),
        known(
            "nan-for-zero",
            (COSINE, "dots / lengths"),
            says="A vector of zeros has the length 0, and 0/0 is NaN: its similarity with anything is 0 here.",
        ),
        known(
            "distance",
            (f"return {COSINE}", "return np.linalg.norm(q[:, None] - k[None], axis=-1)"),
            says="These are distances, small where vectors are alike: a similarity is large there.",
        ),
        known(
            "sign-lost",
            (f"return {COSINE}", f"return np.abs({COSINE})"),
            says="The sign is lost: vectors that point in opposite directions have the cosine -1, not 1.",
        ),
        known(
            "swapped",
            (f"return {COSINE}", f"return ({COSINE}).T"),
            says="Query and key have changed places: row t belongs to query t, column s to key s.",
        ),
    ),
)


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


TOP = "u.max(axis=-1, keepdims=True)"
SUM = "e.sum(axis=-1, keepdims=True)"

WEIGHTS = Task(
    id="02.weights",
    name="lookup_weights",
    title="Weights at a temperature",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="soft-lookup-temperature",
    returns=("weights",),
    cases=_weights_cases,
    oracle=_weights,
    frame="numpy",
    parts={"core": 0.7, "large": 0.3},
    properties=(rows_sum_to_one,),
    forbids=SOFTMAXES,
    mistakes=(
        known(
            "tau-ignored",
            ("u = scores / tau", "u = scores"),
            says="The temperature has no effect: divide the scores by tau before anything else.",
        ),
        known(
            "tau-multiplied",
            ("scores / tau", "scores * tau"),
            says="The scores are multiplied by tau: a high temperature then sharpens. They are divided by it.",
            number=75,
        ),
        known(
            "tau-after",
            ("u = scores / tau", "u = scores"),
            (f"return e / {SUM}", f"return e / {SUM} / tau"),
            says="The temperature comes after the softmax, so that a row sums to 1/tau: divide the scores by it.",
        ),
        known(
            "root-of-tau",
            ("scores / tau", "scores / np.sqrt(tau)"),
            says="The scores are divided by the root of tau: divide by tau itself.",
        ),
        known("hard-argmax", (f"return e / {SUM}", f"return (u == {TOP}).astype(float)")),
        known("not-normalised", (f"return e / {SUM}", "return e")),
        known("over-queries", ("axis=-1", "axis=-2")),
        known("fixed-axis", ("axis=-1", "axis=1")),
        known("first-axis", ("axis=-1", "axis=0")),
        known(
            "whole-matrix", (TOP, "u.max(axis=(-2, -1), keepdims=True)"), (SUM, "e.sum(axis=(-2, -1), keepdims=True)")
        ),
        known("whole-tensor", (TOP, "u.max()"), (SUM, "e.sum()")),
        known(
            "keepdim-forgotten",
            (SUM, "e.sum(axis=-1)"),
            says="The sums lost their axis (keepdims=True is missing), so each column is divided by another row's sum.",
        ),
        known(
            "softmax-twice",
            (f"return e / {SUM}", f"a = np.exp(e / {SUM})\n    return a / a.sum(axis=-1, keepdims=True)"),
        ),
        known(
            "shares-of-scores",
            (f"return e / {SUM}", "return u / u.sum(axis=-1, keepdims=True)"),
            says="The scores are divided by their sum, without exp: negative scores then give negative weights, and "
            "a sum near 0 gives anything.",
            number=2,
        ),
        known("no-max", (f"np.exp(u - {TOP})", "np.exp(u)")),
        known(
            "max-not-divided",
            (TOP, "scores.max(axis=-1, keepdims=True)"),
            says="The largest score is subtracted as it is, though the scores have been divided by tau: at a small "
            "temperature the exponentials overflow all the same. Divide both: `u - u.max(...)`.",
            number=14,
        ),
        known(
            "min-subtracted",
            ("u.max(", "u.min("),
            says="Each row's smallest score is subtracted, so that exponents are 0 or above and overflow: with the "
            "largest subtracted, none is above 0.",
            number=14,
        ),
        known("one-max-for-all", (TOP, "u.max()"), says=ONE_MAX),
    ),
)
