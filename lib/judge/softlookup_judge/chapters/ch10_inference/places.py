"""The task on where the newest tokens stand."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _position_cases(rng: Rng, for_padding: int) -> list[Case]:
    def real(lengths: list[int], total: int) -> np.ndarray:
        return np.arange(total) >= total - np.array(lengths)[:, None]

    return [
        Case("three texts of 5, 2 and 4, one new token", (real([5, 2, 4], 5), 1)),
        Case("the prompt itself: all of it is new", (real([3, 6], 6), 6)),
        Case("three new tokens behind a kept prompt", (real([7, 5, 4, 6], 7), 3)),
        Case("no padding, two new tokens", (real([6, 6], 6), 2)),
        Case("as many texts as tokens", (real([1, 3, 2], 3), 2)),
        Case("a text of 300 tokens", (real([300, 7], 300), 2)),
    ]


def _positions(real: Any, n_new: int, for_padding: int) -> Any:
    """Row by row: a column's place, less the padding in front."""
    import torch

    s = real.shape[1]
    fronts = [s - int(row.sum()) for row in real]
    columns = range(s - n_new, s)
    return torch.tensor([[c - front if c >= front else for_padding for c in columns] for front in fronts])


POSITIONS = described(
    "10.positions",
    cases=_position_cases,
    oracle=_positions,
    variants=tuple({"for_padding": place} for place in (0, 1, 2, 3, 4, 5, 7, 9, 11)),
)
