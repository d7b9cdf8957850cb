"""Grades as CSV: a plain table of our own, or one column filled in in the file that Canvas or Moodle gave.

Theirs goes back as it came but for that column; of formulas in it a note warns. In ours every text is guarded
(cells.py). Source: Canvas, lib/gradebook_exporter.rb and gradebook_importer.rb: a row whose first cell is empty or has
"Points Possible" is no student. Moodle, mod/assign/gradingtable.php and feedback/offline: grades above the maximum, and
locked ones, are passed over without a word.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from softlookup_command.plain_text import one_line
from softlookup_grader.course.grade_sheet import SheetRow
from softlookup_grader.course.notebooks import task_id
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import GRADED
from softlookup_grader.data.tables import BOM, Table, amount, as_number
from softlookup_grader.platforms.cells import guarded
from softlookup_grader.platforms.lms_sheet import (
    MOODLE_KEYS,
    Filled,
    Options,
    by_key,
    fill,
    refused_notes,
    waiting_notes,
)
from softlookup_grader.platforms.worksheet import not_a_worksheet, worksheet_columns

_CANVAS_KEYS = ("SIS Login ID", "SIS User ID", "ID", "Integration ID")
_CANVAS_READ_ONLY = "(read only)"


@dataclass(frozen=True)
class Export:
    """A file of grades, ready to be written, and what has to be said about it."""

    text: str  # the file's text
    written: int  # how many students have a grade in it
    notes: tuple[str, ...] = ()  # what did not fit, one sentence each
    understood: str = ""  # how the platform's file was read, one sentence; empty if there was none
    encoding: str = "utf-8"  # how the file encodes text

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all; CourseError if the disk refuses it."""
        from softlookup_grader.data.disk import atomic_write

        atomic_write(path, self.text.encode(self.encoding, "replace"))


def plain_table(lines: Sequence[SheetRow], decimal: str = ".", zeros: bool = False) -> Export:
    """Our own table, with a byte-order mark for Excel; a cell without a grade is empty, or 0 with ``zeros``.

    With a decimal comma, semicolons separate cells, as a spreadsheet in German, French or Spanish reads CSV.
    """
    cells = list(dict.fromkeys(name for line in lines for name in line.cells))
    out = io.StringIO()
    writer = csv.writer(out, delimiter=";" if decimal == "," else ",")

    def points_text(points: float) -> str:
        return amount(points).replace(".", decimal)

    fixed = ("student", "last_name", "first_name", "email", "status")
    scores = ("raw_score", "late_submission_penalty", "score", "max_score")
    writer.writerow([*fixed, *scores, *(task_id(name) for name in cells)])
    for line in lines:
        texts = (line.student, line.last_name, line.first_name, line.email, line.status)
        if line.status == GRADED:
            numbers = [points_text(points) for points in (line.raw, line.penalty, line.score)]
            entered = {name: points_text(cell.points) for name, cell in line.cells.items() if cell.entered}
        else:
            numbers, entered = ["", "", "0" if zeros else ""], {}
        tasks = [entered.get(name, "") for name in cells]
        writer.writerow([*(guarded(text) for text in texts), *numbers, points_text(line.max), *tasks])
    notes = (*refused_notes(lines, zeros), *waiting_notes(lines))
    return Export(BOM + out.getvalue(), sum(line.status == GRADED for line in lines), notes)


def fill_canvas(table: Table, lines: Sequence[SheetRow], assignment: str, options: Options | None = None) -> Export:
    """Fill in an assignment's column, "04_one_head (123)" or the one that options name, in the CSV of Canvas."""
    options = options or Options()
    table.require(("Student", "ID"), ("LastName", "FirstName", "ID"))
    column = table.mean(_canvas_column(table, options.column or assignment), "grade")
    possible = next((row for row in table.rows if "Points Possible" in row[0]), None)
    if possible is not None and _CANVAS_READ_ONLY in possible[column]:
        raise CourseError(f"Canvas computes the column {table.header[column]!r} itself: name an assignment's column")
    maximum = as_number(possible[column]) if possible is not None else None
    people = [row for row in table.rows if row[0].strip() and "Points Possible" not in row[0]]
    filled = fill(
        table, people, column, lambda row: maximum, lines, _keys(table, lines, _CANVAS_KEYS, options), options
    )
    return _export(filled, "Canvas", options)


def _canvas_column(table: Table, assignment: str) -> int:
    """The column of an assignment, "TITLE (ID)": the title is its name, in whatever spelling, id or not."""
    exact = table.find(assignment.strip())
    if exact is not None:
        return exact

    def bare(title: str) -> str:
        return re.sub(r"[\W_]+", " ", re.sub(r"\s*\(\d+\)\s*$", "", title)).strip().casefold()

    matches = [index for index, title in enumerate(table.header) if bare(title) == bare(assignment)]
    if len(matches) == 1:
        return matches[0]
    have = ", ".join(repr(title) for title in table.header if re.search(r"\(\d+\)\s*$", title)) or "none"
    problem = "no column" if not matches else "several columns"
    raise CourseError(f"the file has {problem} for {assignment} (its assignments: {have}): name one with --column")


def fill_moodle(table: Table, lines: Sequence[SheetRow], options: Options | None = None) -> Export:
    """Fill in the grades in Moodle's grading worksheet, in any language; the Identifier finds nobody, as it changes."""
    options = options or Options()
    columns = worksheet_columns(table, options.column)
    if columns.identifier is None and not (options.column and options.match):
        raise CourseError(not_a_worksheet(table))
    if columns.grade is None:
        raise CourseError(
            f"no column of the worksheet is surely that of the grades (it has: {table.titles()}): name it with --column"
        )
    if options.match and table.column(options.match) == columns.identifier:
        raise CourseError(
            f"Moodle numbers participants anew for each assignment, so {options.match} finds nobody for sure: match by "
            f"{', '.join(MOODLE_KEYS[:-1])} or {MOODLE_KEYS[-1]}"
        )

    def maximum(row: list[str]) -> float | None:
        return None if columns.maximum is None else as_number(row[columns.maximum])

    keys = _keys(table, lines, MOODLE_KEYS, options, columns.grade)
    filled = fill(table, table.rows, columns.grade, maximum, lines, keys, options)
    if columns.changeable is not None:
        word_counts = Counter(row[columns.changeable].strip().casefold() for row in filled.graded_rows)
        if word_counts["no"]:
            filled.notes.append(
                f"Moodle will not accept grades that are locked there: {word_counts['no']}; unlock them first"
            )
        elif len(word_counts) > 1:
            counts = ", ".join(f"{one_line(word)!r} {count} times" for word, count in word_counts.most_common())
            filled.notes.append(
                f"{table.header[columns.changeable]!r} says {counts}: Moodle ignores grades locked there"
            )
    return _export(filled, "Moodle", options)


def _keys(
    table: Table, lines: Sequence[SheetRow], usual: Sequence[str], options: Options, before: int | None = None
) -> list[int]:
    """The columns by which students are found."""
    if options.match:
        return [table.mean(table.column(options.match), "student")]
    return table.take_ids(usual, by_key(lines), before)


def _export(filled: Filled, system: str, options: Options) -> Export:
    """The file, and what to say about it."""
    notes = list(filled.notes)
    if filled.over:
        cure = "Moodle ignores them" if system == "Moodle" else "Canvas counts them as extra points"
        why = "they have more points than there are" if options.scale else "--scale scales all to that maximum"
        who = ", ".join(map(one_line, filled.over))
        notes.append(f"grades above the maximum in the file: {who}; {cure} ({why})")
    if filled.strangers:
        notes.append(f"these are in the file from {system}, but not in this class: {', '.join(filled.strangers)}")
    table = filled.table
    return Export(table.text(), len(filled.graded_rows), tuple(notes), table.understood(), table.encoding)
