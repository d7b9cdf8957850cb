"""When submissions came, from a table: an archive of Moodle's or Canvas's does not say it.

The times are written where nbgrader looks for them, into ``timestamp.txt`` beside each notebook.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from softlookup.grading.course.deadlines import as_time
from softlookup.grading.course.folder import Course
from softlookup.grading.course.inbox import STAMP, has_folder
from softlookup.grading.data.disk import atomic_write
from softlookup.grading.data.errors import CourseError
from softlookup.grading.data.plain_text import one_line
from softlookup.grading.platforms.lms_sheet import MOODLE_KEYS, Sheet, by_key
from softlookup.grading.platforms.worksheet import Person, class_list

TIME_COLUMNS = ("time", "submitted", "submitted_at", "submission_timestamp", "Last modified (submission)")
"""Columns that hold a time; the last two are those of GitHub Classroom's grades and Moodle's grading worksheet."""

ID_COLUMNS = ("id", "lms_user_id", "email", "roster_identifier", *MOODLE_KEYS)
_NONE = ("", "-")


@dataclass(frozen=True)
class Times:
    """What became of a table of times.

    Attributes:
        written: Ids of the students whose time was written.
        notes: One sentence for each row that was left out, and why.
    """

    written: tuple[str, ...]
    notes: tuple[str, ...]


def write_times(course: Course, assignment: str, text: str, zone: str = "") -> Times:
    """Write the times of a table beside the submissions.

    Args:
        course: The course's folder.
        assignment: Name of the assignment.
        text: The table, CSV: a column of ``TIME_COLUMNS`` and one of ``ID_COLUMNS``.
        zone: The time zone of times that name none, "Europe/London"; UTC if it is empty.

    Returns:
        Who has a time now, and which rows were left out. A row without a time is no submission, and is not named.

    Raises:
        CourseError: If the table has no such columns, or the zone is unknown.
    """
    sheet = Sheet(text, (), "table of times")
    when = next((at for at in map(sheet.find, TIME_COLUMNS) if at is not None), None)
    keys = [at for at in map(sheet.find, ID_COLUMNS) if at is not None]
    if when is None or not keys:
        raise CourseError(
            f"the table of times needs a column for the time ({', '.join(TIME_COLUMNS)}) and one for the student "
            f"({', '.join(ID_COLUMNS)}), and has {', '.join(map(repr, sheet.header))}"
        )
    if zone:
        as_time("2000-01-01 00:00", zone)
    with course.gradebook() as book:
        known = by_key(class_list(book))
    written, notes = [], []
    for number, row in enumerate(sheet.rows, 2):
        said = row[when].strip()
        if said in _NONE:
            continue
        student, problem = _whose([row[at].strip().casefold() for at in keys], known)
        if not problem:
            problem = _write(course, assignment, student, said, zone)
        if problem:
            notes.append(f"row {number} was left out: {problem}")
        else:
            written.append(student)
    return Times(tuple(written), tuple(notes))


def _whose(keys: Sequence[str], known: dict[str, Person]) -> tuple[str, str]:
    """The student whom a row names, or why there is none."""
    found = sorted({known[key].student for key in keys if key in known})
    if len(found) == 1:
        return found[0], ""
    shown = ", ".join(one_line(key) for key in keys if key) or "nobody"
    return "", f"it names {shown}, which fits {len(found) or 'no'} students of the class list"


def _write(course: Course, assignment: str, student: str, said: str, zone: str) -> str:
    """Write one time; why it could not be written, or an empty text."""
    if not has_folder(course, assignment, student):
        return f"{one_line(student)} has handed in nothing"
    try:
        found = as_time(said, zone)
    except CourseError as error:
        return f"the time of {one_line(student)}: {error}"
    if found is None:
        return f"the time of {one_line(student)} is missing"
    # A student may have put a link in its place: it is replaced, and not followed.
    atomic_write(course.folder("submitted", student, assignment) / STAMP, f"{found:%Y-%m-%d %H:%M:%S} UTC\n".encode())
    return ""
