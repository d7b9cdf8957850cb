"""Due dates and extensions, kept where nbgrader keeps them: its late penalties and its formgrader follow.

The gradebook holds times in UTC.
"""

import difflib
import re
import warnings
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from softlookup.grading.course.folder import Course
from softlookup.grading.course.grade_sheet import find_assignment
from softlookup.grading.data.errors import CourseError
from softlookup.grading.data.plain_text import one_line


@dataclass(frozen=True)
class Deadlines:
    """When an assignment is due.

    Attributes:
        assignment: Its name.
        due: For everybody, in UTC; None if there is no due date.
        extensions: How much more time a student has, by id.
        late: Seconds by which a graded submission came late, by id, extensions counted; only those that did.
    """

    assignment: str
    due: datetime | None
    extensions: dict[str, timedelta] = field(default_factory=dict)
    late: dict[str, float] = field(default_factory=dict)

    def due_for(self, student: str) -> datetime | None:
        """When it is due for one student."""
        return None if self.due is None else self.due + self.extensions.get(student, timedelta())


def deadlines(course: Course, assignment: str) -> Deadlines:
    """Read when an assignment is due, for everybody and for those who have more time.

    Raises:
        CourseError: If the gradebook does not know the assignment.
    """
    with course.gradebook() as book:
        return _deadlines(book, assignment)


def _deadlines(book: Any, assignment: str) -> Deadlines:
    found = find_assignment(book, assignment)
    rows = sorted(found.submissions, key=lambda row: row.student_id)
    late = {row.student_id: _seconds_late(row, found.duedate) for row in rows}
    extensions = {row.student_id: row.extension for row in rows if row.extension}
    return Deadlines(assignment, found.duedate, extensions, {who: by for who, by in late.items() if by > 0})


def _seconds_late(row: Any, due: datetime | None) -> float:
    # nbgrader's own property adds an extension to a due date that may not be there.
    if due is None or row.timestamp is None:
        return 0.0
    return max(0.0, (row.timestamp - due - (row.extension or timedelta())).total_seconds())


def set_due(course: Course, assignment: str, due: str) -> Deadlines:
    """Set when an assignment is due for everybody.

    Args:
        course: The course's folder.
        assignment: Name of the assignment.
        due: A date and time as people write it ("2026-12-01 18:00", "1 Dec 2026 18:00 Europe/London"), in UTC if it
            names no time zone; "none" takes the due date away.

    Returns:
        What then holds.

    Raises:
        CourseError: If it is no date, the assignment is unknown, or somebody has an extension of what is taken away.
    """
    when = as_time(due)
    with course.one_writer(), course.gradebook() as book:
        before = _deadlines(book, assignment)
        if when is None and before.extensions:
            who = ", ".join(map(one_line, before.extensions))
            raise CourseError(f"{assignment} keeps its due date: there are extensions of it ({who}); --end removes one")
        book.update_or_create_assignment(assignment, duedate=when)
        return _deadlines(book, assignment)


def as_time(text: str, zone: str = "") -> datetime | None:
    """Read a date and time as people write it.

    Args:
        text: A date and time; a time zone by name stands at its end.
        zone: The time zone of a text that names none, "Europe/London"; UTC if it is empty.

    Returns:
        The time in UTC; None for "none".

    Raises:
        CourseError: If it is no date for sure, or the zone is unknown.
    """
    from dateutil import parser  # type: ignore[import-untyped]  # nbgrader reads dates with it

    if text.strip().casefold() == "none":
        return None
    wanted = f"{text!r} is not an unambiguous date: give one such as '2026-12-01 18:00 Europe/London'"
    rest, _, name = text.strip().rpartition(" ")
    own = _zone(name) if "/" in name else None
    usual = _zone(zone) if zone else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # it warns of a zone that it does not know, and takes it for none
            found = parser.parse(text if own is None else rest)
    except (ValueError, OverflowError, Warning):
        raise CourseError(wanted) from None
    # The parser takes what is missing from today's date.
    if not re.search(r"\d{4}", text):
        raise CourseError(wanted)
    found = found.replace(tzinfo=own or found.tzinfo or usual)
    return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)


def _zone(name: str) -> tzinfo:
    """A time zone by its name."""
    from dateutil import tz

    found: tzinfo | None = tz.gettz(name)
    if found is None:
        raise CourseError(f"there is no time zone {name!r}: give one such as Europe/London")
    return found


def extend(course: Course, assignment: str, student: str, more: timedelta) -> Deadlines:
    """Give one student more time; it takes the place of an earlier extension, and none ends it.

    A student who has handed in nothing yet gets the row that nbgrader would make; without points it counts as missing.

    Args:
        course: The course's folder.
        assignment: Name of the assignment.
        student: The student's id.
        more: How much more time than everybody has; zero ends an extension.

    Returns:
        What then holds.

    Raises:
        CourseError: If the assignment or the student is unknown, there is no due date, or less time is asked for.
    """
    if more < timedelta():
        raise CourseError(f"an extension must give more time, but this is {in_words(more)}")
    everybody = course.students()
    with course.one_writer(), course.gradebook() as book:
        found = find_assignment(book, assignment)
        if student not in everybody:
            near = difflib.get_close_matches(student, everybody, n=3)
            hint = f"; did you mean {', '.join(map(one_line, near))}?" if near else ""
            raise CourseError(f"nobody in the class is called {student!r}{hint}")
        # nbgrader cannot reckon how late somebody is who has an extension of no due date.
        if found.duedate is None and more:
            raise CourseError(f"{assignment} has no due date yet: give it one first, with --due")
        book.update_or_create_student(student)
        with book.db.no_autoflush:  # nbgrader fills a new row in while it is not in the session yet
            book.update_or_create_submission(assignment, student)
        book.grant_extension(assignment, student, minutes=more.total_seconds() / 60)
        return _deadlines(book, assignment)


def in_words(time: timedelta) -> str:
    """A length of time in days and hours.

    >>> in_words(timedelta(days=2, hours=1)), in_words(timedelta(minutes=90)), in_words(timedelta())
    ('2 days 1 hour', '1.5 hours', 'no time')
    """
    if time < timedelta():
        return f"{in_words(-time)} less"
    days, hours = time.days, time.seconds / 3600
    parts = [f"{n:g} {name}{'s' * (n != 1)}" for n, name in ((days, "day"), (hours, "hour")) if n]
    return " ".join(parts) or "no time"


def as_text(when: datetime | None) -> str:
    """A due date in words."""
    return "no due date" if when is None else when.strftime("%A %Y-%m-%d %H:%M UTC")


def deadlines_text(found: Deadlines) -> str:
    """What holds for an assignment, a few lines."""
    lines = [f"{found.assignment}: {as_text(found.due)}"]
    for student, more in found.extensions.items():
        lines.append(f"  {one_line(student)}: {as_text(found.due_for(student))} ({in_words(more)} more)")
    for student, seconds in found.late.items():
        lines.append(f"  {one_line(student)} came late by {in_words(timedelta(seconds=round(seconds)))}")
    return "\n".join(lines)
