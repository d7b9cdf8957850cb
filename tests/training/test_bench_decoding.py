"""The decoding bench: its record says what the contract asks for, and every way wrote the same tokens."""

import math
import time

import pytest
import torch

from benchmarks import decoding as module
from benchmarks.decoding import bench_decoding
from benchmarks.race import clocked, race


@pytest.fixture(scope="module")
def record():
    return bench_decoding(quick=True)


@pytest.mark.slow
def test_all_ways_wrote_the_same_tokens(record):
    assert record["equal"] is True
    assert set(record["generation"]) == {"batch 1", "batch 2", "prompt of 3, batch 1"}
    assert set(record["translation"]) == {f"{how}, batch {n}" for how in ("greedy", "beam of 2") for n in (1, 2)}
    for rows in (record["generation"], record["translation"], record["peers"]):
        for row in rows.values():
            assert row["equal"] is True and row["ratio"] > 0 and row["plain_ratio"] > 0
            assert row["ratio_least"] <= row["ratio"] <= row["ratio_most"]
            assert {"fast", "plain"} < {name.split("_")[0] for name in row if "_ms_" in name}


@pytest.mark.slow
def test_equal_tokens_are_not_one_token_over_and_over(record):
    for row in (*record["generation"].values(), *record["peers"].values()):
        assert row["different_tokens"] > 2


@pytest.mark.slow
def test_both_peers_are_compared_with(record):
    pytest.importorskip("transformers")
    assert set(record["peers"]) == {f"{model}, batch {n}" for model in ("GPT-2", "Llama") for n in (1, 2)}
    assert record["peer_ratio"] == record["peers"]["GPT-2, batch 1"]["ratio"]
    assert record["peer"].startswith("transformers 5") or record["peer"].startswith("transformers 4")


@pytest.mark.slow
def test_cache_shrinks_with_the_key_value_heads(record):
    # L 2, two tensors, B 2, K heads, S 1 + 6 - 1 kept positions, H 4, four bytes each.
    assert {kind: row["cache_bytes"] for kind, row in record["heads"].items()} == {
        "multi-head": 2 * 2 * 2 * 4 * 6 * 4 * 4,
        "grouped": 2 * 2 * 2 * 2 * 6 * 4 * 4,
        "multi-query": 2 * 2 * 2 * 1 * 6 * 4 * 4,
    }


@pytest.mark.slow
def test_without_transformers_the_rest_is_measured_and_a_sentence_says_so(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    monkeypatch.setattr(module, "_translation", lambda *args: {})
    monkeypatch.setattr(module, "_heads", lambda *args: {})
    record = bench_decoding(quick=True)
    assert record["peers"] == {} and record["peer_ratio"] is None and record["equal"] is True
    assert record["peer"] == "transformers is not installed: nothing was compared with it"


def test_unequal_tokens_are_not_kept_silent(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    monkeypatch.setattr(module, "_recomputing", lambda model: lambda ids, state: (torch.eye(50)[ids[:, 0]], None))
    record = bench_decoding(quick=True)
    assert record["equal"] is False and record["generation"]["batch 1"]["equal"] is False
    assert record["translation"]["greedy, batch 1"]["equal"] is True


@pytest.mark.parametrize(("degree", "true"), [(1, (0.5, 3.0)), (2, (0.25, -1.0, 2.0))])
def test_fit_finds_the_polynomial_and_how_much_it_explains(degree, true):
    lengths = [1, 2, 4, 8, 16]
    times = [sum(c * n**power for power, c in enumerate(reversed(true))) for n in lengths]
    *got, r2 = module._fit(lengths, times, degree)
    assert got == pytest.approx(true) and r2 == pytest.approx(1)
    # A line through (0, 0), (1, 1), (2, 0) is flat at 1/3 and explains nothing.
    assert module._fit([0, 1, 2], [0.0, 1.0, 0.0], 1) == pytest.approx((0, 1 / 3, 0), abs=1e-12)


def test_race_takes_turns_and_warms_up_first():
    calls = []

    def way(name, seconds):
        def run():
            calls.append(name)
            time.sleep(seconds)
            return torch.tensor([1])

        return run

    raced = race({"slow": way("a", 0.02), "fast": way("b", 0.001)}, 3)
    assert calls == ["a", "b"] * 4 and raced.equal
    got = raced.ratio("slow", "fast", "r")
    assert 1 < got["r"] and got["r_least"] <= got["r"] <= got["r_most"] and math.isfinite(got["r_cpu_time"])
    assert raced.ms(4, "_ms")["slow_ms"] >= 5
    assert not race({"a": lambda: torch.tensor(1), "b": lambda: torch.tensor(2)}, 1).equal
    with pytest.raises(ValueError, match="rounds must be at least 1; got 0"):
        race({}, 0)


def test_clocked_counts_waiting_by_the_clock_alone():
    result, seconds, cpu_seconds = clocked(lambda: time.sleep(0.05) or torch.tensor(7))
    assert result.item() == 7 and seconds >= 0.05 > cpu_seconds
