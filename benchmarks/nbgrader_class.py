"""The peer: a class graded by nbgrader's own autograde, submission by submission, in several processes.

It is here to be compared with. Each submission runs with the instructor's rights; see nbgrader_autograde.py.
"""

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from softlookup_grader.course.folder import Course, use_own_programs
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import REFUSED, HandMark, Record, Report, TaskMark
from softlookup_grader.workers.pool import WorkerPool, processors
from softlookup_grader.workers.pool_worker import Doing


class Autograder(Protocol):
    """Grades one submission in place: reads it from the course's folder and writes the gradebook itself."""

    def grade(self, course: Course, assignment: str, student: str) -> Record:
        """Grade one submission. It never raises for anything that a student handed in."""
        ...


def grade_class(
    course: Course,
    assignment: str,
    autograder: Autograder,
    *,
    workers: int | None = None,
    seed: int = 0,
    done: Callable[[int, int, Record], None] = lambda number, total, record: None,
) -> Report:
    """Grade everybody's submission of one assignment with an autograder that writes the gradebook itself.

    The report is in the order of the class, and keeps ``seed``. None takes as many ``workers`` as processors; ``done``
    is called after each submission with how many are done, how many there are, and its record. CourseError if the
    gradebook does not know the assignment, or nobody is in the class.
    """
    course.require(assignment)
    students = course.students()
    if not students:
        raise CourseError(f"nobody handed in anything: {course.root / 'submitted'} has no folders")
    records: dict[str, Record] = {}
    pool = WorkerPool(_Grading(course, assignment, autograder), workers or processors(), log=course.log("workers"))
    for answer in pool.run((student, b"") for student in students):
        record = (
            Record(answer.name, REFUSED, 0.0, 0.0, reason=answer.failure)
            if answer.failure
            else _decoded(json.loads(answer.content))
        )
        records[record.student] = record
        done(len(records), len(students), record)
    return Report(assignment, seed, tuple(records[student] for student in students))


@dataclass(frozen=True)
class _Grading:
    """What a worker does with an autograder."""

    course: Course
    assignment: str
    autograder: Autograder

    @contextlib.contextmanager
    def __call__(self) -> Iterator[Doing]:
        use_own_programs()

        def grade(student: str, payload: bytes) -> bytes:
            record = self.autograder.grade(self.course, self.assignment, student)
            described = {**vars(record), "tasks": {k: vars(m) for k, m in record.tasks.items()}}
            return json.dumps({**described, "by_hand": {k: vars(m) for k, m in record.by_hand.items()}}).encode()

        yield grade


def _decoded(described: dict[str, Any]) -> Record:
    described["tasks"] = {
        k: TaskMark(**{**m, "diagnosis": tuple(m["diagnosis"])}) for k, m in described["tasks"].items()
    }
    described["by_hand"] = {k: HandMark(**m) for k, m in described["by_hand"].items()}
    return Record(**{**described, "remarks": tuple(described["remarks"])})
