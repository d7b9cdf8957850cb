"""The tasks about weights: softmax by itself, and the masked attention weights."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import LARGE, graded
from softlookup_judge.chapters.ch04_one_head.whole import attention_cases
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS, SOFTMAXES
from softlookup_judge.chapters.oracles import torch
from softlookup_judge.data.words import masked_cells_are_zero, rows_sum_to_one


def _softmax_cases(rng: Rng) -> list[Case]:
    apart = normal(rng, 4, 3)
    apart[0] += 1000
    apart[2] -= 1000
    mixed = np.array(
        [[1000, 0, 0], [0, 0, 1000], [1000, -1000, 0], [0, -1000, 0], [-1000, -np.inf, -1001]], dtype="float32"
    )
    hidden = normal(rng, 3, 5)
    hidden[0, 1] = hidden[1, 3] = hidden[2, 0] = -np.inf
    return [
        Case("three rows of five", (normal(rng, 3, 5),)),
        Case("two sequences", (normal(rng, 2, 3, 4),)),
        Case("one row", (normal(rng, 1, 6),)),
        Case("one axis", (normal(rng, 5),)),
        Case("four rows of four", (normal(rng, 4, 4),)),
        Case("four axes", (normal(rng, 2, 3, 5, 4),)),
        # In float64 a millionth that is added to the sum shows; what only keeps it from 0 does not.
        Case("float64", (doubles(rng, 3, 6),), tolerance=2e-8),
        Case("scores of minus infinity", (hidden,), exact_zeros=True),
        Case("large and small scores in one row", (mixed,), **LARGE, exact_zeros=True),
        # Near 1000 a float32 holds steps of 6e-5: quarters are exact there.
        Case("rows near +1000 and -1000", (np.round(4 * apart) / 4,), **LARGE),
    ]


@graded(
    "04.softmax", _softmax_cases, parts={"core": 0.7, "large": 0.3}, properties=(rows_sum_to_one,), forbids=SOFTMAXES
)
def _softmax(x: Any) -> Any:
    # A row of -inf alone is asked of nobody here; where this stands in for a student's own, it gives zeros.
    return torch.nan_to_num(torch.softmax(x, dim=-1), nan=0.0)


@graded(
    "04.weights",
    lambda rng: attention_cases(rng, 2),
    parts={"core": 0.5, "mask": 0.25, "blind": 0.125, "large": 0.125},
    properties=(rows_sum_to_one, masked_cells_are_zero),
    forbids=ATTENTIONS,
)
def _weights(q: Any, k: Any, mask: Any = None) -> Any:
    scores = torch.einsum("...th,...sh->...ts", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, -torch.inf)
    # A row of -inf alone is NaN here; such a query looks at nothing.
    return torch.nan_to_num(torch.nn.functional.softmax(scores, dim=-1), nan=0.0)
