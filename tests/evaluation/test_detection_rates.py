"""Simulated comparisons against the level of a test, the formula of a width, and what pairing is for."""

from math import sqrt
from statistics import NormalDist

import pytest

from softlookup.evaluation import detection_rates


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


@pytest.mark.parametrize(
    ("accuracies", "options", "says"),
    [
        ((0.5, 1.0), {}, "an accuracy is 1.0; wanted is a number between 0 and 1"),
        ((0.5, 0.6), {"problems": 1}, "problems is 1; wanted is a whole number, 2 or more"),
        ((0.5, 0.6), {"shared": 1.2}, "shared is 1.2; wanted is a number from 0 to 1"),
        ((0.5, 0.6), {"level": 0}, "level is 0; wanted is a number between 0 and 1"),
        ((0.5, 0.6), {"runs": 0}, "runs is 0"),
    ],
)
def test_benchmarks_that_make_no_sense_are_refused(accuracies, options, says):
    with pytest.raises(ValueError, match=says):
        detection_rates(accuracies, **{"problems": 10, **options})
