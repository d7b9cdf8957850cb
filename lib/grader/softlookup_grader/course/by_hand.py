"""Written answers that wait for a person, shared out among graders, and comments to use again; nbgrader keeps both."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from softlookup_command.plain_text import one_line
from softlookup_grader.course.folder import Course
from softlookup_grader.course.grade_sheet import cells_in_order
from softlookup_grader.course.groups import Table, sharing
from softlookup_grader.course.notebooks import task_id
from softlookup_grader.data.disk import atomic_write, read_record, write_record
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.tables import read_table
from softlookup_grader.data.work import cell_key

COMMENTS = "comments.json"
_COLUMNS = ("student", "grader", "formgrader")
_BY_HAND = (
    ("grades", "manual_score", "points by hand"),
    ("grades", "extra_credit", "extra credit"),
    ("comments", "manual_comment", "comments"),
)
"""What a person enters for a cell: where nbgrader keeps it, and what it is called in a message."""


@dataclass
class Share:
    """Whose answers a grader reads."""

    student: str
    grader: str  # the grader's name
    formgrader: str  # the page of the formgrader that shows them, below its own address
    waits: bool  # whether any answer still waits for points


def share_out(course: Course, assignment: str, graders: Sequence[str]) -> list[Share]:
    """Divide submissions with written answers evenly among graders; who has some keeps them. A group's is one."""
    if not graders or len(set(graders)) < len(graders) or not all(name.strip() for name in graders):
        raise CourseError(f"graders are named once each, such as ana,ben, and got {','.join(graders) or 'nobody'}")
    course.require(assignment)
    path = course.root / "reports" / f"{assignment}-shares.csv"
    before = dict[str, str]()
    if path.is_file():
        table = read_table(path, "table of shares")
        whose, by = map(table.column, _COLUMNS[:2])
        before = {row[whose]: row[by] for row in table.rows}
    allotments: list[Share] = []
    shared = sharing(course, assignment)
    with course.gradebook() as book:
        cells = cells_in_order(book.find_assignment(assignment))
        by_student = {str(submission.student.id): submission for submission in book.assignment_submissions(assignment)}
        for student, submission in sorted(by_student.items()):
            if shared.holder(student) != student and shared.holder(student) in by_student:
                continue
            for notebook in sorted(submission.notebooks, key=lambda notebook: str(notebook.name)):
                by_hand = [grade for grade in notebook.grades if cells[grade.cell_id][2]]
                if by_hand:
                    waits = any(grade.needs_manual_grade for grade in by_hand)
                    allotments.append(Share(submission.student.id, "", f"/formgrader/submissions/{notebook.id}", waits))
    if not allotments:
        raise CourseError(f"no graded submission of {assignment} has a written answer: 'softlookup grade' comes first")
    students = dict.fromkeys(allotment.student for allotment in allotments)
    load = {name: sum(before.get(student) == name for student in students) for name in graders}
    for allotment in allotments:
        if before.get(allotment.student) not in load:
            before[allotment.student] = min(graders, key=lambda name: load[name])
            load[before[allotment.student]] += 1
        allotment.grader = before[allotment.student]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(
        [_COLUMNS, *((allotment.student, allotment.grader, allotment.formgrader) for allotment in allotments)]
    )
    atomic_write(path, text.getvalue().encode())
    return allotments


def enter_for_groups(book: Any, assignment: str, groups: Table) -> list[str]:
    """Enter what a person gave one member of a group for the members who have nothing; the caller commits."""
    members = {student for group in groups for student in group}
    submissions = {row.student_id: row for row in book.assignment_submissions(assignment) if row.student_id in members}
    sentences = []
    for group in groups:
        notebooks = [
            notebook for student in group if student in submissions for notebook in submissions[student].notebooks
        ]
        for rows_name, column, called in _BY_HAND:
            by_cell: dict[str, list[Any]] = {}
            for notebook in notebooks:
                for row in getattr(notebook, rows_name):
                    by_cell.setdefault(row.cell_id, []).append(row)
            for rows in by_cell.values():
                full = [row for row in rows if getattr(row, column) not in (None, "")]
                if len({getattr(row, column) for row in full}) > 1:
                    sentences.append(
                        f"the group {', '.join(map(one_line, group))} has different {called} for "
                        f"{_task_of(full[0])}, which stay as they are: make them the same in the formgrader"
                    )
                elif full:
                    for row in rows:
                        if row not in full:
                            setattr(row, column, getattr(full[0], column))
                            if column == "manual_score":
                                row.needs_manual_grade = full[0].needs_manual_grade
    return sentences


def saved_comments(course: Course) -> dict[str, dict[str, str]]:
    """Comments that were saved to be used again, by task and name; CourseError if their file is damaged."""

    def parse(content: Any) -> dict[str, dict[str, str]]:
        return {str(task): {str(name): str(text) for name, text in texts.items()} for task, texts in content.items()}

    remedy = "put a backup in its place, or delete it to begin anew"
    return read_record(course.root / COMMENTS, parse, remedy) or {}


def save_comment(course: Course, task: str, name: str, text: str) -> None:
    """Save a comment on a task under a name; another one of that name is replaced."""
    every = saved_comments(course)
    every.setdefault(task, {})[name] = text
    write_record(course.root / COMMENTS, every, mode=None)


def comment(course: Course, assignment: str, student: str, task: str, text: str) -> None:
    """Put a comment on a student's answer to a task into the gradebook, behind those that stand there."""
    course.require(assignment)
    course.students([student])
    with course.gradebook() as book:
        cells = [
            row
            for submission in book.assignment_submissions(assignment)
            if submission.student.id == student
            for notebook in submission.notebooks
            for row in notebook.comments
        ]
        answer = next((row for row in cells if _task_of(row) == task), None)
        if answer is None:
            has = ", ".join(sorted({_task_of(row) for row in cells})) or "none"
            raise CourseError(f"{student} has no graded answer to {task} in {assignment}; answers there: {has}")
        existing = answer.manual_comment or ""
        if text not in existing:
            answer.manual_comment = f"{existing}\n\n{text}".strip()
            book.db.commit()


def _task_of(row: Any) -> str:
    """The task that a grade or a comment of the gradebook belongs to."""
    notebook = row.notebook
    return task_id(cell_key(notebook.name, row.name, len(notebook.assignment.notebooks)))
