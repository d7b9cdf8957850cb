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
def kept():
    return json.loads(MEASURED.read_text(encoding="utf-8"))


def test_every_way_of_cutting_a_prompt_gives_the_same_logits(record, kept):
    assert record["largest_difference"] < 1e-5 and kept["largest_difference"] < 1e-5


def test_record_has_a_time_for_each_size_and_each_number_of_texts(record):
    assert len(record["reading"]["ms_per_token"]) == len(record["reading"]["pieces"]) == 3
    assert len(record["writing"]["ms_per_step"]) == len(record["writing"]["texts"]) == 2
    assert all(ms > 0 for ms in [*record["reading"]["ms_per_token"], *record["writing"]["ms_per_token"]])


def test_kept_record_has_the_shape_of_a_new_one(record, kept):
    assert measured(kept) == measured(record)
    assert list(kept["reading"]) == list(record["reading"]) and list(kept["writing"]) == list(record["writing"])
    assert kept["reading"]["pieces"][-1] == kept["reading"]["prompt"]


def test_what_the_page_says_of_the_kept_record_is_so(kept):
    reading, writing = kept["reading"]["ms_per_token"], kept["writing"]["ms_per_token"]
    assert kept["ratio"] == pytest.approx(reading[0] / reading[-1]) and kept["ratio"] > 3
    assert kept["writing"]["ratio"] == pytest.approx(writing[0] / writing[-1]) and kept["writing"]["ratio"] > 2
    assert reading == sorted(reading, reverse=True) and writing == sorted(writing, reverse=True)
