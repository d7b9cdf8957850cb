"""The bench of the published chat model: its record, where the model's file is there."""

import json

import pytest

from benchmarks.talk import bench_talk
from softlookup.model.published.smollm2 import checked_file


@pytest.mark.slow
def test_record_says_that_all_wrote_the_same():
    pytest.importorskip("transformers")
    try:
        checked_file()
    except ModuleNotFoundError as error:
        pytest.skip(f"the published model's file is not installed: {error}")
    record = bench_talk(quick=True)
    assert record["bench"] == "talk" and record["equal"] is True and record["ratio"] > 0
    assert set(record["tokens_per_s"]) == {"fast", "theirs", "plain"} and record["parameters"] == 134_515_008
    assert "one thread" in record["ratio_of"] and json.loads(json.dumps(record)) == record
