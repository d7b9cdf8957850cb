"""Moodle's grading worksheet: it says which student a participant number of one assignment stands for.

Moodle numbers participants anew for each assignment, so the full name has to agree as well. Source: Moodle,
mod/assign/classes/downloader.php: a folder begins with the full name, "Participant" under blind marking, or a group's
name, then "_" and the number; underscores of a name become blanks, and quotes, colons and slashes go.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from softlookup_command.plain_text import one_line
from softlookup_grader.course.folder import Course
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.tables import Table, are_addresses, are_numbered, as_number, key_of
from softlookup_grader.platforms.lms_sheet import MOODLE_KEYS, by_key

WORKSHEET = "grading worksheet that Moodle gives"
NO_WORKSHEET = (
    "Moodle's participant number is no id of a student: give the grading worksheet of this assignment with --worksheet"
)
_IDENTIFIER = re.compile(r"(.*?)\s*(\d+)\s*")


@dataclass(frozen=True)
class Person:
    """A student of the class list, by everything that a learning platform may know."""

    student: str  # the student's id in this course
    lms_user_id: str = ""  # the id in a learning platform, empty if there is none
    email: str = ""  # the e-mail address, likewise


def class_list(book: Any) -> list[Person]:
    """The class list of an open gradebook."""
    return [Person(student.id, str(student.lms_user_id or ""), student.email or "") for student in book.students]


@dataclass(frozen=True)
class Columns:
    """Where a grading worksheet holds what, in whatever language; None if it does not."""

    identifier: int | None  # "Participant 7"
    name: int | None  # the full name, hidden under blind marking
    grade: int | None  # the grade
    maximum: int | None  # the highest grade
    changeable: int | None  # whether the grade can be changed


def worksheet_columns(table: Table, grade: str | None = None) -> Columns:
    """Find the columns of a grading worksheet: by Moodle's English titles, else by what they hold and where they stand.

    The name stands right of the identifier ("Participant 7"). The maximum is one number in all rows, between the grade
    and one or two words that say whether that can be changed.
    """
    width = range(len(table.header))

    def number_or_nothing(at: int) -> bool:
        return all(cell == "-" or as_number(cell) is not None for cell in table.cells(at))

    def one_number(at: int) -> bool:
        cells = table.cells(at)
        numbers = set(map(as_number, cells))
        return len(cells) == len(table.rows) and len(numbers) == 1 and (numbers.pop() or 0) > 0

    identifier = table.find("Identifier")
    if identifier is None:
        identifier = next((at for at in width if are_numbered(table.cells(at))), None)
    name = table.find("Full name")
    if name is None and identifier is not None and identifier + 1 in width:
        name = None if are_addresses(table.cells(identifier + 1)) else identifier + 1
    scores = table.column(grade) if grade else table.find("Grade")
    highest = table.find("Maximum Grade")
    if highest is None:
        candidates = [
            at for at in width[1:] if one_number(at) and number_or_nothing(at - 1) and scores in (None, at - 1)
        ]
        highest = candidates[0] if len(candidates) == 1 else None
    if scores is None and highest:
        scores = highest - 1
    free = table.find("Grade can be changed")
    if free is None and highest is not None and highest + 1 in width:
        words = table.cells(highest + 1)
        free = highest + 1 if len(words) == len(table.rows) and 0 < len(set(words)) < 3 else None
    columns = Columns(identifier, name, scores, highest, free)
    meanings = ("identifier", "name", "grade", "maximum", "mark whether a grade can be changed")
    for at, meaning in zip((identifier, name, scores, highest, free), meanings, strict=True):
        if at is not None:
            table.mean(at, meaning)
    return columns


def not_a_worksheet(table: Table) -> str:
    """Why a table cannot be a grading worksheet, one sentence."""
    expected = "a column of participant numbers such as 'Participant 7', in any language"
    return f"the file is not a {WORKSHEET}: wanted {expected}, got {table.titles()}"


class Worksheet:
    """The grading worksheet of one assignment."""

    def __init__(self, table: Table, people: Sequence[Person]) -> None:
        """Read it as Moodle gave it; CourseError if it is no such worksheet."""
        columns = worksheet_columns(table)
        if columns.identifier is None:
            raise CourseError(not_a_worksheet(table))
        self._sheet, self._name = table, columns.name
        self._known = by_key(people)
        self._keys = table.take_ids(MOODLE_KEYS, self._known, columns.grade)
        self._rows: dict[str, list[tuple[str, list[str]]]] = {}
        for row in table.rows:
            match = _IDENTIFIER.fullmatch(row[columns.identifier])
            if match:
                self._rows.setdefault(_number(match[2]), []).append((match[1], row))

    def understood(self) -> str:
        """How the table was read, one sentence."""
        return self._sheet.understood()

    def has(self, participant: str) -> bool:
        """Whether it has a participant of this number."""
        return _number(participant) in self._rows

    def whose(self, participant: str, name: str) -> tuple[str, str]:
        """Say which student a participant is, by the number in a folder's name and what stands before it."""
        rows = self._rows.get(_number(participant), [])
        if len(rows) != 1:
            problem = "is not" if not rows else "stands twice"
            cure = "download the worksheet of this assignment again"
            return "", f"participant {participant} {problem} in the grading worksheet: {cure}"
        label, row = rows[0]
        called = row[self._name] if self._name is not None else ""
        # Under blind marking every folder has the worksheet's own word where a name would be.
        if not _same_name(name, called) and not (label and _same_name(name, label)):
            quoted_name = f"{one_line(called)!r}" if called.strip() else "nobody by name"
            return "", (
                f"the grading worksheet has {quoted_name} as participant {participant}, and the archive has "
                f"{one_line(name)!r}: it may be a group's submission or the worksheet of another assignment; hand it "
                "in by hand"
            )
        keys = (key_of(row[index]) for index in self._keys)
        students = sorted({self._known[key].student for key in keys if key in self._known})
        if len(students) == 1:
            return students[0], ""
        if students:
            return "", f"the worksheet's row of participant {participant} fits {' and '.join(map(one_line, students))}"
        return "", (
            f"the class list has no student with the ID number, username or e-mail address of participant "
            f"{participant}: give the student one of them as id, lms_user_id or email"
        )

    def participants(self) -> Iterator[tuple[str, str, str]]:
        """Go over everybody in it: the participant number, and what :meth:`whose` says of it."""
        for participant, ((label, row), *_) in self._rows.items():
            yield participant, *self.whose(participant, (row[self._name] if self._name is not None else "") or label)


def worksheet_of(course: Course, table: Table) -> Worksheet:
    """Read a table as the grading worksheet of one assignment of a course; CourseError if it is none."""
    with course.gradebook() as book:
        return Worksheet(table, class_list(book))


def _number(digits: str) -> str:
    return digits.lstrip("0")


def _same_name(first: str, second: str) -> bool:
    """Whether two spellings are one name: case, blanks, punctuation and the composition of letters do not count.

    >>> _same_name("Bo  ONeil", "Bo O'Neil"), _same_name("Ada", "Adam"), _same_name("", "")
    (True, False, False)
    """
    return bool(_letters(first)) and _letters(first) == _letters(second)


def _letters(name: str) -> str:
    spelt = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(c for c in spelt if unicodedata.category(c)[0] in "LMN")
