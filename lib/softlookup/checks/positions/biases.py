"""Tasks of relative positions that have one number for each distance: T5's buckets, ALiBi's slopes."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.positions.distances import QUERY, START
from softlookup.checks.positions.page import PAGE
from softlookup.checks.task import Case, Task


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
    ]


def _buckets(back: Any, n_buckets: int, farthest: int) -> np.ndarray:
    """Count how many buckets begin at this distance or before it."""
    import math

    alone = n_buckets // 2
    begins = [float(d) for d in range(1, alone + 1)]
    growth = math.log(farthest / alone) / (n_buckets - alone)
    begins += [alone * math.exp(growth * k) for k in range(1, n_buckets - alone)]
    return np.array([sum(d >= begin for begin in begins) for d in back.flatten().tolist()]).reshape(tuple(back.shape))


BACK = "back = back.clamp(min=0)"
RATIO = "ratio = torch.log(back.clamp(min=1) / alone) / math.log(farthest / alone)"
FAR = "far = alone + (ratio * (n_buckets - alone)).long()"
CAPPED = "far = far.clamp(max=n_buckets - 1)"
ALONE = "alone = n_buckets // 2"
DEALT = "return torch.where(back < alone, back, far)"

BUCKETS = Task(
    id="06.buckets",
    name="bucket",
    title="T5's buckets",
    points=3,
    minutes=12,
    difficulty=3,
    page=PAGE,
    anchor="positions-buckets",
    returns=("buckets",),
    cases=_bucket_cases,
    oracle=_buckets,
    forbids=("softlookup.model",),
    variants=({"n_buckets": 32, "farthest": 128}, {"n_buckets": 16, "farthest": 64}),
    mistakes=(
        known(
            "not-capped",
            (CAPPED, "pass"),
            says="Very far distances get a bucket that is not there: the last one, number n_buckets - 1, "
            "takes them all.",
        ),
        known(
            "all-alone",
            (ALONE, "alone = n_buckets"),
            (RATIO, "ratio = back * 0.0"),
            ("torch.where(back < alone, back, far)", "back.clamp(max=n_buckets - 1)"),
            says="Every distance has a bucket of its own, and all from n_buckets - 1 on share one: only the "
            "first half of the buckets stands alone.",
        ),
        known(
            "half-of-them",
            (ALONE, "n_buckets = n_buckets // 2\n    alone = n_buckets // 2"),
            says="Half of the buckets are kept for keys ahead, as in an encoder: a decoder has none to tell apart, and "
            "uses all of them for what came before.",
        ),
        known(
            "both-ways",
            (ALONE, "ahead = (back < 0) * (n_buckets // 2)\n    n_buckets = n_buckets // 2\n    " + ALONE),
            (BACK, "back = back.abs()"),
            (DEALT, DEALT + " + ahead"),
            says="These are the buckets of an encoder (`bidirectional`), which keeps half of them for keys ahead: a "
            "decoder uses all of them for what came before.",
        ),
        known(
            "other-sign",
            (BACK, "back = (-back).clamp(min=0)"),
            says="The sign is the other one: `back` is positive for what came before, and that is what the buckets are "
            "for. (T5's own code takes key less query, which is minus that.)",
        ),
        known(
            "ahead-kept",
            (BACK, "pass"),
            says="Keys ahead get negative numbers: all that lies ahead goes into bucket 0.",
        ),
        known(
            "linear-steps",
            (RATIO, "ratio = (back - alone) / (farthest - alone)"),
            says="The wide buckets are all of one width: they grow, by the logarithm of the distance.",
        ),
        known(
            "rounded-up",
            (FAR, "far = alone + (ratio * (n_buckets - alone)).ceil().long()"),
            says="The step is rounded up: it is cut off, so that a bucket begins where its number is reached.",
        ),
        known(
            "ahead-counts",
            (BACK, "back = back.abs()"),
            says="A key ahead is treated like one as far back: here all that lies ahead goes into bucket 0.",
        ),
        known(
            "rounded",
            (FAR, "far = alone + (ratio * (n_buckets - alone)).round().long()"),
            says="The step is rounded to the nearest: it is cut off, so that a bucket begins where its "
            "number is reached.",
        ),
        known(
            "log-of-distance",
            (RATIO, "ratio = torch.log(back.clamp(min=1).float()) / math.log(farthest)"),
            says="The logarithm is that of the distance itself: it is that of distance / alone, which is 0 "
            "where the wide buckets begin.",
        ),
        known(
            "log-not-scaled",
            (RATIO, "ratio = torch.log(back.clamp(min=1) / alone)"),
            says="The logarithm is not divided by log(farthest / alone): the share has to reach 1 at the farthest "
            "distance.",
        ),
        known(
            "not-behind",
            (FAR, "far = (ratio * (n_buckets - alone)).long()"),
            says="The wide buckets are counted from 0: they come behind the `alone` buckets that hold one "
            "distance each.",
        ),
    ),
)


def _alibi_cases(rng: Rng, steep: float, named: str) -> list[Case]:
    sizes = [(4, 5, 5, 0), (8, 3, 7, 4), (2, 1, 9, 8), (1, 4, 6, 2), (16, 2, 3, 0), (4, 4, 4, int(rng.integers(1, 6)))]
    return [Case(f"N = {n}, T = {t}, S = {s}, start = {start}", (n, t, s, start)) for n, t, s, start in sizes]


def _alibi(n_heads: int, n_queries: int, n_keys: int, start: int, steep: float, named: str) -> Any:
    """Each head falls by a fixed share of the one before."""
    import torch

    share = torch.tensor(0.5, dtype=torch.float64) ** (steep / n_heads)
    slopes = torch.cumprod(share.repeat(n_heads), dim=0)
    back = torch.relu(torch.arange(start, start + n_queries).double()[:, None] - torch.arange(n_keys).double())
    return -torch.einsum("n,ts->nts", slopes, back)


SLOPES = "slopes = 2.0 ** (-steep * head / n_heads)"
BIAS = "return -slopes[:, None, None] * back"
FALL = "back = (i - j).clamp(min=0)"

ALIBI = Task(
    id="06.alibi",
    name="alibi",
    title="Straight lines",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="positions-alibi",
    returns=("bias",),
    cases=_alibi_cases,
    oracle=_alibi,
    forbids=("softlookup.model", "softlookup.reference"),
    variants=({"steep": 8.0, "named": "8"}, {"steep": 4.0, "named": "4"}, {"steep": 6.0, "named": "6"}),
    mistakes=(
        known(
            "rewarded",
            (BIAS, "return slopes[:, None, None] * back"),
            says="Far keys are rewarded: a score falls with the distance, so the numbers are negative.",
        ),
        known(
            "from-one",
            ("torch.arange(1, n_heads + 1", "torch.arange(0, n_heads"),
            says="The heads are counted from 0, so that the first slope is 1: here they are counted from 1, "
            "and the last slope is the one that the text names.",
        ),
        known(
            "reversed",
            (SLOPES, SLOPES.replace("head /", "head.flip(0) /")),
            says="The heads stand in the other order: head 0 has the steepest slope.",
        ),
        known(
            "halved-each",
            (SLOPES, "slopes = 2.0 ** (-head)"),
            says="Each slope is half of the one before, whatever the number of heads: how fast they fall depends on N, "
            "so that the last slope is always the one that the text names.",
        ),
        known(
            "powers-of-e",
            (SLOPES, SLOPES.replace("2.0 **", "math.e **")),
            says="The slopes are powers of e: they are powers of 2.",
        ),
        known(
            "one-slope",
            (SLOPES, SLOPES + "[-1].expand(n_heads)"),
            ("2.0 ** (-steep * head / n_heads)[", "(2.0 ** (-steep * head / n_heads))["),
            says="All heads have the same slope: each has its own.",
        ),
        known(
            "straight",
            (SLOPES, "slopes = head / n_heads"),
            says="The slopes grow in equal steps: they are powers of 2, each the same share of the one before.",
        ),
        known(
            "one-too-far",
            (FALL, FALL + " + 1"),
            says="Every distance is one too large: a key at the query's own place is at distance 0.",
        ),
        known(
            "keys-alone",
            (FALL, "back = -j.expand(n_queries, n_keys)"),
            says="The number depends on the key's place alone. (Within a row the differences are right, and so are the "
            "weights where a causal mask follows; but asked for is the distance.)",
        ),
        known(
            "ahead-alone",
            (FALL, "back = (j - i).clamp(min=0)"),
            says="Keys ahead count less, and those before do not: it is the other way round.",
        ),
        known(
            "masked",
            (BIAS, BIAS + " + torch.where(j > i, -math.inf, 0.0)"),
            says="Keys ahead get minus infinity: that is left to the mask. Here they get 0.",
        ),
        known(
            "both-sides",
            (FALL, "back = (i - j).abs()"),
            says="Keys ahead are made to count less as well: here they get 0, and the causal mask hides them.",
        ),
        known(
            "ahead-rewarded",
            (FALL, "back = i - j"),
            says="Keys ahead get positive numbers: here they get 0, and the causal mask hides them.",
        ),
        known("start-ignored", (QUERY, "i = torch.arange(n_queries)[:, None]"), says=START, number=70),
        known(
            "heads-last",
            (BIAS, "return -slopes * back[..., None]"),
            says="The heads are the last axis: scores are (N, T, S), heads first.",
        ),
    ),
)
