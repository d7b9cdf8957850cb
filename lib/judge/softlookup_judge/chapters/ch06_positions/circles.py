"""Tasks of sinusoids: angles, the table, adding it to embeddings, and a shift as a matrix."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import DTYPE, backward, graded
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.oracles import torch

ROUNDED = 5e-5
"""What float32 leaves of a sine whose angle is some tens of radians."""

ROOT = 1e-6
"""What is left where a root or a sine was taken in float32 (`torch.sqrt(torch.tensor(D))`) among float64 numbers."""


def _angle_cases(rng: Rng) -> list[Case]:
    random_positions = rng.integers(-40, 400, size=6).astype("int64")
    cases = [
        ("positions 0 to 7, D = 4, base 10,000", np.arange(8), 4, 10000.0),
        ("positions from 3 on, D = 6, base 100", np.arange(3, 8), 6, 100.0),
        ("positions here and there, also negative ones, D = 8", random_positions, 8, 10000.0),
        ("as many positions as pairs, D = 10", np.arange(5), 10, 1000.0),
        ("one position, D = 2", np.array([17]), 2, 10000.0),
        ("D = 64", np.array([1, 100]), 64, 10000.0),
        ("an odd width, D = 7: the last pair is half a pair", np.arange(2, 8), 7, 10000.0),
    ]
    # As strict as with an answer in float32: one with float32 speeds and float64 positions is no worse than that.
    return [Case(label, (where.astype("int64"), width, base), tolerance=1e-5) for label, where, width, base in cases]


@graded("06.angles", _angle_cases)
def _angles(positions: Any, width: int, base: float) -> Any:
    """Each speed is the one before, times one and the same factor."""
    factor = torch.tensor(base, dtype=torch.float64).pow(-2.0 / width)
    speeds = torch.cumprod(torch.cat([factor.new_ones(1), factor.repeat((width + 1) // 2 - 1)]), dim=0)
    return torch.outer(positions.double(), speeds)


def _table_cases(rng: Rng) -> list[Case]:
    def case(length: int, width: int, part: str = "core") -> Case:
        return Case(f"{length} positions, D = {width}", (length, width), part=part, tolerance=ROUNDED)

    even = ((8, 4), (5, 6), (8, 8), (int(rng.integers(10, 25)), 16), (1, 8), (3, 128))
    return [*(case(*each) for each in even), *(case(*each, "odd") for each in ((6, 5), (7, 7), (4, 9), (3, 1)))]


@graded(
    "06.sinusoids", _table_cases, parts={"core": 0.8, "odd": 0.2}, forbids=("softlookup.model", "softlookup.reference")
)
def _table(length: int, d_model: int) -> Any:
    """The imaginary and real parts of one complex number that turns."""
    where = torch.arange(length, dtype=torch.float64)[:, None]
    speeds = torch.exp(-torch.log(torch.tensor(1e4, dtype=torch.float64)) * torch.arange(0, d_model, 2) / d_model)
    hands = torch.polar(torch.ones_like(where * speeds), where * speeds)
    return torch.view_as_real(hands).flip(-1).flatten(-2)[:, :d_model]


def _add_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, t: int, d: int, start: int, rows: int, **how: Any) -> Case:
        dtype = how.pop("dtype", "float32")
        table = normal(rng, rows, d, dtype=how.pop("table", dtype))
        return Case(label, (normal(rng, b, t, d, dtype=dtype), table, start), **how)

    upstream = doubles(rng, 2, 3, 5)
    return [
        case("B = 2, T = 3, D = 5, from position 0 on", 2, 3, 5, 0, 12),
        case("B = T = D = 4, from position 0 on", 4, 4, 4, 0, 9),
        case("B = T = 3, D = 6, from position 2 on", 3, 3, 6, 2, 9),
        case("one sequence, from position 5 on", 1, 4, 6, 5, 12),
        case("one new token at position 7", 3, 1, 8, 7, 12),
        case("float64", 2, 3, 5, 1, 8, dtype="float64", **DTYPE, tolerance=ROOT),
        case("float32", 2, 3, 5, 1, 8, **DTYPE),
        case("embeddings in float32, a table in float64", 2, 3, 5, 1, 8, table="float64", **DTYPE),
        case(
            "gradients of tokens and table", 2, 3, 5, 1, 8, dtype="float64", tolerance=ROOT, **backward(upstream, 0, 1)
        ),
    ]


@graded("06.add", _add_cases, parts={"core": 0.7, "dtype": 0.15, "gradient": 0.15})
def _add(x: Any, table: Any, start: int) -> Any:
    where = torch.arange(start, start + x.shape[1])
    position_vectors = torch.nn.functional.embedding(where, table)
    return torch.stack([torch.add(position_vectors, tokens, alpha=tokens.shape[1] ** 0.5) for tokens in x])


def _shift_cases(rng: Rng) -> list[Case]:
    def case(steps: int, width: int) -> Case:
        return Case(f"{steps} steps, D = {width}", (steps, width), tolerance=ROUNDED)

    return [case(1, 4), case(3, 6), case(-2, 8), case(0, 4), case(int(rng.integers(5, 30)), 10), case(7, 2)]


@graded("06.shift", _shift_cases)
def _shift(steps: int, d_model: int) -> Any:
    """A turn without an end, for so many steps: the exponential of the slopes."""
    speeds = torch.logspace(0, -4 + 8 / d_model, d_model // 2, dtype=torch.float64)
    slope = torch.block_diag(*(torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64) * w for w in speeds))
    return torch.linalg.matrix_exp(steps * slope)
