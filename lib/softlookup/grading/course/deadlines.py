"""Due dates and extensions, kept where nbgrader keeps them: its late penalties and its formgrader follow.

The gradebook holds times in UTC.
"""

import difflib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from softlookup.grading.course.folder import Course, find_assignment
from softlookup.grading.data.dates import naive_utc, read_time, shown_time
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
        zone: The course's time zone.
    """

    assignment: str
    due: datetime | None
    extensions: dict[str, timedelta] = field(default_factory=dict)
    late: dict[str, float] = field(default_factory=dict)
    zone: tzinfo = UTC

    def due_for(self, student: str) -> datetime | None:
        """When it is due for one student."""
        return None if self.due is None else self.due + self.extensions.get(student, timedelta())


def deadlines(course: Course, assignment: str) -> Deadlines:
    """Read when an assignment is due, for everybody and for those who have more time.

    Raises:
        CourseError: If the gradebook does not know the assignment.
    """
    with course.gradebook() as book:
        return _deadlines(course, book, assignment)


def _deadlines(course: Course, book: Any, assignment: str) -> Deadlines:
    assignment_row = find_assignment(book, assignment)
    rows = sorted(assignment_row.submissions, key=lambda row: row.student_id)
    late = {row.student_id: _seconds_late(row, assignment_row.duedate) for row in rows}
    extensions = {row.student_id: row.extension for row in rows if row.extension}
    return Deadlines(
        assignment, assignment_row.duedate, extensions, {who: by for who, by in late.items() if by > 0}, course.zone
    )


def _seconds_late(row: Any, due: datetime | None) -> float:
    # nbgrader's own property adds an extension to a due date that may not be there.
    if due is None or row.timestamp is None:
        return 0.0
    return max(0.0, (row.timestamp - due - (row.extension or timedelta())).total_seconds())


def set_due(course: Course, assignment: str, when: datetime | None) -> Deadlines:
    """Set when an assignment is due for everybody.

    Args:
        course: The course's folder.
        assignment: Name of the assignment.
        when: The date and time, in UTC; None takes the due date away.

    Returns:
        What then holds.

    Raises:
        CourseError: If the assignment is unknown, or somebody has an extension of what is taken away.
    """
    with course.one_writer(), course.gradebook() as book:
        before = _deadlines(course, book, assignment)
        if when is None and before.extensions:
            who = ", ".join(map(one_line, before.extensions))
            raise CourseError(f"{assignment} keeps its due date: there are extensions of it ({who}); --end removes one")
        book.update_or_create_assignment(assignment, duedate=when)
        return _deadlines(course, book, assignment)


def as_time(text: str, zone: tzinfo = UTC) -> datetime | None:
    """Read a due date as people write it.

    Args:
        text: A date and time, which may name its time zone.
        zone: The time zone of a text that names none.

    Returns:
        The time in UTC; None for "none".

    Raises:
        CourseError: If it is no date for sure, or the zone is unknown.
    """
    return None if text.strip().casefold() == "none" else naive_utc(read_time(text, zone))


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
        assignment_row = find_assignment(book, assignment)
        if student not in everybody:
            near = difflib.get_close_matches(student, everybody, n=3)
            hint = f"; did you mean {', '.join(map(one_line, near))}?" if near else ""
            raise CourseError(f"nobody in the class is called {student!r}{hint}")
        # nbgrader cannot reckon how late somebody is who has an extension of no due date.
        if assignment_row.duedate is None and more:
            raise CourseError(f"{assignment} has no due date yet: give it one first, with --due")
        book.update_or_create_student(student)
        with book.db.no_autoflush:  # nbgrader fills a new row in while it is not in the session yet
            book.update_or_create_submission(assignment, student)
        book.grant_extension(assignment, student, minutes=more.total_seconds() / 60)
        return _deadlines(course, book, assignment)


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


def as_text(when: datetime | None, zone: tzinfo = UTC) -> str:
    """A due date in words, in the course's time zone."""
    return "no due date" if when is None else shown_time(when, zone)


def deadlines_text(deadlines: Deadlines) -> str:
    """What holds for an assignment, a few lines."""
    lines = [f"{deadlines.assignment}: {as_text(deadlines.due, deadlines.zone)}"]
    for student, more in deadlines.extensions.items():
        lines.append(
            f"  {one_line(student)}: {as_text(deadlines.due_for(student), deadlines.zone)} ({in_words(more)} more)"
        )
    for student, seconds in deadlines.late.items():
        lines.append(f"  {one_line(student)} came late by {in_words(timedelta(seconds=round(seconds)))}")
    return "\n".join(lines)
