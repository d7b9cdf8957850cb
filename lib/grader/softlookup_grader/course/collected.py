"""What collecting came to, kept by student in ``.collected/NN_topic.json``; who is in, ``submitted/`` alone says."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from softlookup_command.plain_text import one_line
from softlookup_grader.course.arrived import (
    COLLECTED,
    FOLDER,
    NOTHING,
    UNREADABLE,
    Arrivals,
    arrivals,
    path_of,
)
from softlookup_grader.course.folder import Course
from softlookup_grader.course.groups import sharing
from softlookup_grader.data.disk import write_record


@dataclass(frozen=True)
class Standing:
    """Whether one student of the class is in."""

    state: str  # ``COLLECTED``, ``UNREADABLE`` or ``NOTHING``
    why: str = ""  # why nothing can be graded, one clause; "with ada" for the other members of a group that is in
    lacks: tuple[str, ...] = ()  # notebooks of the assignment that are not in


@dataclass(frozen=True)
class Summary:
    """Who of the class is in, for one assignment."""

    by_student: Mapping[str, Standing]  # by id, for everybody in the class, in the order of the class
    strangers: Mapping[str, str]  # files and folders that are nobody's in the class, each with the reason

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
        for student, standing in self.by_student.items():
            if standing.lacks:
                yield f"{one_line(student)}: {standing.state} without {' and '.join(standing.lacks)}"
        for name, why in self.strangers.items():
            yield f"nobody's: {one_line(name)}: {why}"


def summary(course: Course, assignment: str) -> Summary:
    """Say for everybody in the class whether notebooks lie in ``submitted/``, and why not."""
    arrived, shared = arrivals(course, assignment), sharing(course, assignment)
    by_student = {}
    for student in course.students():
        arrival = arrived.by_student.get(student)
        paths = course.notebooks("submitted", student, assignment)
        lacks = tuple(path.name for path in paths if not os.path.lexists(path))
        if student in shared.damaged:
            by_student[student] = Standing(UNREADABLE, shared.damaged[student])
        elif len(lacks) < len(paths):
            by_student[student] = Standing(COLLECTED, lacks=lacks)
        elif arrival is not None and arrival.state == UNREADABLE:
            by_student[student] = Standing(UNREADABLE, arrival.why)
        else:
            by_student[student] = Standing(NOTHING)
    for members in shared.groups:
        ones_in = [name for name in members if name in by_student and by_student[name].state == COLLECTED]
        for name in members if ones_in else ():
            if name in by_student and name not in ones_in:
                by_student[name] = Standing(COLLECTED, f"with {one_line(ones_in[0])}")
    return Summary(by_student, arrived.strangers)


def keep(course: Course, assignment: str, arrived: Arrivals) -> None:
    """Write down what collecting came to: whole or not at all. CourseError if the disk refuses it."""
    content = {
        "students": {student: asdict(arrived.by_student[student]) for student in sorted(arrived.by_student)},
        "strangers": dict(sorted(arrived.strangers.items())),
    }
    write_record(path_of(course, assignment), content)


def forget(course: Course, student: str) -> list[Path]:
    """Remove a student's lines from the records of all assignments, and give the records that had one."""
    changed = []
    for path in records_naming(course, student):
        arrived = arrivals(course, path.stem)
        remaining = {name: about for name, about in arrived.by_student.items() if name != student}
        strangers = {name: why for name, why in arrived.strangers.items() if not _names(name, student)}
        keep(course, path.stem, Arrivals(remaining, strangers))
        changed.append(path)
    return changed


def records_naming(course: Course, student: str) -> list[Path]:
    """The records that have a line about a student, or name a file that has the student's id in its name."""
    paths = sorted((course.root / FOLDER).glob("*.json"))
    records = {path: arrivals(course, path.stem) for path in paths}
    return [
        path
        for path, arrived in records.items()
        if student in arrived.by_student or any(_names(name, student) for name in arrived.strangers)
    ]


def _names(text: str, student: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(student)}(?![^\W_])", text) is not None
