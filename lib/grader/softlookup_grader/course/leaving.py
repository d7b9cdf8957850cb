"""A student leaves a course, and the notebook that was handed in for a group stays with the others of it."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from softlookup_grader.course import personal
from softlookup_grader.course.folder import Course
from softlookup_grader.course.groups import sharing, without_name
from softlookup_grader.course.inbox import STAMP, files_in, notebooks_in, read_slips, read_submission
from softlookup_grader.course.notebooks import BadNotebook
from softlookup_grader.data.disk import atomic_write
from softlookup_grader.data.work import digest_of


@dataclass(frozen=True)
class Left:
    """What a student left to others."""

    heirs: dict[str, str] = field(default_factory=dict)  # by assignment, who has the group's notebook now
    digests: dict[str, str] = field(default_factory=dict)  # of notebooks that named the student, before and after


def shared_with(course: Course, student: str) -> Iterator[tuple[str, str]]:
    """The assignments in which others are graded by what a student handed in, and who is to have it."""
    with course.gradebook() as book:
        names = sorted(row.name for row in book.assignments)
    for assignment in names:
        shared = sharing(course, assignment)
        others = [other for other in shared.sharers(student) if other != student]
        if others and shared.holder(student) == student:
            yield assignment, next((other for other in others if other in shared.copies), others[0])


def leave(course: Course, student: str) -> Left:
    """Give the others of a student's groups what they are graded by, without the student's name."""
    legacy = Left()
    for assignment, heir in shared_with(course, student):
        legacy.heirs[assignment] = heir
        content = read_submission(course, assignment, student).content
        if content is None:
            continue
        if (released := personal.own_release(course, assignment, student)) is not None:
            # The answers fit the questions that the student was given, so they are the heir's now.
            path = personal.personal_folder(course, assignment) / f"{heir}.ipynb"
            atomic_write(path, personal.unbound(released, student))
        folder = course.folder("submitted", heir, assignment)
        if stamp := read_slips(course, assignment, student).get(STAMP):
            atomic_write(folder / STAMP, stamp)
        for name, file in files_in(course, assignment, content).items():
            atomic_write(folder / name, file)
    with course.gradebook() as book:
        names = sorted(row.name for row in book.assignments)
    for assignment in names:
        for other in course.students():
            content = read_submission(course, assignment, other).content
            if other == student or content is None or student.encode() not in content:
                continue
            folder, has_changed = course.folder("submitted", other, assignment), False
            for name, raw in notebooks_in(course, assignment, content).items():
                new = raw
                with contextlib.suppress(BadNotebook):
                    new = without_name(raw, student)
                new = personal.unbound(new, student)
                if new != raw:
                    has_changed = True
                    atomic_write(folder / f"{name}.ipynb", new)
            if has_changed:
                legacy.digests[digest_of(content)] = read_submission(course, assignment, other).digest
    return legacy
