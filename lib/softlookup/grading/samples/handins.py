"""Notebooks as students hand them in: filled in, written in other words, and broken in everyday ways."""

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import nbformat
from nbformat import NotebookNode

from softlookup.checking.task import Task
from softlookup.grading.course.notebooks import grade_id, is_solution


@dataclass(frozen=True)
class HandIn:
    """What one student hands in.

    Attributes:
        student: The student's id; it says what the student did.
        text: The file as it is; None means that there is no file.
        did: The same in a few words.
        planted: The known mistake in each task, by task id.
        waits: Grading waits for it until its time is up, so one assignment of a sample class is enough.
    """

    student: str
    text: str | None
    did: str
    planted: Mapping[str, str] = field(default_factory=dict)
    waits: bool = False

    @classmethod
    def of(cls, student: str, notebook: NotebookNode, did: str, planted: Mapping[str, str] | None = None) -> "HandIn":
        """A hand-in whose file is a sound notebook."""
        return cls(student, nbformat.writes(notebook), did, planted or {})


def answers(source: NotebookNode) -> dict[str, str]:
    """The published answers, by grade_id, without the marks that say where a solution begins and ends."""
    return {
        grade_id(cell): "\n".join(line for line in cell.source.splitlines() if not _is_mark(line))
        for cell in source.cells
        if is_solution(cell)
    }


def _is_mark(line: str) -> bool:
    return line.strip() in ("### BEGIN SOLUTION", "### END SOLUTION")


def filled(release: NotebookNode, texts: Mapping[str, str]) -> NotebookNode:
    """A student's notebook with these cells filled in, by grade_id; the others are as released."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        if grade_id(cell) in texts:
            cell.source = texts[grade_id(cell)]
    return notebook


class _OtherWords(ast.NodeTransformer):
    """Gives a function's own variables other names, and its result a name before it is returned."""

    def __init__(self, variables: set[str]) -> None:
        self.variables = variables

    def visit_Name(self, node: ast.Name) -> ast.Name:  # noqa: N802, D102  (the name is ast's)
        return ast.Name(f"my_{node.id}", node.ctx) if node.id in self.variables else node

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:  # noqa: N802, D102
        if node.value is None:
            return node
        value = self.visit(node.value)
        return [
            ast.Assign([ast.Name("answer", ast.Store())], value),
            ast.Return(ast.Name("answer", ast.Load())),
        ]


def rewritten(text: str) -> str:
    """The same answer in other words: other names for its variables, no comments, the result named first."""
    tree = ast.parse(text)
    for function in [node for node in tree.body if isinstance(node, ast.FunctionDef)]:
        variables = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        variables -= {argument.arg for argument in function.args.args}  # an argument that is set anew keeps its name
        function.body = [part for line in function.body for part in _as_list(_OtherWords(variables).visit(line))]
    return ast.unparse(ast.fix_missing_locations(tree))


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


def broken_ones(release: NotebookNode, right: Mapping[str, str], tasks: Sequence[Task]) -> Iterator[HandIn]:
    """Everyday accidents, each in an otherwise right notebook: what else is right must count.

    Args:
        release: The notebook as students get it.
        right: The right answers, by grade_id.
        tasks: The tasks in it, in order.

    Yields:
        The broken hand-ins.
    """
    # The last task but one: nothing that comes before it leans on it.
    task = tasks[-2] if len(tasks) > 1 else tasks[0]
    name = task.name
    accidents = {
        "syntax-error": (_SYNTAX, "one cell breaks off in the middle of a line"),
        "deep-traceback": (_DEEP, "one answer raises an exception 300 calls deep"),
        "prints-a-lot": (_PRINTS.replace("ANSWER", right[task.slug]), "one right answer prints 20,000 lines"),
        "endless-loop": (_ENDLESS, "one answer never comes back"),
        "not-a-function": ("NAME = 3", "one answer is a number where a function was asked"),
    }
    for student, (text, did) in accidents.items():
        notebook = filled(release, {**right, task.slug: text.replace("NAME", name)})
        yield HandIn(student, nbformat.writes(notebook), did, waits=text is _ENDLESS)
    gone = filled(release, right)
    gone.cells = [cell for cell in gone.cells if grade_id(cell) != task.slug]
    yield HandIn.of("deleted-function", gone, "the cell of one answer is deleted")
    whole = nbformat.writes(filled(release, right))
    yield HandIn("not-json", whole[: len(whole) // 2], "the file breaks off in the middle")
    yield HandIn("empty-file", "", "the file is empty")
    yield HandIn("missing-notebook", None, "there is no file")
