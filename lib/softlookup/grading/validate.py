"""Runs a notebook the way a student would, and says what its checks say, in words."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from softlookup.grading.course.notebooks import (
    error_of,
    grade_id,
    is_solution,
    read_notebook,
    task_id,
    verdict_cells,
    verdict_of,
    verdict_without_check,
)


@dataclass(frozen=True)
class Outcome:
    """What one check said.

    Attributes:
        task: The task's id.
        verdict: pass, partial, wrong, blank, error, timeout or stopped.
        points: What was earned.
        max: What could be earned.
        message: Words for the student.
    """

    task: str
    verdict: str
    points: float
    max: float
    message: str


def rehearse(
    path: Path, timeout_s: float = 60.0, done: Callable[[int, int], None] = lambda number, total: None
) -> list[Outcome]:
    """Run a notebook in a fresh kernel, on past errors, and gather the verdicts.

    Args:
        path: The notebook; it is not changed.
        timeout_s: How long one cell may run before it is interrupted, in seconds.
        done: Called after each code cell with how many have run and how many there are.

    Returns:
        One outcome for each check, in the order of the notebook.

    Raises:
        BadNotebook: If the file is not a notebook.
    """
    notebook = executed(path, timeout_s, done)
    answers = {task_id(grade_id(cell)): error_of(cell) for cell in notebook.cells if is_solution(cell)}
    return [_outcome(task, cell, answers.get(task)) for task, cell in verdict_cells(notebook)]


def executed(
    path: Path, timeout_s: float = 60.0, done: Callable[[int, int], None] = lambda number, total: None
) -> NotebookNode:
    """Run a notebook in a fresh kernel, on past errors.

    Args:
        path: The notebook; it is not changed.
        timeout_s: How long one cell may run before it is interrupted, in seconds.
        done: Called after each code cell with how many have run and how many there are.

    Returns:
        The notebook with the outputs of this run.

    Raises:
        BadNotebook: If the file is not a notebook.
    """
    notebook = read_notebook(path)
    _execute(notebook, path.resolve().parent, timeout_s, done)
    return notebook


def _execute(notebook: NotebookNode, folder: Path, timeout_s: float, done: Callable[[int, int], None]) -> None:
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


def _outcome(task: str, cell: NotebookNode, answer_error: str | None) -> Outcome:
    record = verdict_of(cell)
    best = float(cell.metadata.get("nbgrader", {}).get("points", 0))
    if record is not None:
        return Outcome(task, record["verdict"], float(record["points"]), float(record["max"]), record["message"])
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
    return Outcome(task, verdict, 0.0, best, says)
