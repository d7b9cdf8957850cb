"""Tasks whose answer is a number or a short list: five scores with a pencil, one token, the spread, the bytes."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import ATTENTIONS, known
from softlookup.checks.one_head.page import PAGE
from softlookup.checks.task import Case, Task

EXAMPLE_TWO = np.array([[1.0, 0.5, 0.2], [0.8, 1.2, 0.3], [0.6, 0.9, 1.1], [1.1, 0.4, 0.7], [0.9, 0.7, 0.8]])
"""The token vectors of the second worked example; projections are the identity there."""

PRINTED_SCALED = (
    (0.74, 0.84, 0.85, 0.78, 0.81),
    (0.84, 1.25, 1.09, 0.93, 0.98),
    (0.85, 1.09, 1.37, 0.98, 1.10),
    (0.78, 0.93, 0.98, 0.96, 0.94),
    (0.81, 0.98, 1.10, 0.94, 1.12),
)
"""The scaled scores as a lecture's slide prints them: 15 of the 25 are not what the token vectors give."""


def _by_hand_cases(rng: Rng, token: int, ordinal: str) -> list[Case]:
    return [Case("the five rows of X", (), frame="plain", tolerance=0.0051, absolute=True)]


def _by_hand(token: int, ordinal: str) -> np.ndarray:
    return np.einsum("d,sd->s", EXAMPLE_TWO[token], EXAMPLE_TWO) * 3**-0.5


ROUNDED = "return [round(float(dot) / math.sqrt(3), 2) for dot in dots]"

BY_HAND = Task(
    id="04.by-hand",
    name="by_hand",
    title="Five scores with a pencil",
    points=2,
    minutes=8,
    difficulty=1,
    page=PAGE,
    anchor="one-head-scale",
    returns=("scaled scores",),
    cases=_by_hand_cases,
    oracle=_by_hand,
    frame="plain",
    reveals=False,
    variants=tuple({"token": i, "ordinal": str(i + 1)} for i in range(5)),
    mistakes=(
        known(
            "slide-numbers",
            (ROUNDED, f"return {[list(row) for row in PRINTED_SCALED]}[token]"),
            says="These are the numbers printed on the lecture's slide. Some of them are not what X gives: compute "
            "them.",
        ),
        known(
            "next-token",
            ("dots = X @ X[token]", "dots = X @ X[token + 1]"),
            says="These are the scores of the next token. Tokens are counted from 1: token 1 is X[0], the first row.",
        ),
        known(
            "no-sqrt",
            ("float(dot) / math.sqrt(3)", "float(dot)"),
            says="These are the plain dot products: divide each by the square root of the head width, 3.",
        ),
        known(
            "divided-by-width",
            ("math.sqrt(3)", "3"),
            says="The dot products are divided by 3; it is the square root of 3.",
        ),
        known(
            "sqrt-of-tokens",
            ("math.sqrt(3)", "math.sqrt(5)"),
            says="The root is taken of 5, the number of tokens; the head width is 3.",
        ),
        known(
            "weights-already",
            (ROUNDED, "e = np.exp(dots / math.sqrt(3))\n    return list(e / e.sum())"),
            says="These are weights (they sum to 1): the scaled scores before the softmax are asked for.",
        ),
    ),
)


def _column_cases(rng: Rng) -> list[Case]:
    def case(label: str, s: int, h: int, hv: int) -> Case:
        return Case(label, (normal(rng, h), normal(rng, s, h), normal(rng, s, hv)))

    return [
        case("five keys of width four", 5, 4, 3),
        case("three keys, H = 64", 3, 64, 2),
        case("four keys of width four, values as wide", 4, 4, 4),
        case("one key", 1, 3, 3),
    ]


def _column(q: Any, k: Any, v: Any) -> Any:
    import torch

    return torch.nn.functional.scaled_dot_product_attention(q[None], k, v)[0]


ROOT = "math.sqrt(q.shape[-1])"

COLUMN = Task(
    id="04.column",
    name="one_token",
    title="One token as a column",
    points=2,
    minutes=5,
    difficulty=1,
    page=PAGE,
    anchor="one-head-column",
    returns=("z",),
    cases=_column_cases,
    oracle=_column,
    forbids=ATTENTIONS,
    mistakes=(
        known("always-eight", (ROOT, "8")),
        known("no-sqrt", (f"score / {ROOT}", "score")),
        known("divided-by-width", (ROOT, "q.shape[-1]")),
        known("sqrt-of-tokens", (ROOT, "math.sqrt(k.shape[0])")),
        known(
            "no-softmax",
            ("torch.softmax(scaled, dim=-1)", "scaled"),
            says="The scores themselves are used as weights: they go through a softmax first.",
            number=2,
        ),
        known(
            "unweighted",
            ("(weight[:, None] * v).sum(dim=0)", "v.sum(dim=0)"),
            says="The values are added up without their weights.",
        ),
        known("keys-as-values", ("weight[:, None] * v", "weight[:, None] * k")),
        known("hard-argmax", ("torch.softmax(scaled, dim=-1)", "(scaled == scaled.max()).to(v.dtype)")),
        known("not-normalised", ("torch.softmax(scaled, dim=-1)", "torch.exp(scaled - scaled.max())")),
        known(
            "scaled-after",
            (f"score / {ROOT}", "score"),
            ("torch.softmax(scaled, dim=-1)", f"torch.softmax(scaled, -1) / {ROOT}"),
        ),
        known(
            "plain-mean",
            ("(weight[:, None] * v).sum(dim=0)", "v.mean(dim=0)"),
            says="This is the mean of the values: the weights were not used.",
        ),
    ),
)


def _spread_cases(rng: Rng) -> list[Case]:
    widths = (1, 3, 16, 64, int(rng.integers(5, 100)))
    return [
        Case(
            f"H = {h}",
            (h, float(np.round(rng.uniform(0.3, 3), 3)), float(np.round(rng.uniform(0.3, 3), 3))),
            frame="plain",
            tolerance=1e-6,
        )
        for h in widths
    ]


def _spread(head_width: int, sigma_q: float, sigma_k: float) -> float:
    return float(np.linalg.norm(np.full(head_width, sigma_q * sigma_k)))


SPREAD = Task(
    id="04.spread",
    name="score_spread",
    title="How far scores spread",
    points=2,
    minutes=6,
    difficulty=2,
    page=PAGE,
    anchor="one-head-spread",
    returns=("spread",),
    cases=_spread_cases,
    oracle=_spread,
    frame="plain",
    mistakes=(
        known(
            "variance",
            ("return math.sqrt(variance)", "return variance"),
            says="This is the variance; the standard deviation is its square root.",
        ),
        known(
            "no-root",
            ("return math.sqrt(variance)", "return head_width * sigma_q * sigma_k"),
            says="The spread grows with the square root of H, not with H: the variances of the H terms add up, not "
            "their spreads.",
        ),
        known(
            "root-too-far",
            ("variance = head_width * sigma_q**2 * sigma_k**2", "variance = head_width * sigma_q * sigma_k"),
            says="The root is taken of sigma_q * sigma_k as well; the variance has their squares in it.",
        ),
        known(
            "unit-spread",
            ("variance = head_width * sigma_q**2 * sigma_k**2", "variance = head_width"),
            says="This is right for sigma_q = sigma_k = 1 alone: each term has variance sigma_q**2 * sigma_k**2.",
        ),
        known(
            "after-the-scale",
            ("variance = head_width * sigma_q**2 * sigma_k**2", "variance = sigma_q**2 * sigma_k**2"),
            says="This is the spread after dividing by sqrt(H), or of one term: before the scale H terms are added.",
        ),
        known(
            "spreads-added",
            ("sigma_q**2 * sigma_k**2", "(sigma_q**2 + sigma_k**2)"),
            says="The variance of a product of two independent numbers of mean 0 is the product of their variances, "
            "not the sum.",
        ),
    ),
)


def _cost_cases(rng: Rng) -> list[Case]:
    sizes = ((1, 5, 5, 4), (1, 1000, 1000, 2), (8, 128, 77, 2), (3, 1, 4096, 1))
    drawn = tuple(int(n) for n in rng.integers(2, 50, size=3))
    return [Case(f"(batch, T, S, bytes) = {args}", args, frame="plain") for args in (*sizes, (*drawn, 8))]


def _cost(batch: int, n_queries: int, n_keys: int, bytes_per_number: int) -> int:
    return int(np.prod([batch, n_queries, n_keys, bytes_per_number]))


COST = Task(
    id="04.cost",
    name="score_bytes",
    title="What the scores cost",
    points=2,
    minutes=3,
    difficulty=1,
    page=PAGE,
    anchor="one-head-cost",
    returns=("bytes",),
    cases=_cost_cases,
    oracle=_cost,
    frame="plain",
    mistakes=(
        known(
            "elements-for-bytes",
            ("return numbers * bytes_per_number", "return numbers"),
            says="This counts numbers, not bytes: each takes bytes_per_number bytes.",
            number=80,
        ),
        known(
            "batch-forgotten",
            ("batch * ", ""),
            says="The batch is missing: every sequence has a table of its own.",
        ),
        known(
            "square-of-queries",
            ("n_queries * n_keys", "n_queries * n_queries"),
            says="The table is not square in general: it has a column for each key, not for each query.",
        ),
        known(
            "square-of-keys",
            ("n_queries * n_keys", "n_keys * n_keys"),
            says="The table is not square in general: it has a row for each query, not for each key.",
        ),
        known(
            "one-axis",
            ("n_queries * n_keys", "(n_queries + n_keys)"),
            says="Every query meets every key: the sizes are multiplied, not added. That is where n squared comes "
            "from.",
        ),
        known(
            "bits",
            ("return numbers * bytes_per_number", "return numbers * bytes_per_number * 8"),
            says="These are bits: bytes are asked for.",
        ),
        known(
            "both-directions",
            ("batch * n_queries", "2 * batch * n_queries"),
            says="Each pair is counted twice: query t with key s stands in the table once.",
        ),
    ),
)
