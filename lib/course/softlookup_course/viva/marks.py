"""Marks vivas: answers from a table that was typed from paper, or from the files that the page with a clock saves.

The points are a column of their own in the gradebook. The key stays with the instructor: no page for students holds it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from softlookup_command.plain_text import one_line
from softlookup_course.viva.of_class import read_vivas
from softlookup_course.viva.questions import LETTERS
from softlookup_course.viva.vivas import Viva
from softlookup_grader.course.folder import Course
from softlookup_grader.course.student_ids import shown
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.tables import read_table

CELL = "viva"
NONE = "-"
"""Stands in an answer for a question without one."""

GRACE_S = 30
_OTHER = "{} is not of the sheet that {} was given last, which is {}: it was left out"
_MAX_BYTES, _MAX_FILES = 10_000, 100_000


@dataclass
class Marked:
    """What marking came to.

    Attributes:
        points: Right answers by student.
        most: How many questions a viva has.
        notes: A sentence on each answer that was left out or came late.
    """

    points: dict[str, int] = field(default_factory=dict)
    most: int = 0
    notes: list[str] = field(default_factory=list)


def column(assignment: str) -> str:
    """The name of the gradebook's column: an assignment of its own."""
    return f"{assignment}_viva"


def mark(course: Course, assignment: str, source: Path) -> Marked:
    """Compare answers with the keys.

    Args:
        course: The course, in which the vivas lie.
        assignment: Name of the assignment.
        source: A table with the columns ``id`` and ``answers`` ("BCDA-"), or a folder with saved answers, in any
            folders below it.

    Returns:
        Points; nobody's are guessed: what does not fit a viva is left out, with a note. The same answers handed in
        twice count once.

    Raises:
        CourseError: If there are no vivas, or the table cannot be read.
    """
    vivas = read_vivas(course, assignment)
    if not vivas:
        raise CourseError(f"{course.root} has no vivas of {assignment}: 'softlookup viva {assignment}' makes them")
    marked = Marked(most=max(len(viva.questions) for viva in vivas.values()))
    answers = (_saved if source.is_dir() else _typed)(source, vivas, marked)
    seen: set[str] = set()
    for student, letters in dict.fromkeys((student, "".join(text.upper().split())) for student, text in answers):
        viva = vivas.get(student)
        if viva is None:
            marked.notes.append(f"there is no viva of {shown(student)}: these answers were left out")
        elif student in seen:
            marked.points.pop(student, None)
            marked.notes.append(f"{shown(student)} has several answers: none of them was taken")
        elif len(letters) != len(viva.questions) or set(letters) - set(LETTERS + NONE):
            marked.notes.append(
                f"the answers of {shown(student)} are {one_line(letters, 30)!r}: give {len(viva.questions)} letters "
                f"from {LETTERS}, and {NONE} where there is none"
            )
        else:
            pairs = zip(letters, viva.questions, strict=True)
            marked.points[student] = sum(letter == question.letter for letter, question in pairs)
        seen.add(student)
    return marked


def _typed(path: Path, vivas: Mapping[str, Viva], marked: Marked) -> list[tuple[str, str]]:
    """The answers in a table; where it has a column with the sheets' numbers, they have to be the right ones."""
    table = read_table(path, "table of answers")
    whose, letters, sheet = table.column("id"), table.column("answers"), table.find("sheet")
    answers = []
    for row in table.rows:
        student = row[whose].strip()
        code = row[sheet].strip().zfill(4) if sheet is not None and student in vivas else ""
        if code and code != vivas[student].code:
            marked.notes.append(_OTHER.format(f"sheet {one_line(code, 20)}", shown(student), vivas[student].code))
        elif student:
            answers.append((student, row[letters]))
    return answers


def _saved(folder: Path, vivas: Mapping[str, Viva], marked: Marked) -> list[tuple[str, str]]:
    """The answers in files that pages saved; what is none is left out with a note."""
    answers = []
    for path in sorted(folder.rglob("*.json"))[:_MAX_FILES]:
        try:
            if path.is_symlink() or path.stat().st_size > _MAX_BYTES:
                raise ValueError
            saved = json.loads(path.read_text(encoding="utf-8"))
            student, code, text, seconds = (saved[name] for name in ("student", "viva", "answers", "seconds"))
            minutes = saved["minutes"]
            if not all(isinstance(value, str) for value in (student, code, text)):
                raise ValueError
            late = float(seconds) > 60 * float(minutes) + GRACE_S
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            marked.notes.append(f"{one_line(path.name)} holds no answers that the page saved: it was left out")
            continue
        if student in vivas and code != vivas[student].code:
            marked.notes.append(_OTHER.format(one_line(path.name), shown(student), vivas[student].code))
            continue
        if late:
            marked.notes.append(f"{shown(student)} took {float(seconds):.0f} s, more than {float(minutes):g} minutes")
        answers.append((student, text))
    return answers


def enter(course: Course, assignment: str, marked: Marked) -> None:
    """Put points into the gradebook, as an assignment of its own; whoever has points there gets the new ones."""
    from nbgrader.api import MissingEntry

    name = column(assignment)
    with course.one_writer(), course.gradebook() as book:
        book.update_or_create_assignment(name)
        try:
            book.find_notebook(name, name)
        except MissingEntry:
            book.add_notebook(name, name)
        book.update_or_create_grade_cell(CELL, name, name, max_score=marked.most, cell_type="code")
        for student, points in marked.points.items():
            with book.db.no_autoflush:  # nbgrader makes a submission before all of its parts are known
                book.update_or_create_student(student)
                book.update_or_create_submission(name, student)
            grade = book.find_grade(CELL, name, name, student)
            grade.auto_score, grade.needs_manual_grade = float(points), False
        book.db.commit()
