"""Records of benches: quick runs have the fields of the committed ones, which are whole, and go on when stopped."""

import json
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.harness import measured

MEASURED = Path(__file__).resolve().parents[2] / "book" / "measured"
WHOLE = {
    "faults": {"steps": 300, "seeds": 3, "runs": 21},
    "grid": {"devices": 4, "tensor": 2},
    "layers": {"width": 256, "lengths": 8},
    "norms": {"depths": 3, "steps": 300, "seeds": 3},
    "positions": {"seeds": 3, "times": 4, "length": 24},
    "prefill": {"reading": 5, "writing": 5},
    "schedules": {"steps": 400, "seeds": 2, "peaks": 5},
}
"""What committed records were measured with: numbers, or how many of a kind."""


@cache
def committed(name):
    return json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))


def bench(name):
    return getattr(import_module(f"benchmarks.{name}"), f"bench_{name}")


@cache
def quick(name):
    return bench(name)(quick=True)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n != "faults" else []) for n in WHOLE])
def test_quick_record_has_the_fields_of_the_committed_one_which_is_whole(name):
    whole, record = committed(name), quick(name)
    assert measured(whole) == measured(record)
    for field, size in WHOLE[name].items():
        assert (whole[field] if isinstance(whole[field], int) else len(whole[field])) == size, field
    assert whole["ratio"] > {"faults": 3, "norms": 1, "prefill": 3, "schedules": 1}.get(name, 0)
    for field in measured(whole):
        if isinstance(whole[field], dict):
            assert list(whole[field]) == list(record[field]), field


@pytest.mark.parametrize("name", ["faults", pytest.param("schedules", marks=pytest.mark.slow)])
def test_an_interrupted_bench_goes_on_where_it_was(name, tmp_path, monkeypatch):
    module, done = import_module(f"benchmarks.{name}"), []
    whole = module._run

    def interrupted(*arguments):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(arguments)
        return whole(*arguments)

    monkeypatch.setattr(module, "_run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bench(name)(quick=True, runs_file=tmp_path / "runs")
    monkeypatch.setattr(module, "_run", lambda *arguments: done.append(arguments) or whole(*arguments))
    again = bench(name)(quick=True, runs_file=tmp_path / "runs")
    assert len(done) == len(quick(name)["runs"]) and again["runs"] == quick(name)["runs"]


def test_all_runs_of_faults_begin_with_the_same_weights():
    assert len({run["true"][0] for run in quick("faults")["runs"]}) == 1


@pytest.mark.parametrize("record", [pytest.param(quick, marks=pytest.mark.slow), committed])
def test_curves_on_a_grid_are_those_of_one_device(record):
    exact = record("grid")["curves"]["float64"]
    assert exact["grid"] == pytest.approx(exact["alone"], rel=1e-5, abs=1e-5)
    assert record is quick or (len(exact["alone"]) == 30 and exact["alone"][-1] < 0.8 * exact["alone"][0])
