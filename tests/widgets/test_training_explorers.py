"""The figures of chapter 9 in Python: the schedule, means of the record, and real curves of faults."""

import json
import math
import re
from pathlib import Path

import pytest

from softlookup import model
from softlookup_course.widgets.loss_detective import CASES, HEALTHY, SUSPECTS
from softlookup_course.widgets.loss_detective import curves as fault_curves
from softlookup_course.widgets.loss_detective import static_table as fault_table
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


def test_curves_are_means_over_seeds_and_a_lost_run_has_no_loss():
    lines = curves(RECORD)
    assert [(line["warmup"], line["peak"]) for line in lines] == [(0, 0.001), (0, 0.01), (10, 0.001), (10, 0.01)]
    assert lines[0]["curve"] == [4.5, 2.0] and lines[0]["loss"] == 1.5 and lines[1]["loss"] is None


def test_stand_in_of_the_explorer_holds_every_final_loss():
    cells = re.findall(r"<t(?:d|h scope=.row.)>([^<]*)</t[dh]>", static_table(curves(RECORD)))
    assert cells == ["0", "0.001", "1.50", "0", "0.01", "no number", "10", "0.001", "1.50", "10", "0.01", "1.50"]


FAULTS = json.loads((Path(__file__).resolve().parents[2] / "book/measured/faults.json").read_text(encoding="utf-8"))
EVEN = math.log(FAULTS["vocabulary"])
SEEDS = FAULTS["seeds"]


def test_every_suspect_is_the_culprit_of_one_case():
    assert sorted(CASES) == sorted(SUSPECTS) and len(set(CASES)) == 6
    assert list(CASES) != list(SUSPECTS)


@pytest.mark.parametrize("seed", SEEDS)
def test_runs_begin_near_the_loss_of_equal_probabilities(seed):
    for run in fault_curves(FAULTS, seed).values():
        assert len(run["validation"]) == len(run["true"]) == len(run["training"]) == 31
        assert abs(run["validation"][0] - EVEN) < 0.25


@pytest.mark.parametrize("seed", SEEDS)
def test_each_fault_does_to_the_curve_what_its_text_says(seed):
    runs = fault_curves(FAULTS, seed)
    healthy = runs[HEALTHY]
    end = {fault: run["validation"][-1] for fault, run in runs.items()}
    true = {fault: run["true"][-1] for fault, run in runs.items()}
    assert healthy["validation"] == healthy["true"] and abs(healthy["training"][-1] - end[HEALTHY]) < 0.08

    assert end["not-shifted"] < 0.02 and true["not-shifted"] > 2 * EVEN

    leak = runs["no-mask"]
    assert all(abs(a - b) < 0.12 for a, b in zip(leak["validation"][:11], healthy["validation"], strict=False))
    assert end["no-mask"] < end[HEALTHY] - 0.3 and true["no-mask"] > end[HEALTHY] + 0.5
    assert abs(leak["training"][-1] - end["no-mask"]) < 0.2

    assert end["padding-counted"] == pytest.approx((1 - FAULTS["padding"]) * true["padding-counted"], abs=0.02)
    assert abs(true["padding-counted"] - end[HEALTHY]) < 0.06

    assert abs(runs["second-softmax"]["validation"][0] - EVEN) < 0.01
    assert EVEN - 1 < end["second-softmax"] and end["second-softmax"] > EVEN - 0.35
    assert true["second-softmax"] > EVEN

    wandering = runs["never-zeroed"]
    assert end["never-zeroed"] > end[HEALTHY] + 1 and wandering["true"] == wandering["validation"]
    rises = sum(b > a for a, b in zip(wandering["validation"], wandering["validation"][1:], strict=False))
    assert rises >= 8

    dropped = runs["dropout-on"]
    assert abs(dropped["training"][-1] - healthy["training"][-1]) < 0.05
    assert end["dropout-on"] > end[HEALTHY] + 0.08 and abs(true["dropout-on"] - end[HEALTHY]) < 0.05


def test_stand_in_has_a_row_for_each_run_with_its_fault():
    table = fault_table(fault_curves(FAULTS, 1))
    rows = re.findall(r'<tr><th scope="row">(.*?)</tr>', table)
    assert [row.split("<", 1)[0] for row in rows] == ["healthy run", *(f"case {i}" for i in range(1, 7))]
    assert all(SUSPECTS[slug]["title"] in row for slug, row in zip(CASES, rows[1:], strict=True))
