"""Tasks of relative positions that have one number for each distance: T5's buckets, ALiBi's slopes."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _bucket_cases(rng: Rng, n_buckets: int, farthest: int) -> list[Case]:
    alone = n_buckets // 2
    # A distance at the very edge of a bucket may fall either way in float32; none is asked for.
    edges = [alone * (farthest / alone) ** (k / (n_buckets - alone)) for k in range(1, n_buckets - alone)]
    clear = [d for d in range(-20, 400) if all(abs(d - edge) > 1e-3 for edge in edges)]
    drawn = rng.choice(clear, size=(4, 3), replace=False)
    return [
        Case("the first 40 distances", (np.array([d for d in clear if 0 <= d < 40]),)),
        Case("distances up to 399", (np.array([d for d in clear if d >= 40]),)),
        Case("a table of distances, keys ahead among them", (drawn.astype("int64"),)),
        Case("keys ahead alone", (np.array([-1, -5, -19]),)),
        Case("very far on both sides", (np.array([[farthest + 1, 10**4, 10**6], [farthest, -(10**4), -(10**6)]]),)),
        Case("a single distance, without axes", (np.array(37),)),
        Case("three axes, all of length 1", (np.array([[[2]]]),)),
    ]


def _buckets(back: Any, n_buckets: int, farthest: int) -> np.ndarray:
    """Count how many buckets begin at this distance or before it."""
    import math

    alone = n_buckets // 2
    begins = [float(d) for d in range(1, alone + 1)]
    growth = math.log(farthest / alone) / (n_buckets - alone)
    begins += [alone * math.exp(growth * k) for k in range(1, n_buckets - alone)]
    return np.array([sum(d >= begin for begin in begins) for d in back.flatten().tolist()]).reshape(tuple(back.shape))


SIZES = ((32, 128), (16, 64), (8, 32), (24, 96), (12, 48), (20, 100), (40, 160), (32, 256), (16, 128))

BUCKETS = described(
    "06.buckets",
    cases=_bucket_cases,
    oracle=_buckets,
    forbids=("softlookup.model",),
    variants=tuple({"n_buckets": n, "farthest": far} for n, far in SIZES),
)


def _alibi_cases(rng: Rng, steep: float, named: str) -> list[Case]:
    sizes = [(4, 5, 5, 0), (8, 3, 7, 4), (2, 1, 9, 8), (1, 4, 6, 2), (16, 2, 3, 0), (4, 4, 4, int(rng.integers(1, 6)))]
    sizes += [(2, 3, 1, 1)]
    return [Case(f"N = {n}, T = {t}, S = {s}, start = {start}", (n, t, s, start)) for n, t, s, start in sizes]


def _alibi(n_heads: int, n_queries: int, n_keys: int, start: int, steep: float, named: str) -> Any:
    """Each head falls by a fixed share of the one before."""
    import torch

    share = torch.tensor(0.5, dtype=torch.float64) ** (steep / n_heads)
    slopes = torch.cumprod(share.repeat(n_heads), dim=0)
    back = torch.relu(torch.arange(start, start + n_queries).double()[:, None] - torch.arange(n_keys).double())
    return -torch.einsum("n,ts->nts", slopes, back)


ALIBI = described(
    "06.alibi",
    cases=_alibi_cases,
    oracle=_alibi,
    forbids=("softlookup.model", "softlookup.reference"),
    variants=tuple({"steep": float(steep), "named": str(steep)} for steep in (8, 4, 6, 2, 3, 5, 7, 10, 12)),
)
