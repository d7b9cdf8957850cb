"""A judge's verdicts in both orders: counted by hand, and of simulated judges with a known bias."""

import math

import numpy as np
import pytest

from softlookup.evaluation import position_bias, simulated_verdicts


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


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: position_bias([1, 2], [1, 1]), "a_first holds the verdict 2; wanted are 1"),
        (lambda: position_bias([1], [1, 1]), "a_first has 1 entries and b_first 2"),
        (lambda: simulated_verdicts([0.0], math.inf), "bias is inf; wanted is a finite number of logits"),
        (lambda: simulated_verdicts([0.0], 1.0, rounds=0), "rounds is 0"),
        (lambda: simulated_verdicts([], 1.0), "gaps has the shape"),
    ],
)
def test_verdicts_that_make_no_sense_are_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()
