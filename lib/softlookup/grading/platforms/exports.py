"""Grades as CSV: a plain table of our own, or one column filled in in the file that Canvas or Moodle gave.

A file of theirs goes back as it came but for that one column: they find their students again by ids that only they
know, and a comment that was changed on the way would be taken in. So its other columns hold what they held, formulas
too, and a note says that there are some. In our own table every text is guarded (cells.py), since names and ids are
written by students; numbers stay numbers.

Source: Canvas, lib/gradebook_exporter.rb and lib/gradebook_importer.rb of instructure/canvas-lms: the columns Student,
ID, SIS User ID, SIS Login ID, Section, then "TITLE (ID)" for each assignment; rows of which the first cell is empty
("Manual Posting") or holds "Points Possible" are no students. Moodle, mod/assign/gradingtable.php and
mod/assign/feedback/offline of moodle/moodle: Identifier ("Participant 7"), Full name, identity fields such as ID number
and Email address, Status, Grade, Maximum Grade, Grade can be changed, Last modified (grade); a grade above the maximum,
and one that cannot be changed, is passed over without a word.
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from softlookup.grading.course.grade_sheet import SheetRow
from softlookup.grading.course.notebooks import task_id
from softlookup.grading.data.errors import CourseError
from softlookup.grading.data.records import GRADED
from softlookup.grading.platforms.cells import as_number, guarded
from softlookup.grading.platforms.lms_sheet import BOM, MOODLE_KEYS, Filled, Options, Sheet, amount, fill, waiting_notes

KINDS = ("csv", "canvas", "moodle")
_CANVAS_KEYS = ("SIS Login ID", "SIS User ID", "ID", "Integration ID")
_CANVAS_READ_ONLY = "(read only)"


@dataclass(frozen=True)
class Export:
    """A file of grades, ready to be written, and what has to be said about it.

    Attributes:
        text: The file's text.
        written: How many students have a grade in it.
        notes: What did not fit, one sentence each.
    """

    text: str
    written: int
    notes: tuple[str, ...] = ()

    def write(self, path: Path) -> None:
        """Write the file in UTF-8, whole or not at all.

        Raises:
            CourseError: If the disk refuses it.
        """
        from softlookup.grading.data.disk import atomic_write

        atomic_write(path, self.text.encode("utf-8", "replace"))


def plain_table(lines: Sequence[SheetRow]) -> Export:
    """Our own table: student, names, email, status, raw score, late penalty, score, maximum, and each task.

    It begins with a byte-order mark, by which Excel sees that it is UTF-8. A task without a grade is an empty cell.

    Args:
        lines: The class.
    """
    cells = list(dict.fromkeys(name for line in lines for name in line.cells))
    out = io.StringIO()
    writer = csv.writer(out)
    fixed = ("student", "last_name", "first_name", "email", "status")
    scores = ("raw_score", "late_submission_penalty", "score", "max_score")
    writer.writerow([*fixed, *scores, *(task_id(name) for name in cells)])
    for line in lines:
        record = (line.student, line.last_name, line.first_name, line.email, line.status)
        numbers = (line.raw, line.penalty, line.score, line.max)
        tasks = [
            amount(line.cells[name].points) if name in line.cells and line.cells[name].entered else "" for name in cells
        ]
        writer.writerow([*(guarded(text) for text in record), *(amount(n) for n in numbers), *tasks])
    return Export(BOM + out.getvalue(), sum(line.status == GRADED for line in lines), waiting_notes(lines))


def fill_canvas(text: str, lines: Sequence[SheetRow], assignment: str, options: Options | None = None) -> Export:
    """Fill in one assignment's column in the CSV that Canvas exports.

    Students are found by SIS Login ID, SIS User ID or ID: one of them has to be the student's id in this course, its
    email or its lms_user_id in nbgrader's class list.

    Args:
        text: The file that Canvas exported.
        lines: The class.
        assignment: Name of the assignment; its column is "04_one_head (123)", or the one that options name.
        options: How to fill it in.

    Raises:
        CourseError: If it is no such file, or the column is not there.
    """
    options = options or Options()
    sheet = Sheet(text, ("Student", "ID"), "gradebook that Canvas exports", ("LastName", "FirstName", "ID"))
    column = _canvas_column(sheet, options.column or assignment)
    possible = next((row for row in sheet.rows if "Points Possible" in row[0]), None)
    if possible is not None and _CANVAS_READ_ONLY in possible[column]:
        raise CourseError(f"Canvas computes the column {sheet.header[column]!r} itself: name an assignment's column")
    maximum = as_number(possible[column]) if possible is not None else None
    people = [row for row in sheet.rows if row[0].strip() and "Points Possible" not in row[0]]
    filled = fill(sheet, people, column, lambda row: maximum, lines, _CANVAS_KEYS, options)
    return _export(filled, "Canvas")


def _canvas_column(sheet: Sheet, assignment: str) -> int:
    """The column of an assignment, "TITLE (ID)": the title is its name, in whatever spelling, id or not."""
    exact = sheet.find(assignment.strip())
    if exact is not None:
        return exact

    def bare(title: str) -> str:
        return re.sub(r"[\W_]+", " ", re.sub(r"\s*\(\d+\)\s*$", "", title)).strip().casefold()

    found = [index for index, title in enumerate(sheet.header) if bare(title) == bare(assignment)]
    if len(found) == 1:
        return found[0]
    have = ", ".join(repr(title) for title in sheet.header if re.search(r"\(\d+\)\s*$", title)) or "none"
    problem = "no column" if not found else "several columns"
    raise CourseError(f"the file has {problem} for {assignment} (its assignments: {have}): name one with --column")


def fill_moodle(text: str, lines: Sequence[SheetRow], options: Options | None = None) -> Export:
    """Fill in the Grade column of the grading worksheet that Moodle gives for one assignment.

    Students are found by ID number, Username or Email address: one of them has to be the student's id in this course,
    its email or its lms_user_id in nbgrader's class list. The Identifier, "Participant 7", is another one in each
    assignment and finds nobody.

    Args:
        text: The worksheet.
        lines: The class.
        options: How to fill it in.

    Raises:
        CourseError: If it is no such worksheet, or students are to be found by Identifier.
    """
    options = options or Options()
    if options.match and options.match.strip().casefold() == "identifier":
        raise CourseError(
            "Moodle numbers participants anew for each assignment, so Identifier finds nobody for sure: match by "
            f"{', '.join(MOODLE_KEYS[:-1])} or {MOODLE_KEYS[-1]}"
        )
    needed = () if options.column and options.match else ("Identifier", options.column or "Grade")
    sheet = Sheet(text, needed, "grading worksheet that Moodle gives")
    column = sheet.column(options.column or "Grade")
    top, free = sheet.find("Maximum Grade"), sheet.find("Grade can be changed")

    def maximum(row: list[str]) -> float | None:
        return None if top is None else as_number(row[top])

    filled = fill(sheet, sheet.rows, column, maximum, lines, MOODLE_KEYS, options)
    locked = [row for row in filled.given if free is not None and row[free].strip().casefold() == "no"]
    if locked:
        filled.notes.append(f"Moodle will not accept grades that are locked there: {len(locked)}; unlock them first")
    return _export(filled, "Moodle")


def _export(filled: Filled, system: str) -> Export:
    """The file, and what to say about it."""
    notes = list(filled.notes)
    if filled.over:
        cure = "Moodle ignores them" if system == "Moodle" else "Canvas counts them as extra points"
        notes.append(f"grades above the maximum in the file: {filled.over}; {cure}, unless you use --scale")
    if filled.strangers:
        notes.append(f"these are in the file from {system}, but not in this class: {', '.join(filled.strangers)}")
    return Export(filled.sheet.text(), len(filled.given), tuple(notes))
