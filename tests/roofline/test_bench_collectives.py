"""What `softlookup bench collectives` fits, and the shape of its record."""

import json
import statistics
from pathlib import Path

import pytest

from benchmarks.collectives import WAYS, bench_collectives, fitted_link, predicted_s
from benchmarks.harness import measured
from softlookup.ranks import LinkSpeed

RECORD = Path(__file__).parents[2] / "book" / "measured" / "collectives.json"


@pytest.mark.parametrize("ranks", [2, 5])
def test_a_fit_finds_the_link_whose_times_it_is_shown(ranks):
    link = LinkSpeed(3e-5, 2e9)
    sizes = (1 << 10, 1 << 16, 1 << 22)
    got = fitted_link(sizes, [link.all_reduce_s(n, ranks) for n in sizes], ranks)
    assert got.latency_s == pytest.approx(3e-5) and got.bytes_per_s == pytest.approx(2e9)
    with pytest.raises(ValueError, match="show no bandwidth: measure longer arrays"):
        fitted_link(sizes, [3.0, 2.0, 1.0], ranks)


def test_committed_record_says_what_it_predicts():
    record = json.loads(RECORD.read_text("utf-8"))
    for world in record["worlds"]:
        assert set(world["seconds"]) == set(world["ratios"]) == set(WAYS)
        link = LinkSpeed(world["latency_s"], world["bytes_per_s"])
        for way in WAYS:
            for n_bytes, seconds, ratio in zip(
                record["sizes"], world["seconds"][way], world["ratios"][way], strict=True
            ):
                predicted = predicted_s(link, way, n_bytes, world["ranks"])
                assert predicted / seconds == pytest.approx(ratio, rel=2e-3)

    unseen = [ratio for world in record["worlds"] for way in WAYS[1:] for ratio in world["ratios"][way]]
    assert record["ratio"] == pytest.approx(statistics.median(unseen), rel=1e-3)
    assert record["error"] == pytest.approx(statistics.median(abs(ratio - 1) for ratio in unseen), rel=1e-3)


@pytest.mark.slow
def test_a_quick_run_has_the_committed_record_s_fields():
    record = bench_collectives(quick=True)
    assert measured(record) == measured(json.loads(RECORD.read_text("utf-8")))
    assert [len(times) for world in record["worlds"] for times in world["seconds"].values()] == [2] * len(WAYS)
