"""Tasks of sinusoids: the angles of the hands, and the table."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described

ROUNDED = 5e-5
"""What float32 leaves of a sine whose angle is some tens of radians."""

ROOT = 1e-6
"""What is left where a root or a sine was taken in float32 (`torch.sqrt(torch.tensor(D))`) among float64 numbers."""


def _angle_cases(rng: Rng) -> list[Case]:
    drawn = rng.integers(-40, 400, size=6).astype("int64")
    cases = [
        ("positions 0 to 7, D = 4, base 10,000", np.arange(8), 4, 10000.0),
        ("positions from 3 on, D = 6, base 100", np.arange(3, 8), 6, 100.0),
        ("positions here and there, also negative ones, D = 8", drawn, 8, 10000.0),
        ("as many positions as pairs, D = 10", np.arange(5), 10, 1000.0),
        ("one position, D = 2", np.array([17]), 2, 10000.0),
        ("D = 64", np.array([1, 100]), 64, 10000.0),
        ("an odd width, D = 7: the last pair is half a pair", np.arange(2, 8), 7, 10000.0),
    ]
    # As strict as with an answer in float32: one with float32 speeds and float64 positions is no worse than that.
    return [Case(label, (where.astype("int64"), width, base), tolerance=1e-5) for label, where, width, base in cases]


def _angles(positions: Any, width: int, base: float) -> Any:
    """Each speed is the one before, times one and the same factor."""
    import torch

    factor = torch.tensor(base, dtype=torch.float64).pow(-2.0 / width)
    speeds = torch.cumprod(torch.cat([factor.new_ones(1), factor.repeat((width + 1) // 2 - 1)]), dim=0)
    return torch.outer(positions.double(), speeds)


ANGLES = described("06.angles", cases=_angle_cases, oracle=_angles)


def _table_cases(rng: Rng) -> list[Case]:
    def case(length: int, width: int, part: str = "core") -> Case:
        return Case(f"{length} positions, D = {width}", (length, width), part=part, tolerance=ROUNDED)

    return [
        case(8, 4),
        case(5, 6),
        case(8, 8),
        case(int(rng.integers(10, 25)), 16),
        case(1, 8),
        case(3, 128),
        case(6, 5, "odd"),
        case(7, 7, "odd"),
        case(4, 9, "odd"),
        case(3, 1, "odd"),
    ]


def _table(length: int, d_model: int) -> Any:
    """The imaginary and real parts of one complex number that turns."""
    import torch

    where = torch.arange(length, dtype=torch.float64)[:, None]
    speeds = torch.exp(-torch.log(torch.tensor(1e4, dtype=torch.float64)) * torch.arange(0, d_model, 2) / d_model)
    hands = torch.polar(torch.ones_like(where * speeds), where * speeds)
    return torch.view_as_real(hands).flip(-1).flatten(-2)[:, :d_model]


SINUSOIDS = described(
    "06.sinusoids",
    cases=_table_cases,
    oracle=_table,
    parts={"core": 0.8, "odd": 0.2},
    forbids=("softlookup.model", "softlookup.reference"),
)
