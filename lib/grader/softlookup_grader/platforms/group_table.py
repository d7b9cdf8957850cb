"""Groups from a table: a row for each group, or a row for each student with the group's name beside it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from softlookup_command.plain_text import one_line
from softlookup_grader.course.folder import Course
from softlookup_grader.course.student_ids import nobody
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.tables import Table
from softlookup_grader.platforms.roster import TITLES
from softlookup_grader.platforms.worksheet import class_list

_GROUP = ("group", "group name", "team", "gruppe", "groupe", "grupo", "gruppo", "groep", "grupp", "grupa")
"""Titles of a column with the names of groups."""

_IDS = tuple(title for title in TITLES["id"] if title != "student")
"""Titles of a column with one id in each row; beside a "student", there may be a second one."""

_NAMES = ("name", "full name", *TITLES["first_name"], *TITLES["last_name"])
"""Titles of a column with names, which may be spelt as somebody's id is."""


@dataclass(frozen=True)
class GroupTable:
    """Groups as a table has them.

    Attributes:
        groups: The ids of each.
        understood: How the table was read, one sentence.
    """

    groups: tuple[tuple[str, ...], ...]
    understood: str


def read_groups(course: Course, sheet: Table) -> GroupTable:
    """Read groups of the course's class; students are known by id, e-mail address or lms_user_id.

    Cells may hold several students, with commas between them. CourseError if the table names nobody of the class,
    somebody who is not in it, or no group of two or more.
    """
    known = _known(course)
    rows = sheet.rows
    if any(cell.strip().casefold() in known for cell in sheet.header):
        rows = [sheet.header, *rows]  # a table without titles
    named = sheet.find(*_GROUP)
    names = {sheet.find(title) for title in _NAMES}
    columns = [at for at in range(len(sheet.header)) if any(_ids(row[at], known) for row in rows)]
    columns = [at for at in columns if at not in names] or columns
    # Names of groups may be numbers that are ids, too; a column of whole groups stands alone.
    columns = _surest(rows, [at for at in columns if at != named] or columns, known)
    if not columns:
        raise CourseError(
            f"no cell of the table is the id of a student in the class (its columns: {sheet.titles()}): give a row for "
            "each group with the ids of its members, or a column of ids and one of groups"
        )
    titled = sheet.find(*_IDS)
    ids = titled if titled in columns else columns[0]
    assert ids is not None
    single = titled == ids or all(len({who for at in columns for who in _ids(row[at], known)}) < 2 for row in rows)
    if named not in (None, ids) and single and all(len(_parts(row[ids])) < 2 for row in rows):
        assert named is not None
        sheet.mean(ids, "student")
        sheet.mean(named, "group")
        by_name: dict[str, list[str]] = {}
        for row in rows:
            if row[named].strip():
                cell = next((row[at] for at in (ids, *columns) if row[at].strip()), "")
                by_name.setdefault(row[named].strip(), []).extend(_required(cell, known, course))
        groups = tuple(map(tuple, by_name.values()))
    else:
        for at in columns:
            sheet.mean(at, "member of the group")
        rest = [at for at in range(len(sheet.header)) if at not in (*columns, *names, named)]
        several = []
        for row in rows:
            group = [who for at in columns for who in _required(row[at], known, course)]
            if len(group) == 1:  # nobody hands in with nobody: another cell is a mistaken id
                group += [who for at in rest for who in _required(row[at], known, course)]
            several.append(tuple(dict.fromkeys(group)))
        groups = tuple(group for group in several if group)
    if not any(len(set(group)) > 1 for group in groups):
        raise CourseError(
            f"the table gives no group of two or more students, so nothing was changed ({sheet.understood()}); --end "
            "in its place removes the groups"
        )
    return GroupTable(groups, sheet.understood())


def _known(course: Course) -> dict[str, str]:
    """Ids of the class by everything that a table may know them by, in lower case; what two share finds nobody."""
    with course.gradebook() as book:
        people = class_list(book)
    by_key: dict[str, set[str]] = {}
    for person in people:
        for key in (person.lms_user_id, person.email):
            if key.strip():
                by_key.setdefault(key.strip().casefold(), set()).add(person.student)
    for student in course.students():
        by_key[student.casefold()] = {student}
    return {key: students.pop() for key, students in by_key.items() if len(students) == 1}


def _parts(cell: str) -> list[str]:
    return [part.strip() for part in re.split("[,;]", cell) if part.strip()]


def _ids(cell: str, known: dict[str, str]) -> list[str]:
    return [known[part.casefold()] for part in _parts(cell) if part.casefold() in known]


def _required(cell: str, known: dict[str, str], course: Course) -> Iterator[str]:
    for part in _parts(cell):
        if part.casefold() not in known:
            raise CourseError(f"{one_line(nobody(part, course.students()), 400)}; nothing was changed")
        yield known[part.casefold()]


def _surest(rows: Sequence[Sequence[str]], columns: Sequence[int], known: dict[str, str]) -> list[int]:
    """Of columns that hold the same students, such as ids and e-mail addresses, the first one."""
    chosen: list[int] = []
    for at in columns:
        students = [tuple(_ids(row[at], known)) for row in rows]
        if not any(students == [tuple(_ids(row[other], known)) for row in rows] for other in chosen):
            chosen.append(at)
    return chosen
