"""What was granted to students, in its own terms (``.dates.json``), and when an assignment therefore ends for each.

Days stay days when a due date moves. What was written into nbgrader is kept too, to tell ours from others'.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import Any

from softlookup_grader.course.folder import Course
from softlookup_grader.data.dates import days_later, naive_utc, shown_time
from softlookup_grader.data.disk import atomic_write, read_record
from softlookup_grader.data.errors import CourseError

FILE = ".dates.json"


@dataclass(frozen=True)
class Extension:
    """More time for one student and one assignment."""

    days: int = 0  # days on the calendar: the clock shows the same time
    hours: float = 0.0  # hours that pass, after the days
    until: datetime | None = None  # when it ends instead, in UTC
    by_nbgrader: bool = False  # whether it was given through nbgrader itself


@dataclass(frozen=True)
class Accommodation:
    """More time for one student in all assignments; of days and time, whichever ends later counts."""

    days: int = 0  # days on the calendar after each due date
    time: float = 1.0  # what the time from the start to the due date is multiplied by
    until: datetime | None = None  # the last due date that it holds for, in UTC; None if it has no end

    def holds(self, when: datetime | None) -> bool:
        """Whether it holds for what is due at a time, in UTC."""
        return when is not None and (self.until is None or when <= self.until)


@dataclass(frozen=True)
class End:
    """When an assignment ends for a student who has more time."""

    when: datetime  # the time, in UTC
    why: str  # what it follows from, a phrase
    standing: bool = False  # whether a standing accommodation gives it


@dataclass
class Granted:
    """All that a course grants."""

    extensions: dict[str, dict[str, Extension]] = field(default_factory=dict)  # by assignment and student
    accommodations: dict[str, Accommodation] = field(default_factory=dict)  # by student
    # when students got an assignment, where somebody said it, in UTC
    starts: dict[str, datetime] = field(default_factory=dict)
    # by assignment and student, the seconds that nbgrader's extension may hold because of us
    written: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    def students(self) -> set[str]:
        """Everybody whom it names."""
        names = set(self.accommodations).union(*self.extensions.values())
        return names.union(*self.written.values())

    def drop(self, student: str) -> None:
        """Take a student out."""
        self.accommodations.pop(student, None)
        for name in {*self.extensions, *self.written}:
            self.extensions.get(name, {}).pop(student, None)
            self.written.get(name, {}).pop(student, None)


def read_granted(course: Course) -> Granted:
    """Read what a course grants; nothing where nobody has more time. CourseError if the file is damaged."""

    def parse(content: Any) -> Granted:
        return Granted(
            {
                name: {student: Extension(**_read(terms)) for student, terms in students.items()}
                for name, students in content["extensions"].items()
            },
            {student: Accommodation(**_read(terms)) for student, terms in content["accommodations"].items()},
            _read(content["starts"]),
            {
                name: {student: [float(s) for s in values] for student, values in students.items()}
                for name, students in content["written"].items()
            },
        )

    remedy = "put a backup in its place, or delete it and give extensions and accommodations again"
    return read_record(course.root / FILE, parse, remedy) or Granted()


def keep_granted(course: Course, granted: Granted) -> None:
    """Write down what a course grants, whole or not at all; nothing is written where nothing changes."""
    content = _without_empty(asdict(granted))
    if content == _without_empty(asdict(read_granted(course))):
        return
    text = json.dumps(content, indent=1, sort_keys=True, default=datetime.isoformat) + "\n"
    atomic_write(course.root / FILE, text.encode(), mode=0o600)


def forget(course: Course, student: str) -> None:
    """Take a student out of what a course grants."""
    granted = read_granted(course)
    granted.drop(student)
    keep_granted(course, granted)


def end_for(
    due: datetime,
    zone: tzinfo,
    extension: Extension | None,
    accommodation: Accommodation | None,
    start: datetime | None,
) -> End | None:
    """When something ends for a student: the later one of what extension and accommodation give."""
    ends = []
    try:
        if extension is not None:
            ends.append(_extended(due, zone, extension))
        if accommodation is not None and accommodation.holds(due):
            when, clocks = _days_later(due, accommodation.days, zone)
            ends.append(End(when, f"standing, {_days_in_words(accommodation.days, when - due, clocks)}", True))
            if accommodation.time > 1 and start is not None and start < due:
                # To the minute, upwards: the end is shown and told in minutes.
                minutes = math.ceil((due - start) * (accommodation.time - 1) / timedelta(minutes=1))
                when = due + timedelta(minutes=minutes)
                why = f"standing, {accommodation.time:g} times the time since {shown_time(start, zone)}"
                ends.append(End(when, f"{why}: {hours_in_words(when - due)} more", True))
    except OverflowError:
        raise CourseError("this much time leads beyond the end of the calendar: give less") from None
    last = max(ends, key=lambda end: end.when, default=None)
    return None if last is None or last.when == due else last


def _extended(due: datetime, zone: tzinfo, extension: Extension) -> End:
    if extension.until is not None:
        when = max(due, extension.until)
        return End(when, f"as given, {hours_in_words(when - due)} more")
    when, clocks = _days_later(due, extension.days, zone)
    when += timedelta(hours=extension.hours)
    if extension.days == 0:
        through = ", given through nbgrader" if extension.by_nbgrader else ""
        return End(when, hours_in_words(when - due) + through)
    if extension.hours == 0:
        return End(when, _days_in_words(extension.days, when - due, clocks))
    both = f"{_count(extension.days, 'day')} on the calendar and {_count(extension.hours, 'hour')}"
    return End(when, f"{both}, {hours_in_words(when - due)} in all{clocks}")


def _days_later(due: datetime, days: int, zone: tzinfo) -> tuple[datetime, str]:
    when, clocks = days_later(due, days, zone)
    return naive_utc(when), f"; {clocks}" if clocks else ""


def _days_in_words(days: int, elapsed: timedelta, clocks: str = "") -> str:
    return f"{_count(days, 'day')} on the calendar, {hours_in_words(elapsed)}{clocks}"


def accommodation_in_words(accommodation: Accommodation, zone: tzinfo) -> str:
    """What a standing accommodation gives, a phrase.

    >>> from datetime import UTC
    >>> accommodation_in_words(Accommodation(days=3, time=1.5), UTC)
    '3 days on the calendar, or 1.5 times the time, whichever ends later'
    """
    days = f"{_count(accommodation.days, 'day')} on the calendar" if accommodation.days else ""
    time = f"{accommodation.time:g} times the time" if accommodation.time > 1 else ""
    until = f", for what is due until {shown_time(accommodation.until, zone)}" if accommodation.until else ""
    return (f"{days}, or {time}, whichever ends later" if days and time else days or time) + until


def hours_in_words(time: timedelta) -> str:
    """A length of time in hours.

    >>> hours_in_words(timedelta(days=2, hours=1)), hours_in_words(timedelta(minutes=90))
    ('49 hours', '1.5 hours')
    """
    return _count(round(time / timedelta(hours=1), 2), "hour")


def _count(amount: float, unit: str) -> str:
    return f"{amount:.10g} {unit}{'s' * (amount != 1)}"


def _read(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Terms out of JSON: texts are times."""
    return {name: datetime.fromisoformat(value) if isinstance(value, str) else value for name, value in terms.items()}


def _without_empty(content: dict[str, Any]) -> dict[str, Any]:
    """A record without the assignments for which nothing is kept."""
    return {
        part: {name: value for name, value in entries.items() if value or part not in ("extensions", "written")}
        for part, entries in content.items()
    }
