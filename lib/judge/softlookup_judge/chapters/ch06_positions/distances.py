"""Tasks of relative positions: vectors of distances in Shaw's scores, buckets of T5, slopes of ALiBi."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import DTYPE, backward, graded, variants_by
from softlookup_judge.chapters.ch06_positions.circles import ROOT
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.oracles import torch


def _relative_cases(rng: Rng, clip: int) -> list[Case]:
    later = int(rng.integers(1, 9))
    sizes = [(7, 7, 0), (3, 9, 6), (1, 12, 11), (2, 3, 0), (12, 5, 2), (4, 4, later), (3, 1, 2), (2, 300, 298)]
    return [Case(f"T = {t}, S = {s}, start = {start}", (t, s, start)) for t, s, start in sizes]


@graded("06.relative", _relative_cases, variants=variants_by(clip=(4, 3, 2, 5, 6, 7, 8, 9, 10)))
def _relative(n_queries: int, n_keys: int, start: int, clip: int) -> np.ndarray:
    row = {}
    for i in range(start, start + n_queries):
        for j in range(n_keys):
            apart = max(-clip, min(clip, j - i))
            row[i, j] = range(-clip, clip + 1).index(apart)
    return np.array(list(row.values())).reshape(n_queries, n_keys)


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
        case("float64", 2, 3, 4, 5, 6, 2, dtype="float64", **DTYPE, tolerance=ROOT),
        case("float32", 2, 3, 4, 5, 6, 2, **DTYPE),
        case(
            "gradients of queries, keys and table",
            2,
            3,
            4,
            5,
            6,
            2,
            dtype="float64",
            tolerance=ROOT,
            **backward(doubles(rng, 2, 3, 4, 5), 0, 1, 2),
        ),
    ]


@graded("06.shaw", _shaw_cases, parts={"core": 0.7, "dtype": 0.15, "gradient": 0.15}, forbids=("softlookup.model",))
def _shaw(q: Any, k: Any, table: Any, rows: Any) -> Any:
    """Each pair of query and key has a key of its own: what it says plus where it stands."""
    pair_keys = k[:, :, None] + torch.nn.functional.embedding(rows, table)
    return torch.einsum("bnth,bntsh->bnts", q, pair_keys) * q.shape[-1] ** -0.5


def _bucket_cases(rng: Rng, n_buckets: int, farthest: int) -> list[Case]:
    alone = n_buckets // 2
    # A distance at the very edge of a bucket may fall either way in float32; none is asked for.
    edges = [alone * (farthest / alone) ** (k / (n_buckets - alone)) for k in range(1, n_buckets - alone)]
    clear = [d for d in range(-20, 400) if all(abs(d - edge) > 1e-3 for edge in edges)]
    random_distances = rng.choice(clear, size=(4, 3), replace=False)
    return [
        Case("the first 40 distances", (np.array([d for d in clear if 0 <= d < 40]),)),
        Case("distances up to 399", (np.array([d for d in clear if d >= 40]),)),
        Case("a table of distances, keys ahead among them", (random_distances.astype("int64"),)),
        Case("keys ahead alone", (np.array([-1, -5, -19]),)),
        Case("very far on both sides", (np.array([[farthest + 1, 10**4, 10**6], [farthest, -(10**4), -(10**6)]]),)),
        Case("a single distance, without axes", (np.array(37),)),
        Case("three axes, all of length 1", (np.array([[[2]]]),)),
    ]


SIZES = ((32, 128), (16, 64), (8, 32), (24, 96), (12, 48), (20, 100), (40, 160), (32, 256), (16, 128))


@graded(
    "06.buckets",
    _bucket_cases,
    forbids=("softlookup.model",),
    variants=tuple({"n_buckets": n, "farthest": far} for n, far in SIZES),
)
def _buckets(back: Any, n_buckets: int, farthest: int) -> np.ndarray:
    """Count how many buckets begin at this distance or before it."""
    import math

    alone = n_buckets // 2
    begins = [float(d) for d in range(1, alone + 1)]
    growth = math.log(farthest / alone) / (n_buckets - alone)
    begins += [alone * math.exp(growth * k) for k in range(1, n_buckets - alone)]
    return np.array([sum(d >= begin for begin in begins) for d in back.flatten().tolist()]).reshape(tuple(back.shape))


def _alibi_cases(rng: Rng, steep: float, wording: str) -> list[Case]:
    sizes = [(4, 5, 5, 0), (8, 3, 7, 4), (2, 1, 9, 8), (1, 4, 6, 2), (16, 2, 3, 0), (4, 4, 4, int(rng.integers(1, 6)))]
    sizes += [(2, 3, 1, 1)]
    return [Case(f"N = {n}, T = {t}, S = {s}, start = {start}", (n, t, s, start)) for n, t, s, start in sizes]


@graded(
    "06.alibi",
    _alibi_cases,
    forbids=("softlookup.model", "softlookup.reference"),
    variants=tuple({"steep": float(steep), "wording": str(steep)} for steep in (8, 4, 6, 2, 3, 5, 7, 10, 12)),
)
def _alibi(n_heads: int, n_queries: int, n_keys: int, start: int, steep: float, wording: str) -> Any:
    """Each head falls by a fixed share of the one before."""
    ratio = torch.tensor(0.5, dtype=torch.float64) ** (steep / n_heads)
    slopes = torch.cumprod(ratio.repeat(n_heads), dim=0)
    back = torch.relu(torch.arange(start, start + n_queries).double()[:, None] - torch.arange(n_keys).double())
    return -torch.einsum("n,ts->nts", slopes, back)
