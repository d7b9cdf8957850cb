"""The bench of grading measures two graders on the same submissions."""

import json

import nbformat
import pytest
from click.testing import CliRunner
from sandbox_tools import NEEDS_SANDBOX
from small_class import NAME, ROOT

from softlookup.bench.grading import honest
from softlookup.cli import main


def test_honest_submissions_are_the_sample_class_without_its_accidents(source):
    release = nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)
    texts = honest(source, release)
    assert len(texts) == len(set(texts)) > 30
    assert not any("while True" in text or "no_such_thing" in text for text in texts)


@pytest.mark.slow
@NEEDS_SANDBOX
def test_bench_grading_gives_a_record_with_a_ratio_and_the_same_scores(tmp_path):
    file = tmp_path / "record.json"
    done = CliRunner().invoke(main, ["bench", "grading", "--quick", "--json", str(file)])
    assert done.exit_code == 0, done.output
    record = json.loads(file.read_text())
    assert record["same_scores"] is True and record["ratio"] > 0 and record["submissions"] == 3
    assert [one["submissions"] for one in record["classes"]] == [3, 6]
    assert all(one["peak_mb"] > 0 and one["ms_per_submission"] > 0 for one in record["classes"])
    assert {"machine", "peer", "workers"} <= record.keys()
