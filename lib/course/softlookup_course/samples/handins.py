"""Notebooks as students hand them in: filled in, written in other words, and broken in everyday ways."""

import ast
import copy
import symtable
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

import nbformat
from nbformat import NotebookNode

from softlookup_grader.course.notebooks import grade_id, is_solution
from softlookup_judge.data.task import Task

_MARKS = ("### BEGIN SOLUTION", "### END SOLUTION")


@dataclass(frozen=True)
class HandIn:
    """What one student hands in: the text of the file, None without one; ``waits`` if grading has to time it out."""

    student: str
    text: str | None
    did: str
    mistakes: Mapping[str, str] = field(default_factory=dict)
    waits: bool = False

    @classmethod
    def of(cls, student: str, notebook: NotebookNode, did: str, mistakes: Mapping[str, str] | None = None) -> "HandIn":
        """A hand-in whose file is a sound notebook."""
        return cls(student, nbformat.writes(notebook), did, mistakes or {})


def answers(source: NotebookNode) -> dict[str, str]:
    """The published answers, by grade_id, without the marks that say where a solution begins and ends."""
    return {
        grade_id(cell): "\n".join(line for line in cell.source.splitlines() if line.strip() not in _MARKS)
        for cell in source.cells
        if is_solution(cell)
    }


def filled(release: NotebookNode, texts: Mapping[str, str]) -> NotebookNode:
    """A student's notebook with these cells filled in, by grade_id; the others are as released."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        if grade_id(cell) in texts:
            cell.source = texts[grade_id(cell)]
    return notebook


class _OtherWords(ast.NodeTransformer):
    """Gives variables other names wherever they stand, and results a name before they are returned."""

    def __init__(self, names: Mapping[str, str], result: str) -> None:
        self.names, self.result = names, result

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Rename what is a variable in this node; attributes and names of arguments are none."""
        match node:
            case ast.Name():
                node.id = self.names.get(node.id, node.id)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                node.name = self.names.get(name, name)
            case ast.MatchMapping(rest=str(name)):
                node.rest = self.names.get(name, name)
            case ast.Nonlocal():
                node.names = [self.names.get(name, name) for name in node.names]
        return super().generic_visit(node)

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:  # noqa: N802, D102  (the name is ast's)
        if node.value is None:
            return node
        value = self.visit(node.value)
        return [ast.Assign([ast.Name(self.result, ast.Store())], value), ast.Return(ast.Name(self.result, ast.Load()))]


def rewritten(text: str) -> str:
    """The same answer in other words: other names for its variables, no comments, the result named first."""
    tree, used_names = ast.parse(text), _names_in(ast.parse(text))
    tables = {(scope.get_name(), scope.get_lineno()): scope for scope in _scopes(symtable.symtable(text, "", "exec"))}
    result = next(name for index in count(1) if (name := f"answer_{index}".removesuffix("_1")) not in used_names)
    for function in _functions(tree):
        names = _variables(tables[function.name, function.lineno])
        words = _OtherWords({name: f"my_{name}" for name in names if f"my_{name}" not in used_names}, result)
        function.body = [part for line in function.body for part in _as_list(words.visit(line))]
    return ast.unparse(ast.fix_missing_locations(tree))


def _functions(tree: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """The functions of a cell and the methods of its classes; those within a function are a part of it."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node)


def _names_in(tree: ast.AST) -> set[str]:
    """All names in a text, of whatever kind."""
    fields = ("id", "arg", "name", "asname", "rest", "attr")
    names = {value for node in ast.walk(tree) for field in fields if isinstance(value := getattr(node, field, 0), str)}
    return names.union(*(node.names for node in ast.walk(tree) if isinstance(node, ast.Global | ast.Nonlocal)))


_BY_NAME = frozenset(("locals", "vars", "eval", "exec", "globals"))
"""Functions that find variables by their names."""


def _variables(function: symtable.SymbolTable) -> set[str]:
    """The names that may be changed everywhere in a function: none is seen outside, or is global."""
    tables = list(_scopes(function))
    if _BY_NAME & {name for table in tables for name in table.get_identifiers()}:
        return set()
    bound, fixed = set(), set()
    for table in tables:
        for symbol in table.get_symbols():
            name = symbol.get_name()
            if symbol.is_assigned():
                bound.add(name)
            if (
                table.get_type() == "class"
                or symbol.is_global()
                or symbol.is_parameter()
                or symbol.is_imported()
                or symbol.is_namespace()
                or name.startswith("__")
            ):
                fixed.add(name)
    return bound - fixed


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for inner in table.get_children():
        yield from _scopes(inner)


def _as_list(statements: ast.stmt | list[ast.stmt]) -> list[ast.stmt]:
    return statements if isinstance(statements, list) else [statements]


# What is put in place of one answer; NAME is the function's name, ANSWER the right one.
_SYNTAX = "def NAME(*given):\n    return (given[0]"
_ENDLESS = "def NAME(*given):\n    while True:\n        pass"
_DEEP = """def NAME(*given):
    def deeper(n):
        return deeper(n - 1) if n else given[0].no_such_thing

    return deeper(300)"""
_PRINTS = """ANSWER


quiet_NAME = NAME


def NAME(*given):
    for n in range(20_000):
        print("still here", n)
    return quiet_NAME(*given)"""


def broken_ones(release: NotebookNode, right_answers: Mapping[str, str], tasks: Sequence[Task]) -> Iterator[HandIn]:
    """Everyday accidents, each in an otherwise right notebook: what else is right must count."""
    # The last task but one: nothing that comes before it leans on it.
    task = tasks[-2] if len(tasks) > 1 else tasks[0]
    name = task.name
    accidents = {
        "syntax-error": (_SYNTAX, "one cell breaks off in the middle of a line"),
        "deep-traceback": (_DEEP, "one answer raises an exception 300 calls deep"),
        "prints-a-lot": (_PRINTS.replace("ANSWER", right_answers[task.slug]), "one right answer prints 20,000 lines"),
        "endless-loop": (_ENDLESS, "one answer never comes back"),
        "not-a-function": ("NAME = 3", "one answer is a number where a function was asked"),
    }
    for student, (text, did) in accidents.items():
        notebook = filled(release, {**right_answers, task.slug: text.replace("NAME", name)})
        yield HandIn(student, nbformat.writes(notebook), did, waits=text is _ENDLESS)
    gone = filled(release, right_answers)
    gone.cells = [cell for cell in gone.cells if grade_id(cell) != task.slug]
    yield HandIn.of("deleted-function", gone, "the cell of one answer is deleted")
    whole = nbformat.writes(filled(release, right_answers))
    yield HandIn("not-json", whole[: len(whole) // 2], "the file breaks off in the middle")
    yield HandIn("empty-file", "", "the file is empty")
    yield HandIn("missing-notebook", None, "there is no file")
