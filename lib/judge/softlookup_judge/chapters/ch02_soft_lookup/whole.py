"""The whole soft lookup, for many queries at once."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import LARGE_TOLERANCE, Rng, large_logits, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.data.published import described


def _lookup_cases(rng: Rng, tau: float) -> list[Case]:
    def case(label: str, t: int, s: int, h: int, w: int) -> Case:
        drawn = tuple(normal(rng, *shape, dtype="float64") for shape in ((t, h), (s, h), (s, w)))
        return Case(label, drawn, frame="numpy", tolerance=1e-9)

    q, k = (a.astype("float64") for a in large_logits(rng, 3, 5))
    return [
        case("three queries, five keys of width four, values of width two", 3, 5, 4, 2),
        case("four queries, keys and values of width four", 4, 4, 4, 4),
        case("two queries, three keys, values as wide as keys", 2, 3, 5, 5),
        case("three queries, six keys of width seven", 3, 6, 7, 3),
        case("one query", 1, 4, 3, 2),
        case("one key", 3, 1, 2, 4),
        Case(
            "scores in the thousands",
            (q, k, normal(rng, 5, 3, dtype="float64")),
            frame="numpy",
            part="large",
            tolerance=LARGE_TOLERANCE,
        ),
    ]


def _lookup(q: np.ndarray, k: np.ndarray, v: np.ndarray, tau: float) -> Any:
    import torch

    queries, keys, values = (torch.as_tensor(array)[None, None] for array in (q, k, v))
    attended = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, scale=1 / tau)
    return attended[0, 0].numpy()


LOOKUP = described(
    "02.lookup",
    cases=_lookup_cases,
    oracle=_lookup,
    frame="numpy",
    parts={"core": 0.8, "large": 0.2},
    forbids=ATTENTIONS,
    variants=tuple({"tau": tau} for tau in (0.5, 3.0, 0.25, 1.5, 2.5, 0.75, 4.0, 0.4, 0.6)),
)
