"""The bench of reading at once: the shape of its record, and what the page reads from it."""

import json
from pathlib import Path

import pytest

from benchmarks.harness import measured
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


def test_record_has_a_time_for_each_size_and_each_number_of_texts(record):
    assert len(record["reading"]["ms_per_token"]) == len(record["reading"]["pieces"]) == 3
    assert len(record["writing"]["ms_per_step"]) == len(record["writing"]["texts"]) == 2
    assert all(ms > 0 for ms in [*record["reading"]["ms_per_token"], *record["writing"]["ms_per_token"]])


def test_kept_record_has_the_shape_of_a_new_one(record, full_run):
    assert measured(full_run) == measured(record)
    assert list(full_run["reading"]) == list(record["reading"]) and list(full_run["writing"]) == list(record["writing"])
    assert full_run["reading"]["pieces"][-1] == full_run["reading"]["prompt"]


def test_what_the_page_says_of_the_kept_record_is_so(full_run):
    reading, writing = full_run["reading"]["ms_per_token"], full_run["writing"]["ms_per_token"]
    assert full_run["ratio"] == pytest.approx(reading[0] / reading[-1]) and full_run["ratio"] > 3
    assert full_run["writing"]["ratio"] == pytest.approx(writing[0] / writing[-1]) and full_run["writing"]["ratio"] > 2
    assert reading == sorted(reading, reverse=True) and writing == sorted(writing, reverse=True)
