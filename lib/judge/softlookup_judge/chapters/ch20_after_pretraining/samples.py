"""Tasks on scores of sampled answers: pass@k, and the interval of a paired difference."""

import math
from fractions import Fraction

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described

LARGE = "large"


def _pass_cases(rng: Rng) -> list[Case]:
    def ask(label: str, n: int, c: list[int] | np.ndarray, k: int, part: str = "core") -> Case:
        return Case(label, (n, np.array(c), k), part=part, frame="numpy")

    return [
        ask("ten samples, k = 3", 10, [0, 1, 4, 9, 6], 3),
        ask("eight drawn problems, k = 2", 7, rng.integers(0, 8, size=8), 2),
        ask("k = 1", 6, [2, 5, 0, 6], 1),
        ask("k = n: every sample is taken", 5, [0, 1, 3, 0, 5, 0], 5),
        ask("fewer wrong samples than k", 9, [4, 7, 8, 9, 0, 6], 5),
        ask("no problem is ever solved", 8, [0, 0, 0], 4),
        ask("every sample is right", 4, [4, 4, 4, 4, 4], 2),
        ask("one problem", 12, [2], 4),
        ask("200 samples, k = 10", 200, rng.integers(0, 30, size=9), 10, LARGE),
        ask("200 samples, k = 100", 200, [*rng.integers(0, 4, size=5), 0, 150], 100, LARGE),
        ask("1500 samples, k = 700", 1500, [0, 1, 2, 3, 900], 700, LARGE),
        ask("thousands of samples, k = 12", int(rng.integers(4100, 4500)), [0, 1, 40, 300, 2100], 12, LARGE),
        ask("three hundred problems, k = 5", 23, rng.integers(0, 24, size=300), 5),
    ]


def _pass_at_k(n: int, c: np.ndarray, k: int) -> float:
    """In exact fractions: subsets of k samples without a right one, of all subsets."""
    missed = sum(Fraction(math.comb(n - int(correct), k), math.comb(n, k)) for correct in c)
    return float(1 - missed / len(c))


PASS_AT_K = described(
    "20.pass-at-k", cases=_pass_cases, oracle=_pass_at_k, frame="numpy", parts={"core": 0.75, LARGE: 0.25}
)


def _paired_cases(rng: Rng, tail: float, level: str) -> list[Case]:
    def ask(label: str, first: np.ndarray, second: np.ndarray, resamples: int, tolerance: float | None = None) -> Case:
        n = len(first)
        args = (first, second, rng.integers(n, size=(resamples, n)))
        return Case(label, args, frame="numpy", tolerance=tolerance)

    def graded(problems: int, accuracy: float) -> np.ndarray:
        return (rng.random(problems) < accuracy).astype(np.float64)

    hard = rng.random(12)
    equal = graded(7, 0.5)
    skewed = np.array([0.0, 0.1, 0.0, 0.2, 0.1, 0.0, 9.0, 0.1])
    # Resamples in the order of their means: some of them have other quantiles than all.
    close = rng.random(6), rng.random(6)
    ordered = rng.integers(6, size=(int(rng.integers(1030, 1200)), 6))
    ordered = ordered[np.argsort((close[1] - close[0])[ordered].mean(axis=1))]
    one_problem = (np.array([0.25]), np.array([1.0]), np.zeros((6, 1), dtype=np.int64))
    return [
        ask("twelve problems, scores that go together", hard, 0.8 * hard + 0.3 * rng.random(12), 43),
        ask("right and wrong, 9 problems", graded(9, 0.3), graded(9, 0.7), 58),
        ask("as many resamples as problems", rng.random(17), rng.random(17), 17),
        ask("the second model is worse", 0.5 + rng.random(10), rng.random(10), 31),
        ask("scores with an outlier", rng.random(8), skewed, 90),
        ask("equal scores", equal, equal.copy(), 25),
        ask("large scores that nearly agree", 1e6 + rng.random(11), 1e6 + rng.random(11), 37, 1e-7),
        ask("one resample", rng.random(6), rng.random(6), 1),
        Case("more than a thousand resamples", (*close, ordered), frame="numpy"),
        ask("six hundred problems", rng.random(601), rng.random(601), 9),
        Case("one problem", one_problem, frame="numpy"),
    ]


def _paired_interval(first: np.ndarray, second: np.ndarray, draws: np.ndarray, tail: float, level: str) -> np.ndarray:
    """From how often each problem comes in a resample; quantiles by sorting and interpolating."""
    n = len(first)
    counts = np.stack([np.bincount(row, minlength=n) for row in draws])
    ordered = sorted(float((row * (second - first)).sum() / n) for row in counts)

    def quantile(fraction: float) -> float:
        place = fraction * (len(ordered) - 1)
        below = int(place)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (place - below) * (ordered[above] - ordered[below])

    return np.array([math.fsum(second - first) / n, quantile(tail), quantile(1 - tail)])


PAIRED = described(
    "20.paired",
    cases=_paired_cases,
    oracle=_paired_interval,
    frame="numpy",
    variants=(
        {"tail": 0.025, "level": "95 %"},
        {"tail": 0.05, "level": "90 %"},
        {"tail": 0.005, "level": "99 %"},
    ),
)
