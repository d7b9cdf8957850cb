"""How certain a score is, and a difference of two: bootstrap intervals, Wilson's interval, an exact sign test."""

from dataclasses import dataclass
from math import comb, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from softlookup.evaluation.checked import check_at_least, check_range, pair_of_rows, row_of_numbers


@dataclass(frozen=True)
class ScoreInterval:
    """A mean with the interval that it is known to.

    Attributes:
        mean: The mean score, or the mean difference of two.
        low: The lower end.
        high: The upper end.
    """

    mean: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """The distance of the two ends."""
        return self.high - self.low

    def holds(self, value: float) -> bool:
        """Whether a value lies in the interval, its ends included.

        Args:
            value: For example 0, where the interval is that of a difference.
        """
        return self.low <= value <= self.high


@dataclass(frozen=True)
class SignTest:
    """On how many problems each of two models is better, and how surprising that is if neither is.

    Attributes:
        first_better: Problems on which the first model has the higher score.
        second_better: Problems on which the second model has the higher score.
        p_value: The probability of a split as uneven or more, if each of these problems falls to either by a fair coin.
    """

    first_better: int
    second_better: int
    p_value: float


def resampled_problems(problems: int, resamples: int, seed: int) -> np.ndarray:
    """Draw the problems of bootstrap resamples, with replacement.

    Args:
        problems: P, how many problems there are.
        resamples: R, how many resamples.
        seed: An integer that decides the draws.

    Returns:
        Numbers of problems, from 0 to P - 1 (R, P).

    Raises:
        ValueError: If there is no problem or no resample.

    Source: Efron 1979.
    """
    check_at_least(problems, "problems", 1)
    check_at_least(resamples, "resamples", 1)
    return np.random.default_rng(seed).integers(problems, size=(resamples, problems))


def bootstrap_interval(
    scores: ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> ScoreInterval:
    """Say how certain a mean score is, by resampling the problems (percentile bootstrap).

    Args:
        scores: A score for each problem (P,).
        level: How often such intervals are to hold the true mean, between 0 and 1.
        resamples: How many resamples are drawn.
        seed: An integer that decides the draws.

    Returns:
        The mean, and two quantiles of the resampled means. With fewer than some 30 problems, or a score near its
        smallest or largest possible value, the interval is too narrow.

    Raises:
        ValueError: If there are no scores, a score is not finite, or level or resamples make no sense.

    Source: Efron 1979.
    """
    row = row_of_numbers(scores, "scores")
    return _percentiles(row.mean(), row[resampled_problems(len(row), resamples, seed)].mean(axis=1), level)


def paired_interval(
    first: ArrayLike, second: ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> ScoreInterval:
    """Say how certain the difference of two models is that answered the same problems.

    Args:
        first: A score of the first model for each problem (P,).
        second: A score of the second model for the same problems (P,).
        level: How often such intervals are to hold the true difference, between 0 and 1.
        resamples: How many resamples are drawn; both models are judged on the same ones.
        seed: An integer that decides the draws.

    Returns:
        The mean of ``second - first``, and two quantiles of its resampled values.

    Raises:
        ValueError: If the lengths differ, a score is not finite, or level or resamples make no sense.

    Source: Koehn 2004 (paired bootstrap).
    """
    rows = pair_of_rows(first, second, ("first", "second"))
    return bootstrap_interval(rows[1] - rows[0], level=level, resamples=resamples, seed=seed)


def unpaired_interval(
    first: ArrayLike, second: ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> ScoreInterval:
    """Say how certain a difference is if the two models answered different problems.

    For models that answered the same problems it is right too, and wider than it has to be.

    Args:
        first: A score of the first model for each of its problems (P,).
        second: A score of the second model for each of its problems (Q,).
        level: How often such intervals are to hold the true difference, between 0 and 1.
        resamples: How many resamples are drawn of each.
        seed: An integer that decides the draws.

    Returns:
        The difference of the means, second minus first, and two quantiles of its resampled values.

    Raises:
        ValueError: If a score is not finite, or level or resamples make no sense.

    Source: Efron 1979.
    """
    rows = row_of_numbers(first, "first"), row_of_numbers(second, "second")
    seeds = np.random.SeedSequence(seed).generate_state(2)
    means = [
        row[resampled_problems(len(row), resamples, int(part))].mean(axis=1)
        for row, part in zip(rows, seeds, strict=True)
    ]
    return _percentiles(rows[1].mean() - rows[0].mean(), means[1] - means[0], level)


def wilson_interval(correct: int, n: int, level: float = 0.95) -> ScoreInterval:
    """Say how certain an accuracy is, without resampling; it holds for few problems and for accuracies near 0 and 1.

    Args:
        correct: Problems that were answered correctly, from 0 to n.
        n: All problems.
        level: How often such intervals are to hold the true accuracy, between 0 and 1.

    Returns:
        The accuracy with its interval, which stays within 0 and 1.

    Raises:
        ValueError: If the count is not from 0 to n, there is no problem, or the level is not between 0 and 1.

    Source: Wilson 1927.
    """
    check_at_least(n, "n", 1)
    check_range(level, "level", 0, 1)
    if not 0 <= correct <= n:
        raise ValueError(f"correct is {correct}; wanted is a whole number from 0 to n = {n}")
    z, accuracy = NormalDist().inv_cdf((1 + level) / 2), correct / n
    middle = (accuracy + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(accuracy * (1 - accuracy) / n + z * z / (4 * n * n))
    return ScoreInterval(accuracy, max(middle - half, 0.0), min(middle + half, 1.0))


def sign_test(first: ArrayLike, second: ArrayLike) -> SignTest:
    """Test whether two models differ, from the problems on which one of them is better.

    For scores that are right or wrong this is McNemar's test in its exact form.

    Args:
        first: A score of the first model for each problem (P,).
        second: A score of the second model for the same problems (P,).

    Returns:
        Both counts, and the two-sided p-value of the binomial test; 1 where no problem tells the models apart.

    Raises:
        ValueError: If the lengths differ or a score is not finite.

    Source: McNemar 1947.

    >>> sign_test([0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 1, 0])
    SignTest(first_better=1, second_better=4, p_value=0.375)
    """
    rows = pair_of_rows(first, second, ("first", "second"))
    first_better, second_better = int((rows[0] > rows[1]).sum()), int((rows[1] > rows[0]).sum())
    return SignTest(first_better, second_better, split_p_value(first_better, second_better))


def split_p_value(first_better: int, second_better: int) -> float:
    """Compute the two-sided p-value of a split, if each problem falls to either side by a fair coin.

    It is the probability of a split as uneven or more, from 0 to 1. ValueError if a count is negative.

    Source: McNemar 1947.
    """
    check_at_least(first_better, "first_better", 0)
    check_at_least(second_better, "second_better", 0)
    n, fewer = first_better + second_better, min(first_better, second_better)
    return min(1.0, 2 * sum(comb(n, count) for count in range(fewer + 1)) / 2**n)


def _percentiles(mean: float, resampled_means: np.ndarray, level: float) -> ScoreInterval:
    check_range(level, "level", 0, 1)
    low, high = np.quantile(resampled_means, [(1 - level) / 2, (1 + level) / 2])
    return ScoreInterval(float(mean), float(low), float(high))
