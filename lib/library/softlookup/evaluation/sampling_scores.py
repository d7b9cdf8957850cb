"""pass@k: how likely a problem is solved by one of k sampled answers."""

from dataclasses import dataclass
from math import exp, lgamma, log, log1p

import numpy as np
from numpy.typing import ArrayLike

from softlookup.evaluation.checked import check_at_least, row_of_numbers


@dataclass(frozen=True)
class PassEstimates:
    """What estimates of pass@k give on average for a problem, beside the true value.

    Attributes:
        truth: The probability that at least one of k new samples is correct.
        unbiased: The mean of the estimate that draws without replacement; the truth.
        plain: The mean of 1 - (1 - c/n)^k.
    """

    truth: float
    unbiased: float
    plain: float


def pass_at_k(n: int, correct: ArrayLike, k: int) -> float:
    """Estimate pass@k without bias from n samples of each problem.

    Args:
        n: Samples of each problem.
        correct: How many of them are correct, for each problem (P,), whole numbers from 0 to n.
        k: How many samples are drawn, from 1 to n.

    Returns:
        The mean over the problems of 1 - C(n - c, k) / C(n, k), from 0 to 1.

    Raises:
        ValueError: If k is not from 1 to n, or a count is not a whole number from 0 to n.

    Source: Chen et al. 2021 (arXiv:2107.03374), equation 1.

    >>> pass_at_k(4, [1, 0], 2)
    0.25
    """
    return float(np.mean([_without_replacement(n, c, k) for c in _counts(n, correct, k)]))


def plain_pass_at_k(n: int, correct: ArrayLike, k: int) -> float:
    """Estimate pass@k as if samples were drawn with replacement, which is too low on average.

    Args:
        n: Samples of each problem.
        correct: How many of them are correct, for each problem (P,), whole numbers from 0 to n.
        k: How many samples are drawn, from 1 to n.

    Returns:
        The mean over the problems of 1 - (1 - c/n)^k, from 0 to 1.

    Raises:
        ValueError: If k is not from 1 to n, or a count is not a whole number from 0 to n.

    Source: Chen et al. 2021 (arXiv:2107.03374), appendix A, where it is the biased estimator.

    >>> plain_pass_at_k(4, [1, 0], 2)
    0.21875
    """
    return float(np.mean([1 - (1 - c / n) ** k for c in _counts(n, correct, k)]))


def expected_pass_at_k(probability: float, n: int, k: int) -> PassEstimates:
    """Compute what both estimates give on average over all outcomes of n samples.

    Args:
        probability: That a sample of the problem is correct, from 0 to 1.
        n: Samples of the problem.
        k: How many samples are drawn, from 1 to n.

    Returns:
        The true pass@k, and the means of both estimates.

    Raises:
        ValueError: If the probability is not from 0 to 1, or k not from 1 to n.

    Source: Chen et al. 2021 (arXiv:2107.03374), appendix A.
    """
    if not 0 <= probability <= 1:
        raise ValueError(f"the probability is {probability}; wanted is a number from 0 to 1")
    counts = _counts(n, range(n + 1), k)
    weights = [_binomial(n, c, probability) for c in counts]
    unbiased, plain = (
        float(np.dot(weights, estimates))
        for estimates in (
            [_without_replacement(n, c, k) for c in counts],
            [1 - (1 - c / n) ** k for c in counts],
        )
    )
    return PassEstimates(1 - (1 - probability) ** k, unbiased, plain)


def _without_replacement(n: int, correct: int, k: int) -> float:
    """The product has no large numbers, whatever n is; where fewer than k samples are wrong, a factor is 0."""
    wrong, miss = n - correct, 1.0
    for earlier in range(k):
        miss *= max(wrong - earlier, 0) / (n - earlier)
    return 1 - miss


def _binomial(n: int, correct: int, probability: float) -> float:
    """The probability of so many correct samples of n; in logarithms, since comb(n, correct) may exceed any float."""
    if probability in (0, 1):
        return float(correct == n * probability)
    ways = lgamma(n + 1) - lgamma(correct + 1) - lgamma(n - correct + 1)
    return exp(ways + correct * log(probability) + (n - correct) * log1p(-probability))


def _counts(n: int, correct: ArrayLike, k: int) -> list[int]:
    check_at_least(n, "n", 1)
    if not 1 <= k <= n:
        raise ValueError(f"k is {k}; wanted is a whole number from 1 to n = {n}")
    counts = row_of_numbers(correct, "correct")
    strange = counts[(counts < 0) | (counts > n) | (counts != counts.round())]
    if strange.size:
        raise ValueError(f"a count of correct samples is {strange[0]:g}; wanted are whole numbers from 0 to n = {n}")
    return [int(count) for count in counts]
