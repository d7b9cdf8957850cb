"""A class on paper: submissions, gradebook and report written down directly, so that nothing has to run."""

import fcntl
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import nbformat
import pytest
from small_class import NAME, ROOT, lay

from softlookup_course.samples.handins import filled
from softlookup_grader import Course, HandMark, Record, Report, TaskMark, new_course
from softlookup_judge import tasks

TASKS = tasks(4)
CELLS = [f"{task.slug}-check" for task in TASKS]
BY_HAND = "04-uniform"


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder of a name, which the first of all test processes that asks for it has made with a function."""
    base = factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with open(base / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (base / f"{name}.made").exists():
            shutil.rmtree(base / name, ignore_errors=True)
            make(base / name)
            (base / f"{name}.made").touch()
    return base / name


def paper_course(factory: pytest.TempPathFactory, source: nbformat.NotebookNode) -> Course:
    """A copy of a course with the release in it, and without a class."""

    def make(folder: Path) -> None:
        new_course(folder, ROOT / "nbgrader_config.py").release({NAME: source})

    return Course.at(shutil.copytree(once(factory, "paper-course", make), factory.mktemp("paper") / "course"))


def hand_in(course: Course, student: str, texts: Mapping[str, str]) -> None:
    """Write a submission with these cells filled in, by grade_id."""
    release = nbformat.read(course.notebook("release", ".", NAME), as_version=4)
    write_submission(course, student, nbformat.writes(filled(release, texts)))


def write_submission(course: Course, student: str, text: str) -> None:
    lay(course.notebook("submitted", student, NAME), text)


def enter(
    course: Course, student: str, points: Mapping[str, float], penalty: float = 0.0, written: float | None = None, **who
) -> None:
    """Write a graded submission into the gradebook; cells that are not named earn nothing."""
    with course.gradebook() as book:
        book.update_or_create_student(student, **who)
        with book.db.no_autoflush:
            row = book.update_or_create_submission(NAME, student)
        for grade in row.notebooks[0].grades:
            by_hand = grade.name == BY_HAND
            grade.auto_score = None if by_hand else points.get(grade.name, 0.0)
            grade.manual_score = written if by_hand else None
            grade.needs_manual_grade = by_hand and written is None
        row.notebooks[0].late_submission_penalty = penalty
        book.db.commit()


def in_class(course: Course, student: str, **who: str) -> None:
    """Put a name on the class list alone."""
    with course.gradebook() as book:
        book.update_or_create_student(student, **who)


def full(**lost: float) -> dict[str, float]:
    """All points of all tasks, less what is named by the task's name: full(scale=2)."""
    points = {f"{task.slug}-check": task.points for task in TASKS}
    for name, less in lost.items():
        points[f"04-{name.replace('_', '-')}-check"] -= less
    return points


def record(student: str, points: Mapping[str, float], diagnosis: Mapping[str, tuple[str, ...]] | None = None) -> Record:
    """A row of the report that fits what was entered."""
    marks = {}
    for task in TASKS:
        got = points.get(f"{task.slug}-check", 0.0)
        verdict = "pass" if got == task.points else "partial" if got else "wrong"
        marks[task.id] = TaskMark(got, task.points, verdict, (diagnosis or {}).get(task.id, ()))
    by_hand = {"04.uniform": HandMark(None, 3.0, True)}
    total = sum(task.points for task in TASKS) + 3
    return Record(student, "graded", sum(points.values()), total, marks, by_hand)


def write_report(course: Course, *records: Record) -> Path:
    path = course.root / "reports" / f"{NAME}.json"
    Report(NAME, 11, records).write(path)
    return path
