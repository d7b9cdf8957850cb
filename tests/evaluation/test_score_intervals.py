"""Intervals against scipy and against their coverage on data of known truth; the sign test against enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest, bootstrap

from softlookup.evaluation import (
    bootstrap_interval,
    paired_interval,
    resampled_problems,
    sign_test,
    unpaired_interval,
    wilson_interval,
)


def test_resamples_are_drawn_with_replacement_and_by_seed():
    draws = resampled_problems(6, 500, 1)
    assert draws.shape == (500, 6) and draws.min() == 0 and draws.max() == 5
    assert any(len(set(row)) < 6 for row in draws.tolist())
    assert (draws == resampled_problems(6, 500, 1)).all() and (draws != resampled_problems(6, 500, 2)).any()


def test_bootstrap_interval_is_nearly_that_of_scipy():
    scores = np.random.default_rng(0).exponential(size=60)
    interval = bootstrap_interval(scores, level=0.9, resamples=20_000)
    result = bootstrap((scores,), np.mean, method="percentile", confidence_level=0.9, n_resamples=20_000, rng=5)
    assert interval.mean == pytest.approx(scores.mean())
    assert (interval.low, interval.high) == pytest.approx(tuple(result.confidence_interval), abs=0.02)


def test_interval_of_two_problems_is_that_of_all_four_resamples():
    # Means 0, 1/2, 1/2 and 1 are equally likely: the quantiles of a half are 1/2 at 40 % and 60 %.
    interval = bootstrap_interval([0, 1], level=0.2, resamples=4000)
    assert (interval.low, interval.high) == (0.5, 0.5)
    wide = bootstrap_interval([0, 1], level=0.8, resamples=4000)
    assert (wide.low, wide.high, wide.width) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize(
    "interval", [bootstrap_interval, lambda scores, **options: paired_interval(scores * 0, scores, **options)]
)
def test_intervals_hold_the_truth_about_as_often_as_they_say(interval):
    rng = np.random.default_rng(4)
    hits = sum(interval(rng.normal(0.3, 1, 80), level=0.9, resamples=400, seed=run).holds(0.3) for run in range(300))
    assert 0.84 < hits / 300 < 0.95


def test_unpaired_interval_holds_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(5)
    hits = sum(
        unpaired_interval(rng.normal(0, 1, 50), rng.normal(0.5, 2, 90), level=0.9, resamples=400, seed=run).holds(0.5)
        for run in range(300)
    )
    assert 0.84 < hits / 300 < 0.95


def test_pairing_makes_the_interval_narrower_where_problems_are_hard_for_both():
    rng = np.random.default_rng(6)
    first = rng.random(100)
    second = first + 0.05 + 0.1 * rng.random(100)
    paired, unpaired = paired_interval(first, second), unpaired_interval(first, second)
    assert paired.mean == pytest.approx(unpaired.mean) and paired.mean == pytest.approx((second - first).mean())
    assert paired.width < unpaired.width / 4
    assert not paired.holds(0)
    reverse = paired_interval(second, first)
    assert (reverse.low, reverse.high) == pytest.approx((-paired.high, -paired.low))


@pytest.mark.parametrize(("correct", "n", "level"), [(0, 7, 0.95), (3, 10, 0.9), (10, 10, 0.99), (450, 1000, 0.95)])
def test_wilson_interval_is_that_of_scipy(correct, n, level):
    interval = wilson_interval(correct, n, level)
    result = binomtest(correct, n).proportion_ci(level, method="wilson")
    assert (interval.mean, interval.low, interval.high) == pytest.approx((correct / n, result.low, result.high))


def splits_as_uneven(n, fewer):
    """Enumerate all outcomes of n coins: as few heads or as few tails."""
    heads = [sum(coins) for coins in product((0, 1), repeat=n)]
    return sum(min(h, n - h) <= fewer for h in heads) / len(heads)


def test_sign_test_is_that_of_all_outcomes_of_coins():
    for first_better in range(6):
        for second_better in range(6):
            first = [1] * first_better + [0] * second_better + [0, 1, 1]
            second = [0] * first_better + [1] * second_better + [0, 1, 1]
            test = sign_test(first, second)
            assert (test.first_better, test.second_better) == (first_better, second_better)
            n, fewer = first_better + second_better, min(first_better, second_better)
            assert test.p_value == pytest.approx(splits_as_uneven(n, fewer))


def test_sign_test_of_many_problems_is_scipys_binomial_test():
    rng = np.random.default_rng(7)
    first, second = rng.random(3000), rng.random(3000) + 0.01
    test = sign_test(first, second)
    assert test.p_value == pytest.approx(binomtest(test.first_better, 3000).pvalue)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: bootstrap_interval([]), r"scores has the shape \(0,\)"),
        (lambda: bootstrap_interval([1, np.nan]), r"scores\[1\] is nan; wanted are finite numbers"),
        (lambda: bootstrap_interval([1, 2], level=95), "level is 95; wanted is a number between 0 and 1"),
        (lambda: bootstrap_interval([1, 2], resamples=0), "resamples is 0; wanted is a whole number, 1 or more"),
        (lambda: paired_interval([1, 2], [1]), "first has 2 entries and second 1; wanted are as many of both"),
        (lambda: sign_test([1, 2], [1]), "first has 2 entries and second 1"),
        (lambda: wilson_interval(4, 3), "correct is 4; wanted is a whole number from 0 to n = 3"),
        (lambda: wilson_interval(0, 0), "n is 0"),
        (lambda: resampled_problems(0, 3, 0), "problems is 0"),
    ],
)
def test_scores_that_make_no_sense_are_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()
