"""The detective's cases: real curves of the committed record, and what is said of each holds for every seed."""

import json
import math
import re
from pathlib import Path

import pytest

from softlookup_course.widgets import LossDetective
from softlookup_course.widgets.loss_detective import CASES, HEALTHY, SUSPECTS, curves, static_table

RECORD = json.loads((Path(__file__).resolve().parents[2] / "book/measured/faults.json").read_text(encoding="utf-8"))
EVEN = math.log(RECORD["vocabulary"])
SEEDS = RECORD["seeds"]


def test_every_suspect_is_the_culprit_of_one_case():
    assert sorted(CASES) == sorted(SUSPECTS) and len(set(CASES)) == 6
    assert list(CASES) != list(SUSPECTS)


@pytest.mark.parametrize("seed", SEEDS)
def test_runs_begin_near_the_loss_of_equal_probabilities(seed):
    for run in curves(RECORD, seed).values():
        assert len(run["validation"]) == len(run["true"]) == len(run["training"]) == 31
        assert abs(run["validation"][0] - EVEN) < 0.25


@pytest.mark.parametrize("seed", SEEDS)
def test_each_fault_does_to_the_curve_what_its_text_says(seed):
    runs = curves(RECORD, seed)
    healthy = runs[HEALTHY]
    end = {fault: run["validation"][-1] for fault, run in runs.items()}
    true = {fault: run["true"][-1] for fault, run in runs.items()}
    assert healthy["validation"] == healthy["true"] and abs(healthy["training"][-1] - end[HEALTHY]) < 0.08

    assert end["not-shifted"] < 0.02 and true["not-shifted"] > 2 * EVEN

    leak = runs["no-mask"]
    assert all(abs(a - b) < 0.12 for a, b in zip(leak["validation"][:11], healthy["validation"], strict=False))
    assert end["no-mask"] < end[HEALTHY] - 0.3 and true["no-mask"] > end[HEALTHY] + 0.5
    assert abs(leak["training"][-1] - end["no-mask"]) < 0.2

    assert end["padding-counted"] == pytest.approx((1 - RECORD["padding"]) * true["padding-counted"], abs=0.02)
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
    table = static_table(curves(RECORD, 1))
    rows = re.findall(r'<tr><th scope="row">(.*?)</tr>', table)
    assert [row.split("<", 1)[0] for row in rows] == ["healthy run", *(f"case {i}" for i in range(1, 7))]
    assert all(SUSPECTS[slug]["title"] in row for slug, row in zip(CASES, rows[1:], strict=True))


def test_detective_hands_its_script_curves_and_suspects():
    figure = LossDetective(RECORD)
    assert figure.every == 10 and figure.even == EVEN and len(figure.cases) == 6
    assert set(figure.runs) == {HEALTHY, *CASES} and "<table>" in figure.fallback
