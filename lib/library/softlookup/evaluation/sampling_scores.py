"""pass@k, how likely a problem is solved by one of k sampled answers: what its estimates give on average."""

from dataclasses import dataclass
from math import exp, lgamma, log, log1p

import numpy as np

from softlookup.evaluation.checked import check_at_least


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
    check_at_least(n, "n", 1)
    if not 1 <= k <= n:
        raise ValueError(f"k is {k}; wanted is a whole number from 1 to n = {n}")
    counts = range(n + 1)
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
