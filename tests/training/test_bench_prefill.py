"""The bench of reading at once: and what the page reads from it."""

import json
from pathlib import Path

import pytest

from benchmarks.prefill import bench_prefill

MEASURED = Path(__file__).resolve().parents[2] / "book" / "measured" / "prefill.json"


@pytest.fixture(scope="module")
def record():
    return bench_prefill(quick=True)


@pytest.fixture(scope="module")
def full_run():
    return json.loads(MEASURED.read_text(encoding="utf-8"))


def test_every_way_of_cutting_a_prompt_gives_the_same_logits(record, full_run):
    assert record["largest_difference"] < 1e-5 and full_run["largest_difference"] < 1e-5


def test_what_the_page_says_of_the_kept_record_is_so(full_run):
    reading, writing = full_run["reading"]["ms_per_token"], full_run["writing"]["ms_per_token"]
    assert full_run["ratio"] == pytest.approx(reading[0] / reading[-1]) and full_run["ratio"] > 3
    assert full_run["writing"]["ratio"] == pytest.approx(writing[0] / writing[-1]) and full_run["writing"]["ratio"] > 2
    assert reading == sorted(reading, reverse=True) and writing == sorted(writing, reverse=True)
