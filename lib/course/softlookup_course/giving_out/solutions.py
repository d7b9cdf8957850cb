"""The answers to an assignment, to be published after the deadline, with the mistakes that the class made.

Counts alone are published, none of fewer than three students, and no mistakes at all of a small class: who knows that a
friend had one task wrong should not read here which mistake it was.
"""

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearOutput

from softlookup_command.plain_text import one_line
from softlookup_course.giving_out.packing import changed_since, nbgrader_refuses, packed, require_one_notebook
from softlookup_grader.course.deadlines import Deadlines, as_text, deadlines
from softlookup_grader.course.folder import Course
from softlookup_grader.course.notebooks import grade_id, is_graded, read_notebook, task_id
from softlookup_grader.course.personal import KEY, is_personal, own_release
from softlookup_grader.course.releasing import Choices, Released
from softlookup_grader.data.dates import naive_utc
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import GRADED, Report
from softlookup_judge.authoring import draw_variants, make_release, read_solution
from softlookup_judge.authoring.choosing import BadChoice, choose
from softlookup_judge.authoring.library_cell import addresses
from softlookup_judge.checking.catalogue import Catalogue, UnknownTask
from softlookup_judge.data.notebook import without_marks

FEW = 3
"""A mistake that fewer students made is published without its count."""

SMALL = 10
"""Of a class with fewer graded submissions no mistakes are published."""


@dataclass(frozen=True)
class Solutions:
    """Answers, ready to be published, for ``students`` each (0: all the same), with notes to the instructor."""

    file: str
    content: bytes
    students: int
    mistakes: int
    graded: int
    notes: tuple[str, ...] = ()


def time_left(due: Deadlines, now: datetime) -> str:
    """Why it is too early to publish answers, a clause; empty if nobody has time left. ``now`` is aware of its zone."""
    if due.last is None:
        return "has no due date, so nobody can say that all have handed in"
    if naive_utc(now) > due.last:
        return ""
    late = sum(end.when == due.last for end in due.ends.values())
    who = "everybody" if due.last == due.due else f"{late} {'student' if late == 1 else 'students'} with more time"
    return f"can still be handed in until {as_text(due.last, due.zone)}, by {who}"


def make_solutions(
    course: Course,
    assignment: str,
    catalogue: Catalogue,
    *,
    report: Report | None,
    now: datetime | None,
    root: Callable[[], Path],
    secret: str | None = None,
) -> Solutions:
    """Make notebooks with the answers to one assignment; ``now`` None publishes before the last deadline, too."""
    course.require(assignment)
    require_one_notebook(course, assignment)
    released = Released(course)
    choices = released.choices(assignment)
    source = course.notebook("source", ".", assignment)
    if not source.is_file():
        raise CourseError(f"{assignment} has no {source}, which holds the answers: put it back from a backup")
    if now is not None and (why := time_left(deadlines(course, assignment), now)):
        raise CourseError(f"{assignment} {why}: wait, or publish the answers all the same with --early")
    if secret is not None and (reason := released.other_words(secret)):
        raise CourseError(f"{reason}: give the word of the release with --course-seed")
    class_mistakes = _Mistakes(catalogue, report)
    notes = [f"{assignment}: {class_mistakes.why_none}"] if class_mistakes.why_none else []
    if not (is_personal(course, assignment) or choices.per_student):
        if changed := changed_since(course, assignment):
            notes.append(
                f"the source was changed since the release ({', '.join(map(one_line, changed[:5]))}): the answers are "
                "those of the source"
            )
        written = read_notebook(source)
        with nbgrader_refuses(source):
            answers = class_mistakes.added(answered(written))
        return Solutions(
            f"{assignment}-solutions.ipynb",
            _text(answers),
            0,
            class_mistakes.count,
            class_mistakes.graded,
            tuple(notes),
        )
    if secret is None:
        raise CourseError(f"{assignment} was released for each student: give the secret word with --course-seed")
    files, others = {}, []
    for student in course.students():
        raw = own_release(course, assignment, student)
        if raw is None:
            notes.append(f"no notebook was made for {one_line(student)}, so there are no answers to it either")
            continue
        source_notebook = _made(root(), course.root, catalogue, assignment, secret, choices, student)
        notebook, release = nbformat.reads(raw.decode(), as_version=4), make_release(source_notebook, course.config)
        if [cell.source for cell in notebook.cells] != [cell.source for cell in release.cells]:
            others.append(one_line(student))
        answers = class_mistakes.added(answered(source_notebook))
        answers.metadata[KEY] = {"student": student}
        files[f"{student}/{assignment}-solutions.ipynb"] = _text(answers)
    if others:
        notes.append(
            "their notebooks were made by another version of this checkout, so a text may differ from the answers: "
            + ", ".join(others)
        )
    if not files:
        raise CourseError(
            f"no notebook was made for anybody in the class: 'softlookup release {assignment}' makes them"
        )
    return Solutions(
        f"{assignment}-solutions.zip",
        packed(files),
        len(files),
        class_mistakes.count,
        class_mistakes.graded,
        tuple(notes),
    )


def answered(source: NotebookNode) -> NotebookNode:
    """A source notebook as students may see it: with answers, without hidden tests, mark schemes and marks."""
    notebook = copy.deepcopy(source)
    for step in (ClearHiddenTests, ClearMarkScheme, ClearOutput):
        notebook, _ = step().preprocess(notebook, {})
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.source = without_marks(cell.source).rstrip()
    return notebook


def _made(
    root: Path, folder: Path, catalogue: Catalogue, name: str, secret: str, choices: Choices, student: str
) -> NotebookNode:
    """The source of the notebook that one student got."""
    variants, path = draw_variants(secret, student, catalogue), root / "solutions" / f"{name}.py"
    source = read_solution(path, variants, choices.last_help, catalogue, addresses(root, folder))
    try:
        return choose(source, choices.drop, choices.points)
    except BadChoice as error:
        raise CourseError(f"this checkout is not the one that {name} was released from: {error}") from error


def _text(notebook: NotebookNode) -> bytes:
    return (nbformat.writes(notebook).rstrip("\n") + "\n").encode()


class _Mistakes:
    """What the class got wrong, said of each task without naming anybody."""

    def __init__(self, catalogue: Catalogue, report: Report | None) -> None:
        self.graded = sum(report_row.status == GRADED for report_row in report.records) if report else 0
        self.why_none = ""
        if report is None:
            self.why_none = "it was not graded yet, so no mistakes are told"
        elif self.graded < SMALL:
            self.why_none = (
                f"mistakes are told of {SMALL} graded submissions or more, since in a smaller class they would lead to "
                f"persons; there are {self.graded}"
            )
        self._by_task: dict[str, Counter[str]] = {}
        for (task, mistake_name), count in (report.mistakes() if report and not self.why_none else Counter()).items():
            try:
                says = catalogue.task(task).mistake(mistake_name).says
            except (UnknownTask, KeyError):
                continue  # not a mistake of this course, such as the answer to another variant
            self._by_task.setdefault(task, Counter())[says] += count

    @property
    def count(self) -> int:
        """How many mistakes there are."""
        return sum(len(counts) for counts in self._by_task.values())

    def added(self, notebook: NotebookNode) -> NotebookNode:
        """A notebook with the mistakes behind each task, and nbgrader's marks gone."""
        cells = []
        for cell in notebook.cells:
            cells.append(cell)
            if is_graded(cell) and (counts := self._by_task.get(task_id(grade_id(cell)))):
                cells.append(new_markdown_cell(self._words(counts), id=f"{grade_id(cell)}-mistakes"[:64]))
        for cell in cells:
            cell.metadata.pop("nbgrader", None)
        notebook.cells = cells
        return notebook

    def _words(self, counts: Counter[str]) -> str:
        ordered = sorted(counts.items(), key=lambda item: (-item[1] if item[1] >= FEW else 0, item[0]))
        lines = [f"- {f'{n} of {self.graded}' if n >= FEW else f'fewer than {FEW}'}: {says}" for says, n in ordered]
        return "\n".join(["**Mistakes that this class made**", "", *lines])
