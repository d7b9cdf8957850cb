"""The bench of grading measures two graders on the same submissions; that of hostile ones counts what others lose."""

import json
from importlib.util import find_spec

import nbformat
import pytest
from click.testing import CliRunner
from sandbox_tools import NEEDS_SANDBOX
from small_class import NAME

from benchmarks.grading import honest
from benchmarks.grading_floor import floor
from benchmarks.grading_parts import AROUND, _Clocks
from benchmarks.otter_peer import in_otters_form
from benchmarks.siege import _all_graded, _lost
from benchmarks.stock_cases.case import cell, notebook
from softlookup_command.commands import main
from softlookup_course.samples.handins import answers, filled
from softlookup_grader.data.records import GRADED, REFUSED, Record, Report
from softlookup_grader.data.work import Limits


def test_honest_submissions_are_the_sample_class_without_its_accidents(source, release):
    texts = honest(source, release)
    assert len(texts) == len(set(texts)) > 30
    assert not any("while True" in text or "no_such_thing" in text for text in texts)


@pytest.mark.slow
@NEEDS_SANDBOX
def test_floor_runs_the_cells_and_makes_the_calls_of_every_check(source, release):
    text = nbformat.writes(release)
    right = nbformat.writes(filled(release, answers(source)))
    checks = sum(cell.cell_type == "code" and cell.source.startswith("check(") for cell in release.cells)
    measured = floor(NAME, text, [right, text], 2)
    assert measured.answered == checks, "all of the first, and nothing of the blank one"
    assert measured.imported == 0, "what is loaded in each process would be counted once for every submission"
    assert 0 < measured.code_s < 2 * measured.seconds


def test_clocks_count_the_time_of_an_inner_part_once():
    now = [0.0]
    clocks = _Clocks(now=lambda: now[0])

    def passes(seconds, then=lambda: None):
        now[0] += seconds
        then()
        now[0] += seconds

    inner = clocks.around("inner", passes)
    clocks.around("outer", passes)(1.0, lambda: inner(10.0))
    now[0] += 100.0
    clocks.turn()
    assert clocks.took == {"the rest": 100.0, "outer": 2.0, "inner": 20.0}


@pytest.fixture
def record(request, tmp_path):
    """The record of a bench."""
    file = tmp_path / "record.json"
    done = CliRunner().invoke(main, ["bench", request.param, "--quick", "--json", str(file)])
    assert done.exit_code == 0, done.output
    return json.loads(file.read_text())


@pytest.mark.slow
@NEEDS_SANDBOX
@pytest.mark.parametrize("record", ["grading"], indirect=True)
def test_bench_grading_gives_a_record_with_a_ratio_and_the_same_scores(record):
    assert record["same_scores"] is True and record["ratio"] > 0 and record["submissions"] == 3
    assert [measurement["submissions"] for measurement in record["classes"]] == [3, 6]
    assert all(measurement["peak_mb"] > 0 and measurement["ms_per_submission"] > 0 for measurement in record["classes"])
    assert all(measurement["ratio_to_floor"] > 1 for measurement in (record, *record["classes"]))
    assert record["ours_ms_per_submission"] > record["floor_ms_per_submission"] > 0
    took = record["parts_ms_per_submission"]
    assert all(took[part] > 0 for part in took if part not in ("naming mistakes", AROUND))
    assert {"machine", "peer", "workers"} <= record.keys()


@pytest.mark.slow
@NEEDS_SANDBOX
@pytest.mark.skipif(find_spec("pandas") is None, reason="pandas comes with the extra 'peers'")
@pytest.mark.parametrize("record", ["stock-courses"], indirect=True)
def test_bench_stock_courses_gives_ratios_and_the_same_scores_by_all_three_graders(record):
    assert {name: (course["notebooks"], course["tests"]) for name, course in record["courses"].items()} == {
        "quickstart": (6, 12),
        "pandas": (3, 12),
    }
    for course in record["courses"].values():
        assert course["same_scores"] is True and course["otter_same_scores"] is True
        assert min(course["stock_ratio"], course["otter_ratio"], course["preload_ratio"]) > 0
        assert course["floor_ratio"] > course["floor_ratio_with_start"] > 1
        assert course["command_ms_per_submission"] > course["ms_per_submission"] > course["floor_ms_per_submission"] > 0
    assert record["ratio"] == min(course["stock_ratio"] for course in record["courses"].values())


def test_otter_gets_a_check_in_place_of_each_test_cell():
    node = nbformat.reads(notebook("x = 1", cell("assert x", "x-test", 2), cell("y = 2", "y", solution=True)), 4)
    assert [each.source for each in in_otters_form(node, "ps1.ipynb").cells] == [
        "import otter\ngrader = otter.Notebook('ps1.ipynb')",
        "x = 1",
        "grader.check('x-test')",
        "y = 2",
    ]


def report_of(**students):
    records = (Record(name.replace("_", "-"), status, score, 10.0) for name, (status, score) in students.items())
    return Report("04_one_head", 1, tuple(records))


def test_points_that_neighbours_lose_are_added_up_and_gains_do_not_make_up_for_them():
    calm = report_of(honest_0=(GRADED, 9.0), honest_1=(GRADED, 4.0))
    siege = report_of(honest_0=(GRADED, 6.0), honest_0_not=(GRADED, 10.0), honest_1=(GRADED, 5.0))
    assert _lost(calm, siege) == 3.0 and _lost(calm, calm) == 0.0
    siege = report_of(honest_0=(GRADED, 9.0), honest_0_not=(GRADED, 0.0), honest_1=(REFUSED, 0.0))
    assert _lost(calm, siege) == 4.0, "one without a grade loses all its points"
    assert not _all_graded(siege, 2) and _all_graded(calm, 2)


@pytest.mark.slow
@NEEDS_SANDBOX
@pytest.mark.parametrize("record", ["siege"], indirect=True)
def test_bench_siege_gives_a_row_for_each_kind_and_neighbours_lose_nothing(record):
    assert record["ratio"] == pytest.approx(record["worst_s"] / record["limit_s"])
    assert record["worst_s"] < record["limit_s"] == Limits().once_s
    assert record["limit_graded_again_s"] == Limits().worst_s
    assert len({row["kind"] for row in record["kinds"]}) == len(record["kinds"]) > 5
    assert record["neighbours_lose"] == 0 and record["every_batch_ended"] is True
