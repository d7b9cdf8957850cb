"""The task on where the newest tokens stand."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.inference.page import PAGE
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task


def _position_cases(rng: Rng, for_padding: int) -> list[Case]:
    def real(lengths: list[int], total: int) -> np.ndarray:
        return np.arange(total) >= total - np.array(lengths)[:, None]

    return [
        Case("three texts of 5, 2 and 4, one new token", (real([5, 2, 4], 5), 1)),
        Case("the prompt itself: all of it is new", (real([3, 6], 6), 6)),
        Case("three new tokens behind a kept prompt", (real([7, 5, 4, 6], 7), 3)),
        Case("no padding, two new tokens", (real([6, 6], 6), 2)),
        Case("as many texts as tokens", (real([1, 3, 2], 3), 2)),
    ]


def _positions(real: Any, n_new: int, for_padding: int) -> Any:
    """Row by row: a column's place, less the padding in front."""
    import torch

    s = real.shape[1]
    fronts = [s - int(row.sum()) for row in real]
    columns = range(s - n_new, s)
    return torch.tensor([[c - front if c >= front else for_padding for c in columns] for front in fronts])


COUNTED = "(real.cumsum(dim=1) - 1).masked_fill(~real, for_padding)"

POSITIONS = Task(
    id="10.positions",
    name="newest_positions",
    title="Where the newest tokens stand",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="inference-positions",
    returns=("positions",),
    cases=_position_cases,
    oracle=_positions,
    variants=({"for_padding": 0}, {"for_padding": 1}),
    mistakes=(
        known(
            "cache-forgotten",
            ("real.cumsum", "real[:, -n_new:].cumsum"),
            ("masked_fill(~real", "masked_fill(~real[:, -n_new:]"),
            says="The newest tokens are counted from 0: those whose keys are kept come before them, so position 0 is "
            "taken.",
            number=70,
        ),
        known(
            "padding-counted",
            ("real.cumsum", "torch.ones_like(real).cumsum"),
            says="The padding on the left is counted: the first real token stands at position 0, however long the "
            "other texts of the batch are.",
            number=73,
        ),
        known(
            "starts-at-one",
            ("real.cumsum(dim=1) - 1", "real.cumsum(dim=1)"),
            says="The first token stands at position 1: positions begin at 0.",
            number=29,
        ),
        known(
            "below-zero",
            (".masked_fill(~real, for_padding)", ""),
            says="Padding gets the position -1, and no table has such a row: give it the one that is asked for.",
            number=73,
        ),
        known(
            "counted-back",
            (COUNTED, "real.sum(dim=1, keepdim=True) - real.shape[1] + torch.arange(real.shape[1])"),
            says="Counted back from the last token, padding gets positions below zero (-1, -2), and no table has such "
            "rows: give it the one that is asked for.",
            number=73,
        ),
        known(
            "last-for-all",
            ("(real.cumsum(dim=1) - 1)", "(real.cumsum(dim=1) - 1)[:, -1:].expand(real.shape)"),
            says="All new tokens get the position of the last one: each stands one behind the token before it.",
            number=70,
        ),
        known(
            "all-returned",
            ("return positions[:, -n_new:]", "return positions"),
            says="The positions of all tokens come back: only the newest are asked for.",
        ),
        known(
            "oldest-returned",
            ("[:, -n_new:]", "[:, :n_new]"),
            says="These are the positions of the FIRST columns: the newest tokens are the last ones.",
            number=70,
        ),
    ),
)
