"""Groups from a table: a row for each group, or a row for each student with the group's name beside it."""

import re
from collections.abc import Iterator, Sequence

from softlookup_command.plain_text import one_line
from softlookup_grader.course.folder import Course
from softlookup_grader.course.student_ids import nobody
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.tables import Table, key_of
from softlookup_grader.platforms.lms_sheet import by_key
from softlookup_grader.platforms.roster import TITLES
from softlookup_grader.platforms.worksheet import class_list

_GROUP = ("group", "group name", "team", "gruppe", "groupe", "grupo", "gruppo", "groep", "grupp", "grupa")
"""Titles of a column with the names of groups."""

_IDS = tuple(title for title in TITLES["id"] if title != "student")
"""Titles of a column with one id in each row; beside a "student", there may be a second one."""

_NAMES = ("name", "full name", *TITLES["first_name"], *TITLES["last_name"])
"""Titles of a column with names, which may be spelt as somebody's id is."""


def read_groups(course: Course, table: Table) -> tuple[tuple[str, ...], ...]:
    """Read groups of ids; a class is known by ids, e-mail addresses or lms_user_ids, commas separate several."""
    known = _known(course)
    rows = table.rows
    if any(key_of(cell) in known for cell in table.header):
        rows = [table.header, *rows]  # a table without titles
    group_column = table.find(*_GROUP)
    names = {table.find(title) for title in _NAMES}
    columns = [at for at in range(len(table.header)) if any(_ids(row[at], known) for row in rows)]
    columns = [at for at in columns if at not in names] or columns
    # Names of groups may be numbers that are ids, too; a column of whole groups stands alone.
    columns = _surest(rows, [at for at in columns if at != group_column] or columns, known)
    if not columns:
        raise CourseError(
            f"no cell of the table is the id of a student in the class (its columns: {table.titles()}): give a row for "
            "each group with the ids of its members, or a column of ids and one of groups"
        )
    titled = table.find(*_IDS)
    ids = titled if titled in columns else columns[0]
    assert ids is not None
    single = titled == ids or all(len({who for at in columns for who in _ids(row[at], known)}) < 2 for row in rows)
    if group_column not in (None, ids) and single and all(len(_parts(row[ids])) < 2 for row in rows):
        assert group_column is not None
        table.mean(ids, "student")
        table.mean(group_column, "group")
        by_name: dict[str, list[str]] = {}
        for row in rows:
            if row[group_column].strip():
                cell = next((row[at] for at in (ids, *columns) if row[at].strip()), "")
                by_name.setdefault(row[group_column].strip(), []).extend(_required(cell, known, course))
        groups = tuple(map(tuple, by_name.values()))
    else:
        for at in columns:
            table.mean(at, "member of the group")
        other_columns = [at for at in range(len(table.header)) if at not in (*columns, *names, group_column)]
        several = []
        for row in rows:
            group = [who for at in columns for who in _required(row[at], known, course)]
            if len(group) == 1:  # nobody hands in with nobody: another cell is a mistaken id
                group += [who for at in other_columns for who in _required(row[at], known, course)]
            several.append(tuple(dict.fromkeys(group)))
        groups = tuple(group for group in several if group)
    if not any(len(set(group)) > 1 for group in groups):
        raise CourseError(
            f"the table gives no group of two or more students, so nothing was changed ({table.understood()}); --end "
            "in its place removes the groups"
        )
    return groups


def _known(course: Course) -> dict[str, str]:
    """Ids of the class by everything that a table may know them by; what two share finds nobody, an id its student."""
    with course.gradebook() as book:
        known = {key: person.student for key, person in by_key(class_list(book)).items()}
    return known | {key_of(student): student for student in course.students()}


def _parts(cell: str) -> list[str]:
    return [part.strip() for part in re.split("[,;]", cell) if part.strip()]


def _ids(cell: str, known: dict[str, str]) -> list[str]:
    return [known[key_of(part)] for part in _parts(cell) if key_of(part) in known]


def _required(cell: str, known: dict[str, str], course: Course) -> Iterator[str]:
    for part in _parts(cell):
        if key_of(part) not in known:
            raise CourseError(f"{one_line(nobody(part, course.students()), 400)}; nothing was changed")
        yield known[key_of(part)]


def _surest(rows: Sequence[Sequence[str]], columns: Sequence[int], known: dict[str, str]) -> list[int]:
    """Of columns that hold the same students, such as ids and e-mail addresses, the first one."""
    chosen: list[int] = []
    for at in columns:
        students = [tuple(_ids(row[at], known)) for row in rows]
        if not any(students == [tuple(_ids(row[other], known)) for row in rows] for other in chosen):
            chosen.append(at)
    return chosen
