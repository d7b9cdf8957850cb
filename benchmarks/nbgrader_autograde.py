"""The first road of grading: nbgrader's own autograde, one submission at a time.

A submission runs here with the instructor's rights, in a Jupyter kernel, and the check runs in that same
kernel. So its points and verdicts are only as honest as the student. A sandbox with a judge outside it would
stand behind the same method, ``grade``.
"""

import logging
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.api import MissingEntry
from nbgrader.converters import Autograde
from nbgrader.preprocessors import AssignLatePenalties, SaveAutoGrades
from nbgrader.utils import capture_log, temp_attrs

from softlookup_grader.course.folder import Course, quiet
from softlookup_grader.course.notebooks import (
    BadNotebook,
    NoNotebook,
    grade_id,
    read_notebook,
    task_id,
    verdict_of,
    verdict_without_check,
)
from softlookup_grader.data.records import GRADED, MISSING, REFUSED, HandMark, Record, TaskMark
from softlookup_grader.feedback.pages import feedback_converter, finish_page, page_of, refused_page

STOCK = "--Autograde.exporter_class=nbconvert.exporters.NotebookExporter"
"""An option of nbgrader's that lets its own autograde run, which a course's settings refuse."""


class _OneWriterAutograde(Autograde):
    """nbgrader's Autograde, which writes the gradebook only while it holds the right to.

    Kernels of several submissions may so run side by side in several processes.
    """

    def __init__(self, course: Course, **kwargs: Any) -> None:
        self._course = course
        super().__init__(coursedir=course.directory, **kwargs)
        self.exporter_class = NotebookExporter
        steps: list[type] = list(self.traits()["autograde_preprocessors"].get(self))
        self.autograde_preprocessors = [
            _locked(step, course) if step in (SaveAutoGrades, AssignLatePenalties) else step for step in steps
        ]

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Enter the student and the submission."""
        with self._course.one_writer():
            super().init_assignment(assignment_id, student_id)


def _locked(step: type, course: Course) -> type:
    """The same preprocessor, holding the right to write while it works."""

    def preprocess(self: Any, notebook: Any, resources: Any) -> Any:
        with course.one_writer():
            return step.preprocess(self, notebook, resources)  # type: ignore[attr-defined]

    return type(step.__name__, (step,), {"preprocess": preprocess, "__doc__": step.__doc__})


@dataclass(frozen=True)
class StockAutograder:
    """Grades with nbgrader's autograde, and makes the feedback page with nbgrader's generate_feedback.

    Attributes:
        feedback: Whether to make the feedback page.
    """

    feedback: bool = True

    def grade(self, course: Course, assignment: str, student: str) -> Record:
        """Grade one submission; grading it again gives the same, and leaves what a person gave as it is.

        A notebook that cannot be graded is refused, with the reason; it never raises for one.
        """
        begun = time.perf_counter()
        path = course.notebook("submitted", student, assignment)
        try:
            read_notebook(path)
        except BadNotebook as error:
            record = self._not_graded(
                course, assignment, student, MISSING if isinstance(error, NoNotebook) else REFUSED, error
            )
        else:
            failed = self._run(course, assignment, student)
            if failed:
                record = self._not_graded(course, assignment, student, REFUSED, failed)
            else:
                record = read_record(course, assignment, student)
        return Record(**{**vars(record), "seconds": time.perf_counter() - begun})

    def _run(self, course: Course, assignment: str, student: str) -> str | None:
        """Run autograde and feedback. Returns what went wrong, None where all went well."""
        log = course.log(assignment, student)
        log.unlink(missing_ok=True)
        steps: list[Callable[[], Any]] = [lambda: _OneWriterAutograde(course, config=course.config)]
        if self.feedback:
            steps.append(lambda: feedback_converter(course))
        with quiet(log), temp_attrs(course.directory, assignment_id=assignment, student_id=student):
            for make in steps:
                converter = make()
                converter.force = True
                converter.log.setLevel(logging.INFO)
                result = capture_log(converter)
                print(result.get("log", ""), result.get("error", ""))
                if not result["success"]:
                    return f"nbgrader could not grade it ({_cause(result)}); the whole story is in {log}"
        if self.feedback:
            finish_page(course, page_of(course, assignment, student))
        return None

    def _not_graded(self, course: Course, assignment: str, student: str, status: str, reason: Any) -> Record:
        """Enter zero for what cannot be graded, and take away what an earlier grading left."""
        for step in ("autograded", "feedback"):
            shutil.rmtree(course.folder(step, student, assignment), ignore_errors=True)
        if status == REFUSED and self.feedback:
            refused_page(course, assignment, student, str(reason))
        with course.one_writer(), course.gradebook() as book:
            book.update_or_create_student(student)
            try:
                submission = book.find_submission(assignment, student)
            except MissingEntry:
                submission = book.add_submission(assignment, student) if status == REFUSED else None
            for grade in (g for n in submission.notebooks for g in n.grades) if submission else ():
                grade.auto_score, grade.needs_manual_grade = 0, False
            book.db.commit()
        record = read_record(course, assignment, student)
        return Record(**{**vars(record), "status": status, "reason": str(reason)})


def _cause(result: dict[str, Any]) -> str:
    """The last exception in nbgrader's log before its own summary, in one line."""
    lines = [line.strip() for line in f"{result.get('log', '')}\n{result.get('error', '')}".splitlines()]
    raised = [line for line in lines if _is_exception(line) and "NbGraderException" not in line]
    return raised[0][:200] if raised else "no reason given"


def _is_exception(line: str) -> bool:
    name = line.split(":", 1)[0]
    return name.replace(".", "").replace("_", "").isalnum() and name.endswith(("Error", "Exception")) and ":" in line


def read_record(course: Course, assignment: str, student: str) -> Record:
    """Put a record, with status graded, together from the gradebook (points) and the autograded notebook (verdicts).

    A task without a verdict is "error", "timeout" or "stopped".
    """
    cells = _cells(course.notebook("autograded", student, assignment))
    tasks: dict[str, TaskMark] = {}
    by_hand: dict[str, HandMark] = {}
    with course.gradebook() as book:
        try:
            submission = book.find_submission(assignment, student)
        except MissingEntry:
            submission = None
        grades = {g.name: g for n in submission.notebooks for g in n.grades} if submission else {}
        for notebook in book.find_assignment(assignment).notebooks:
            names = [cell.name for cell in notebook.source_cells]
            for graded in sorted(notebook.grade_cells, key=lambda c: names.index(c.name)):
                grade = grades.get(graded.name)
                points = float(grade.score) if grade else 0.0
                if graded.cell_type == "markdown":
                    waiting = bool(grade and grade.needs_manual_grade and grade.manual_score is None)
                    mark = HandMark(None if waiting else points, float(graded.max_score), waiting)
                    by_hand[task_id(graded.name)] = mark
                else:
                    verdict, named = _verdict(cells.get(graded.name))
                    tasks[task_id(graded.name)] = TaskMark(points, float(graded.max_score), verdict, named)
        score = float(submission.score) if submission else 0.0
        best = float(book.find_assignment(assignment).max_score)
    return Record(student, GRADED, score, best, tasks, by_hand)


def _cells(path: Path) -> dict[str, Any]:
    """Cells of an autograded notebook by their nbgrader names; none if it is not there."""
    if not path.is_file():
        return {}
    return {grade_id(cell): cell for cell in nbformat.read(path, as_version=4).cells}


def _verdict(cell: Any) -> tuple[str, tuple[str, ...]]:
    """The verdict and the diagnosis that a cell shows."""
    if cell is None:
        return "stopped", ()
    described = verdict_of(cell)
    if described is not None and described["task"] == task_id(grade_id(cell)):
        return described["verdict"], tuple(described["diagnosis"])
    return verdict_without_check(cell), ()
