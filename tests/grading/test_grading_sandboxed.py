"""A small class on the sandboxed road: the same grades at any number of workers, and those of stock nbgrader."""

import shutil

import pytest
from click.testing import CliRunner
from sandbox_tools import NEEDS_SANDBOX
from small_class import NAME, STUDENTS, write_course

from softlookup.cli import main
from softlookup.grading import GradeRequest, grade_assignment

pytestmark = NEEDS_SANDBOX


@pytest.fixture(scope="module")
def course(tmp_path_factory, source):
    return write_course(tmp_path_factory.mktemp("sandboxed") / "course", source, STUDENTS)


@pytest.fixture(scope="module")
def first(course):
    """What one worker says."""
    return grade_assignment(course, GradeRequest(NAME, seed=11, workers=1)).as_json()


@pytest.mark.parametrize("workers", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_grades_are_the_same_at_any_number_of_workers(course, first, workers):
    again = grade_assignment(course, GradeRequest(NAME, seed=11, workers=workers, again=True, feedback=False)).as_json()
    assert again == first


def test_grades_are_the_same_with_another_seed(course, first, tmp_path):
    other = type(course).at(shutil.copytree(course.root, tmp_path / "course"))
    again = grade_assignment(other, GradeRequest(NAME, seed=12, workers=2, feedback=False)).as_json()
    assert again["seed"] == 12
    for student, entry in again["submissions"].items():
        assert entry["score"] == first["submissions"][student]["score"]
        assert entry["tasks"] == first["submissions"][student]["tasks"]


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same_scores(first, report):
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


def test_planted_mistakes_are_named(first):
    tasks = first["submissions"]["mistake-2"]["tasks"]
    assert sum(bool(mark["diagnosis"]) for mark in tasks.values()) == 14


def test_a_grade_is_explained_as_it_was_given(course, first):
    done = CliRunner().invoke(main, ["explain", "mistake-2", NAME, "--course", str(course.root), "--task", "04.scale"])
    assert done.exit_code == 0, done.output
    mark = first["submissions"]["mistake-2"]["tasks"]["04.scale"]
    assert "seed 11" in done.output and mark["diagnosis"][0] in done.output and "wanted" in done.output


def test_feedback_pages_name_the_mistake_and_link_into_the_book(course, first):
    page = (course.root / "feedback" / "mistake-2" / NAME / f"{NAME}.html").read_text()
    assert "About this submission" in page and "sl-check sl-wrong" in page and "04_one_head.html#" in page
