"""The bench of faults: the shape of its record, equal beginnings, and what each fault changes."""

import json
from pathlib import Path

import pytest
import torch

from benchmarks import faults as bench
from benchmarks.faults import FAULTS, HEALTHY, bench_faults
from benchmarks.harness import measured

MEASURED = Path(__file__).resolve().parents[2] / "book" / "measured" / "faults.json"


@pytest.fixture(scope="module")
def record():
    return bench_faults(quick=True)


def test_record_of_faults_has_every_run_once(record):
    assert [(run["fault"], run["seed"]) for run in record["runs"]] == [(fault, 1) for fault in (HEALTHY, *FAULTS)]
    for run in record["runs"]:
        points = record["steps"] // record["every"] + 1
        assert len(run["training"]) == len(run["validation"]) == len(run["true"]) == points


def test_committed_run_of_faults_has_the_same_fields_and_is_a_whole_one(record):
    full_run = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert measured(full_run) == measured(record)
    assert (full_run["steps"], len(full_run["seeds"]), len(full_run["runs"])) == (300, 3, 21)
    assert full_run["ratio"] > 3


def test_an_interrupted_bench_of_faults_goes_on_where_it_was(record, tmp_path, monkeypatch):
    done, whole = [], bench._run

    def interrupted(*args):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(args)
        return whole(*args)

    monkeypatch.setattr(bench, "_run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bench_faults(quick=True, runs_file=tmp_path / "runs")
    monkeypatch.setattr(bench, "_run", lambda *args: done.append(args) or whole(*args))
    again = bench_faults(quick=True, runs_file=tmp_path / "runs")
    assert len(done) == len(record["runs"]) and again["runs"] == record["runs"]


def test_all_runs_begin_with_the_same_weights(record):
    firsts = {run["true"][0] for run in record["runs"]}
    assert len(firsts) == 1


def test_faults_of_the_loss_change_it_as_they_are_called():
    ids, vocabulary = bench._data(bench._QUICK)

    class Knows(torch.nn.Module):
        """Is certain of the token that was just read."""

        def forward(self, inputs):
            return 50 * torch.nn.functional.one_hot(inputs, vocabulary).float()

    losses = {fault: bench.loss_of(Knows(), ids, fault).item() for fault in (HEALTHY, *FAULTS)}
    assert losses["not-shifted"] < 1e-6 < 10 < losses[HEALTHY]
    assert losses["padding-counted"] < losses[HEALTHY]
    assert losses["second-softmax"] < 10
    assert losses["no-mask"] == losses["never-zeroed"] == losses["dropout-on"] == losses[HEALTHY]
