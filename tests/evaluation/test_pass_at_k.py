"""pass@k against the enumeration of all subsets, and its mean over all outcomes."""

from itertools import combinations, product

import numpy as np
import pytest

from softlookup.evaluation import expected_pass_at_k, pass_at_k, plain_pass_at_k


def subsets_with_a_correct_sample(n, correct, k):
    samples = [True] * correct + [False] * (n - correct)
    subsets = list(combinations(samples, k))
    return sum(map(any, subsets)) / len(subsets)


def tuples_with_a_correct_sample(n, correct, k):
    draws = list(product([True] * correct + [False] * (n - correct), repeat=k))
    return sum(map(any, draws)) / len(draws)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (4, 1), (5, 3), (6, 6), (7, 2)])
def test_estimates_are_those_of_all_subsets_and_of_all_tuples(n, k):
    counts = list(range(n + 1))
    assert pass_at_k(n, counts, k) == pytest.approx(
        np.mean([subsets_with_a_correct_sample(n, c, k) for c in counts]), abs=1e-14
    )
    if n**k < 2000:
        expected = np.mean([tuples_with_a_correct_sample(n, c, k) for c in counts])
        assert plain_pass_at_k(n, counts, k) == pytest.approx(expected, abs=1e-14)


def test_estimate_of_many_samples_is_that_of_exact_whole_numbers():
    from math import comb

    for n, c, k in ((200, 3, 100), (2000, 1, 1000), (200, 150, 100), (1000, 999, 3)):
        assert pass_at_k(n, [c], k) == pytest.approx(1 - comb(n - c, k) / comb(n, k), abs=1e-12)


@pytest.mark.parametrize(
    ("probability", "n", "k"), [(0.1, 20, 10), (0.02, 200, 100), (0.5, 3, 2), (0, 5, 2), (1, 5, 5)]
)
def test_unbiased_estimate_is_right_on_average_and_the_plain_one_too_low(probability, n, k):
    estimates = expected_pass_at_k(probability, n, k)
    assert estimates.unbiased == pytest.approx(estimates.truth, abs=1e-12)
    assert estimates.plain <= estimates.truth + 1e-12
    if 0 < probability < 1:
        assert estimates.plain < estimates.truth - 0.001


def test_expected_estimates_are_those_of_simulated_samples():
    rng = np.random.default_rng(0)
    counts = rng.binomial(8, 0.3, size=20_000)
    estimates = expected_pass_at_k(0.3, 8, 4)
    assert pass_at_k(8, counts, 4) == pytest.approx(estimates.unbiased, abs=0.01)
    assert plain_pass_at_k(8, counts, 4) == pytest.approx(estimates.plain, abs=0.01)


def test_expected_estimates_hold_for_more_samples_than_a_float_counts_subsets():
    estimates = expected_pass_at_k(0.001, 1500, 300)
    assert estimates.unbiased == pytest.approx(estimates.truth, abs=1e-9)


@pytest.mark.parametrize("estimate", [pass_at_k, plain_pass_at_k])
@pytest.mark.parametrize(
    ("n", "correct", "k", "says"),
    [
        (5, [1], 6, "k is 6; wanted is a whole number from 1 to n = 5"),
        (5, [1], 0, "k is 0"),
        (0, [0], 1, "n is 0; wanted is a whole number, 1 or more"),
        (5, [2, 6], 1, "a count of correct samples is 6; wanted are whole numbers from 0 to n = 5"),
        (5, [2.5], 1, "a count of correct samples is 2.5"),
        (5, [], 1, "correct has the shape"),
    ],
)
def test_counts_that_make_no_sense_are_refused(estimate, n, correct, k, says):
    with pytest.raises(ValueError, match=says):
        estimate(n, correct, k)


def test_expectation_at_no_probability_is_refused():
    with pytest.raises(ValueError, match="the probability is 1.5; wanted is a number from 0 to 1"):
        expected_pass_at_k(1.5, 5, 2)
