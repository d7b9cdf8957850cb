"""The record of what came in for an assignment, by student, as ``collected.py`` keeps it: its form, and reading it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from softlookup_grader.course.folder import Course
from softlookup_grader.data.disk import read_record

FOLDER = ".collected"
COLLECTED, UNREADABLE, NOTHING = "collected", "unreadable", "nothing"


@dataclass(frozen=True)
class Arrival:
    """What came in for one student."""

    state: str  # ``COLLECTED``, or ``UNREADABLE`` where files came and none of them can be graded
    source: str  # where it came from, as the platform named it: a path in an archive, a folder, an address
    why: str = ""  # why nothing can be graded, one clause; empty if it was collected


@dataclass(frozen=True)
class Arrivals:
    """What came in for one assignment."""

    by_student: Mapping[str, Arrival] = field(default_factory=dict)  # by id, for those of whom anything came
    # files and folders that are nobody's in the class, each with the reason
    strangers: Mapping[str, str] = field(default_factory=dict)


def arrivals(course: Course, assignment: str) -> Arrivals:
    """Read what collecting an assignment came to; empty where nothing was collected. CourseError if it is damaged."""

    def parse(content: Any) -> Arrivals:
        names = ("state", "source", "why")
        by_student = {s: Arrival(*(about[name] for name in names)) for s, about in content["students"].items()}
        return Arrivals(by_student, dict(content["strangers"]))

    return read_record(path_of(course, assignment), parse, "delete it, and collect again") or Arrivals()


def path_of(course: Course, assignment: str) -> Path:
    """Where the record of an assignment lies."""
    return course.root / FOLDER / f"{assignment}.json"
