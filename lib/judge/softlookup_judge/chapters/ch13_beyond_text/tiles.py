"""The task on tiles: two halves of the keys, mixed apart, become one mixture."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.chapters.forbidden import SOFTMAXES
from softlookup_judge.data.published import described


def _part(
    rng: Rng, lead: tuple[int, ...], s: int, hv: int, shift: float = 0.0, blind: bool = False
) -> list[np.ndarray]:
    """Some scores and values, and the three numbers that are kept of them."""
    scores = 2 * rng.standard_normal((*lead, s)) + shift
    if blind:
        scores[..., 0, :] = -np.inf
    values = rng.standard_normal((s, hv))
    top = scores.max(-1)
    raised = np.exp(scores - np.where(np.isinf(top), 0, top)[..., None])
    return [array.astype("float32") for array in (top, raised.sum(-1), raised @ values)]


def _cases(rng: Rng) -> list[Case]:
    def both(
        lead: tuple[int, ...], s: int, other: int, hv: int, shift: float = 0.0, all_of_it: float = 0.0
    ) -> tuple[Any, ...]:
        return *_part(rng, lead, s, hv, all_of_it), *_part(rng, lead, other, hv, shift + all_of_it)

    neither = _part(rng, (3,), 4, 2, blind=True)
    again = _part(rng, (3,), 2, 2, blind=True)
    return [
        Case("B = 2, T = 3, tiles of 4 and 5 keys, H' = 2", both((2, 3), 4, 5, 2)),
        Case("the second tile has the larger scores", both((3,), 5, 2, 4, 3.0)),
        Case("the first one has", both((4,), 3, 6, 3, -3.0)),
        Case("T = H' = 3", both((3,), 3, 3, 3)),
        Case("all scores far below 0", both((2, 3), 4, 3, 2, 1.0, -15.0)),
        Case("scores in the thousands", both((2, 2), 3, 4, 3, 2000.0), part="large", tolerance=1e-4),
        Case("scores thousands below 0", both((3,), 4, 5, 2, 1.0, -3000.0), part="large", tolerance=1e-4),
        Case(
            "a query that saw nothing in the first tile",
            (*_part(rng, (3,), 4, 2, blind=True), *_part(rng, (3,), 3, 2)),
            part="blind",
        ),
        Case(
            "a query that saw nothing in the second tile",
            (*_part(rng, (3,), 3, 2), *_part(rng, (3,), 4, 2, blind=True)),
            part="blind",
        ),
        Case("and nothing in either of them", (*neither, *again), part="blind", exact_zeros=True),
    ]


def _merge(m_a: Any, l_a: Any, z_a: Any, m_b: Any, l_b: Any, z_b: Any) -> tuple[Any, Any, Any]:
    """Query by query, with plain numbers."""
    import math

    import torch

    m, total, z = torch.empty_like(m_a), torch.empty_like(l_a), torch.empty_like(z_a)
    for place in np.ndindex(*m_a.shape):
        top = max(m_a[place].item(), m_b[place].item())
        shrink = [
            0.0 if largest == -math.inf else math.exp(largest - top)
            for largest in (m_a[place].item(), m_b[place].item())
        ]
        m[place] = top
        total[place] = l_a[place] * shrink[0] + l_b[place] * shrink[1]
        z[place] = z_a[place] * shrink[0] + z_b[place] * shrink[1]
    return m, total, z


MERGE = described(
    "13.merge", cases=_cases, oracle=_merge, parts={"core": 0.65, "large": 0.15, "blind": 0.2}, forbids=SOFTMAXES
)
