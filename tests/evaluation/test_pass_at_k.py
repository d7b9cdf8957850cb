"""The mean of pass@k over all outcomes, against the enumeration of all subsets and tuples of samples."""

from itertools import combinations, product
from math import comb

import pytest

from softlookup.evaluation import expected_pass_at_k


def share_with_a_correct_sample(draws):
    draws = list(draws)
    return sum(map(any, draws)) / len(draws)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (4, 1), (5, 3), (6, 6), (5, 2)])
def test_expected_estimates_are_those_of_all_subsets_and_of_all_tuples(n, k):
    estimates = expected_pass_at_k(0.3, n, k)
    subsets = tuples = 0.0
    for c in range(n + 1):
        weight, samples = comb(n, c) * 0.3**c * 0.7 ** (n - c), [True] * c + [False] * (n - c)
        subsets += weight * share_with_a_correct_sample(combinations(samples, k))
        tuples += weight * share_with_a_correct_sample(product(samples, repeat=k))
    assert estimates.unbiased == pytest.approx(subsets, abs=1e-12)
    assert estimates.plain == pytest.approx(tuples, abs=1e-12)


@pytest.mark.parametrize(
    ("probability", "n", "k"), [(0.1, 20, 10), (0.02, 200, 100), (0.5, 3, 2), (0, 5, 2), (1, 5, 5)]
)
def test_unbiased_estimate_is_right_on_average_and_the_plain_one_too_low(probability, n, k):
    estimates = expected_pass_at_k(probability, n, k)
    assert estimates.unbiased == pytest.approx(estimates.truth, abs=1e-12)
    assert estimates.plain <= estimates.truth + 1e-12
    if 0 < probability < 1:
        assert estimates.plain < estimates.truth - 0.001


def test_expected_estimates_hold_for_more_samples_than_a_float_counts_subsets():
    estimates = expected_pass_at_k(0.001, 1500, 300)
    assert estimates.unbiased == pytest.approx(estimates.truth, abs=1e-9)


@pytest.mark.parametrize(
    ("probability", "n", "k", "says"),
    [
        (1.5, 5, 2, "the probability is 1.5; wanted is a number from 0 to 1"),
        (0.5, 5, 6, "k is 6; wanted is a whole number from 1 to n = 5"),
        (0.5, 5, 0, "k is 0"),
        (0.5, 0, 1, "n is 0; wanted is a whole number, 1 or more"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(probability, n, k, says):
    with pytest.raises(ValueError, match=says):
        expected_pass_at_k(probability, n, k)
