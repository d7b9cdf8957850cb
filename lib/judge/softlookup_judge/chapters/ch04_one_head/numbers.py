"""Tasks whose answer is a number or a short list: five scores with a pencil, one token, the spread, the bytes."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import LARGE_TOLERANCE, Rng, large_logits, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.data.published import described

EXAMPLE_TWO = np.array([[1.0, 0.5, 0.2], [0.8, 1.2, 0.3], [0.6, 0.9, 1.1], [1.1, 0.4, 0.7], [0.9, 0.7, 0.8]])
"""The token vectors of the second worked example; projections are the identity there."""


def _by_hand_cases(rng: Rng, token: int, ordinal: str) -> list[Case]:
    return [Case("the five rows of X", (), frame="plain", tolerance=0.0051, absolute=True)]


def _by_hand(token: int, ordinal: str) -> np.ndarray:
    return np.einsum("d,sd->s", EXAMPLE_TWO[token], EXAMPLE_TWO) * 3**-0.5


BY_HAND = described(
    "04.by-hand",
    cases=_by_hand_cases,
    oracle=_by_hand,
    frame="plain",
    reveals=False,
    variants=tuple({"token": i, "ordinal": str(i + 1)} for i in range(5)),
)


def _column_cases(rng: Rng) -> list[Case]:
    def case(label: str, s: int, h: int, hv: int) -> Case:
        return Case(label, (normal(rng, h), normal(rng, s, h), normal(rng, s, hv)))

    q_big, k_big = large_logits(rng, 3, 5)
    return [
        case("five keys of width four", 5, 4, 3),
        case("three keys, H = 64", 3, 64, 2),
        case("four keys of width four, values as wide", 4, 4, 4),
        case("one key", 1, 3, 3),
        *(
            Case(label, (query, k_big, normal(rng, 5, 2)), part="large", tolerance=LARGE_TOLERANCE)
            for label, query in (("scores in the thousands", q_big[0]), ("and most of them below 0", q_big[-1]))
        ),
    ]


def _column(q: Any, k: Any, v: Any) -> Any:
    import torch

    return torch.nn.functional.scaled_dot_product_attention(q[None], k, v)[0]


COLUMN = described(
    "04.column", cases=_column_cases, oracle=_column, parts={"core": 0.9, "large": 0.1}, forbids=ATTENTIONS
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


SPREAD = described("04.spread", cases=_spread_cases, oracle=_spread, frame="plain")


def _cost_cases(rng: Rng) -> list[Case]:
    sizes = ((1, 5, 5, 4), (1, 1000, 1000, 2), (8, 128, 77, 2), (3, 1, 4096, 1))
    drawn = tuple(int(n) for n in rng.integers(2, 50, size=3))
    return [Case(f"(batch, T, S, bytes) = {args}", args, frame="plain") for args in (*sizes, (*drawn, 8))]


def _cost(batch: int, n_queries: int, n_keys: int, bytes_per_number: int) -> int:
    return int(np.prod([batch, n_queries, n_keys, bytes_per_number]))


COST = described("04.cost", cases=_cost_cases, oracle=_cost, frame="plain")
