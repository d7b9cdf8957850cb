"""The serving bench: its record has what the page reads, and the committed one holds what the page says."""

import json
from pathlib import Path

import pytest

from benchmarks.harness import measured
from benchmarks.serving import NAMES, bench_serving

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = json.loads((ROOT / "book" / "measured" / "serving.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_quick_bench_has_the_shape_of_the_committed_record():
    quick = bench_serving(quick=True)
    assert measured(quick) == measured(COMMITTED) and quick["ratio"] > 0
    assert set(quick["loads"][0]["measured"]) == set(COMMITTED["loads"][0]["measured"]) >= set(NAMES)
    assert quick["prefix"]["reused_tokens"] > 0


@pytest.mark.parametrize("name", NAMES)
def test_committed_simulator_is_within_a_fifth_at_every_load_below_capacity(name):
    below = [load for load in COMMITTED["loads"] if load["load"] < 1]
    assert len(below) >= 4
    for load in below:
        assert load["measured"][name] == pytest.approx(load["predicted"][name], rel=0.2)
