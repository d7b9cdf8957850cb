"""When submissions came, from a table, into ``timestamp.txt`` beside each notebook: archives do not say it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from softlookup_command.plain_text import one_line
from softlookup_grader.course.arrived import UNREADABLE, arrivals
from softlookup_grader.course.folder import Course
from softlookup_grader.course.inbox import STAMP, has_folder
from softlookup_grader.data.dates import naive_utc, read_time, shown_time
from softlookup_grader.data.disk import atomic_write
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.tables import Table, key_of
from softlookup_grader.platforms.lms_sheet import MOODLE_KEYS, by_key
from softlookup_grader.platforms.roster import TITLES
from softlookup_grader.platforms.worksheet import Person, class_list

TIME_COLUMNS = (
    *("time", "datetime", "date time", "timestamp", "submission_timestamp", "submission time", "submission date"),
    *("submitted", "submitted at", "submitted on", "handed in", "pushed at", "date", "Last modified (submission)"),
)
"""Usual titles of a column that holds a time, the surest first; the last one is that of Moodle's grading worksheet."""

ID_COLUMNS = tuple(dict.fromkeys((*TITLES["id"], "lms_user_id", "roster_identifier", *MOODLE_KEYS)))
_NONE = ("", "-")


@dataclass(frozen=True)
class Times:
    """What a table of times says."""

    came: Mapping[str, datetime]  # when each student's submission came, in UTC; of several rows the latest time
    notes: tuple[str, ...]  # one sentence for each row that was left out, and why, and for each student of several rows
    understood: str  # how the table was read, and the first and the last time in it, a few lines


def read_times(course: Course, assignment: str, table: Table, zone: tzinfo) -> Times:
    """Read who came when, in ``zone`` where a time names none, and which rows are left out; nothing is written."""
    with course.gradebook() as book:
        known = by_key(class_list(book))
    when = table.take("time", *TIME_COLUMNS, like=_are_times)
    keys = table.take_ids(ID_COLUMNS, known)
    if when is None or not keys:
        raise CourseError(
            f"the table of times needs a column for the time ({', '.join(TIME_COLUMNS)}) and one for the student "
            f"({', '.join(ID_COLUMNS)}), and has {table.titles()}"
        )
    came: dict[str, datetime] = {}
    rows = Counter[str]()
    collected = arrivals(course, assignment).by_student
    unreadable = {student: arrival.why for student, arrival in collected.items() if arrival.state == UNREADABLE}
    notes = []
    for row_number, row in enumerate(table.rows, 2):
        text = row[when].strip()
        if text in _NONE:
            continue
        student, problem = _whose([key_of(row[column]) for column in keys], known)
        if not problem and not has_folder(course, assignment, student):
            why = unreadable.get(student)
            says = "has handed in nothing" if why is None else f"has handed in what cannot be graded: {why}"
            problem = f"{one_line(student)} {says}"
        if not problem:
            try:
                at = naive_utc(read_time(text, zone))
                came[student] = max(at, came.get(student, at))
                rows[student] += 1
            except CourseError as error:
                problem = f"the time of {one_line(student)}: {error}"
        if problem:
            notes.append(f"row {row_number} was left out: {problem}")
    if notes and not came:
        raise CourseError(f"no row of the table can be used. It was {table.understood()}. {'; '.join(notes[:3])}")
    notes += [f"{one_line(name)} stands in {n} rows: the latest time counts" for name, n in rows.items() if n > 1]
    lines = [table.understood()]
    if came:
        ends = (shown_time(pick(came.values()), course.zone) for pick in (min, max))
        lines.append(f"times without a zone are those of {zone}; {' is the first, '.join(ends)} the last")
    return Times(came, tuple(notes), "\n".join(lines))


def write_times(course: Course, assignment: str, came: Mapping[str, datetime]) -> None:
    """Write times, in UTC, beside the submissions."""
    for student, at in came.items():
        # A student may have put a link in its place: it is replaced, and not followed.
        stamp = course.folder("submitted", student, assignment) / STAMP
        atomic_write(stamp, f"{at:%Y-%m-%d %H:%M:%S} UTC\n".encode())


def _are_times(cells: list[str]) -> bool:
    """Whether most cells can be read as times."""
    filled_cells = [cell for cell in cells if cell not in _NONE]
    return 2 * sum(map(_is_time, filled_cells)) > len(filled_cells)


def _is_time(text: str) -> bool:
    try:
        read_time(text)
    except CourseError:
        return False
    return True


def _whose(keys: Sequence[str], known: Mapping[str, Person]) -> tuple[str, str]:
    """The student whom a row names, or why there is none."""
    students = sorted({known[key].student for key in keys if key in known})
    if len(students) == 1:
        return students[0], ""
    row_keys = ", ".join(one_line(key) for key in keys if key) or "nobody"
    return "", f"it names {row_keys}, which fits {len(students) or 'no'} students of the class list"
