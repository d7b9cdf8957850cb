"""Ordinary test cells of nbgrader's run in the sandbox and score as in nbgrader; hidden ones count, hidden."""

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from sandbox_tools import NEEDS_SANDBOX
from small_class import ROOT

from benchmarks.nbgrader_autograde import STOCK
from softlookup_grader import Course, GradeRequest, grade_assignment, new_course
from softlookup_grader.data.work import BY_HAND, Graded, Mark
from softlookup_grader.judging.marking import reckoned
from softlookup_grader.judging.plain_tests import score_test
from softlookup_grader.sandbox.ends import RunEnd
from softlookup_grader.sandbox.session import Ran

NAME = "homework"
SOLUTION = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
TEST = "assert double(2) == 4\n### BEGIN HIDDEN TESTS\nassert double(-3) == -6\n### END HIDDEN TESTS"
PARTIAL = "(double(1) == 2) + 0.5 * (double(0) == 0)"
ANSWERS = {
    "right": "def double(x):\n    return x + x",
    "square": "def double(x):\n    return abs(x * 2)",  # right on what is shown
    "wrong": "def double(x):\n    return x",
    "raises": "def double(x):\n    raise KeyError(x)",
    "missing": "x = 1",
    "warns": "import sys\n\ndef double(x):\n    print('so', file=sys.stderr)\n    return 2 * x",
    "negative": "def double(x):\n    return 2 * x\n\nbool.__add__",
    "broken": "def double(x:\n",
}


def about(name: str, *, points: float | None = None, solution: bool = False) -> dict:
    message = {"grade": points is not None, "grade_id": name, "locked": not solution, "schema_version": 3}
    return {"nbgrader": message | {"solution": solution, "task": False} | ({"points": points} if points else {})}


def write(folder: Path) -> Course:
    """A notebook of an instructor's own, made with nbgrader's own means, and some students."""
    cells = [
        new_markdown_cell("Write `double`."),
        new_code_cell(SOLUTION, metadata=about("double", solution=True)),
        new_code_cell(TEST, metadata=about("test-double", points=3.0)),
        new_code_cell(PARTIAL, metadata=about("test-partial", points=2.0)),
    ]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    course = new_course(folder, ROOT / "nbgrader_config.py")
    course.release({NAME: new_notebook(cells=cells, metadata=kernel)})
    release = nbformat.read(course.notebook("release", ".", NAME), as_version=4)
    for student, code in ANSWERS.items():
        release.cells[1].source = code
        path = course.notebook("submitted", student, NAME)
        path.parent.mkdir(parents=True)
        nbformat.write(release, path)
    return course


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return write(tmp_path_factory.mktemp("plain") / "course")


def scores(course: Course) -> dict[str, dict[str, float]]:
    with course.gradebook() as book:
        rows = [(row.student.id, row.notebooks[0].grades) for row in book.assignment_submissions(NAME)]
        return {student: {grade.name: float(grade.score) for grade in grades} for student, grades in rows}


@pytest.mark.slow
@NEEDS_SANDBOX
def test_scores_are_those_of_stock_nbgrader(course: Course, nbgrader: Callable, tmp_path: Path) -> None:
    report = grade_assignment(course, GradeRequest(NAME, seed=3, workers=1))
    library_scores = scores(course)
    assert library_scores["right"] == {"test-double": 3.0, "test-partial": 1.5}
    assert library_scores["square"] == {"test-double": 0.0, "test-partial": 1.5}
    other = write(tmp_path / "stock")
    nbgrader(other, "autograde", NAME, STOCK)
    assert library_scores == scores(other)
    verdicts = {record.student: record.tasks["test-double"].verdict for record in report.records}
    assert verdicts["right"] == "pass" and verdicts["square"] == verdicts["missing"] == "wrong"


@pytest.mark.slow
@NEEDS_SANDBOX
def test_commands_say_what_such_a_test_is_worth_and_pages_hide_the_hidden_one(course: Course, run: Callable) -> None:
    done = run("grade", NAME, "--workers", "1")
    assert done.exit_code == 0, done.output
    assert "test cells that check no task (2) ran beside the answers" in done.output
    page = course.notebook("feedback", "square", NAME).with_suffix(".html").read_text()
    assert "AssertionError" in page and "HIDDEN TESTS" not in page
    result = run("explain", "square", NAME)
    assert result.exit_code == 0 and "test-double: wrong, 0 of 3 points" in result.output, result.output
    assert "OTHER points" not in result.output and "release has changed" not in result.output
    assert run("report", NAME).exit_code == 0
    assert "nothing has changed" in run("grade", NAME).output


@pytest.mark.parametrize(
    ("text", "points", "verdict"),
    [("1.5", 1.5, "partial"), ("2", 2.0, "pass"), ("0", 0.0, "wrong"), ("7", 2.0, "pass"), ("'done'", 2.0, "pass")],
)
def test_number_at_the_end_is_partial_credit(text: str, points: float, verdict: str) -> None:
    result = score_test(2.0, Ran([new_output("execute_result", {"text/plain": text})], "", 0.0, RunEnd.FINISHED))
    assert (result.points, result.verdict) == (points, verdict)


def test_time_that_runs_out_is_no_pass() -> None:
    late, done = Ran([], "time", 0.0, RunEnd.TIME), Ran([], "", 0.0, RunEnd.FINISHED)
    named = Ran([], "time", 0.0, RunEnd.RAISED)
    assert score_test(2.0, late).verdict == "timeout" and score_test(2.0, done).points == 2.0
    assert score_test(2.0, named).verdict == "wrong", "an exception that is called time"


@pytest.mark.parametrize(
    ("mark", "best", "points"),
    [
        (Mark("t", "t", 2.0, 2.0, "pass"), 3.0, 3.0),
        (Mark("t", "t", 0.0, 0.0, "pass"), 3.0, 3.0),
        (Mark("t", "t", 1.0, 2.0, "partial"), 3.0, 1.5),
        (Mark("t", "t", 0.5, 2.0, "partial", ended_in=0.5), 3.0, 0.5),
        (Mark("t", "t", 2.0, 2.0, "pass", ended_in=2.5), 3.0, 2.5),
        (Mark("t", "t", 0.0, 0.0, "wrong"), 3.0, 0.0),
        (Mark("t", "t", 0.0, 2.0, BY_HAND), 3.0, 0.0),
        (Mark("t", "t", None, 2.0, BY_HAND), 3.0, None),
    ],
)
def test_other_points_follow_from_what_was_earned(mark: Mark, best: float, points: float | None) -> None:
    result = reckoned(Graded("ada", "graded", marks=(mark,)), (), {"t": best}, {})
    assert result is not None and (result.marks[0].points, result.marks[0].max) == (points, best)


def test_the_part_that_a_task_without_points_earned_is_found_by_another_run() -> None:
    graded = Graded("ada", "graded", marks=(Mark("t", "t", 0.0, 0.0, "partial"),))
    assert reckoned(graded, (), {"t": 3.0}, {}) is None
