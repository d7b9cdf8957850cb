"""The record of what came in for an assignment, by student, as ``collected.py`` keeps it: its form, and reading it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from softlookup_grader.course.folder import Course
from softlookup_grader.data.errors import CourseError

FOLDER = ".collected"
COLLECTED, UNREADABLE, NOTHING = "collected", "unreadable", "nothing"


@dataclass(frozen=True)
class Arrival:
    """What came in for one student.

    Attributes:
        state: ``COLLECTED``, or ``UNREADABLE`` where files came and none of them can be graded.
        source: Where it came from, as the platform named it: a path in an archive, a folder, an address.
        why: Why nothing can be graded, one clause; empty if it was collected.
        archive: The name of the zip file, empty if there was none.
    """

    state: str
    source: str
    why: str = ""
    archive: str = ""


@dataclass(frozen=True)
class Arrivals:
    """What came in for one assignment.

    Attributes:
        by_student: By id, for those of whom anything came.
        strangers: Files and folders that are nobody's in the class, each with the reason.
    """

    by_student: Mapping[str, Arrival] = field(default_factory=dict)
    strangers: Mapping[str, str] = field(default_factory=dict)


def arrivals(course: Course, assignment: str) -> Arrivals:
    """Read what collecting an assignment came to; empty where nothing was collected. CourseError if it is damaged."""
    path = path_of(course, assignment)
    if not path.is_file():
        return Arrivals()
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        by_student = {student: Arrival(**about) for student, about in record["students"].items()}
        return Arrivals(by_student, dict(record["strangers"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CourseError(f"{path} is damaged: delete it, and collect again") from error


def path_of(course: Course, assignment: str) -> Path:
    """Where the record of an assignment lies."""
    return course.root / FOLDER / f"{assignment}.json"
