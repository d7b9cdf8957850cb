"""Tasks of relative positions that have vectors: rows of a table of distances, and Shaw's scores."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch06_positions.circles import ROOT
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _relative_cases(rng: Rng, clip: int) -> list[Case]:
    sizes = [
        (7, 7, 0),
        (3, 9, 6),
        (1, 12, 11),
        (2, 3, 0),
        (12, 5, 2),
        (4, 4, int(rng.integers(1, 9))),
        (3, 1, 2),
        (2, 300, 298),
    ]
    return [Case(f"T = {t}, S = {s}, start = {start}", (t, s, start)) for t, s, start in sizes]


def _relative(n_queries: int, n_keys: int, start: int, clip: int) -> np.ndarray:
    row = {}
    for i in range(start, start + n_queries):
        for j in range(n_keys):
            apart = max(-clip, min(clip, j - i))
            row[i, j] = range(-clip, clip + 1).index(apart)
    return np.array(list(row.values())).reshape(n_queries, n_keys)


RELATIVE = described(
    "06.relative",
    cases=_relative_cases,
    oracle=_relative,
    variants=tuple({"clip": clip} for clip in (4, 3, 2, 5, 6, 7, 8, 9, 10)),
)


def _shaw_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, n: int, t: int, s: int, h: int, clip: int, **how: Any) -> Case:
        dtype = how.pop("dtype", "float32")
        rows = np.clip(np.arange(s) - np.arange(s - t, s)[:, None], -clip, clip) + clip
        if how.pop("any_rows", False):
            rows = rng.integers(0, 2 * clip + 1, size=(t, s))
        q, k, table = (normal(rng, *shape, dtype=dtype) for shape in ((b, n, t, h), (b, n, s, h), (2 * clip + 1, h)))
        return Case(label, (q, k, table, rows), **how)

    return [
        case("B = 2, N = 3, T = 4, S = 5, H = 6", 2, 3, 4, 5, 6, 2),
        case("B = N = T = S = H = 3", 3, 3, 3, 3, 3, 1),
        case("one new query, S = 9, H = 4", 1, 2, 1, 9, 4, 3),
        case("T = S = 5, H = 2, a table of three rows", 2, 1, 5, 5, 2, 1),
        case("rows in no order at all", 2, 2, 4, 6, 3, 2, any_rows=True),
        case("float64", 2, 3, 4, 5, 6, 2, dtype="float64", keeps_dtype=True, part="dtype", tolerance=ROOT),
        case("float32", 2, 3, 4, 5, 6, 2, keeps_dtype=True, part="dtype"),
        case(
            "gradients of queries, keys and table",
            2,
            3,
            4,
            5,
            6,
            2,
            dtype="float64",
            gradients=(0, 1, 2),
            upstream=normal(rng, 2, 3, 4, 5, dtype="float64"),
            part="gradient",
            tolerance=ROOT,
        ),
    ]


def _shaw(q: Any, k: Any, table: Any, rows: Any) -> Any:
    """Each pair of query and key has a key of its own: what it says plus where it stands."""
    import torch

    pair_keys = k[:, :, None] + torch.nn.functional.embedding(rows, table)
    return torch.einsum("bnth,bntsh->bnts", q, pair_keys) * q.shape[-1] ** -0.5


SHAW = described(
    "06.shaw",
    cases=_shaw_cases,
    oracle=_shaw,
    parts={"core": 0.7, "dtype": 0.15, "gradient": 0.15},
    forbids=("softlookup.model",),
)
