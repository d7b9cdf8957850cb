"""The notebook that is graded: the release, with the source of its solution cells taken from the submission.

Pictures in a text answer come along. Everything else that a submission holds is left where it is: other cells, outputs,
metadata, the order of the cells. So nothing that a submission says of itself counts, and an accident with a cell costs
nothing.
"""

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from nbformat import NotebookNode

from softlookup.checking.registry import UnknownTask, earlier, get_task
from softlookup.checking.task import Task
from softlookup.checking.variant import under
from softlookup.grading.course.notebooks import (
    MAX_CELLS,
    BadNotebook,
    grade_id,
    is_graded,
    is_solution,
    notebook_json,
    task_id,
)
from softlookup.grading.judging.attached import attached
from softlookup.grading.judging.cleaning import NOT_SHOWN, safe_markdown

MAX_SOURCE = 200_000
"""Characters of one solution cell; no answer is so long."""

_SHORT = 10_000
"""Characters of a cell whose names are kept in mind."""

_MAGIC = re.compile(r"(?m)^([ \t]*)(?:[%!?].*|[\w.]+\?{1,2}[ \t]*)$")
"""Lines that Jupyter reads and Python does not: ``%%time``, ``!ls``, ``torch.exp?``."""


@dataclass(frozen=True)
class ReleasedCheck:
    """The check of a task, as the release holds it.

    Attributes:
        task: The task.
        variant: Which variant it asks for.
        expression: What is handed to the check, as Python: the name of a function.
        alone: Whether the cell holds nothing but the check.
    """

    task: Task
    variant: int
    expression: str
    alone: bool


@dataclass(frozen=True)
class Rebuilt:
    """A submission put into the release.

    Attributes:
        notebook: The notebook to grade: the release, with solutions taken over and no outputs.
        remarks: What was left out or put back, sentences.
        untouched: grade_ids of the solution cells that are as released.
    """

    notebook: NotebookNode
    remarks: tuple[str, ...]
    untouched: frozenset[str]


def released_check(cell: NotebookNode) -> ReleasedCheck | None:
    """The task that a released cell checks, None if it checks none that is known."""
    if cell.cell_type != "code":
        return None
    try:
        tree = ast.parse(cell.source)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "check":
            asked = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
            variants = [
                k.value.value for k in node.keywords if k.arg == "variant" and isinstance(k.value, ast.Constant)
            ]
            try:
                task = get_task(str(asked))
            except UnknownTask:
                continue
            variant = variants[0] if variants else 0
            if type(variant) is int and 0 <= variant < len(task.variants):
                expression = ast.unparse(node.args[1]) if len(node.args) > 1 else task.name
                alone = len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) and tree.body[0].value is node
                return ReleasedCheck(under(task, variant), variant, expression, alone)
    return None


def rebuild(release: NotebookNode, raw: bytes, name: str) -> Rebuilt:
    """Put a submission's solutions into the release.

    Args:
        release: The notebook as students got it.
        raw: The submitted file.
        name: Its name, for messages.

    Returns:
        What is graded, and what was left out.

    Raises:
        BadNotebook: If the file is no notebook.
    """
    cells = _cells(notebook_json(raw, name), name)
    notebook = _copy(release)
    remarks: list[str] = []
    if len(cells) > MAX_CELLS:
        remarks.append(f"The notebook has {len(cells):,} cells; the first {MAX_CELLS:,} were read.")
        cells = cells[:MAX_CELLS]
    names = [_name(cell) for cell in cells]
    handed: dict[str, list[dict[str, Any]]] = {}
    for own, one in zip(names, cells, strict=True):
        if own:
            handed.setdefault(own, []).append(one)
    released = {grade_id(cell): at for at, cell in enumerate(release.cells) if grade_id(cell)}
    untouched, gone, changed = set(), [], []
    for cell in notebook.cells:
        own = grade_id(cell)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if is_solution(cell):
            taken, said = _chosen(cell, handed.get(own, []))
            remarks += said
            if taken == cell.source:
                untouched.add(own)
            elif cell.cell_type == "markdown":
                remarks += _with_pictures(cell, taken, handed.get(own, []))
                taken, changed_text = safe_markdown(taken, cell.get("attachments", {}))
                if changed_text:
                    remarks.append(f"The answer to {task_id(own)} held {NOT_SHOWN}: they stand there as plain text.")
            cell.source = taken
        elif is_graded(cell) and own not in handed:
            gone.append(task_id(own))
        elif is_graded(cell) and any(_text(one) != cell.source for one in handed[own]):
            changed.append(task_id(own))
    for those, what in ((gone, "missing"), (changed, "changed")):
        if those:
            remarks.append(f"The check cell of {', '.join(those)} was {what}; the released one was used.")
    known = {"", *(cell.source for cell in release.cells)}
    own_code = (c for own, c in zip(names, cells, strict=True) if own not in released and c.get("cell_type") == "code")
    strange = sum(bool(text.strip()) and text not in known for text in map(_text, own_code))
    if strange:
        many = (
            "1 cell that is not in the released notebook was"
            if strange == 1
            else (f"{strange:,} cells that are not in the released notebook were")
        )
        remarks.append(f"{many} left out: what an answer needs belongs in its cell.")
    order = [released[own] for own in names if own in released]
    if order != sorted(order):
        remarks.append("Cells stand in another order than in the released notebook; that one's order was used.")
    return Rebuilt(notebook, tuple(remarks), frozenset(untouched))


def _copy(release: NotebookNode) -> NotebookNode:
    """A notebook whose cells can be filled in; their metadata are the release's own, and stay as they are."""
    return NotebookNode({**release, "cells": [NotebookNode(cell) for cell in release.cells]})


def _cells(content: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The cells of a file that may hold anything."""
    version = content.get("nbformat")
    if version != 4:
        record = version if type(version) is int else "something else than a number"
        raise BadNotebook(
            f"{name} is a notebook of format {record}: save it in format 4, which all versions since 2014 write"
        )
    cells = content.get("cells")
    if not isinstance(cells, list):
        raise BadNotebook(f"{name} is not a sound notebook: its cells are no list")
    return [cell for cell in cells if isinstance(cell, dict)]


def _name(cell: dict[str, Any]) -> str:
    about: Any = cell.get("metadata")
    about = about.get("nbgrader") if isinstance(about, dict) else None
    named = about.get("grade_id") if isinstance(about, dict) else None
    return named if isinstance(named, str) else ""


def _text(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    # Half of a surrogate pair is no text: it could be neither written to a file nor compiled.
    return source.encode("utf-8", "replace").decode("utf-8") if isinstance(source, str) else ""


def _chosen(cell: NotebookNode, handed: Sequence[dict[str, Any]]) -> tuple[str, list[str]]:
    """The source that counts for one solution cell, and what is to be said about it."""
    own = task_id(grade_id(cell))
    if not handed:
        return cell.source, [f"The cell of {own} is missing; it counts as not filled in."]
    texts = [_text(one) for one in handed]
    filled = [text for text in texts if text.strip() and text != cell.source]
    said = []
    if len(handed) > 1:
        said.append(f"The cell of {own} occurs {len(handed)} times; the last one that is filled in was graded.")
    text = filled[-1] if filled else (cell.source if cell.source in texts else texts[-1])
    if len(text) > MAX_SOURCE:
        said.append(f"The cell of {own} has {len(text):,} characters, more than are read; it counts as not filled in.")
        return cell.source, said
    if "\x00" in text:
        said.append(f"The cell of {own} holds a null character; it counts as not filled in.")
        return cell.source, said
    return text, said


def _with_pictures(cell: NotebookNode, taken: str, handed: Sequence[dict[str, Any]]) -> list[str]:
    """Put the pictures of a text answer into its cell, and say what was left out."""
    pictures, left_out = attached(next((one for one in reversed(handed) if _text(one) == taken), {}))
    if pictures:
        cell.attachments = NotebookNode({name: NotebookNode(kinds) for name, kinds in pictures.items()})
    own = task_id(grade_id(cell))
    one = "1 attachment" if left_out == 1 else f"{left_out:,} attachments"
    return [f"{one} of {own} left out: only PNG and JPEG pictures below 1.5 MB are taken."] if left_out else []


class Leaning:
    """Tells which functions of earlier tasks an answer calls, from the text of its cell and of those it leans on.

    Those may be given cells as well. A function of an earlier name that stands in the answer's own cell is a part
    of the answer.

    Args:
        notebook: The rebuilt notebook.
    """

    def __init__(self, notebook: NotebookNode) -> None:
        code = [(at, cell) for at, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
        self._cells = {grade_id(cell) or f"cell {at}": _names(cell.source) for at, cell in code}
        self._homes = {name: cell for cell, names in self._cells.items() for name in names.given}

    def on(self, asked: ReleasedCheck) -> tuple[str, ...]:
        """Ids of the earlier tasks whose functions the answer to a task calls."""
        own = asked.task.slug
        seen, todo = {own}, [own]
        used: set[str] = set()
        while todo:
            names = self._cells.get(todo.pop(), _Names()).used
            used |= names
            more = {self._homes[name] for name in names if name in self._homes} - seen
            seen |= more
            todo += sorted(more)
        inside = self._cells.get(own, _Names()).given
        return tuple(one.id for one in earlier(asked.task) if one.name in used and one.name not in inside)


@dataclass(frozen=True)
class _Names:
    """The global names that a cell gives to functions, classes and values, and all names in it."""

    given: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()


def _names(source: str) -> _Names:
    """The names in a cell. Most cells are the same for a whole class, and long ones are nobody's."""
    return (_names_once if len(source) <= _SHORT else _names_in)(source)


def _names_in(source: str) -> _Names:
    tree = _parsed(source)
    return _Names(frozenset(_defined(tree)), frozenset(one.id for one in ast.walk(tree) if isinstance(one, ast.Name)))


_names_once = lru_cache(maxsize=1024)(_names_in)


def _parsed(source: str) -> ast.Module:
    """The statements of a cell; without the lines that are a notebook's alone, where Python cannot read them."""
    for text in (source, _MAGIC.sub(r"\1pass", source)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # each of 100,000 lines may have one: they would fill the workers' log
                return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return ast.Module([], [])


def _defined(tree: ast.Module) -> set[str]:
    """The global names that a cell gives to functions, classes and values."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    given = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    names = [name for node in given for name in ast.walk(node) if isinstance(name, ast.Name)]
    return {node.name for node in tree.body if isinstance(node, kinds)} | {
        name.id for name in names if isinstance(name.ctx, ast.Store)
    }
