"""What a student's notebooks say of themselves: which tasks are right, which are begun, which mistake was named.

What commands found stands in a file beside the notebook, and counts as what the notebook's outputs say.

Both are anybody's files. Of what they claim only this is taken: a verdict that there is, for a task that there is, and
names of mistakes that the task knows. All words come from the tasks' own descriptions.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from softlookup_grader.course.notebooks import (
    BadNotebook,
    grade_id,
    help_of,
    is_graded,
    is_solution,
    read_notebook,
    verdict_of,
)
from softlookup_inside.asking.source import text_hash
from softlookup_judge.checking.catalogue import Catalogue
from softlookup_judge.data.task import Task
from softlookup_judge.helping.kept import KEPT_FILE, Judged, Kept, TaskKept, read_kept
from softlookup_judge.naming.diagnose import OTHER_VARIANT, SHORTCUT

STATES = ("pass", "partial", "wrong", "changed", "unchecked", "blank")
"""Right; partly right; not right; changed since its check; an answer without a check; nothing written yet."""

BLANK = "raise NotImplementedError()"
BLANK_WORDS = "YOUR ANSWER HERE"

SAYS = {
    SHORTCUT: "The answer uses what the task asks you to write yourself.",
    OTHER_VARIANT: "This is the answer to another variant of the task.",
}
"""What names of mistakes say that belong to no one task."""

_MAGIC = re.compile(r"^\s*[%!?]", re.MULTILINE)


@dataclass(frozen=True)
class TaskState:
    """How far one task is: points of its last check if still valid, and questions (answered, right)."""

    task: Task
    state: str = "blank"
    points: float = 0.0
    mistake_sentences: tuple[str, ...] = ()
    help: int = 0
    questions: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class ChapterState:
    """How far one notebook is; ``written`` says by name whether an answer for a person to grade holds anything."""

    chapter: int
    file: Path | None
    tasks: tuple[TaskState, ...]
    written: dict[str, bool] = field(default_factory=dict)
    problem: str = ""
    remark: str = ""

    @property
    def points(self) -> float:
        """What was earned so far."""
        return sum(task_state.points for task_state in self.tasks)

    @property
    def best(self) -> float:
        """What can be earned by checks."""
        return sum(task_state.task.points for task_state in self.tasks)

    @property
    def minutes_left(self) -> int:
        """How long the tasks take that are not right yet, whole."""
        return sum(task_state.task.minutes for task_state in self.tasks if task_state.state != "pass")

    @property
    def is_begun(self) -> bool:
        """Whether anything was written."""
        return any(task_state.state != "blank" for task_state in self.tasks) or any(self.written.values())

    @property
    def done(self) -> bool:
        """Whether every task is right."""
        return all(task_state.state == "pass" for task_state in self.tasks)

    def count(self, *states: str) -> int:
        """How many tasks are in one of these states."""
        return sum(task_state.state in states for task_state in self.tasks)


def read_folder(
    folder: Path,
    catalogue: Catalogue,
    run: Callable[[Path], NotebookNode] | None = None,
    said: Callable[[str], None] = lambda line: None,
) -> tuple[ChapterState, ...]:
    """Read a folder's notebooks, a state for each chapter; ``run`` executes one, after ``said`` got its name."""
    chapters = []
    for chapter in catalogue.numbers:
        file = notebook_of(folder, chapter)
        blank = tuple(TaskState(task) for task in catalogue.tasks(chapter))
        if file is None:
            chapters.append(ChapterState(chapter, None, blank))
            continue
        try:
            notebook = read_notebook(file)
            fresh = run is not None and _begun(notebook)  # in one without an answer there is nothing to run
            if fresh and run is not None:
                said(file.name)
                notebook = run(file)
            chapters.append(read_chapter(notebook, chapter, catalogue, file, read_kept(file.parent)))
        except BadNotebook as problem:
            chapters.append(ChapterState(chapter, file, blank, problem=str(problem)))
    return tuple(chapters)


def read_file_of(path: Path, catalogue: Catalogue) -> ChapterState:
    """Read one notebook, whatever its name, with what is kept beside it; BadNotebook if it has no task."""
    notebook = read_notebook(path)
    numbers = Counter(name[:2] for name in map(grade_id, notebook.cells) if re.match(r"\d\d-", name))
    for chapter, _ in numbers.most_common():
        if int(chapter) in catalogue.numbers:
            return read_chapter(notebook, int(chapter), catalogue, path, read_kept(path.resolve().parent))
    raise BadNotebook(f"{path.name} holds no task of the course")


def read_chapter(
    notebook: NotebookNode, chapter: int, catalogue: Catalogue, file: Path | None = None, beside: Kept | None = None
) -> ChapterState:
    """Read one notebook with what commands have kept ``beside`` its file; other cells are left alone."""
    tasks, damaged = beside or Kept({})
    saved = datetime.fromtimestamp(file.stat().st_mtime, UTC) if file else datetime.now(UTC)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    help_steps = help_of(notebook.cells)
    states = tuple(
        _state(task, cells, help_steps.get(task.id, 0), tasks.get(task.id, TaskKept()), saved)
        for task in catalogue.tasks(chapter)
    )
    written = {
        name: bool(cell.source.strip()) and BLANK_WORDS not in cell.source
        for cell in notebook.cells
        if cell.cell_type == "markdown" and is_graded(cell) and is_solution(cell)
        for name in [grade_id(cell)]
        if re.fullmatch(r"[a-z0-9-]{1,60}", name)
    }
    remark = f"{file.parent / KEPT_FILE} is damaged, so that 'softlookup check' has to be run again" if file else ""
    return ChapterState(chapter, file, states, written, remark=remark * damaged)


def notebook_of(folder: Path, chapter: int) -> Path | None:
    """A chapter's notebook, one in a folder of its own name first; None if there is none."""
    start = f"{chapter:02d}_"
    inside = [file for file in folder.glob(f"{start}*/{start}*.ipynb") if file.stem == file.parent.name]
    return min([*inside, *folder.glob(f"{start}*.ipynb")], key=lambda file: (file.parent == folder, file), default=None)


def _begun(notebook: NotebookNode) -> bool:
    return any(is_solution(cell) and cell.cell_type == "code" and BLANK not in cell.source for cell in notebook.cells)


def _state(task: Task, cells: Sequence[NotebookNode], help_steps: int, known: TaskKept, saved: datetime) -> TaskState:
    """The state of one task, by the notebook's outputs or by what commands found: the better, then the newer."""
    answer, check = (
        next((cell for cell in cells if grade_id(cell) == name), None) for name in (task.slug, f"{task.slug}-check")
    )
    state, points, sentences = _in_notebook(task, answer, check)
    if known.judged is not None:
        marked = [cell for cell in cells if grade_id(cell) == task.slug]
        # An editor that loses nbgrader's marks leaves the answer in a cell without a name.
        standing = marked or [cell for cell in cells if not grade_id(cell)]
        if known.judged.answer in (text_hash(str(cell.source)) for cell in standing):
            newest_first = [_by_command(task, known.judged), (state, points, sentences)]
            if known.judged.when < saved:
                newest_first.reverse()
            state, points, sentences = max(newest_first, key=lambda state: (_RANK.get(state[0], 0), state[1]))
        elif state == "unchecked":
            state = "changed"
    questions = (len(known.questions), sum(known.questions.values()))
    return TaskState(task, state, points, sentences, max(help_steps, known.help.steps), questions)


_RANK = {"pass": 3, "partial": 2, "wrong": 1}
_Said = tuple[str, float, tuple[str, ...]]
"""A state, its points, and sentences on mistakes."""


def _by_command(task: Task, judged: Judged) -> _Said:
    """What a command said of an answer."""
    if judged.verdict == "pass":
        return "pass", task.points, ()
    fraction = min(judged.points / judged.max, 1.0) if judged.max else 0.0
    return "partial" if judged.verdict == "partial" else "wrong", fraction * task.points, _named(task, judged.diagnosis)


def _in_notebook(task: Task, answer: NotebookNode | None, check: NotebookNode | None) -> _Said:
    """What the notebook says, by its answer's cell and its check's; either may be missing."""
    empty = answer is None or BLANK in answer.source
    recorded = verdict_of(check) if check is not None else None
    if recorded is None or recorded["task"] != task.id:
        return "blank" if empty else "unchecked", 0.0, ()
    judged = recorded["answer"] if isinstance(recorded.get("answer"), str) else ""
    if recorded["verdict"] == "blank" or (answer is not None and empty and judged != text_hash(str(answer.source))):
        older = answer is not None and not empty
        return "changed" if older else "blank", 0.0, ()
    if answer is not None and _changed(str(answer.source), judged):
        return "changed", 0.0, ()
    if recorded["verdict"] == "pass":
        return "pass", task.points, ()
    points = _points(recorded.get("points"), task.points)
    return "partial" if recorded["verdict"] == "partial" else "wrong", points, _named(task, recorded["diagnosis"])


def _named(task: Task, slugs: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (_sentence(task, mistake_name) for mistake_name in [*slugs][:2]))))


def _changed(source: str, judged: str) -> bool:
    """Whether an answer is not the judged one; lines that IPython rewrites leave that open."""
    return bool(judged) and not _MAGIC.search(source) and text_hash(source) != judged


def _points(claimed: Any, best: float) -> float:
    right_kind = isinstance(claimed, int | float) and not isinstance(claimed, bool) and math.isfinite(claimed)
    return min(max(float(claimed), 0.0), best) if right_kind else 0.0


def _sentence(task: Task, mistake_name: str) -> str:
    try:
        return task.mistake(mistake_name).says
    except KeyError:
        return SAYS.get(mistake_name, "")
