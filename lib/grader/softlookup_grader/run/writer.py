"""The one writer: enters what grading came to into nbgrader's gradebook, some submissions in one commit.

It follows nbgrader's SaveAutoGrades and AssignLatePenalties, and never touches what a person gave. A new submission
becomes rows of nbgrader's tables at once, in half the time of its API; one that is there is changed through the API.
"""

import contextlib
import datetime
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import nbformat
from nbformat.v4.rwbase import rejoin_lines
from nbgrader.api import (
    Comment,
    Grade,
    InvalidEntry,
    MissingEntry,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    new_uuid,
)
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import compute_checksum, parse_utc
from sqlalchemy import insert
from sqlalchemy.exc import SQLAlchemyError
from tornado.log import app_log

from softlookup_command.plain_text import one_line
from softlookup_grader.course.by_hand import enter_for_groups
from softlookup_grader.course.deadlines import settle
from softlookup_grader.course.folder import Course, gradebook_error
from softlookup_grader.course.groups import Table
from softlookup_grader.course.late_rules import LateRule
from softlookup_grader.course.notebooks import grade_id, is_graded, is_solution, task_id
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import GRADED, HandMark, Record, TaskMark
from softlookup_grader.data.work import BY_HAND, Graded, Mark, cell_key


@dataclass(frozen=True)
class GradeCell:
    """A cell of the assignment that points hang on."""

    name: str  # its key (``cell_key``)
    max: float
    by_hand: bool  # whether a person gives the points
    is_task: bool  # whether it is one of nbgrader's manually graded tasks, which stand beside the answer


@dataclass(frozen=True)
class Points:
    """What the gradebook holds for one cell of one student."""

    auto: float | None  # the grader's points, None if it gave none
    manual: float | None  # a person's points, None if nobody gave any
    score: float  # what counts, extra credit included
    waiting: bool  # whether a person is to look at it


@dataclass(frozen=True)
class GradebookRow:
    """What the gradebook holds for one student."""

    points: dict[str, Points]  # by the cell's grade_id
    penalty: float  # the late penalty, 0 or more
    mark: str  # changes whenever something changes that a feedback page shows


@dataclass(frozen=True)
class _Sheet:
    """A notebook of the assignment, and the cells that each submission has a grade or a comment for, by their ids."""

    id: str
    name: str
    grades: tuple[str, ...]
    comments: tuple[str, ...]


@dataclass(frozen=True)
class _Entry:
    """A submission on its way into the gradebook: what grading came to, when it was handed in, and what follows."""

    graded: Graded
    came: datetime.datetime | None
    marks: dict[str, Mark]  # by the cells' keys
    untouched: set[str]  # keys of the answers that are as released


class GradebookWriter:
    """The gradebook's page of one assignment, open for writing."""

    def __init__(self, course: Course, assignment: str) -> None:
        """Name the page; it is opened by ``with``."""
        self._course, self._assignment = course, assignment
        self._open = contextlib.ExitStack()

    def __enter__(self) -> "GradebookWriter":
        """Open the gradebook; CourseError if it does not know the assignment, or cannot be used."""
        self._more_time = settle(self._course, self._assignment).extensions
        with contextlib.ExitStack() as stack:
            self._book: Any = stack.enter_context(self._course.gradebook())
            try:
                page = self._book.find_assignment(self._assignment)
            except MissingEntry:
                raise CourseError(f"the gradebook has no assignment {self._assignment}") from None
            self._page_id, self.max, self._due = page.id, float(page.max_score), page.duedate
            self._read_cells(page.notebooks)
            self._sheets = tuple(map(_sheet, page.notebooks))
            self._late = self._late_step()
            self._book.db.rollback()  # nothing stays locked while submissions are graded
            self._open = stack.pop_all()
        return self

    def __exit__(self, *exc: object) -> None:
        self._open.close()

    def _read_cells(self, notebooks: Sequence[Any]) -> None:
        """Keep what is the same for all students as plain data: the database forgets its objects at each commit."""
        self.cells: dict[str, GradeCell] = {}
        self._checksums: dict[str, str] = {}
        self._answer_names: dict[str, str] = {}
        for notebook in sorted(notebooks, key=lambda notebook: str(notebook.name)):
            key = partial(cell_key, notebook.name, notebooks=len(notebooks))
            order = {cell.name: index for index, cell in enumerate(notebook.source_cells)}
            answers = {cell.name for cell in notebook.solution_cells}
            self._checksums |= {key(cell.name): cell.checksum for cell in notebook.source_cells}
            self._answer_names |= {cell.id: key(cell.name) for cell in notebook.solution_cells}
            rows = sorted([*notebook.grade_cells, *notebook.task_cells], key=lambda cell: order.get(cell.name, -1))
            tasks = {cell.id for cell in notebook.task_cells}
            for cell in rows:
                by_hand = cell.id in tasks or cell.name in answers or cell.cell_type == "markdown"
                self.cells[cell.id] = GradeCell(key(cell.name), float(cell.max_score), by_hand, cell.id in tasks)

    def _late_step(self) -> Any:
        """The course's own AssignLatePenalties, whose plugin may lie in the course's folder."""
        root = str(self._course.root)
        sys.path.insert(0, root)
        try:
            step = AssignLatePenalties(config=self._course.config)
            step.init_plugin()
        except Exception as error:
            raise CourseError(
                f"the late penalties of nbgrader_config.py cannot be set up ({type(error).__name__}: {error})"
            ) from error
        finally:
            sys.path.remove(root)
        return step

    def check_releases(self, releases: Mapping[str, Any]) -> None:
        """Hold that the notebooks that students got are those that the gradebook knows."""
        gradebook_points = {cell.name: cell.max for cell in self.cells.values() if not cell.is_task}
        release_points = {
            cell_key(name, grade_id(cell), len(releases)): float(cell.metadata.nbgrader.points)
            for name, release in releases.items()
            for cell in release.cells
            if is_graded(cell)
        }
        differ = sorted(
            name
            for name in gradebook_points.keys() | release_points.keys()
            if gradebook_points.get(name) != release_points.get(name)
        )
        if differ or {row.name for row in self._sheets} != set(releases):
            where = ", ".join(differ) or "their notebooks"
            raise CourseError(
                f"the release of {self._assignment} and the gradebook differ in {where}: release it again"
            )

    def enter_all(self, submissions: Sequence[tuple[Graded, datetime.datetime | None]]) -> None:
        """Enter submissions in one commit, all of them or none; entering them again changes nothing."""
        entries = [
            _Entry(
                graded,
                parse_utc(came),
                {mark.cell: mark for mark in graded.marks},
                self._untouched(graded.notebooks),
            )
            for graded, came in submissions
        ]
        students = [entry.graded.student for entry in entries]
        with self._one_commit() as book:
            enrolled = {student for (student,) in book.db.query(Student.id).filter(Student.id.in_(students))}
            for student in students:
                if student not in enrolled:
                    book.add_student(student)
            book.db.flush()
            submitted = book.db.query(SubmittedAssignment.student_id).filter(
                SubmittedAssignment.assignment_id == self._page_id, SubmittedAssignment.student_id.in_(students)
            )
            known = {student for (student,) in submitted}
            # Who has no points gets no row: to nbgrader, what cannot be graded is not graded yet, and is not zero.
            self._add([e for e in entries if e.graded.student not in known and e.graded.status == GRADED])
            for entry in entries:
                if entry.graded.student in known:
                    self._change(entry)

    def _change(self, entry: _Entry) -> None:
        """Enter a submission that the gradebook has."""
        submission = self._book.find_submission(self._assignment, entry.graded.student)
        if entry.came and entry.graded.status == GRADED:
            submission.timestamp = entry.came
        for submitted_notebook in submission.notebooks:
            for grade in submitted_notebook.grades:
                for name, value in self._points(entry, grade.cell_id, grade.manual_score).items():
                    setattr(grade, name, value)
            if entry.graded.status == GRADED:
                for comment in submitted_notebook.comments:
                    comment.auto_comment = self._comment(entry, comment.cell_id)
            self._penalise(submission, submitted_notebook)

    def _add(self, entries: Sequence[_Entry]) -> None:
        """Enter submissions that the gradebook does not have: the rows that nbgrader's add_submission would make."""
        tables: dict[Any, list[dict[str, Any]]] = {}
        for entry in entries:
            submission_id = new_uuid()
            about = {"id": submission_id, "assignment_id": self._page_id, "student_id": entry.graded.student}
            extension = self._more_time.get(entry.graded.student)
            tables.setdefault(SubmittedAssignment, []).append(
                {**about, "timestamp": entry.came, "extension": extension}
            )
            for notebook in self._sheets:
                of = {"notebook_id": new_uuid()}
                row = {"id": of["notebook_id"], "notebook_id": notebook.id, "assignment_id": submission_id}
                tables.setdefault(SubmittedNotebook, []).append(row)
                empty = {**of, "auto_score": None, "needs_manual_grade": True}
                grades = [
                    {**empty, "cell_id": cell_id, **self._points(entry, cell_id, None)} for cell_id in notebook.grades
                ]
                tables.setdefault(Grade, []).extend(grades)
                comments = [
                    {**of, "cell_id": cell_id, "auto_comment": self._comment(entry, cell_id)}
                    for cell_id in notebook.comments
                ]
                tables.setdefault(Comment, []).extend(comments)
        for table, rows in tables.items():
            if rows:
                self._book.db.execute(insert(table), rows)
        for entry in entries:
            if entry.came and self._due and entry.came > self._due:
                submission = self._book.find_submission(self._assignment, entry.graded.student)
                for notebook in submission.notebooks:
                    self._penalise(submission, notebook)

    def _untouched(self, notebooks: Sequence[tuple[str, str]]) -> set[str]:
        """Keys of the answers in graded notebooks that are as released."""
        untouched = set()
        for name, text in notebooks:
            content = json.loads(text)
            content["cells"] = [cell for cell in content["cells"] if is_solution(cell)]
            for cell in rejoin_lines(nbformat.from_dict(content)).cells:
                key = cell_key(name, grade_id(cell), len(self._sheets))
                if compute_checksum(cell) == self._checksums.get(key):
                    untouched.add(key)
        return untouched

    def _points(self, entry: _Entry, cell_id: str, manual: float | None) -> dict[str, Any]:
        """What grading changes in the row of a cell, by the names of columns."""
        if entry.graded.status != GRADED:
            return {"auto_score": None, "needs_manual_grade": False}
        cell = self.cells.get(cell_id)
        mark = entry.marks.get(cell.name) if cell else None
        if cell is None or (cell.is_task and mark is None):
            return {}
        auto: float | None
        if cell.by_hand:
            # As nbgrader has it: an answer that nobody touched needs no reading, nor does what was not handed in.
            auto = 0.0 if cell.name in entry.untouched or (mark and mark.verdict == "blank") else None
        else:
            auto = mark.points if mark else 0.0
        return {"auto_score": auto, "needs_manual_grade": manual is not None or auto is None}

    def _comment(self, entry: _Entry, cell_id: str) -> str | None:
        untouched = entry.graded.status == GRADED and self._answer_names.get(cell_id) in entry.untouched
        return "No response." if untouched else None

    def _penalise(self, submission: Any, submitted_notebook: Any) -> None:
        """Give the late penalty that the course's plugin asks for; our own rules get the times, as days need them."""
        submitted_notebook.late_submission_penalty = None
        if submission.total_seconds_late <= 0:
            return
        self._book.db.flush()
        self._book.db.refresh(submitted_notebook, ["score"])
        try:
            rule = self._late.plugin_inst
            if isinstance(rule, LateRule):
                penalty = rule.penalty(submitted_notebook.score, submission.duedate, submission.timestamp)
            else:
                penalty = rule.late_submission_penalty(
                    submission.student_id, submitted_notebook.score, submission.total_seconds_late
                )
        except Exception as error:
            who = one_line(submission.student_id)
            raise CourseError(
                f"the course's late penalty failed for {who} ({type(error).__name__}: {error})"
            ) from error
        if penalty is not None:
            submitted_notebook.late_submission_penalty = self._late._check_late_penalty(submitted_notebook, penalty)

    def enter_for_groups(self, groups: Table) -> list[str]:
        """Enter what a person gave one member of a group for the others; give a sentence for each contradiction."""
        with self._one_commit() as book:
            return enter_for_groups(book, self._assignment, groups)

    def refresh_penalties(self, handed_in: Callable[[str], datetime.datetime | None]) -> None:
        """Reckon late penalties anew: a due date, an extension, a time or a person's points may have changed since."""
        with self._one_commit() as book:
            rows = (
                book.db.query(
                    *(SubmittedAssignment.student_id, SubmittedAssignment.timestamp, SubmittedAssignment.extension),
                    SubmittedNotebook.late_submission_penalty,
                )
                .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
                .filter(SubmittedAssignment.assignment_id == self._page_id)
                .all()
            )
            due = book.find_assignment(self._assignment).duedate
            for student, known, extension, penalty in rows:
                came = handed_in(student) or known
                late = came and due and came > due + (extension or datetime.timedelta(0))
                if late or penalty is not None or came != known:
                    submission = book.find_submission(self._assignment, student)
                    submission.timestamp = came
                    for submitted_notebook in submission.notebooks:
                        self._penalise(submission, submitted_notebook)

    def rows(self) -> Iterator[tuple[str, GradebookRow]]:
        """What the gradebook holds, by student's id, in no order to rely on."""
        query = (
            self._book.db.query(
                *(SubmittedAssignment.student_id, SubmittedNotebook.id, SubmittedNotebook.late_submission_penalty),
                *(Grade.cell_id, Grade.auto_score, Grade.manual_score, Grade.score, Grade.needs_manual_grade),
            )
            .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
            .filter(SubmittedAssignment.assignment_id == self._page_id)
            .order_by(SubmittedAssignment.student_id, Grade.cell_id)
        )
        comment_rows = (
            self._book.db.query(SubmittedAssignment.student_id, Comment.cell_id, Comment.comment)
            .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .join(Comment, Comment.notebook_id == SubmittedNotebook.id)
            .filter(SubmittedAssignment.assignment_id == self._page_id, Comment.comment.isnot(None))
            .order_by(SubmittedAssignment.student_id, Comment.cell_id)
        )
        comments: dict[str, list[tuple[str, str]]] = {}
        for student, cell, text in comment_rows:
            comments.setdefault(student, []).append((cell, text))
        for student, rows in groupby(query.yield_per(5000), key=lambda row: row[0]):
            points, penalties, page_parts = {}, {}, [repr(comments.get(student))]
            for _, notebook_id, penalty, cell_id, auto, manual, score, waiting in rows:
                penalties[notebook_id] = float(penalty or 0.0)
                page_parts.append(repr((cell_id, score, penalty)))
                if cell_id in self.cells:
                    points[self.cells[cell_id].name] = Points(auto, manual, float(score), bool(waiting))
            mark = hashlib.sha256("\n".join(page_parts).encode()).hexdigest()[:16]
            yield student, GradebookRow(points, sum(penalties.values()), mark)
        self._book.db.rollback()

    def holds(self, graded: Graded, row: GradebookRow) -> bool:
        """Whether the gradebook still holds what was entered for a submission."""
        if graded.status != GRADED:
            return all(cell.auto is None for cell in row.points.values())
        points = {mark.cell: mark.points for mark in graded.marks}
        for cell in self.cells.values():
            cell_points = row.points.get(cell.name)
            if cell_points is None or not (cell.by_hand or _same(cell_points.auto, points.get(cell.name, 0.0))):
                return False
        return True

    def report_row(self, graded: Graded, row: GradebookRow | None) -> Record:
        """Put the report's row together: verdicts from grading, points as they count from the gradebook."""
        marks = {mark.cell: mark for mark in graded.marks}
        points = row.points if row else {}
        tasks: dict[str, TaskMark] = {}
        by_hand: dict[str, HandMark] = {}
        for cell in self.cells.values():
            cell_points, mark = points.get(cell.name), marks.get(cell.name)
            score = cell_points.score if cell_points else 0.0
            if cell.by_hand or (mark and mark.verdict == BY_HAND):
                waits = cell_points is not None and cell_points.waiting and cell_points.manual is None
                by_hand[task_id(cell.name)] = HandMark(None if waits else score, cell.max, waits)
            else:
                verdict, mistake_names = (mark.verdict, mark.diagnosis) if mark else ("stopped", ())
                tasks[task_id(cell.name)] = TaskMark(score, cell.max, verdict, mistake_names)
        total = sum(cell_points.score for cell_points in points.values())
        return Record(
            *(graded.student, graded.status, total, self.max, tasks, by_hand),
            reason=graded.reason,
            seconds=graded.seconds,
            remarks=graded.remarks,
            penalty=row.penalty if row and graded.status == GRADED else 0.0,
        )

    @contextlib.contextmanager
    def _one_commit(self) -> Iterator[Any]:
        """Hold back the commits that nbgrader's API makes at each step: one at the end writes each row once."""
        session = self._book.db
        commit = session.commit
        quiet, app_log.disabled = app_log.disabled, True  # nbgrader logs what one sentence says here
        try:
            with self._course.one_writer():
                try:
                    session.commit = lambda: None
                    yield self._book
                    commit()
                except BaseException:
                    session.rollback()
                    raise
        except (SQLAlchemyError, InvalidEntry) as error:
            raise gradebook_error(error) from error
        finally:
            session.commit = commit
            app_log.disabled = quiet


def _same(first: float | None, second: float | None) -> bool:
    """Whether points are the same; some databases keep fewer digits than others."""
    return first == second or (first is not None and second is not None and abs(first - second) < 1e-3)


def _sheet(notebook: Any) -> _Sheet:
    tasks = [cell.id for cell in notebook.task_cells]
    grades, answers = ([cell.id for cell in cells] for cells in (notebook.grade_cells, notebook.solution_cells))
    return _Sheet(notebook.id, notebook.name, (*grades, *tasks), (*answers, *tasks))
