"""Comparing models: detection rates, choices by likelihood, pass@k, and a judge's bias for a position."""

import math
from itertools import combinations, product
from math import comb, sqrt
from statistics import NormalDist

import numpy as np
import pytest

from softlookup.evaluation import choose, detection_rates, expected_pass_at_k, position_bias, simulated_verdicts
from tests.refusing import refused

# Simulated comparisons against the level of a test, the formula of a width, and what pairing is for.


def test_equal_models_are_told_apart_no_more_often_than_the_level_says():
    apart, together = (detection_rates((0.6, 0.6), 300, shared=shared, runs=5000) for shared in (0.0, 0.7))
    assert 0.03 < apart.paired < 0.055 and 0.04 < apart.unpaired < 0.07
    # The exact test keeps its level; the other one takes shared luck for noise, and finds next to nothing.
    assert 0.02 < together.paired < 0.055 and together.unpaired < 0.005


def test_widths_are_those_of_the_normal_formula():
    z = NormalDist().inv_cdf(0.975)
    rates = detection_rates((0.5, 0.7), 400, shared=0.25, runs=400)
    variances = 0.5 * 0.5, 0.7 * 0.3
    assert rates.unpaired_width == pytest.approx(2 * z * sqrt(sum(variances) / 400), rel=0.01)
    # With shared luck the better model solves whatever the other solves: the covariance is 0.5 - 0.5 * 0.7.
    covariance = 0.25 * (0.5 - 0.5 * 0.7)
    assert rates.paired_width == pytest.approx(2 * z * sqrt((sum(variances) - 2 * covariance) / 400), rel=0.01)


def test_more_problems_and_pairing_tell_more_models_apart():
    small, large = (detection_rates((0.6, 0.65), problems, runs=400) for problems in (100, 1000))
    assert small.paired < large.paired and small.unpaired < large.unpaired
    assert large.paired > large.unpaired + 0.1
    assert large.paired_width < large.unpaired_width
    assert (large.problems, large) == (1000, detection_rates((0.6, 0.65), 1000, runs=400))


test_benchmarks_that_make_no_sense_are_refused = refused(
    (lambda: detection_rates((0.5, 1.0), 10), "an accuracy is 1.0; wanted is a number between 0 and 1"),
    (lambda: detection_rates((0.5, 0.6), 1), "problems is 1; wanted is a whole number, 2 or more"),
    (lambda: detection_rates((0.5, 0.6), 10, shared=1.2), "shared is 1.2; wanted is a number from 0 to 1"),
    (lambda: detection_rates((0.5, 0.6), 10, level=0), "level is 0; wanted is a number between 0 and 1"),
    (lambda: detection_rates((0.5, 0.6), 10, runs=0), "runs is 0"),
)


# Choices against loops.


def test_choices_are_those_of_a_loop():
    rng = np.random.default_rng(1)
    log_probs, lengths = -20 * rng.random((50, 4)), rng.integers(1, 30, size=(50, 4))
    chosen = choose(log_probs, lengths)
    assert (chosen[:, 0] != chosen[:, 1]).any()
    for row, scores, sizes in zip(chosen, log_probs, lengths, strict=True):
        assert scores[row[0]] == max(scores)
        assert scores[row[1]] / sizes[row[1]] == max(s / n for s, n in zip(scores, sizes, strict=True))


def test_choice_of_equal_scores_is_the_first_and_impossible_ones_are_never_chosen():
    assert choose([[-np.inf, -2.0, -2.0]], [[1, 3, 3]]).tolist() == [[1, 1]]


test_choices_among_what_is_no_table_are_refused = refused(
    (lambda: choose([[-1.0, -2.0]], [[1, 2, 3]]), r"\(1, 2\) and lengths \(1, 3\)"),
    (lambda: choose([-1.0, -2.0], [1, 2]), r"wanted are two arrays \(P, C\)"),
    (lambda: choose([[-1.0, -2.0]], [[1, 0]]), "the smallest length is 0 bytes"),
    (lambda: choose([[-1.0, 2.0]], [[1, 1]]), "the largest log-probability is 2"),
    (lambda: choose([[-1.0, np.nan]], [[1, 1]]), "the largest log-probability is nan"),
)


# The mean of pass@k over all outcomes, against the enumeration of all subsets and tuples of samples.


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


test_numbers_of_samples_that_make_no_sense_are_refused = refused(
    (lambda: expected_pass_at_k(1.5, 5, 2), "the probability is 1.5; wanted is a number from 0 to 1"),
    (lambda: expected_pass_at_k(0.5, 5, 6), "k is 6; wanted is a whole number from 1 to n = 5"),
    (lambda: expected_pass_at_k(0.5, 5, 0), "k is 0"),
    (lambda: expected_pass_at_k(0.5, 0, 1), "n is 0; wanted is a whole number, 1 or more"),
)


# A judge's verdicts in both orders: counted by hand, and of simulated judges with a known bias.


def test_verdicts_are_counted_as_by_hand():
    #          A wins  B wins  tie  first  first  second  A, tie
    a_first = [1, -1, 0, 1, 1, -1, 1]
    b_first = [1, -1, 0, -1, -1, 1, 0]
    bias = position_bias(a_first, b_first)
    assert bias.consistent_win_rate == 1 / 2
    assert bias.win_rate == (1 + 5 / 2) / 7
    assert bias.inconsistent == 4 / 7
    assert (bias.towards_first, bias.towards_second) == (2 / 7, 1 / 7)


def test_judge_that_sees_the_position_alone_has_no_consistent_verdict():
    bias = position_bias([1, 1, 1], [-1, -1, -1])
    assert math.isnan(bias.consistent_win_rate)
    assert (bias.win_rate, bias.inconsistent, bias.towards_first, bias.towards_second) == (0.5, 1, 1, 0)


def test_exchanging_the_models_exchanges_wins_and_leaves_the_bias():
    rng = np.random.default_rng(0)
    a_first, b_first = rng.integers(-1, 2, size=(2, 200))
    bias, swapped = position_bias(a_first, b_first), position_bias(-b_first, -a_first)
    assert swapped.win_rate == pytest.approx(1 - bias.win_rate)
    assert swapped.consistent_win_rate == pytest.approx(1 - bias.consistent_win_rate)
    assert (swapped.towards_first, swapped.towards_second) == (bias.towards_first, bias.towards_second)


def test_simulated_judge_wins_and_errs_as_often_as_its_logits_say():
    def sigmoid(logit):
        return 1 / (1 + math.exp(-logit))

    a_first, b_first = simulated_verdicts([0.5], 0.8, rounds=40_000)
    assert a_first.shape == (40_000,)
    assert (a_first == 1).mean() == pytest.approx(sigmoid(0.5 + 0.8), abs=0.01)
    assert (b_first == 1).mean() == pytest.approx(sigmoid(0.5 - 0.8), abs=0.01)
    bias = position_bias(a_first, b_first)
    assert bias.towards_first == pytest.approx(sigmoid(1.3) * (1 - sigmoid(-0.3)), abs=0.01)
    assert bias.towards_second == pytest.approx((1 - sigmoid(1.3)) * sigmoid(-0.3), abs=0.01)


def test_simulated_verdicts_are_those_of_the_seed_and_of_each_pair():
    first, second = (simulated_verdicts([9.0, -9.0], 0.0, rounds=3, seed=seed) for seed in (1, 1))
    assert np.array_equal(first, second)
    assert first[0].tolist() == [1, 1, 1, -1, -1, -1]


test_verdicts_that_make_no_sense_are_refused = refused(
    (lambda: position_bias([1, 2], [1, 1]), "a_first holds the verdict 2; wanted are 1"),
    (lambda: position_bias([1], [1, 1]), "a_first has 1 entries and b_first 2"),
    (lambda: simulated_verdicts([0.0], math.inf), "bias is inf; wanted is a finite number of logits"),
    (lambda: simulated_verdicts([0.0], 1.0, rounds=0), "rounds is 0"),
    (lambda: simulated_verdicts([], 1.0), "gaps has the shape"),
)
