"""Tasks of what a table of positions is good for: adding it to embeddings, and a shift as a matrix."""

from typing import Any

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch06_positions.circles import ROOT, ROUNDED
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _add_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, t: int, d: int, start: int, rows: int, **how: Any) -> Case:
        dtype = how.pop("dtype", "float32")
        table = normal(rng, rows, d, dtype=how.pop("table", dtype))
        return Case(label, (normal(rng, b, t, d, dtype=dtype), table, start), **how)

    upstream = normal(rng, 2, 3, 5, dtype="float64")
    return [
        case("B = 2, T = 3, D = 5, from position 0 on", 2, 3, 5, 0, 12),
        case("B = T = D = 4, from position 0 on", 4, 4, 4, 0, 9),
        case("B = T = 3, D = 6, from position 2 on", 3, 3, 6, 2, 9),
        case("one sequence, from position 5 on", 1, 4, 6, 5, 12),
        case("one new token at position 7", 3, 1, 8, 7, 12),
        case("float64", 2, 3, 5, 1, 8, dtype="float64", keeps_dtype=True, part="dtype", tolerance=ROOT),
        case("float32", 2, 3, 5, 1, 8, keeps_dtype=True, part="dtype"),
        case(
            "embeddings in float32, a table in float64", 2, 3, 5, 1, 8, table="float64", keeps_dtype=True, part="dtype"
        ),
        case(
            "gradients of tokens and table",
            2,
            3,
            5,
            1,
            8,
            dtype="float64",
            gradients=(0, 1),
            upstream=upstream,
            part="gradient",
            tolerance=ROOT,
        ),
    ]


def _add(x: Any, table: Any, start: int) -> Any:
    import torch

    where = torch.arange(start, start + x.shape[1])
    position_vectors = torch.nn.functional.embedding(where, table)
    return torch.stack([torch.add(position_vectors, tokens, alpha=tokens.shape[1] ** 0.5) for tokens in x])


ADD = described("06.add", cases=_add_cases, oracle=_add, parts={"core": 0.7, "dtype": 0.15, "gradient": 0.15})


def _shift_cases(rng: Rng) -> list[Case]:
    def case(steps: int, width: int) -> Case:
        return Case(f"{steps} steps, D = {width}", (steps, width), tolerance=ROUNDED)

    return [case(1, 4), case(3, 6), case(-2, 8), case(0, 4), case(int(rng.integers(5, 30)), 10), case(7, 2)]


def _shift(steps: int, d_model: int) -> Any:
    """A turn without an end, for so many steps: the exponential of the slopes."""
    import torch

    speeds = torch.logspace(0, -4 + 8 / d_model, d_model // 2, dtype=torch.float64)
    slope = torch.block_diag(*(torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64) * w for w in speeds))
    return torch.linalg.matrix_exp(steps * slope)


SHIFT = described("06.shift", cases=_shift_cases, oracle=_shift)
