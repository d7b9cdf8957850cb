"""A small class on the sandboxed road: the same grades at any number of workers, and those of stock nbgrader."""

import json
import shutil

import pytest
from click.testing import CliRunner
from sandbox_tools import NEEDS_SANDBOX
from small_class import NAME

from softlookup_command.commands import main
from softlookup_grader import GradeRequest, grade_assignment

pytestmark = NEEDS_SANDBOX


@pytest.fixture
def course(graded, tmp_path):
    """A copy of the small course, which one worker graded."""
    return type(graded).at(shutil.copytree(graded.root, tmp_path / "course"))


@pytest.fixture
def first(course):
    """What one worker says."""
    return json.loads((course.root / "report.json").read_text())


@pytest.mark.parametrize("workers", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_grades_are_the_same_at_any_number_of_workers(course, first, workers):
    again = grade_assignment(course, GradeRequest(NAME, seed=11, workers=workers, again=True, feedback=False)).as_json()
    assert again == first


def test_grades_are_the_same_with_another_seed(course, first):
    again = grade_assignment(course, GradeRequest(NAME, seed=12, workers=2, feedback=False)).as_json()
    assert again["seed"] == 12
    for student, entry in again["submissions"].items():
        assert entry["score"] == first["submissions"][student]["score"]
        assert entry["tasks"] == first["submissions"][student]["tasks"]


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same_scores(first, graded_by_stock):
    report = json.loads((graded_by_stock.root / "report.json").read_text())
    assert report["submissions"].keys() == first["submissions"].keys()
    for student, stock_entry in report["submissions"].items():
        entry = first["submissions"][student]
        assert (entry["score"], entry["max"], entry["status"]) == (
            stock_entry["score"],
            stock_entry["max"],
            stock_entry["status"],
        ), student
        for task, mark in stock_entry["tasks"].items():
            assert entry["tasks"][task]["points"] == mark["points"], (student, task)


def test_a_grade_is_explained_as_it_was_given(course, first):
    done = CliRunner().invoke(main, ["explain", "mistake-2", NAME, "--course", str(course.root), "--task", "04.scale"])
    assert done.exit_code == 0, done.output
    mark = first["submissions"]["mistake-2"]["tasks"]["04.scale"]
    assert "seed 11" in done.output and mark["diagnosis"][0] in done.output and "wanted" in done.output


def test_feedback_pages_name_the_mistake_and_link_into_the_book(course):
    page = (course.root / "feedback" / "mistake-2" / NAME / f"{NAME}.html").read_text()
    assert "About this submission" in page and "sl-check sl-wrong" in page and "04_one_head.html#" in page
