"""When an assignment ends, for everybody and for those who have more time.

What was granted is kept in its own terms (``terms.py``), and what follows from it where nbgrader looks, in UTC.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from softlookup_command.plain_text import one_line
from softlookup_grader.course.folder import Course, find_assignment
from softlookup_grader.course.releasing import Released
from softlookup_grader.course.student_ids import nobody
from softlookup_grader.course.terms import (
    Accommodation,
    End,
    Extension,
    Granted,
    accommodation_in_words,
    end_for,
    keep_granted,
    read_granted,
)
from softlookup_grader.data.dates import naive_utc, read_end, shown_time, time_since
from softlookup_grader.data.errors import CourseError


@dataclass(frozen=True)
class Deadlines:
    """When an assignment is due."""

    assignment: str
    due: datetime | None  # for everybody, in UTC; None if there is no due date
    # for whom it ends later, by id: extensions and standing accommodations
    ends: dict[str, End] = field(default_factory=dict)
    # seconds by which a graded submission came late, by id, more time counted; only those that did
    late: dict[str, float] = field(default_factory=dict)
    zone: tzinfo = UTC  # the course's time zone
    start: datetime | None = None  # when students got it, in UTC; None if nobody knows, or no accommodation goes by it
    notes: tuple[str, ...] = ()  # sentences on terms that give nothing

    def due_for(self, student: str) -> datetime | None:
        """When it is due for one student, in UTC."""
        end = self.ends.get(student)
        return self.due if end is None else end.when

    @property
    def extensions(self) -> dict[str, timedelta]:
        """How much more time students have, by id."""
        return {student: end.when - self.due for student, end in self.ends.items() if self.due is not None}

    @property
    def last(self) -> datetime | None:
        """When it ends for the last student, in UTC; None if there is no due date."""
        return None if self.due is None else max((self.due, *(end.when for end in self.ends.values())))


def deadlines(course: Course, assignment: str) -> Deadlines:
    """Read when an assignment is due, for everybody and for those who have more time."""
    granted = read_granted(course)
    with course.gradebook() as book:
        row = find_assignment(book, assignment)
        _adopt(row, granted)
        return _deadlines(course, row, granted)


def settle(course: Course, assignment: str) -> Deadlines:
    """Work out anew when an assignment ends for each student, and write it where nbgrader looks."""
    with _changing(course, assignment) as (book, (row,), granted):
        return _write(course, book, row, granted, row.duedate)


def set_due(course: Course, assignment: str, when: datetime | None) -> Deadlines:
    """Set when (in UTC) an assignment is due for everybody; None takes the due date away."""
    with _changing(course, assignment) as (book, (row,), granted):
        if when is None and (extensions := granted.extensions.get(assignment)):
            who = ", ".join(map(one_line, sorted(extensions)))
            raise CourseError(f"{assignment} keeps its due date: there are extensions of it ({who}); --end removes one")
        return _write(course, book, row, granted, when)


def set_start(course: Course, assignment: str, when: datetime) -> Deadlines:
    """Say when (in UTC) students got an assignment, which otherwise is its first release, and give what then holds."""
    with _changing(course, assignment) as (book, (row,), granted):
        granted.starts[assignment] = when
        return _write(course, book, row, granted, row.duedate)


def extend(course: Course, assignment: str, student: str, extension: Extension | None) -> Deadlines:
    """Give one student more time, in place of an earlier extension; None ends it. An accommodation goes on to count."""
    course.students([student])
    with _changing(course, assignment) as (book, (row,), granted):
        of_assignment = granted.extensions.setdefault(assignment, {})
        of_assignment.pop(student, None)
        if extension is not None:
            understood(_deadlines(course, row, granted), extension)  # refuses what gives nothing
            of_assignment[student] = extension
            book.update_or_create_student(student)
            with book.db.no_autoflush:  # nbgrader fills a new row in while it is not in the session yet
                book.update_or_create_submission(assignment, student)
        return _write(course, book, row, granted, row.duedate)


def accommodate(course: Course, student: str, accommodation: Accommodation | None) -> None:
    """Give one student more time in all assignments, those to come too, in place of an earlier accommodation."""
    everybody = course.students([student] if accommodation is not None else [])
    with _changing(course) as (book, rows, granted):
        if accommodation is None and student not in granted.accommodations:
            why = nobody(student, everybody) if student not in everybody else f"{one_line(student)} has none"
            raise CourseError(f"there is no standing accommodation to end: {why}")
        granted.accommodations.pop(student, None)
        if accommodation is not None:
            granted.accommodations[student] = accommodation
        for row in rows:
            _write(course, book, row, granted, row.duedate)
        keep_granted(course, granted)  # a course may have no assignment yet


@contextmanager
def _changing(course: Course, assignment: str = "") -> Iterator[tuple[Any, list[Any], Granted]]:
    """The gradebook, the rows of one or all assignments, and what is granted, while nobody else changes them."""
    with course.one_writer(), course.gradebook() as book:
        granted = read_granted(course)
        rows = [find_assignment(book, assignment)] if assignment else list(book.assignments)
        for row in rows:
            _adopt(row, granted)
        yield book, rows, granted


def _adopt(row: Any, granted: Granted) -> None:
    """Take over an extension that somebody gave or ended through nbgrader itself since we wrote last."""
    written = granted.written.get(row.name, {})
    extensions = granted.extensions.setdefault(row.name, {})
    for submission in row.submissions:
        student, seconds = submission.student_id, _seconds(submission)
        extension = extensions.get(student)
        if seconds and not any(abs(seconds - written_s) < 1 for written_s in written.get(student, ())):
            extensions[student] = Extension(hours=seconds / 3600, by_nbgrader=True)
        elif not seconds and extension is not None and extension.by_nbgrader:
            del extensions[student]


def _write(course: Course, book: Any, row: Any, granted: Granted, due: datetime | None) -> Deadlines:
    """Write a due date and its ends: our file first, so that after a kill no end looks as if nbgrader had given it."""
    ends = _ends(course, row.name, granted, due)
    wanted_s = {student: (end.when - due).total_seconds() for student, end in ends.items() if due is not None}
    rows = {submission.student_id: submission for submission in row.submissions}
    held_s = {student: seconds for student, submission in rows.items() if (seconds := _seconds(submission))}
    changed = [student for student in rows if abs(held_s.get(student, 0.0) - wanted_s.get(student, 0.0)) >= 1]
    if due is None:  # an extension of nothing, given through nbgrader, is left alone
        changed = [student for student in changed if student not in granted.extensions[row.name]]
    if changed or row.duedate != due:
        granted.written[row.name] = {
            student: sorted({hold[student] for hold in (held_s, wanted_s) if student in hold})
            for student in {*held_s, *wanted_s}
        }
        keep_granted(course, granted)
        row.duedate = due
        for student in changed:
            rows[student].extension = timedelta(seconds=wanted_s[student]) if wanted_s.get(student) else None
        book.db.commit()
    granted.written[row.name] = {student: [seconds] for student, seconds in wanted_s.items()}
    keep_granted(course, granted)
    return _deadlines(course, row, granted)


def _ends(course: Course, assignment: str, granted: Granted, due: datetime | None) -> dict[str, End]:
    """The one place where ends are worked out."""
    if due is None:
        return {}
    extensions, start = granted.extensions.get(assignment, {}), _start(course, assignment, granted)
    students = sorted({*extensions, *granted.accommodations})
    ends = {
        student: end_for(due, course.zone, extensions.get(student), granted.accommodations.get(student), start)
        for student in students
    }
    return {student: end for student, end in ends.items() if end is not None}


def _start(course: Course, assignment: str, granted: Granted) -> datetime | None:
    if assignment in granted.starts or not granted.accommodations:
        return granted.starts.get(assignment)
    return Released(course).first(assignment)


def _deadlines(course: Course, row: Any, granted: Granted) -> Deadlines:
    due, start = row.duedate, _start(course, row.name, granted)
    ends = _ends(course, row.name, granted, due)
    late = {}
    for submission in sorted(row.submissions, key=lambda submission: submission.student_id):
        end = ends.get(submission.student_id)
        until = due if end is None else end.when
        if until is not None and submission.timestamp is not None and submission.timestamp > until:
            late[submission.student_id] = (submission.timestamp - until).total_seconds()
    timed = [who for who, terms in sorted(granted.accommodations.items()) if terms.time > 1 and terms.holds(due)]
    notes: tuple[str, ...] = ()
    if timed and due is not None and (start is None or start >= due):
        known = "is not known" if start is None else f"({as_text(start, course.zone)}) is not before it is due"
        notes = (
            f"when students got {row.name} {known}, so --time gives {', '.join(map(one_line, timed))} nothing: say it "
            f"with 'softlookup extension {row.name} --start DATE'",
        )
    return Deadlines(row.name, due, ends, late, course.zone, start, notes)


def _seconds(submission: Any) -> float:
    return submission.extension.total_seconds() if submission.extension else 0.0


def as_time(text: str, zone: tzinfo = UTC, now: datetime | None = None) -> tuple[datetime | None, str]:
    """Read an end as people write it: a date without a time means the end of that day, and "none" is None."""
    if text.strip().casefold() == "none":
        return None, as_text(None)
    aware, whole_day = read_end(text, zone)
    when = naive_utc(aware)
    words = as_text(when, zone) + (", the end of that day, since no time is named" if whole_day else "")
    ago = time_since(when, naive_utc(datetime.now(UTC)) if now is None else now)
    return when, words + (f". Note: that was {ago}" if ago else "")


def understood(dates: Deadlines, extension: Extension) -> str:
    """What an extension comes to, before it is given: when it ends, and how long that is."""
    # nbgrader cannot reckon how late somebody is who has an extension of no due date.
    if dates.due is None:
        raise CourseError(f"{dates.assignment} has no due date yet: give it one first, with --due")
    if extension.days < 0 or extension.hours < 0:
        raise CourseError("an extension must give more time, and this gives less")
    end = end_for(dates.due, dates.zone, extension, None, None)
    if end is None:
        until = f", and {as_text(extension.until, dates.zone)} is not later" if extension.until else ""
        raise CourseError(
            f"an extension must give more time: {dates.assignment} is due {as_text(dates.due, dates.zone)}{until}"
        )
    return f"until {as_text(end.when, dates.zone)} ({end.why})"


def as_text(when: datetime | None, zone: tzinfo = UTC) -> str:
    """A due date in words, in the course's time zone."""
    return "no due date" if when is None else shown_time(when, zone)


def in_words(time: timedelta) -> str:
    """A length of time in days, hours and minutes; what is left of a minute counts as one.

    >>> in_words(timedelta(days=2, hours=1)), in_words(timedelta(seconds=59)), in_words(timedelta())
    ('2 days 1 hour', '1 minute', 'no time')
    """
    hours, minutes = divmod(math.ceil(time.seconds / 60), 60)
    each = ((time.days, "day"), (hours, "hour"), (minutes, "minute"))
    return " ".join(f"{n} {name}{'s' * (n != 1)}" for n, name in each if n) or "no time"


def more_time(dates: Deadlines) -> list[str]:
    """Who has more time, until when and why, a line each; for the instructor alone."""
    return [
        f"{one_line(student)}: {as_text(end.when, dates.zone)} ({end.why})"
        for student, end in sorted(dates.ends.items())
    ]


def accommodations_text(course: Course, student: str | None = None) -> str:
    """The standing accommodations, all or a student's, and what follows from them, a few lines."""
    granted = read_granted(course)
    chosen = [name for name in sorted(granted.accommodations) if student in (None, name)]
    if not chosen:
        if student is not None:
            course.students([student])
            return f"{one_line(student)} has no standing accommodation"
        return "nobody has a standing accommodation"
    with course.gradebook() as book:
        rows = sorted((row for row in book.assignments if row.duedate is not None), key=lambda row: str(row.name))
        for row in rows:
            _adopt(row, granted)
        every = [_deadlines(course, row, granted) for row in rows]
    lines = []
    for name in chosen:
        lines.append(f"{one_line(name)}: {accommodation_in_words(granted.accommodations[name], course.zone)}")
        ends = [(dates, dates.ends[name]) for dates in every if name in dates.ends]
        lines += [f"  {dates.assignment}: {as_text(end.when, course.zone)} ({end.why})" for dates, end in ends]
    return "\n".join([*lines, *(f"note: {sentence}" for dates in every for sentence in dates.notes)])


def deadlines_text(dates: Deadlines) -> str:
    """What holds for an assignment, a few lines."""
    lines = [f"{dates.assignment}: {as_text(dates.due, dates.zone)}", *more_time(dates)]
    for student, seconds in dates.late.items():
        lines.append(f"{one_line(student)} came late by {in_words(timedelta(seconds=round(seconds)))}")
    return "\n  ".join([*lines, *(f"note: {sentence}" for sentence in dates.notes)])
