"""The bench of hostile submissions: what it counts, and that it runs."""

import json

import pytest
from click.testing import CliRunner
from sandbox_tools import NEEDS_SANDBOX

from benchmarks.siege import _all_graded, _lost
from softlookup_command.commands import main
from softlookup_grader.data.records import GRADED, REFUSED, Record, Report
from softlookup_grader.data.work import Limits


def report_of(**students):
    records = (Record(name.replace("_", "-"), status, score, 10.0) for name, (status, score) in students.items())
    return Report("04_one_head", 1, tuple(records))


CALM = report_of(honest_0=(GRADED, 9.0), honest_1=(GRADED, 4.0))


def test_points_that_neighbours_lose_are_added_up_and_gains_do_not_make_up_for_them():
    siege = report_of(honest_0=(GRADED, 6.0), honest_0_not=(GRADED, 10.0), honest_1=(GRADED, 5.0))
    assert _lost(CALM, siege) == 3.0 and _lost(CALM, CALM) == 0.0


def test_an_honest_submission_without_a_grade_loses_all_its_points_and_is_seen():
    siege = report_of(honest_0=(GRADED, 9.0), honest_0_not=(GRADED, 0.0), honest_1=(REFUSED, 0.0))
    assert _lost(CALM, siege) == 4.0
    assert not _all_graded(siege, 2) and _all_graded(CALM, 2)


@pytest.mark.slow
@NEEDS_SANDBOX
def test_bench_siege_gives_a_row_for_each_kind_and_neighbours_lose_nothing(tmp_path):
    file = tmp_path / "record.json"
    done = CliRunner().invoke(main, ["bench", "siege", "--quick", "--json", str(file)])
    assert done.exit_code == 0, done.output
    record = json.loads(file.read_text())
    assert record["ratio"] == pytest.approx(record["worst_s"] / record["limit_s"])
    assert record["worst_s"] < record["limit_s"] == Limits().once_s
    assert record["limit_graded_again_s"] == Limits().worst_s
    assert len({row["kind"] for row in record["kinds"]}) == len(record["kinds"]) > 5
    assert record["neighbours_lose"] == 0 and record["every_batch_ended"] is True
