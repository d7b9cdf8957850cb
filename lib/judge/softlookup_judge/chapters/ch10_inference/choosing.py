"""Tasks on making a distribution sharper or cutting it to the k likeliest."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _temperature_cases(rng: Rng) -> list[Case]:
    def logits(b: int, v: int, dtype: str = "float32", scale: float = 2.0) -> np.ndarray:
        return normal(rng, b, v, dtype=dtype, scale=scale)

    far = np.round(4 * logits(2, 6)) / 4 + 1000.0
    far[:, 0] += 20.0
    near = logits(2, 5, "float64", scale=2e-6), 1e-6
    return [
        Case("B = 2, V = 5, a temperature of 0.7", (logits(2, 5), 0.7)),
        Case("B = V = 4, a temperature of 1.8", (logits(4, 4), 1.8)),
        Case("a temperature of 1 changes nothing", (logits(3, 6), 1.0)),
        Case("one text, nearly greedy", (logits(1, 7), 0.2)),
        Case("very hot", (logits(2, 3), 25.0)),
        Case("a temperature of 0.1", (logits(3, 5, scale=0.2), 0.1), part="zero"),
        Case("a temperature of 1e-6, logits as near to each other", near, part="zero", tolerance=1e-6),
        Case("a temperature of 0", (logits(3, 6), 0), part="zero", exact_zeros=True, keeps_dtype=True),
        Case("a temperature of 0.0, all logits below zero", (-5.0 - np.abs(logits(2, 5)), 0.0), part="zero"),
        Case("logits near 1000", (far, 2.0), part="large", tolerance=1e-3),
        Case("float64", (logits(2, 4, "float64"), 0.5), part="dtype", keeps_dtype=True),
        Case("float32", (logits(2, 4), 0.5), part="dtype", keeps_dtype=True),
    ]


def _temperature(logits: Any, temperature: float) -> Any:
    """Shares of exponentials, by a log-sum-exp; at 0 by comparing with the largest."""
    import torch

    if not temperature:
        return logits.eq(logits.amax(1, keepdim=True)).to(logits.dtype)
    scaled = torch.mul(logits, 1 / temperature)
    return (scaled - scaled.logsumexp(1, keepdim=True)).exp()


TEMPERATURE = described(
    "10.temperature",
    cases=_temperature_cases,
    oracle=_temperature,
    parts={"core": 0.6, "zero": 0.2, "large": 0.1, "dtype": 0.1},
)


def _top_k_cases(rng: Rng) -> list[Case]:
    def logits(b: int, v: int) -> np.ndarray:
        return normal(rng, b, v, scale=2.0)

    tied = logits(2, 6)
    tied[0] = [1.0, 2.0, 1.0, 0.5, 1.0, -1.0]
    tied[1] = [0.0, 0.0, 0.0, 0.0, 0.0, 3.0]
    # Quarters, which float32 holds there; a fill of -1e4 is larger than all of them.
    low = rng.permuted(np.tile(np.arange(5), (2, 1)), axis=1).astype("float32") / 4 - 10240.0
    return [
        Case("B = 2, V = 7, k = 3", (logits(2, 7), 3)),
        Case("B = V = 4, k = 2", (logits(4, 4), 2)),
        Case("k = 1: greedy", (logits(3, 5), 1), exact_zeros=True),
        Case("all logits far below zero", (low, 2), part="large", tolerance=1e-3),
        Case("k = V", (logits(2, 4), 4)),
        Case("k larger than V", (logits(2, 3), 10)),
        Case("equal logits at the edge", (tied, 2), part="ties"),
    ]


def _top_k(logits: Any, k: int) -> Any:
    """By rank: how many tokens are likelier, or as likely with a lower id."""
    import torch

    ids = torch.arange(logits.shape[1])
    logit, other = logits[:, :, None], logits[:, None, :]
    ahead = (other > logit) | ((other == logit) & (ids[None, :] < ids[:, None]))
    chosen = ahead.sum(-1) < k
    e = torch.where(chosen, torch.exp(logits - logits.amax(1, keepdim=True)), 0.0)
    return e / e.sum(1, keepdim=True)


TOP_K = described("10.top-k", cases=_top_k_cases, oracle=_top_k, parts={"core": 0.7, "large": 0.1, "ties": 0.2})
