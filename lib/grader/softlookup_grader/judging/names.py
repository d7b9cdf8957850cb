"""The names in a notebook's cells: what a cell defines, what it needs of others, which earlier answers it leans on."""

import ast
import builtins
import re
import symtable
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from nbformat import NotebookNode

from softlookup_grader.course.notebooks import grade_id
from softlookup_judge.data.task import Task

_SHORT = 10_000  # characters of a cell whose names are kept in mind

_MAGIC = re.compile(r"(?m)^([ \t]*)(?:[%!?].*|[\w.]+\?{1,2}[ \t]*)$")
"""Lines that Jupyter reads and Python does not: ``%%time``, ``!ls``, ``torch.exp?``."""

_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_PROVIDED = frozenset({*dir(builtins), "get_ipython", "In", "Out", "_", "display"})

_NO_NAMES = frozenset[str](), frozenset[str]()

T = TypeVar("T")


class Leaning:
    """Tells which functions of earlier tasks an answer calls, itself or through given cells that it leans on."""

    def __init__(self, notebook: NotebookNode) -> None:
        code = [(at, cell) for at, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
        self._cells = {grade_id(cell) or f"cell {at}": names_in(cell.source) for at, cell in code}
        self._homes = {name: cell for cell, (defined, _) in self._cells.items() for name in defined}

    def on(self, task: Task) -> tuple[str, ...]:
        """Ids of the earlier tasks whose functions the answer to a task calls."""
        cell_name = task.slug
        visited_cells, todo = {cell_name}, [cell_name]
        used: set[str] = set()
        while todo:
            names = self._cells.get(todo.pop(), _NO_NAMES)[1]
            used |= names
            more = {self._homes[name] for name in names if name in self._homes} - visited_cells
            visited_cells |= more
            todo += sorted(more)
        inside, _ = self._cells.get(cell_name, _NO_NAMES)
        return tuple(earlier.id for earlier in task.earlier if earlier.name in used and earlier.name not in inside)


def _kept(function: Callable[[str], T]) -> Callable[[str], T]:
    """Keep what is found in short cells: most are the same for a whole class, and long ones are nobody's."""
    once = lru_cache(maxsize=1024)(function)
    return lambda source: (once if len(source) <= _SHORT else function)(source)


@_kept
def names_in(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """The global names that a cell gives to functions, classes and values, and all names in it."""
    tree = parsed(source)
    defined = {name for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom) for name in _bound(node)}
    return frozenset(defined), frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def parsed(source: str) -> ast.Module:
    """The statements of a cell; without the lines that are a notebook's alone, where Python cannot read them."""
    for text in (source, without_magics(source)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # each of 100,000 lines may have one: they would fill the workers' log
                return ast.parse(text)
        except _UNREADABLE:
            continue
    return ast.Module([], [])


def without_magics(source: str) -> str:
    """A cell's source, line by line, with ``pass`` for what Python cannot read."""
    return _MAGIC.sub(r"\1pass", source)


@dataclass(frozen=True)
class CellStatement:
    """A statement at the top of a cell."""

    text: str
    defines: frozenset[str]  # the global names that it gives something to
    callable: bool  # whether that may be a function or a class, not the result of an expression


@_kept
def statements(source: str) -> tuple[CellStatement, ...]:
    """The statements of a cell that define something, with their lines as they stand there."""
    lines = source.split("\n")
    return tuple(
        CellStatement(_lines_of(node, lines), frozenset(bound), _may_be_called(node))
        for node in parsed(source).body
        if (bound := _bound(node))
    )


def _lines_of(node: ast.stmt, lines: list[str]) -> str:
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
    last = node.end_lineno or first
    text = "\n".join(lines[first - 1 : last])
    # Where several statements share a line, the node alone is written anew.
    return text if node.col_offset == 0 and len(parsed(text).body) == 1 else ast.unparse(node)


def _may_be_called(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return isinstance(node.value, ast.Lambda | ast.Call | ast.Name | ast.Attribute)
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _bound(node: ast.stmt) -> set[str]:
    """The global names that a statement at the top of a cell gives something to."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names if alias.name != "*"}
    names = {child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)}
    for block in ("body", "orelse", "finalbody", "handlers"):
        for inner in getattr(node, block, []):
            names |= _bound(inner)
    return names


@_kept
def needed(source: str) -> frozenset[str]:
    """The global names that a cell uses and does not define: a function's own variables are none of them."""
    for text in (source, without_magics(source)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                top = symtable.symtable(text, "<cell>", "exec")
        except _UNREADABLE:
            continue
        defined = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
        return frozenset(_free(top)) - defined - _PROVIDED
    return frozenset()


def _free(table: symtable.SymbolTable) -> Iterator[str]:
    inside = table.get_type() != "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (symbol.is_global() or not inside):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _free(child)
