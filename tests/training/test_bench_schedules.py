"""The bench of schedules: the shape of its record, equal runs but for the schedule, and what the page reads."""

import json
from pathlib import Path

import pytest
import torch

from benchmarks import schedules as bench
from benchmarks.harness import measured
from benchmarks.schedules import bench_schedules

MEASURED = Path(__file__).resolve().parents[2] / "book" / "measured" / "schedules.json"


@pytest.fixture(scope="module")
def record():
    return bench_schedules(quick=True)


def test_record_of_schedules_has_every_run_once(record):
    run_keys = [(run["warmup"], run["peak"], run["seed"]) for run in record["runs"]]
    sizes = [len(record[name]) for name in ("warmups", "peaks", "seeds")]
    assert len(run_keys) == len(set(run_keys)) == sizes[0] * sizes[1] * sizes[2]
    assert all(len(run["curve"]) == record["steps"] // record["kept_every"] for run in record["runs"])
    assert record["machine"] and record["torch"] == torch.__version__


def test_an_interrupted_bench_of_schedules_goes_on_where_it_was(record, tmp_path, monkeypatch):
    lines, done, whole = [], [], bench._run

    def interrupted(*args):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(args)
        return whole(*args)

    monkeypatch.setattr(bench, "_run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bench_schedules(quick=True, runs_file=tmp_path / "runs", say=lines.append)
    assert len(lines) == 3 and lines[0].startswith("warm-up 0, peak 0.001, seed 1: ")
    monkeypatch.setattr(bench, "_run", lambda *args: done.append(args) or whole(*args))
    again = bench_schedules(quick=True, runs_file=tmp_path / "runs")
    assert len(done) == len(record["runs"]) and again["runs"] == record["runs"]


def test_committed_run_of_schedules_has_the_same_fields_and_is_a_whole_one(record):
    full_run = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert measured(full_run) == measured(record)
    assert (full_run["steps"], len(full_run["seeds"]), len(full_run["peaks"])) == (400, 2, 5)
    assert full_run["ratio"] > 1 and "without a warm-up / with one" in full_run["ratio_of"]


def test_runs_with_and_without_a_warmup_meet_the_same_data_and_weights():
    plan = bench._QUICK
    batches, validation, vocabulary = bench._data(plan)
    first = [bench._run(plan, batches[1], validation, vocabulary, w, 1e-9, 1)["curve"] for w in plan.warmups]
    assert first[0] == pytest.approx(first[1], abs=1e-3)  # hardly any rate, so the curve is that of the data
    again = bench._run(plan, batches[1], validation, vocabulary, 2, 1e-2, 1)
    assert again == bench._run(plan, batches[1], validation, vocabulary, 2, 1e-2, 1)


def test_a_run_that_diverges_has_no_loss():
    plan = bench._QUICK
    batches, validation, vocabulary = bench._data(plan)
    assert bench._run(plan, batches[1], validation, vocabulary, 0, 1e30, 1)["loss"] is None
