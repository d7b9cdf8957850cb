"""What collecting came to, by student: kept beside the course, so that reports can say who is in, who is not, and why.

One file for each assignment, ``.collected/NN_topic.json``. Collecting again changes the lines of those whom it found
and leaves the others. Who is in is told by ``submitted/``, where a notebook may lie by hand as well.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from softlookup.grading.course.folder import Course
from softlookup.grading.course.groups import groups_of
from softlookup.grading.data.disk import atomic_write
from softlookup.grading.data.errors import CourseError
from softlookup.grading.data.plain_text import one_line

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


@dataclass(frozen=True)
class Standing:
    """Whether one student of the class is in.

    Attributes:
        state: ``COLLECTED``, ``UNREADABLE`` or ``NOTHING``.
        why: Why nothing can be graded, one clause; "with ada" for the other members of a group that is in.
    """

    state: str
    why: str = ""


@dataclass(frozen=True)
class Summary:
    """Who of the class is in, for one assignment.

    Attributes:
        by_student: By id, for everybody in the class, in the order of the class.
        strangers: Files and folders that are nobody's in the class, each with the reason.
    """

    by_student: Mapping[str, Standing]
    strangers: Mapping[str, str]

    def count(self, state: str) -> int:
        """How many of the class are in this state."""
        return sum(standing.state == state for standing in self.by_student.values())

    def lines(self) -> Iterator[str]:
        """The table: one line on the class, one for everybody who is not in, one for everything that is nobody's."""
        states = (COLLECTED, UNREADABLE, NOTHING)
        yield f"{len(self.by_student)} in class: {', '.join(f'{self.count(state)} {state}' for state in states)}"
        for state in (UNREADABLE, NOTHING):
            for student, standing in self.by_student.items():
                if standing.state == state:
                    yield f"{one_line(student)}: {state}" + (f", {standing.why}" if standing.why else "")
        for name, why in self.strangers.items():
            yield f"nobody's: {one_line(name)}: {why}"


def summary(course: Course, assignment: str) -> Summary:
    """Say for everybody in the class whether a notebook lies in ``submitted/``, and why not.

    Raises:
        CourseError: If the record of what was collected is damaged.
    """
    arrived = arrivals(course, assignment)
    by_student = {}
    for student in course.students():
        arrival = arrived.by_student.get(student)
        if os.path.lexists(course.notebook("submitted", student, assignment)):
            by_student[student] = Standing(COLLECTED)
        elif arrival is not None and arrival.state == UNREADABLE:
            by_student[student] = Standing(UNREADABLE, arrival.why)
        else:
            by_student[student] = Standing(NOTHING)
    for members in groups_of(course, assignment):
        ones_in = [name for name in members if by_student.get(name) == Standing(COLLECTED)]
        for name in members if ones_in else ():
            if name in by_student and name not in ones_in:
                by_student[name] = Standing(COLLECTED, f"with {one_line(ones_in[0])}")
    return Summary(by_student, arrived.strangers)


def arrivals(course: Course, assignment: str) -> Arrivals:
    """Read what collecting an assignment came to; empty where nothing was collected.

    Raises:
        CourseError: If the record is damaged.
    """
    path = _path(course, assignment)
    if not path.is_file():
        return Arrivals()
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        by_student = {student: Arrival(**about) for student, about in record["students"].items()}
        return Arrivals(by_student, dict(record["strangers"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CourseError(f"{path} is damaged: delete it, and collect again") from error


def keep(course: Course, assignment: str, arrived: Arrivals) -> None:
    """Write down what collecting came to: whole or not at all.

    Raises:
        CourseError: If the disk refuses it.
    """
    record = {
        "students": {student: asdict(arrived.by_student[student]) for student in sorted(arrived.by_student)},
        "strangers": dict(sorted(arrived.strangers.items())),
    }
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    atomic_write(_path(course, assignment), text.encode("utf-8", "replace"), mode=0o600)


def forget(course: Course, student: str) -> list[Path]:
    """Remove a student's lines from the records of all assignments.

    Returns:
        The records that had one.
    """
    changed = []
    for path in records_naming(course, student):
        arrived = arrivals(course, path.stem)
        rest = {name: about for name, about in arrived.by_student.items() if name != student}
        keep(course, path.stem, Arrivals(rest, arrived.strangers))
        changed.append(path)
    return changed


def records_naming(course: Course, student: str) -> list[Path]:
    """The records that have a line about a student."""
    paths = sorted((course.root / FOLDER).glob("*.json"))
    return [path for path in paths if student in arrivals(course, path.stem).by_student]


def _path(course: Course, assignment: str) -> Path:
    return course.root / FOLDER / f"{assignment}.json"
