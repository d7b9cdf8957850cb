"""Runs at home what will be graded: the notebook put into its release, and what its checks say, in words."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from softlookup_course.at_home.as_released import as_released
from softlookup_course.at_home.kept_at_home import keep
from softlookup_grader.course.notebooks import (
    BadNotebook,
    cells_in,
    error_of,
    grade_id,
    help_of,
    is_graded,
    is_solution,
    read_file,
    read_notebook,
    task_id,
    verdict_cells,
    verdict_of,
    verdict_without_check,
    worth,
)
from softlookup_grader.judging.names import parsed
from softlookup_grader.judging.rebuild import Rebuilt, rebuild, released_check
from softlookup_inside.asking.source import text_hash
from softlookup_judge.checking.catalogue import Catalogue, UnknownTask, here
from softlookup_judge.helping.kept import JUDGED, Judged

FORMAT = "softlookup-check-1"
"""The kind of record that ``softlookup check --json`` prints: another number says that a field went or changed."""


@dataclass(frozen=True)
class CheckOutcome:
    """What one check said: points, words for the student, mistakes, cases with what each came to, sections to read."""

    task: str
    verdict: str
    points: float
    max: float
    message: str
    title: str = ""
    mistakes: tuple[str, ...] = ()
    cases: tuple[tuple[str, str], ...] = ()
    inputs: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    help: int = 0

    def to_json(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON: what a verdict shows, and no more of the right answer."""
        return {
            "id": self.task,
            "title": self.title,
            "points": self.points,
            "max": self.max,
            "verdict": self.verdict,
            "mistakes": list(self.mistakes),
            "sentence": self.message,
            "cases": [{"label": label, "result": came_to} for label, came_to in self.cases],
            "inputs": list(self.inputs),
            "read": list(self.read),
            "help": self.help,
        }


@dataclass(frozen=True)
class Rehearsal:
    """What a notebook comes to: verdicts, remarks on what does not count, points that a person grades, by task."""

    notebook: NotebookNode
    outcomes: list[CheckOutcome]
    remarks: tuple[str, ...] = ()
    written: Mapping[str, float] = field(default_factory=dict)

    @property
    def points(self) -> float:
        """What all checks together earned."""
        return sum(outcome.points for outcome in self.outcomes)

    @property
    def max(self) -> float:
        """What they could earn."""
        return sum(outcome.max for outcome in self.outcomes)

    @property
    def pass_count(self) -> int:
        """How many tasks are right."""
        return sum(outcome.verdict == "pass" for outcome in self.outcomes)

    def to_json(self, notebook: str) -> dict[str, Any]:
        """What ``softlookup check --json`` prints; fields may come, and none goes while ``FORMAT`` stays."""
        return {
            "format": FORMAT,
            "notebook": notebook,
            "points": round(self.points, 4),
            "max": round(self.max, 4),
            "tasks": [outcome.to_json() for outcome in self.outcomes],
            "written": dict(self.written),
            "remarks": list(self.remarks),
        }


def rehearse(
    path: Path,
    timeout_s: float = 60.0,
    done: Callable[[int, int], None] = lambda index, total: None,
    catalogue: Catalogue | None = None,
    task: str = "",
) -> Rehearsal:
    """Run in a fresh kernel what of a notebook counts, or up to one ``task``'s check, and keep the verdicts."""
    catalogue = catalogue or here()
    rebuilt = rebuilt_at(path, catalogue)
    notebook = rebuilt.notebook
    at = check_of(notebook, task, path.name, catalogue)[0] if task else len(notebook.cells) - 1
    notebook.cells = notebook.cells[: at + 1]
    execute(notebook, path.resolve().parent, timeout_s, done)
    every = outcomes_in(notebook, catalogue, task, at)
    remarks = [*rebuilt.remarks, *filter(None, [keep(path.resolve().parent, judged(every, rebuilt.answers))])]
    outcomes = every[-1:] if task else every
    by_hand = [] if task else [cell for cell in notebook.cells if is_solution(cell) and is_graded(cell)]
    return Rehearsal(notebook, outcomes, tuple(remarks), {task_id(grade_id(cell)): worth(cell) for cell in by_hand})


def check_of(notebook: NotebookNode, task: str, name: str, catalogue: Catalogue) -> tuple[int, int]:
    """Where the check of a task stands in a notebook, and which variant it asks for; BadNotebook if nowhere."""
    for at, cell in enumerate(notebook.cells):
        check = released_check(cell, catalogue)
        if check is not None and check.task.id == task:
            return at, check.variant.number
    every = [other for other, _ in verdict_cells(notebook)]
    others = f": it asks {', '.join(every)}" if every else ""
    raise BadNotebook(f"{name} does not ask the task {task}{others}")


def judged(outcomes: Iterable[CheckOutcome], answers: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """What is to be kept of verdicts on ``answers``, whose sources are given by grade_id."""
    now = datetime.now().astimezone()
    hashes = {task_id(name): text_hash(source) for name, source in answers.items()}
    return {
        each.task: {"judged": Judged(each.verdict, each.points, each.max, each.mistakes, hashes[each.task], now)}
        for each in outcomes
        if each.verdict in JUDGED and each.task in hashes
    }


def rebuilt_at(path: Path, catalogue: Catalogue | None = None) -> Rebuilt:
    """A notebook as it is graded, with remarks; as it stands where it checks no known task."""
    raw = read_file(path)
    release = as_released(cells_in(raw, path.name), path, catalogue or here())
    if release is None:
        notebook = read_notebook(path)
        answers = {grade_id(cell): cell.source for cell in notebook.cells if is_solution(cell)}
        return Rebuilt(notebook, (), frozenset(), answers)
    rebuilt = rebuild(release, raw, path.name)
    remarks = [*rebuilt.remarks, *_imported(rebuilt.notebook)]
    name_match = re.match(r"\d\d(?=_)", path.stem)
    holds = next((grade_id(cell)[:2] for cell in release.cells if is_solution(cell)), "")
    if name_match and holds and name_match[0] != holds:
        remarks.insert(
            0, f"The file is called {path.name} and holds the notebook of chapter {holds}: hand it in for that one."
        )
    return replace(rebuilt, remarks=tuple(remarks))


def _imported(notebook: NotebookNode) -> Iterator[str]:
    """Sentences on packages that answers import and a grader may lack."""
    usual = {"softlookup", "softlookup_course", "numpy", "torch", *sys.stdlib_module_names}
    usual |= {name for cell in notebook.cells if not is_solution(cell) for name in _modules(cell)}
    for cell in notebook.cells:
        if is_solution(cell) and (more := sorted(set(_modules(cell)) - usual)):
            yield (
                f"The answer to {task_id(grade_id(cell))} imports {', '.join(more)}, which the grader may not have. "
                "Python's own modules and what the notebook itself imports are sure to be there."
            )


def _modules(cell: NotebookNode) -> Iterator[str]:
    """The packages and modules that a code cell imports, at its top or in a function."""
    for node in ast.walk(parsed(cell.source)) if cell.cell_type == "code" else ():
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def execute(notebook: NotebookNode, folder: Path, timeout_s: float, done: Callable[[int, int], None]) -> None:
    """Run a notebook's code cells in a fresh kernel, on past errors; it keeps the outputs of this run alone."""
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError

    cells = [index for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    for index in cells:
        notebook.cells[index].outputs = []

    def count(cell_index: int, **_: Any) -> None:
        done(sum(index <= cell_index for index in cells), len(cells))

    client = NotebookClient(
        notebook,
        timeout=timeout_s,
        kernel_name="python3",
        allow_errors=True,
        interrupt_on_timeout=True,
        error_on_timeout={"ename": "CellTimeoutError", "evalue": "", "traceback": []},
        on_cell_executed=count,
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        # What a kernel itself says on stderr is about its sockets, not about the notebook.
        client.execute(stderr=subprocess.DEVNULL)
    except DeadKernelError:
        # What was judged before counts; the cells after it have no output, and count as stopped.
        return


def outcomes_in(notebook: NotebookNode, catalogue: Catalogue, task: str = "", at: int = -1) -> list[CheckOutcome]:
    """What the checks of a notebook that was run say; that of ``task``, which stands ``at`` a cell, comes last."""
    errors = {task_id(grade_id(cell)): error_of(cell) for cell in notebook.cells if is_solution(cell)}
    checks = [pair for pair in verdict_cells(notebook) if pair[0] != task]
    checks += [(task, notebook.cells[at])] if task else []
    return [_outcome(name, cell, errors.get(name), catalogue) for name, cell in checks]


def _outcome(task: str, cell: NotebookNode, answer_error: str | None, catalogue: Catalogue) -> CheckOutcome:
    """What a check's cell says, once it was run; the answer's own cell may have ended with an error."""
    verdict_record = verdict_of(cell)
    best = worth(cell)
    if verdict_record is not None:
        usual = float(verdict_record["max"])
        best = best if is_graded(cell) else usual  # a course may give other points than the check knows of
        points = round(best * float(verdict_record["points"]) / usual, 4) if usual else 0.0
        more = {key: _lines(verdict_record.get(key)) for key in ("inputs", "read")}
        every = [] if verdict_record["verdict"] == "blank" else _list(verdict_record.get("cases"))
        cases = tuple((case[0], case[1]) for case in map(_lines, every) if len(case) == 2)
        return CheckOutcome(
            task,
            verdict_record["verdict"],
            points,
            best,
            verdict_record["message"],
            str(verdict_record.get("title", "")),
            tuple(verdict_record["diagnosis"]),
            cases,
            help=help_of([cell]).get(task, 0),
            **more,
        )
    verdict = verdict_without_check(cell)
    if verdict == "stopped":
        says = "The kernel ended before this check."
    elif verdict == "timeout":
        says = "The cell took too long and was interrupted."
    elif answer_error:
        # A cell that does not compile defines no function: the check's NameError only follows from that.
        says = f"The answer's own cell ended with {answer_error}."
    else:
        says = f"The check could not run: {error_of(cell)}."
    try:
        known = catalogue.task(task)
    except UnknownTask:
        return CheckOutcome(task, verdict, 0.0, best, says)
    return CheckOutcome(task, verdict, 0.0, best, says, known.title, read=(known.book_url,))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _lines(value: Any) -> tuple[str, ...]:
    """The texts of a list, which the student's own process wrote."""
    return tuple(map(str, _list(value)))
