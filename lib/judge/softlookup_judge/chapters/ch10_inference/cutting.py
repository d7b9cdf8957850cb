"""Tasks on cutting a distribution to the likeliest that hold a mass, and on drawing from it."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, softmax
from softlookup_judge.data.published import described


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


def _top_p(probabilities: Any, p: float) -> Any:
    """Token by token: it is kept if the likelier ones hold less than p."""
    import torch

    likelier = probabilities[:, None, :] > probabilities[:, :, None]
    before = torch.einsum("bij,bj->bi", likelier.to(probabilities.dtype), probabilities)
    left = torch.where(before < p, probabilities, 0.0)
    return left / left.sum(1, keepdim=True)


TOP_P = described("10.top-p", cases=_top_p_cases, oracle=_top_p, parts={"core": 0.7, "sure": 0.2, "exact": 0.1})


def _draw_cases(rng: Rng) -> list[Case]:
    def shares(b: int, v: int) -> np.ndarray:
        """Multiples of 1/64, one of them zero in each row: their sums are exact in every order."""
        cuts = np.sort(np.stack([rng.choice(np.arange(1, 64), v - 2, replace=False) for _ in range(b)]), axis=1)
        ends = np.concatenate((np.zeros((b, 1)), cuts, np.full((b, 1), 64)), axis=1)
        widths = np.diff(ends, axis=1)
        places = rng.integers(0, v, size=b)
        return np.stack([np.insert(row, at, 0) for row, at in zip(widths, places, strict=True)]) / 64

    def inside(b: int) -> np.ndarray:
        return (rng.integers(0, 64, size=b) + rng.uniform(0.2, 0.8, size=b)) / 64

    def fine(b: int, v: int, near: float = 4e-5) -> tuple[np.ndarray, np.ndarray]:
        """Many stretches and luck that lies near their ends: nearer than half precision, say, can tell."""
        rows = softmax(0.5 * rng.standard_normal((b, v)))
        ends = rows.cumsum(1)[np.arange(b), rng.integers(v // 2, v - 1, size=b)]
        return rows, ends + rng.choice([-near, near], size=b)

    edges = np.array([[0.0, 0.25, 0.0, 0.75], [0.25, 0.25, 0.5, 0.0], [0.5, 0.0, 0.25, 0.25], [0.0, 0.0, 1.0, 0.0]])
    return [
        Case("B = 3, V = 5", (shares(3, 5), inside(3))),
        Case("B = V = 6", (shares(6, 6), inside(6))),
        Case("sixteen rows of nine tokens", (shares(16, 9), inside(16))),
        Case("forty rows, luck near the ends of stretches", fine(40, 60)),
        Case("twelve rows of 300 tokens", fine(12, 300)),
        Case("one row, luck near the right end", (shares(1, 4), np.array([0.996]))),
        Case("luck nearer to the ends of stretches than float32 can tell", fine(40, 60, 1e-9), part="edges"),
        Case("luck on the ends of stretches, and 0", (edges, np.array([0.0, 0.25, 0.5, 0.0])), part="edges"),
    ]


def _draw(probabilities: Any, u: Any) -> Any:
    import torch

    return torch.searchsorted(probabilities.cumsum(1), u[:, None], right=True)[:, 0]


DRAW = described("10.draw", cases=_draw_cases, oracle=_draw, parts={"core": 0.8, "edges": 0.2}, cuts=False)
