"""SmolLM2 tuned on a hundred terms: the record that the page reads."""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from benchmarks.harness import measured
from benchmarks.tuning import EXAMPLES, TuningResult
from softlookup.post_training.tune import TuneSettings, total_steps

RECORD = Path(__file__).parents[2] / "book" / "measured" / "tune.json"


def test_record_has_the_fields_of_a_run_on_the_examples():
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    assert measured(record) == {field.name for field in fields(TuningResult)}
    asked_for = [json.loads(line)["messages"][0]["content"] for line in EXAMPLES.read_text("utf-8").splitlines()]
    assert record["examples"] + record["held_out"] == len(asked_for) and set(record["questions"]) < set(asked_for)
    assert record["steps"] == total_steps(TuneSettings(), record["examples"])
    assert record["ratio"] == pytest.approx(record["before"]["words"] / record["after"]["words"])
    assert record["seconds"] < 600 and record["merged_differs_by"] < 1e-3
    assert record["loss_after"] < record["loss_before"] - 1
