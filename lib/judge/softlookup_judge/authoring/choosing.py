"""A part of an assignment: tasks left out, and other points for those that stay."""

import ast
import copy
import math
import re
from collections.abc import Iterable, Mapping

from nbformat import NotebookNode

from softlookup_judge.data.notebook import without_marks

_POINTS = re.compile(r"\d+(?:\.\d+)? points?\b")


class BadChoice(ValueError):
    """A choice names no task of the assignment, or points that cannot be given."""


def chosen_tasks(notebook: NotebookNode) -> list[str]:
    """The tasks that a source notebook asks for, in its order: "04.scale", and "04.uniform" for a written answer."""
    return [_task_of(cell) for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]


def choose(notebook: NotebookNode, drop: Iterable[str] = (), points: Mapping[str, float] | None = None) -> NotebookNode:
    """A copy of a source notebook without some tasks, with other points; answers that later cells use stay, solved."""
    points, drop = dict(points or {}), set(drop)
    known = chosen_tasks(notebook)
    for task in sorted(drop | set(points)):
        if task not in known:
            raise BadChoice(f"{task} is no task of this notebook; it has {', '.join(known)}")
    for task, task_points in points.items():
        if task in drop:
            raise BadChoice(f"{task} is both left out and given {task_points:g} points")
        if not math.isfinite(task_points) or task_points < 0:
            raise BadChoice(f"points have to be 0 or more: {task} got {task_points:g}")
    if drop >= set(known):
        raise BadChoice("this leaves no task in the notebook")
    notebook = copy.deepcopy(notebook)
    for task, task_points in points.items():
        _set_points(notebook, task, task_points)
    if drop:
        notebook.cells = _without(notebook, drop)
    return notebook


def _task_of(cell: NotebookNode) -> str:
    """The task whose answer or check a cell is; empty for any other cell."""
    about = cell.metadata.get("nbgrader", {})
    if not (about.get("grade") or about.get("solution")):
        return ""
    return str(about.grade_id).removesuffix("-check").replace("-", ".", 1)


def _heading_starts(cell: NotebookNode, task: str) -> int:
    """Where the text of a task begins in a Markdown cell; -1 if the cell is not about it."""
    if cell.cell_type != "markdown" or cell.metadata.get("nbgrader"):
        return -1
    heading = re.search(rf"(?m)^### Task {re.escape(task)} ·", cell.source)
    if heading:
        return heading.start()
    written = task.replace(".", "-", 1)
    return 0 if re.search(rf"(?m)^Task {re.escape(written)} ·", cell.source) else -1


def _is_row(line: str, task: str) -> bool:
    return line.startswith((f"| [{task}](", f"| {task.replace('.', '-', 1)} |"))


def _set_points(notebook: NotebookNode, task: str, task_points: float) -> None:
    points_text = f"{task_points:g} point" if task_points == 1 else f"{task_points:g} points"
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        if about.get("grade") and _task_of(cell) == task:
            about["points"] = task_points
        elif cell.cell_type == "markdown" and not about:
            lines = cell.source.split("\n")
            for at, line in enumerate(lines):
                if _is_row(line, task):
                    lines[at] = re.sub(r"\| [\d.]+ \|$", f"| {task_points:g} |", line)
            cell.source = "\n".join(lines)
            start = _heading_starts(cell, task)
            if start >= 0:
                cell.source = cell.source[:start] + _POINTS.sub(points_text, cell.source[start:], count=1)


def _without(notebook: NotebookNode, drop: set[str]) -> list[NotebookNode]:
    """The cells that are left, from the last to the first, since later cells say which answers they need."""
    cells: list[NotebookNode] = []
    needed: set[str] = set()
    given_tasks: set[str] = set()
    for cell in reversed(notebook.cells):
        task = _task_of(cell)
        about = cell.metadata.get("nbgrader", {})
        if task in drop:
            defines, uses = _names(cell) if cell.cell_type == "code" and about.get("solution") else (set(), set())
            if defines & needed:
                needed |= uses
                given_tasks.add(task)
                cells.append(_as_given(cell))
            continue
        if cell.cell_type == "code":
            needed |= _names(cell)[1]
        elif not about:
            cell.source = _text_without(cell, drop, given_tasks)
            if not cell.source:
                continue
        cells.append(cell)
    return cells[::-1]


def _text_without(cell: NotebookNode, drop: set[str], given_tasks: set[str]) -> str:
    """A Markdown cell without the rows and headings of dropped tasks."""
    task = next((task for task in drop if _heading_starts(cell, task) >= 0), None)
    if task is not None:
        before = cell.source[: _heading_starts(cell, task)].rstrip()
        says = f"The next cell holds the answer to task {task}, which later cells use." if task in given_tasks else ""
        return "\n\n".join(part for part in (before, says) if part)
    lines = cell.source.split("\n")
    return "\n".join(line for line in lines if not any(_is_row(line, task) for task in drop))


def _as_given(cell: NotebookNode) -> NotebookNode:
    """An answer's cell as one that holds the published solution and is locked."""
    cell.source = without_marks(cell.source).rstrip()
    cell.metadata.nbgrader.update(solution=False, locked=True, grade=False)
    return cell


def _names(cell: NotebookNode) -> tuple[set[str], set[str]]:
    """The names that a code cell defines at its top, and all that it uses."""
    tree = ast.parse(cell.source)
    top = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return {node.name for node in top}, used
