"""The time to start an operation, found in measured times and judged by others."""

import json
from pathlib import Path

import pytest

from softlookup.roofline import fit_launch, hardware, predicted_time_s

MEASURED = Path(__file__).resolve().parents[2] / "book" / "measured"


def rows(times):
    return [{"predicted_s": predicted, "measured_s": measured} for predicted, measured in times]


def test_a_floor_is_found_and_judged_by_the_other_half():
    least = [1e-7, 3e-7, 1e-6, 3e-6, 1e-4, 1e-3]
    fit = fit_launch(rows([(t, max(1e-5, t)) for t in least for _ in range(2)]))
    assert fit.launch_s == 1e-5 and fit.error == 0.0 and (fit.fitted, fit.judged) == (6, 6)
    assert fit.error_without > 2


def test_where_all_times_are_as_predicted_there_is_none():
    fit = fit_launch(rows([(t * 1e-5, 1.02e-5 * t) for t in range(10, 50)]))
    assert fit.launch_s < 1.1e-4 and fit.error == pytest.approx(0.02) == fit.error_without


@pytest.mark.parametrize(("record", "least", "most"), [("roofline_h100", 8e-6, 12e-6), ("roofline", 0.0, 0.0)])
def test_records_are_predicted_within_15_per_cent_at_the_median(record, least, most):
    run = json.loads((MEASURED / f"{record}.json").read_text(encoding="utf-8"))
    fit = fit_launch(run["points"])
    assert least <= fit.launch_s <= most and fit.error < 0.15
    assert run["launch"]["launch_s"] == pytest.approx(fit.launch_s, rel=1e-3)


def test_a_prediction_is_at_least_the_launch():
    h100 = hardware("H100 SXM")
    assert predicted_time_s(h100, 1e6, 1e6, "bfloat16", launch_s=1e-5) == 1e-5
    assert predicted_time_s(h100, 1e15, 1e6, "bfloat16", launch_s=1e-5) > 1.0
    with pytest.raises(ValueError, match="launch_s is -1, wanted 0 or more"):
        predicted_time_s(h100, 1.0, 1.0, "bfloat16", launch_s=-1)


def test_too_few_points_are_refused():
    with pytest.raises(ValueError, match="3 points, wanted at least 4"):
        fit_launch(rows([(1e-5, 1e-5)] * 3))
