"""The batching bench: its record has what the page reads, and the committed one holds what the page says."""

import json
from pathlib import Path

import pytest

from benchmarks.batching import bench_batching
from benchmarks.harness import measured

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = json.loads((ROOT / "book" / "measured" / "batching.json").read_text(encoding="utf-8"))


def test_quick_bench_has_the_shape_of_the_committed_record():
    quick = bench_batching(quick=True)
    assert measured(quick) == measured(COMMITTED) and quick["ratio"] > 0
    assert set(quick["points"][0]) == set(COMMITTED["points"][0])
    assert all(point["measured_s"] > 0 and point["predicted_s"] > 0 for point in quick["points"])


def test_committed_record_counts_what_the_library_counts():
    for point in COMMITTED["points"]:
        rows, s = point["batch"] * (point["s"] if point["stage"] == "initial" else 1), point["s"]
        if point["part"] == "dense":
            assert point["flops"] == 2 * rows * 4096**2 and point["bytes"] == 4 * (2 * rows * 4096 + 4096**2)
        else:
            assert point["flops"] == 4 * rows * s * 4096
            assert point["bytes"] == 8 * (rows * 4096 + point["batch"] * s * 4096 + rows * s * 32)
        assert point["intensity"] == pytest.approx(point["flops"] / point["bytes"], rel=1e-3)


def test_committed_dense_layer_gains_from_a_batch_and_attention_does_not():
    gains = {(gain["part"], gain["stage"], gain["s"]): gain["gain"] for gain in COMMITTED["gains"]}
    assert gains["dense", "auto-regressive", 1] > 3
    assert gains["attention", "auto-regressive", 1000] < 1.2
    assert gains["attention", "initial", 1000] < 1.2
    assert COMMITTED["noise"]["disturbed"] <= 0.02 * COMMITTED["noise"]["points"]
