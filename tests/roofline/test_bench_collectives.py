"""The benches of collectives and of batching: what one fits, and that their records hold what the pages read."""

import json
import statistics
from pathlib import Path

import pytest

from benchmarks.batching import bench_batching
from benchmarks.collectives import WAYS, bench_collectives, fitted_link, predicted_s
from benchmarks.harness import measured
from softlookup.ranks import LinkSpeed

COLLECTIVES, BATCHING = (
    json.loads((Path(__file__).parents[2] / "book" / "measured" / f"{name}.json").read_text("utf-8"))
    for name in ("collectives", "batching")
)


@pytest.mark.parametrize("ranks", [2, 5])
def test_a_fit_finds_the_link_whose_times_it_is_shown(ranks):
    link = LinkSpeed(3e-5, 2e9)
    sizes = (1 << 10, 1 << 16, 1 << 22)
    got = fitted_link(sizes, [link.all_reduce_s(n, ranks) for n in sizes], ranks)
    assert got.latency_s == pytest.approx(3e-5) and got.bytes_per_s == pytest.approx(2e9)
    with pytest.raises(ValueError, match="show no bandwidth: measure longer arrays"):
        fitted_link(sizes, [3.0, 2.0, 1.0], ranks)


def test_committed_record_says_what_it_predicts():
    for world in COLLECTIVES["worlds"]:
        assert set(world["seconds"]) == set(world["ratios"]) == set(WAYS)
        link = LinkSpeed(world["latency_s"], world["bytes_per_s"])
        for way in WAYS:
            for n_bytes, seconds, ratio in zip(
                COLLECTIVES["sizes"], world["seconds"][way], world["ratios"][way], strict=True
            ):
                predicted = predicted_s(link, way, n_bytes, world["ranks"])
                assert predicted / seconds == pytest.approx(ratio, rel=2e-3)

    unseen = [ratio for world in COLLECTIVES["worlds"] for way in WAYS[1:] for ratio in world["ratios"][way]]
    assert COLLECTIVES["ratio"] == pytest.approx(statistics.median(unseen), rel=1e-3)
    assert COLLECTIVES["error"] == pytest.approx(statistics.median(abs(ratio - 1) for ratio in unseen), rel=1e-3)


@pytest.mark.slow
def test_a_quick_run_has_the_committed_record_s_fields():
    record = bench_collectives(quick=True)
    assert measured(record) == measured(COLLECTIVES)
    assert [len(times) for world in record["worlds"] for times in world["seconds"].values()] == [2] * len(WAYS)


def test_quick_bench_of_batching_has_the_shape_of_the_committed_record():
    quick = bench_batching(quick=True)
    assert measured(quick) == measured(BATCHING) and quick["ratio"] > 0
    assert set(quick["points"][0]) == set(BATCHING["points"][0])
    assert all(point["measured_s"] > 0 and point["predicted_s"] > 0 for point in quick["points"])


def test_committed_record_of_batching_counts_what_the_library_counts():
    for point in BATCHING["points"]:
        rows, s = point["batch"] * (point["s"] if point["stage"] == "initial" else 1), point["s"]
        if point["part"] == "dense":
            assert point["flops"] == 2 * rows * 4096**2 and point["bytes"] == 4 * (2 * rows * 4096 + 4096**2)
        else:
            assert point["flops"] == 4 * rows * s * 4096
            assert point["bytes"] == 8 * (rows * 4096 + point["batch"] * s * 4096 + rows * s * 32)
        assert point["intensity"] == pytest.approx(point["flops"] / point["bytes"], rel=1e-3)


def test_committed_dense_layer_gains_from_a_batch_and_attention_does_not():
    gains = {(gain["part"], gain["stage"], gain["s"]): gain["gain"] for gain in BATCHING["gains"]}
    assert gains["dense", "auto-regressive", 1] > 3
    assert gains["attention", "auto-regressive", 1000] < 1.2
    assert gains["attention", "initial", 1000] < 1.2
    assert BATCHING["noise"]["disturbed"] <= 0.02 * BATCHING["noise"]["points"]
