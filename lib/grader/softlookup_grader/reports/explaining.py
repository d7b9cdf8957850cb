"""Answers an appeal: asks what was graded the same questions once more; it shows right answers, to instructors."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from softlookup_command.plain_text import plain
from softlookup_grader.course.folder import Course
from softlookup_grader.course.grade_sheet import CellGrade, read_sheet
from softlookup_grader.course.inbox import read_submission
from softlookup_grader.course.personal import own_release
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import GRADED
from softlookup_grader.data.work import Graded, Mark, RunSettings, digest_of, packed, with_release
from softlookup_grader.judging.settings import identity, settings_for
from softlookup_grader.run.ledger import Run, last_line
from softlookup_judge.data.result import CheckResult


@dataclass(frozen=True)
class Explained:
    """One task of one submission."""

    mark: Mark  # what asking once more came to
    then: float | None  # the points in the ledger, None if a person gives them
    in_gradebook: CellGrade | None  # what the gradebook holds, None if there is nothing
    result: CheckResult | None = None  # the whole result with inputs, got and wanted; None where nothing was judged

    @property
    def agrees(self) -> bool:
        """Whether asking once more gives the points of the ledger."""
        return self.mark.points == self.then


@dataclass(frozen=True)
class Explanation:
    """Why a submission has the points it has."""

    assignment: str
    student: str
    seed: int  # it drew all inputs, then and now
    changed: bool | None  # whether the submitted file is another one than was graded; None if it is gone
    other_release: bool  # whether the release is another one than it was then
    tasks: tuple[Explained, ...]  # one for each graded cell, in the order of the notebook
    remarks: tuple[str, ...] = ()  # what was ignored, cut or stopped
    given_by: str = ""  # who of the student's group handed in the notebook; empty if the student did

    @property
    def agrees(self) -> bool:
        """Whether asking once more gives the points of the ledger in every task."""
        return all(task.agrees for task in self.tasks)


def last_graded(course: Course, assignment: str, student: str) -> tuple[Graded, Run]:
    """Read a student's last line in the ledgers, and the run that it belongs to."""
    if line := last_line(course.root / ".grading" / assignment, student):
        return line
    course.students([student])
    raise CourseError(f"{student!r} has not been graded in {assignment} yet: 'softlookup grade {assignment}' does it")


def explain(
    course: Course, assignment: str, student: str, examiner: Callable[[RunSettings], AbstractContextManager[Any]]
) -> Explanation:
    """Ask the submitted file the same questions once more, or the autograded one if it has changed since."""
    graded, run = last_graded(course, assignment, student)
    if graded.status != GRADED:
        raise CourseError(f"{student!r} has no points to explain: {graded.status}, {plain(graded.reason)}")
    changed, content = what_was_graded(course, assignment, graded)
    results: dict[str, CheckResult] = {}
    settings = settings_for(course, assignment, run.seed, run.sandbox)
    personal = own_release(course, assignment, graded.given_by or student)
    content = content if personal is None else with_release(personal, content)
    with examiner(replace(settings, personal=personal is not None)) as asking:
        again = asking.examine(graded.given_by or student, content, witness=results.__setitem__)
    if again.status != GRADED:
        raise CourseError(f"asking the questions again failed: {again.status}, {plain(again.reason)}")
    then = {mark.cell: mark.points for mark in graded.marks}
    now = next((row.cells for row in read_sheet(course, assignment) if row.student == student), {})
    tasks = tuple(
        Explained(mark, then.get(mark.cell), now.get(mark.cell), results.get(mark.task)) for mark in again.marks
    )
    other = digest_of(identity(settings).encode("utf-8", "replace")) != run.release
    return Explanation(assignment, student, run.seed, changed, other, tasks, again.remarks, graded.given_by)


def what_was_graded(course: Course, assignment: str, graded: Graded) -> tuple[bool | None, bytes]:
    """Whether what was submitted has changed since, None if it is gone; and what to ask, packed as it was."""
    student = graded.student
    submitted = read_submission(course, assignment, graded.given_by or student).content
    if submitted is not None and digest_of(submitted) == graded.digest:
        return False, submitted
    paths = [path for path in course.notebooks("autograded", student, assignment) if path.is_file()]
    if not paths:
        raise CourseError(
            f"the graded answers of {student!r} no longer exist: the submitted file has changed, and there is no "
            f"autograded one; 'softlookup grade {assignment} --student {student}' grades it again"
        )
    files = {path.name: path.read_bytes() for path in paths}
    content = packed(files) if course.layout(assignment).packed else files[paths[0].name]
    return None if submitted is None else True, content
