"""How many problems it takes to tell two models apart, by simulation."""

from dataclasses import dataclass
from functools import cache
from math import comb
from statistics import NormalDist

import numpy as np

from softlookup.evaluation.checked import check_at_least, check_range


@dataclass(frozen=True)
class DetectionRates:
    """What paired and unpaired comparisons of two models come to on a benchmark of some size.

    Attributes:
        problems: How many problems the benchmark has.
        paired: The fraction of runs in which an exact sign test finds a difference.
        unpaired: The fraction of runs in which a z test of two separate accuracies finds a difference.
        paired_width: The mean width of the interval of the difference, from the differences on each problem.
        unpaired_width: The mean width of the interval of the difference, as if the problems were others.
    """

    problems: int
    paired: float
    unpaired: float
    paired_width: float
    unpaired_width: float


def detection_rates(
    accuracies: tuple[float, float],
    problems: int,
    *,
    shared: float = 0.7,
    level: float = 0.95,
    runs: int = 1000,
    seed: int = 0,
) -> DetectionRates:
    """Simulate how often a benchmark tells two models apart whose true accuracies are known.

    A problem is shared with some probability: then both models meet the same luck, and the better one solves whatever
    the other solves. Else each meets its own. Either way each model has its true accuracy.

    Args:
        accuracies: The true accuracies of the two models, each between 0 and 1.
        problems: P, how many problems the benchmark has.
        shared: The probability that a problem is as hard for both, from 0 to 1.
        level: How often a test is to find nothing where there is nothing, between 0 and 1.
        runs: How many times the benchmark is simulated.
        seed: An integer that decides the draws.

    Returns:
        Both rates, and the mean widths of both normal intervals of the difference.

    Raises:
        ValueError: If a probability or a count makes no sense.

    Source: Card et al. 2020 (With Little Power Comes Great Responsibility) for the power of a benchmark; Miller 2024
    (Adding Error Bars to Evals) for paired differences; McNemar 1947 for the sign test.
    """
    for accuracy in accuracies:
        check_range(accuracy, "an accuracy", 0, 1)
    check_range(level, "level", 0, 1)
    check_at_least(problems, "problems", 2)
    check_at_least(runs, "runs", 1)
    if not 0 <= shared <= 1:
        raise ValueError(f"shared is {shared}; wanted is a number from 0 to 1")
    rng = np.random.default_rng(seed)
    luck_first, luck_second = rng.random((2, runs, problems))
    luck_second = np.where(rng.random((runs, problems)) < shared, luck_first, luck_second)
    first, second = luck_first < accuracies[0], luck_second < accuracies[1]
    first_better, second_better = (first & ~second).sum(axis=1), (second & ~first).sum(axis=1)
    p_values = np.array([_p_value(*map(int, split)) for split in zip(first_better, second_better, strict=True)])
    z = NormalDist().inv_cdf((1 + level) / 2)
    means = first.mean(axis=1), second.mean(axis=1)
    gaps = np.abs(means[1] - means[0])
    apart = np.sqrt(sum(mean * (1 - mean) for mean in means) / problems)
    paired_variance = (first_better + second_better) / problems - gaps**2
    together = np.sqrt(np.maximum(paired_variance, 0) / problems)  # rounding may leave it a little below 0
    return DetectionRates(
        problems=problems,
        paired=float((p_values < 1 - level).mean()),
        unpaired=float((gaps > z * apart).mean()),
        paired_width=float(2 * z * together.mean()),
        unpaired_width=float(2 * z * apart.mean()),
    )


@cache
def _p_value(first_better: int, second_better: int) -> float:
    """The two-sided p-value of a sign test: the probability of a split as uneven or more, by fair coins."""
    n, fewer = first_better + second_better, min(first_better, second_better)
    return min(1.0, 2 * sum(comb(n, count) for count in range(fewer + 1)) / 2**n)
