"""The bench of the grid: the committed curves are those of one device; the record's shape."""

import json
from pathlib import Path

import pytest

from benchmarks.grid import bench_grid
from benchmarks.harness import measured

MEASURED = Path(__file__).resolve().parents[2] / "book" / "measured" / "grid.json"


def test_committed_curves_on_a_grid_are_those_of_one_device():
    record = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert (record["devices"], record["tensor"]) == (4, 2)
    exact = record["curves"]["float64"]
    assert len(exact["alone"]) == 30 and exact["alone"][-1] < 0.8 * exact["alone"][0]
    assert exact["grid"] == pytest.approx(exact["alone"], rel=1e-5, abs=1e-5)


@pytest.mark.slow
def test_a_quick_bench_of_the_grid_has_the_fields_of_the_committed_one():
    record = bench_grid(quick=True)
    assert measured(record) == measured(json.loads(MEASURED.read_text(encoding="utf-8")))
    assert record["curves"]["float64"]["grid"] == pytest.approx(record["curves"]["float64"]["alone"], rel=1e-9)
