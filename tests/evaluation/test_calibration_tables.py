"""Reliability tables against a loop, the error against answers of known calibration."""

import numpy as np
import pytest

from softlookup.evaluation import calibration_error, reliability_table


@pytest.mark.parametrize("bins", [1, 4, 10])
def test_table_is_that_of_a_loop_over_answers(bins):
    rng = np.random.default_rng(2)
    confidences, correct = rng.random(80).round(2), rng.random(80) < 0.6
    confidences[:3] = 0.0, 1.0, 0.5
    table = reliability_table(confidences, correct, bins)
    gaps = 0.0
    for m in range(1, bins + 1):
        inside = [i for i, p in enumerate(confidences) if (m - 1) / bins < p <= m / bins or (m == 1 and p == 0)]
        assert table.count[m - 1] == len(inside)
        if not inside:
            assert np.isnan(table.confidence[m - 1]) and np.isnan(table.accuracy[m - 1])
            continue
        assert table.confidence[m - 1] == pytest.approx(np.mean(confidences[inside]))
        assert table.accuracy[m - 1] == pytest.approx(np.mean(correct[inside]))
        gaps += len(inside) * abs(np.mean(correct[inside]) - np.mean(confidences[inside]))
    assert table.error == pytest.approx(gaps / 80)
    assert calibration_error(confidences, correct, bins) == table.error


def test_error_by_hand():
    table = reliability_table([0.9, 0.9, 0.6, 0.2], [1, 0, 1, 0], bins=2)
    assert table.count.tolist() == [1, 3]
    assert table.error == pytest.approx((1 * 0.2 + 3 * abs(2 / 3 - 0.8)) / 4)
    assert table.largest_gap == pytest.approx(0.2)


def test_calibrated_answers_have_a_small_error_and_overconfident_ones_a_large_one():
    rng = np.random.default_rng(3)
    truth = rng.random(20_000)
    correct = rng.random(20_000) < truth
    assert calibration_error(truth, correct) < 0.02
    assert calibration_error(np.sqrt(truth), correct) == pytest.approx(2 / 3 - 1 / 2, abs=0.02)


@pytest.mark.parametrize(
    ("confidences", "correct", "bins", "says"),
    [
        ([0.5, 1.5], [1, 0], 10, "confidences go from 0.5 to 1.5; wanted are numbers from 0 to 1"),
        ([0.5, 0.5], [1, 2], 10, "correct holds 2; wanted are True and False"),
        ([0.5], [1, 0], 10, "confidences has 1 entries and correct 2"),
        ([0.5], [1], 0, "bins is 0; wanted is a whole number, 1 or more"),
        ([np.nan], [1], 2, r"confidences\[0\] is nan"),
    ],
)
def test_answers_that_make_no_table_are_refused(confidences, correct, bins, says):
    with pytest.raises(ValueError, match=says):
        reliability_table(confidences, correct, bins)
