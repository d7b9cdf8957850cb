"""The published solutions, and what becomes of them with known mistakes in them; on the judge's side alone."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import permutations
from os.path import commonprefix
from types import CodeType
from typing import Any

from softlookup_inside.asking.printed import quiet
from softlookup_judge.data.notebook import Notebook
from softlookup_judge.data.notebook import described as described  # where modules of own tasks look for it
from softlookup_judge.data.rewriting import carried_over
from softlookup_judge.data.task import Task
from softlookup_judge.data.variant import Variant, variant_of
from softlookup_judge.mistakes import mutations
from softlookup_judge.mistakes.habits import HABIT

CONSTANT = re.compile(r"^(?P<name>\s*\w+) = .+?  # variant (?P<task>[\w.-]+):(?P<key>\w+)$", re.MULTILINE)
"""A line whose value differs between variants: ``tau = 1.0  # variant 04.scale:tau``."""


_cached = lru_cache(maxsize=4096)


class NoEdit(ValueError):
    """Edits do not fit into the published solution: what one of them replaces is not there."""


@dataclass(frozen=True)
class _Statement:
    """A statement of a notebook: what it defines, and which names it uses."""

    tree: ast.stmt
    defines: frozenset[str]
    uses: frozenset[str]


def solution(variant: Variant) -> str:
    """The published solution's cell, with a variant's constants and under its convention."""
    return in_variant(variant, variant.task.notebook.cells[variant.task.slug])


def in_variant(variant: Variant, source: str) -> str:
    """An answer's source with the constants of a variant, carried over to its convention."""
    return _carried_over(variant, with_constants(variant, source))


def _carried_over(variant: Variant, source: str) -> str:
    task, convention = variant.task, variant.convention
    return source if convention is None else carried_over(source, task.name, convention, torch=task.frame == "torch")


def with_constants(variant: Variant, source: str) -> str:
    """An answer's source with the constants of a variant on the lines that are marked as such."""
    values = variant.constants

    def fill(match: re.Match[str]) -> str:
        return f"{match['name']} = {values[match['key']]!r}" if match["task"] == variant.task.id else match[0]

    return CONSTANT.sub(fill, source).strip() + "\n"


def mutant_source(variant: Variant, mistake_names: Sequence[str]) -> str:
    """The published solution's cell with known mistakes in the first order in which they fit; NoEdit if in none."""
    return _first_order(variant, mistake_names, lambda source: _carried_over(variant, source))


def _first_order(variant: Variant, mistake_names: Sequence[str], finished: Callable[[str], str]) -> str:
    """What is made of the published solution with known mistakes in it, in the first order in which that is Python."""
    task, reasons = variant.task, []
    for order in permutations(mistake_names):
        source = with_constants(variant, task.notebook.cells[task.slug])
        try:
            for mistake_name in order:
                source = task.mistake(mistake_name).applied_to(source)
            source = finished(source)
            _compiled(source, task.id)
        except ValueError as error:
            reasons.append(str(error))
        except SyntaxError:
            reasons.append("together they are no Python")
        else:
            return source
    raise NoEdit(f"{task.id}, {' and '.join(mistake_names)}: {reasons[0]}")


@_cached
def with_earlier(variant: Variant, known: tuple[str, ...] = ()) -> str:
    """The published solution with some mistakes, uncarried, behind the functions of earlier tasks that it calls."""
    task, source = variant.task, _first_order(variant, known, str)
    beside = task.notebook.beside_task(task.id)
    names = {facts["name"] for facts in beside.facts.get("tasks", {}).values()}
    earlier = _needed(task.notebook, task.slug, _used(source))
    functions = [ast.unparse(tree) for tree in earlier if isinstance(tree, ast.FunctionDef) and tree.name in names]
    return "\n\n".join([*functions, source])


def with_habits(variant: Variant, mistake_names: tuple[str, ...]) -> Any:
    """The published function of a task with habits, and known mistakes, in it; a ValueError if they do not fit."""
    task, habits = variant.task, [name for name in mistake_names if name.startswith(HABIT)]
    source = with_earlier(variant, tuple(name for name in mistake_names if name not in habits))
    if variant.convention is not None:
        return _made(task, _carried_over(variant, mutations.make_mutant(source, habits, ast.unparse)), {})
    space = dict(_run(_needed(task.notebook, task.slug, _used(source))))
    try:
        with quiet():
            code = mutations.make_mutant(source, habits, lambda tree: compile(tree, f"<published {task.id}>", "exec"))
    except SyntaxError:
        raise NoEdit(f"{task.id}, {' and '.join(mistake_names)}: together they are no Python") from None
    exec(code, space)
    return space[task.name]


@_cached
def answer(variant: Variant, mistake_names: tuple[str, ...] = ()) -> Any:
    """The published function of a task, with known mistakes planted in it; NoEdit if they do not fit in together."""
    return _made(variant.task, mutant_source(variant, mistake_names), {})


@_cached
def edited_places(task: Task, mistake_name: str) -> tuple[tuple[int, int], ...]:
    """Where a known mistake changes the published solution: from which letter to which, for each place."""
    source, positions = task.notebook.cells[task.slug], []
    for old, new in task.mistake(mistake_name).edits:
        before = len(commonprefix([old, new]))
        after = len(old) - len(commonprefix([old[before:][::-1], new[before:][::-1]]))
        positions += [(match.start() + before, match.start() + after) for match in re.finditer(re.escape(old), source)]
    return tuple(positions)


def fit_together(variant: Variant, mistake_names: tuple[str, ...]) -> bool:
    """Whether known mistakes can be planted in the published solution together."""
    try:
        answer(variant, mistake_names)
    except ValueError:
        return False
    return True


def composed(variant: Variant, functions: Mapping[str, Any]) -> Any:
    """The published function of a task with other functions, by name, in place of those of earlier tasks."""
    return _made(variant.task, solution(variant), functions)


def _made(task: Task, source: str, functions: Mapping[str, Any]) -> Any:
    code = _compiled(source, task.id)
    space = {**_run(_needed(task.notebook, task.slug, _names(code))), **functions}
    with quiet():
        exec(code, space)
    return space[task.name]


@lru_cache(maxsize=32)
def _compiled(source: str, task_id: str) -> CodeType:
    with quiet():
        return compile(source, f"<published {task_id}>", "exec")


def _names(code: CodeType) -> frozenset[str]:
    """The names that code looks up, and those of attributes: they are read faster here than in a syntax tree."""
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return frozenset(code.co_names).union(*inner)


def names_used(task: Task) -> frozenset[str]:
    """The names that the published solution of a task uses and does not define itself."""
    nodes = list(ast.walk(ast.parse(solution(variant_of(task)))))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    local_names = {name.id for name in names if not isinstance(name.ctx, ast.Load)} | {
        node.arg for node in nodes if isinstance(node, ast.arg)
    }
    return frozenset(name.id for name in names) - local_names


def _used(source: str) -> frozenset[str]:
    return frozenset().union(*(part.uses for part in _statements(source)))


@_cached
def _needed(notebook: Notebook, name: str, names: frozenset[str]) -> tuple[ast.stmt, ...]:
    """The statements above a cell in its notebook that these names need, in their order: definitions alone."""
    needed = set(names)
    trees: list[ast.stmt] = []
    for statement in reversed(_above(notebook, name)):
        if statement.defines & needed:
            trees.append(statement.tree)
            needed |= statement.uses
    return tuple(trees[::-1])


@cache
def _run(trees: tuple[ast.stmt, ...]) -> dict[str, Any]:
    """The names that some statements define; statements are the same where they are the same objects."""
    space: dict[str, Any] = {"__name__": "softlookup_published"}
    exec(compile(ast.Module(list(trees), []), "<published>", "exec"), space)
    return space


@_cached
def _above(notebook: Notebook, name: str) -> tuple[_Statement, ...]:
    statements: list[_Statement] = []
    for cell in notebook.cells:
        if cell == name:
            return tuple(statements)
        statements += _cell_statements(notebook, cell)
    raise KeyError(f"{notebook.name} has no cell {name!r}")


@_cached
def _cell_statements(notebook: Notebook, cell: str) -> tuple[_Statement, ...]:
    return tuple(_statements(notebook.cells[cell]))


def _statements(source: str) -> Iterator[_Statement]:
    for tree in ast.parse(source).body:
        if isinstance(tree, ast.Import | ast.ImportFrom):
            defines = {(alias.asname or alias.name).partition(".")[0] for alias in tree.names}
        elif isinstance(tree, ast.FunctionDef | ast.ClassDef):
            defines = {tree.name}
        else:
            walked = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
            defines = {name.id for name in walked if isinstance(name.ctx, ast.Store)}
        uses = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        yield _Statement(tree, frozenset(defines), frozenset(uses))
