"""One assignment's page of the gradebook: who is in the class, and what each has got so far. It only reads."""

from dataclasses import dataclass, field, replace
from typing import Any

from softlookup_grader.course.folder import Course, find_assignment
from softlookup_grader.data.records import GRADED, MISSING, REFUSED, Report
from softlookup_grader.data.work import cell_key


@dataclass(frozen=True)
class CellGrade:
    """What the gradebook holds for one graded cell."""

    points: float  # what counts: a person's points go before the grader's; extra credit is in
    max: float  # what the cell is worth
    by_hand: float | None = None  # what a person gave, None if nobody did
    waiting: bool = False  # whether a person still has to read it
    entered: bool = True  # whether anybody, grader or person, has entered points


@dataclass(frozen=True)
class SheetRow:
    """One student of the class."""

    student: str
    last_name: str  # as in the class list, empty if it is not there
    first_name: str
    email: str
    lms_user_id: str  # the id in a learning management system, likewise
    status: str  # graded, refused or missing
    raw: float  # points in all, before a late penalty
    penalty: float  # the late penalty, 0 or more
    max: float  # points there are
    # grades by the cell's key (``cell_key``), in the order of the notebooks
    cells: dict[str, CellGrade] = field(default_factory=dict)
    reason: str = ""  # why it was refused, one sentence

    @property
    def score(self) -> float:
        """What counts, as nbgrader's own export has it: never below 0."""
        return max(0.0, self.raw - self.penalty)

    @property
    def waiting(self) -> int:
        """How many written answers a person still has to read."""
        return sum(cell.waiting for cell in self.cells.values())


def read_sheet(course: Course, assignment: str, report: Report | None = None) -> list[SheetRow]:
    """Read one assignment's page with a handful of queries, however large the class is."""
    from nbgrader.api import Grade, SubmittedAssignment, SubmittedNotebook

    status = {row.student: row.status for row in report.records} if report else {}
    reasons = {row.student: row.reason for row in report.records if row.status == REFUSED} if report else {}
    with course.gradebook() as book:
        assignment_row = find_assignment(book, assignment)
        worth = cells_in_order(assignment_row)
        maximum = float(assignment_row.max_score)
        columns = (
            *(SubmittedAssignment.student_id, Grade.cell_id),
            *(Grade.score, Grade.auto_score, Grade.manual_score, Grade.needs_manual_grade),
        )
        rows = (
            book.db.query(*columns)
            .select_from(Grade)
            .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .filter(SubmittedAssignment.assignment_id == assignment_row.id)
        )
        grades: dict[str, dict[str, CellGrade]] = {}
        for student, cell_id, points, auto, manual, needed in rows:
            name, best, is_read = worth[cell_id]
            entered = auto is not None or manual is not None
            waits = bool(needed) and manual is None and is_read
            grade = CellGrade(float(points), best, manual, waits, entered)
            grades.setdefault(student, {})[name] = grade
        late = (
            book.db.query(SubmittedAssignment.student_id, SubmittedNotebook.late_submission_penalty)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .filter(SubmittedAssignment.assignment_id == assignment_row.id)
        )
        penalties: dict[str, float] = {}
        for student, penalty in late:
            penalties[student] = penalties.get(student, 0.0) + float(penalty or 0.0)
        lines = []
        for student in book.students:
            student_grades = grades.get(student.id, {})
            known = GRADED if any(cell.entered for cell in student_grades.values()) else MISSING
            cells = {name: student_grades[name] for name, _, _ in worth.values() if name in student_grades}
            if status.get(student.id, known) != GRADED:
                # Nothing waits to be read in what was not handed in, whatever its row says.
                cells = {name: replace(cell, waiting=False) for name, cell in cells.items()}
            line = SheetRow(
                student=student.id,
                last_name=student.last_name or "",
                first_name=student.first_name or "",
                email=student.email or "",
                lms_user_id=student.lms_user_id or "",
                status=status.get(student.id, known),
                raw=sum(cell.points for cell in cells.values()),
                penalty=penalties.get(student.id, 0.0),
                max=maximum,
                cells=cells,
                reason=reasons.get(student.id, ""),
            )
            lines.append(line)
    return sorted(lines, key=lambda line: (line.last_name, line.first_name, line.student))


def cells_in_order(assignment: Any) -> dict[str, tuple[str, float, bool]]:
    """Each graded cell's key, what it is worth and whether a person reads it, by its id, in the notebooks' order."""
    worth: dict[str, tuple[str, float, bool]] = {}
    for notebook in sorted(assignment.notebooks, key=lambda notebook: str(notebook.name)):
        names = [cell.name for cell in notebook.source_cells]
        last = len(names)
        answers = {cell.name for cell in notebook.solution_cells}
        graded = [*notebook.grade_cells, *notebook.task_cells]
        for cell in sorted(graded, key=lambda c: names.index(c.name) if c.name in names else last):
            key = cell_key(notebook.name, cell.name, len(assignment.notebooks))
            worth[cell.id] = (key, float(cell.max_score), cell.name in answers or cell.cell_type == "markdown")
    return worth
