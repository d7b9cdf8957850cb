"""Tasks on distributions: temperature, the k likeliest, the likeliest that hold a mass, and drawing."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import DTYPE, graded
from softlookup_judge.chapters.draws import Rng, normal, softmax
from softlookup_judge.chapters.oracles import torch


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
        Case("float64", (logits(2, 4, "float64"), 0.5), **DTYPE),
        Case("float32", (logits(2, 4), 0.5), **DTYPE),
    ]


@graded("10.temperature", _temperature_cases, parts={"core": 0.6, "zero": 0.2, "large": 0.1, "dtype": 0.1})
def _temperature(logits: Any, temperature: float) -> Any:
    """Shares of exponentials, by a log-sum-exp; at 0 by comparing with the largest."""
    if not temperature:
        return logits.eq(logits.amax(1, keepdim=True)).to(logits.dtype)
    scaled = torch.mul(logits, 1 / temperature)
    return (scaled - scaled.logsumexp(1, keepdim=True)).exp()


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


@graded("10.top-k", _top_k_cases, parts={"core": 0.7, "large": 0.1, "ties": 0.2})
def _top_k(logits: Any, k: int) -> Any:
    """By rank: how many tokens are likelier, or as likely with a lower id."""
    ids = torch.arange(logits.shape[1])
    logit, other = logits[:, :, None], logits[:, None, :]
    ahead = (other > logit) | ((other == logit) & (ids[None, :] < ids[:, None]))
    chosen = ahead.sum(-1) < k
    e = torch.where(chosen, torch.exp(logits - logits.amax(1, keepdim=True)), 0.0)
    return e / e.sum(1, keepdim=True)


def _distribution(rng: Rng, b: int, v: int, p: float, scale: float = 1.0) -> np.ndarray:
    """Random distributions, float64, in which no sum of the likeliest comes near p, and no two are nearly equal."""
    rows: list[np.ndarray] = []
    while len(rows) < b:
        row = softmax(scale * rng.standard_normal(v))
        sums = np.sort(row)[::-1].cumsum()
        if np.abs(sums - p).min() > 0.01 and np.diff(np.sort(row)).min() > 1e-3:
            rows.append(row)
    return np.array(rows)


def _top_p_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, v: int, p: float, scale: float = 1.2, part: str = "core") -> Case:
        return Case(label, (_distribution(rng, b, v, p, scale), p), part=part)

    exact = np.array([[0.125, 0.5, 0.03125, 0.25, 0.09375], [0.25, 0.03125, 0.5, 0.09375, 0.125]])
    sure = np.array([[0.02, 0.9, 0.05, 0.03], [0.55, 0.25, 0.15, 0.05]])
    return [
        case("B = 2, V = 6, p = 0.7", 2, 6, 0.7),
        case("B = V = 4, p = 0.8", 4, 4, 0.8),
        case("B = 3, V = 9, p = 0.55", 3, 9, 0.55, 0.9),
        case("half of it", 2, 5, 0.5, 0.7),
        Case("p = 1 keeps everything", (np.array([[0.5, 0.125, 0.25, 0.125 - 1 / 64, 1 / 64]]), 1.0), part="exact"),
        Case("two tokens hold exactly p", (exact, 0.75), part="exact"),
        Case("the likeliest alone holds more than p", (sure, 0.4), part="sure"),
        Case("a tiny p: greedy", (_distribution(rng, 3, 5, 0.05), 0.02), part="sure", exact_zeros=True),
    ]


@graded("10.top-p", _top_p_cases, parts={"core": 0.7, "sure": 0.2, "exact": 0.1})
def _top_p(probabilities: Any, p: float) -> Any:
    """Token by token: it is kept if the likelier ones hold less than p."""
    likelier = probabilities[:, None, :] > probabilities[:, :, None]
    before = torch.einsum("bij,bj->bi", likelier.to(probabilities.dtype), probabilities)
    remaining = torch.where(before < p, probabilities, 0.0)
    return remaining / remaining.sum(1, keepdim=True)


def _draw_cases(rng: Rng) -> list[Case]:
    def probabilities(b: int, v: int) -> np.ndarray:
        """Multiples of 1/64, one of them zero in each row: their sums are exact in every order."""
        cuts = np.sort(np.stack([rng.choice(np.arange(1, 64), v - 2, replace=False) for _ in range(b)]), axis=1)
        ends = np.concatenate((np.zeros((b, 1)), cuts, np.full((b, 1), 64)), axis=1)
        widths = np.diff(ends, axis=1)
        columns = rng.integers(0, v, size=b)
        return np.stack([np.insert(row, at, 0) for row, at in zip(widths, columns, strict=True)]) / 64

    def inside(b: int) -> np.ndarray:
        return (rng.integers(0, 64, size=b) + rng.uniform(0.2, 0.8, size=b)) / 64

    def fine(b: int, v: int, near: float = 4e-5) -> tuple[np.ndarray, np.ndarray]:
        """Many stretches and luck that lies near their ends: nearer than half precision, say, can tell."""
        rows = softmax(0.5 * rng.standard_normal((b, v)))
        ends = rows.cumsum(1)[np.arange(b), rng.integers(v // 2, v - 1, size=b)]
        return rows, ends + rng.choice([-near, near], size=b)

    edges = np.array([[0.0, 0.25, 0.0, 0.75], [0.25, 0.25, 0.5, 0.0], [0.5, 0.0, 0.25, 0.25], [0.0, 0.0, 1.0, 0.0]])
    return [
        Case("B = 3, V = 5", (probabilities(3, 5), inside(3))),
        Case("B = V = 6", (probabilities(6, 6), inside(6))),
        Case("sixteen rows of nine tokens", (probabilities(16, 9), inside(16))),
        Case("forty rows, luck near the ends of stretches", fine(40, 60)),
        Case("twelve rows of 300 tokens", fine(12, 300)),
        Case("one row, luck near the right end", (probabilities(1, 4), np.array([0.996]))),
        Case("luck nearer to the ends of stretches than float32 can tell", fine(40, 60, 1e-9), part="edges"),
        Case("luck on the ends of stretches, and 0", (edges, np.array([0.0, 0.25, 0.5, 0.0])), part="edges"),
    ]


@graded("10.draw", _draw_cases, parts={"core": 0.8, "edges": 0.2}, cuts=False)
def _draw(probabilities: Any, u: Any) -> Any:
    return torch.searchsorted(probabilities.cumsum(1), u[:, None], right=True)[:, 0]
