"""Filling in a column of the file that Canvas or Moodle gave: whose each row is, and what is said of the rest."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from softlookup_command.plain_text import one_line
from softlookup_grader.course.grade_sheet import SheetRow
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import GRADED, MISSING, REFUSED
from softlookup_grader.data.tables import Table, key_of
from softlookup_grader.platforms.cells import is_formula

MOODLE_KEYS = ("ID number", "Username", "Email address")
"""Columns of Moodle's grading worksheet that hold a student's own ids, the surest first."""

_Known = TypeVar("_Known")  # a student with the ids of the class list: student, lms_user_id, email


@dataclass(frozen=True)
class Options:
    """How a file of Canvas or Moodle is filled in."""

    column: str | None = None  # the column for the grades; None finds it
    match: str | None = None  # the column that holds our students' ids; None tries those that usually do
    scale: bool = False  # whether points are scaled to the maximum that the file names
    zeros: bool = False  # whether those without a grade get 0: they handed in nothing, or what cannot be graded


@dataclass
class Filled:
    """A sheet whose column is filled in."""

    table: Table
    graded_rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    over: list[str] = field(default_factory=list)


def fill(
    table: Table,
    people: Sequence[list[str]],
    column: int,
    maximum: Callable[[list[str]], float | None],
    lines: Sequence[SheetRow],
    keys: Sequence[int],
    options: Options,
) -> Filled:
    """Write each student's score into its row, and keep account of who was not found, on both sides."""
    filled = Filled(table)
    rows = _matched(people, keys, lines, filled)
    if not rows:
        also = "".join(f"; {sentence}" for sentence in filled.notes)
        looked = ", ".join(repr(one_line(table.header[at], 40)) for at in keys) or "no column"
        raise CourseError(
            f"nobody in the file is known in this class by an id, e-mail address or lms_user_id (looked at {looked} of "
            f"{table.titles()}): name the ids' column with --match, or complete the class list{also}"
        )
    missing_count = 0
    for line in lines:
        if line.student not in rows:
            continue
        if line.status != GRADED and not options.zeros:
            missing_count += line.status == MISSING
            continue
        row = rows[line.student]
        best = maximum(row)
        score = line.score if line.status == GRADED else 0.0
        score = score * best / line.max if options.scale and best is not None and line.max else score
        if best is not None and score > best + 1e-9:
            filled.over.append(line.student)
        row[column] = table.amount(score)
        filled.graded_rows.append(row)
    absent = [one_line(line.student) for line in lines if line.student not in rows]
    if absent:
        filled.notes.append(f"these are in this class, but not in the file: {', '.join(absent)}")
    filled.notes.extend(refused_notes([line for line in lines if line.student in rows], options.zeros))
    if missing_count:
        filled.notes.append(
            f"students who handed in nothing: {missing_count}; their cells are unchanged (--zeros writes 0)"
        )
    formulas = sum(is_formula(cell) for row in table.rows for cell in row)
    if formulas:
        filled.notes.append(
            f"cells that a spreadsheet may take for formulas: {formulas}; they were left unchanged, so upload the "
            "file without opening it in a spreadsheet"
        )
    filled.notes.extend(waiting_notes(lines))
    return filled


def _matched(
    people: Sequence[list[str]], keys: Sequence[int], lines: Sequence[SheetRow], filled: Filled
) -> dict[str, list[str]]:
    """Each student's row. Where two rows fit, the one that fits by an earlier column counts; if none is, neither."""
    known = by_key(lines)
    fits: dict[str, list[tuple[int, list[str]]]] = {}
    for row in people:
        ranked = ((rank, key_of(row[index])) for rank, index in enumerate(keys))
        match = next(((rank, known[k].student) for rank, k in ranked if k in known), None)
        if match is None:
            filled.strangers.append(_who(row))
        else:
            fits.setdefault(match[1], []).append((match[0], row))
    rows = {}
    for student, candidates in fits.items():
        candidates.sort(key=lambda candidate: candidate[0])
        if len(candidates) == 1 or candidates[0][0] < candidates[1][0]:
            rows[student] = candidates.pop(0)[1]
            filled.strangers.extend(_who(row) for _, row in candidates)
        else:
            both = " and ".join(_who(row) for _, row in candidates[:2])
            filled.notes.append(f"{one_line(student)} matches two rows, {both}: no grade was written into either")
    return rows


def _who(row: Sequence[str]) -> str:
    """What a row of theirs is called in a note: its first two cells."""
    return one_line(" ".join(cell.strip() for cell in row[:2] if cell.strip()) or "a row without a name")


def by_key(lines: Sequence[_Known]) -> dict[str, _Known]:
    """The class by everything a file may know it by; what two students share finds neither."""
    known: dict[str, _Known] = {}
    shared = set()
    for name in ("student", "lms_user_id", "email"):
        for line in lines:
            key = key_of(getattr(line, name))
            if key and known.setdefault(key, line) is not line:
                shared.add(key)
    return {key: line for key, line in known.items() if key not in shared}


def refused_notes(lines: Sequence[SheetRow], zeros: bool) -> Iterator[str]:
    """A sentence on each student whose file cannot be graded, and on what that student's cell holds."""
    holds = "--zeros wrote 0" if zeros else "no grade was written (--zeros writes 0)"
    for line in lines:
        if line.status == REFUSED:
            why = f" ({one_line(line.reason, 400)})" if line.reason else ""
            yield f"what {one_line(line.student)} handed in cannot be graded{why}: {holds}"


def waiting_notes(lines: Sequence[SheetRow]) -> tuple[str, ...]:
    """A sentence on written answers that still wait, none if none does."""
    waiting = sum(bool(line.waiting) for line in lines)
    if not waiting:
        return ()
    return (f"{waiting} students have written answers that nobody has read yet: their points are not in it",)
