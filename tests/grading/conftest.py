"""A small course that is graded once, for all tests that look at what came out."""

import fcntl
import json
import shutil
from pathlib import Path

import nbformat
import pytest

from softlookup.authoring import find_root, read_solution
from softlookup.grading import Course, Report, grade_class, new_course
from softlookup.grading.sample import hand_ins
from softlookup.grading.stock import StockAutograder

NAME = "04_one_head"
ROOT = find_root()
STUDENTS = (
    *("right-other-words", "half-done", "mistake-2", "deep-traceback", "prints-a-lot"),
    *("deleted-function", "not-json", "empty-file", "missing-notebook"),
)


@pytest.fixture(scope="session")
def source() -> nbformat.NotebookNode:
    """The notebook with solutions."""
    return read_solution(ROOT / "solutions" / f"{NAME}.py")


def write_course(folder: Path, source: nbformat.NotebookNode, students: tuple[str, ...]) -> Course:
    """Write a course in which some students of the sample class have handed in."""
    course = new_course(folder, ROOT / "nbgrader_config.py")
    course.release({NAME: source})
    release = nbformat.read(course.notebook("release", ".", NAME), as_version=4)
    planted = {}
    for handin in hand_ins(source, release):
        if handin.student in students:
            path = course.notebook("submitted", handin.student, NAME)
            path.parent.mkdir(parents=True)
            if handin.text is not None:
                path.write_text(handin.text, encoding="utf-8")
            planted[handin.student] = dict(handin.planted)
    (course.root / "planted.json").write_text(json.dumps(planted))
    return course


@pytest.fixture(scope="session")
def graded(tmp_path_factory: pytest.TempPathFactory, source: nbformat.NotebookNode, worker_id: str) -> Course:
    """The small course, graded; all test processes share one."""
    base = tmp_path_factory.getbasetemp()
    base = base if worker_id == "master" else base.parent
    folder = base / "graded-course"
    with open(base / "graded-course.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "report.json").exists():
            shutil.rmtree(folder, ignore_errors=True)
            course = write_course(folder, source, STUDENTS)
            grade_class(course, NAME, StockAutograder(), workers=2, seed=11).write(folder / "report.json")
    return Course.at(folder)


@pytest.fixture
def report(graded: Course) -> dict:
    """The report of the small course, as it was written."""
    return json.loads((graded.root / "report.json").read_text())


@pytest.fixture
def own_copy(graded: Course, tmp_path: Path) -> Course:
    """A copy of the small graded course that a test may change."""
    return Course.at(Path(shutil.copytree(graded.root, tmp_path / "course")))


def regrade(course: Course, workers: int = 1) -> Report:
    """Grade the whole class of a course again."""
    return grade_class(course, NAME, StockAutograder(), workers=workers, seed=11)
