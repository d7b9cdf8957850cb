"""The learning-rate explorer's numbers in Python: the schedule is the model's, the curves are the record's means."""

import re

import pytest

from softlookup import model
from softlookup_course.widgets import RateExplorer
from softlookup_course.widgets.rate_explorer import WARMUPS, WIDTHS, curves, describe, static_table

RECORD = {
    "warmups": [0, 10],
    "peaks": [0.001, 0.01],
    "kept_every": 5,
    "runs": [
        {"warmup": w, "peak": p, "seed": s, "loss": None if (w, p) == (0, 0.01) else 1.0 + s, "curve": [4.0 + s, 2.0]}
        for w in (0, 10)
        for p in (0.001, 0.01)
        for s in (0, 1)
    ],
}


def test_described_rates_are_those_of_the_paper():
    assert f"{describe(512, 4000, 4000)['peak']:.2e}" == "6.99e-04"
    for width in WIDTHS:
        for warmup in WARMUPS:
            description = describe(width, warmup, 7)
            assert description["rate"] == model.noam(7, width, warmup=warmup)
            assert description["peak"] == pytest.approx((width * warmup) ** -0.5)
    with pytest.raises(ValueError, match="step is 0"):
        describe(512, 4000, 0)


def test_curves_are_means_over_seeds_and_a_lost_run_has_no_loss():
    lines = curves(RECORD)
    assert [(line["warmup"], line["peak"]) for line in lines] == [(0, 0.001), (0, 0.01), (10, 0.001), (10, 0.01)]
    assert lines[0]["curve"] == [4.5, 2.0] and lines[0]["loss"] == 1.5 and lines[1]["loss"] is None


def test_stand_in_of_the_explorer_holds_every_final_loss():
    cells = re.findall(r"<t(?:d|h scope=.row.)>([^<]*)</t[dh]>", static_table(curves(RECORD)))
    assert cells == ["0", "0.001", "1.50", "0", "0.01", "no number", "10", "0.001", "1.50", "10", "0.01", "1.50"]


def test_explorer_hands_its_script_the_runs_and_choices():
    figure = RateExplorer(RECORD)
    assert (figure.every, figure.widths, figure.warmups) == (5, list(WIDTHS), list(WARMUPS))
    assert len(figure.runs) == 4 and "<table>" in figure.fallback


def test_explorer_opens_at_the_middle_peak_or_at_the_one_that_is_named():
    assert RateExplorer(RECORD).first == 0.01 and RateExplorer(RECORD, peak=0.001).first == 0.001
