"""A student's function, or a class, as text: its lines, and those of its mutants, in which one line is changed."""

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from softlookup_judge.mistakes.mutation_kinds import ATOMS
from softlookup_judge.mistakes.mutations import Change, applied, changes
from softlookup_judge.mistakes.scopes import is_docstring, single_name, statements

MOST_LINES, MOST_CHARACTERS = 30, 2_000
"""A longer function is no matter for ten minutes on paper."""

WIDEST = 122
"""Characters of a line that fits on paper."""

_DEEPEST = 60
"""Levels of a syntax tree that code on paper has at most."""

_BRACKETS = re.compile(r"(?<![\w\])])\(([\w.]+(?:\[[^][()]*\])*)\)")
"""Brackets around a single name or entry, which an edit may leave."""

_PLAIN_DECORATORS = frozenset(("jit", "triton.jit", "torch.no_grad()", "torch.inference_mode()"))
"""Decorators that leave what a reader sees of a function as it is."""

_CALLED = ("forward", "__call__")
"""Methods that compute the result of a class."""

_BETWEEN_METHODS = 2
"""Operations from the result of another method to that of the one that is called."""

_WITH_SIDES = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Attribute)
_STEPS = (ast.BinOp, ast.Call, ast.Compare, ast.UnaryOp, ast.Subscript, ast.BoolOp, ast.IfExp)


@dataclass(frozen=True)
class Mutant:
    """A cell with one line of its function changed, counted from 1 at the ``def``, or moved ``behind`` another."""

    rule: str
    line: int
    before: str
    after: str
    source: str
    travels: int
    behind: int = 0

    @property
    def says(self) -> str:
        """What becomes of the line, a sentence without its end."""
        if self.behind:
            return f"line {self.line} is moved behind line {self.behind}"
        return f"line {self.line} is {'taken out' if self.rule == 'line' else 'changed'}"


@dataclass(frozen=True)
class Function:
    """A function in a cell, or a class, and what of it computes the result."""

    cell: str
    name: str
    node: ast.FunctionDef | ast.ClassDef
    called: ast.FunctionDef

    @property
    def is_kernel(self) -> bool:
        """Whether it is compiled, and writes its results into its arguments."""
        return any(ast.unparse(part).endswith("jit") for part in self.called.decorator_list)

    @cached_property
    def edited(self) -> tuple[ast.FunctionDef, ...]:
        """The functions whose lines are changed: of a class, all methods but the one that makes its parts."""
        if isinstance(self.node, ast.FunctionDef):
            return (self.node,)
        return tuple(part for part in _methods(self.node) if part.name != "__init__")

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Its lines, without those that follow it in the cell."""
        return tuple(self._cell_lines[self.node.lineno - 1 : self.node.end_lineno])

    @cached_property
    def _cell_lines(self) -> list[str]:
        return self.cell.split("\n")

    def numbered_lines(self, mutant: Mutant | None = None) -> str:
        """Its numbered lines without comments, and the line that a mutant changes before and after."""
        rows, lines = [], without_comments(self.cell)[self.node.lineno - 1 : self.node.end_lineno]
        for line_number, line in enumerate(lines, 1):
            if mutant is None or line_number != mutant.line:
                rows.append(f"{line_number:2}   {line}".rstrip())
                if mutant is not None and line_number == mutant.behind:
                    rows.append(f"{mutant.line:2} + {self.becomes(mutant)}")
            else:
                rows.append(f"{line_number:2} - {line}")
                if mutant.after and not mutant.behind:
                    rows.append(f"{line_number:2} + {self.becomes(mutant)}")
        return "\n".join(rows)

    def becomes(self, mutant: Mutant) -> str:
        """The line that a mutant changes, as it is then, without its comment."""
        at = (mutant.behind or mutant.line) + self.node.lineno - 2
        return without_comments(mutant.source)[at] if mutant.after else ""

    @cached_property
    def statements(self) -> int:
        """How many statements compute the result, without a docstring."""
        return sum(not is_docstring(statement) for part in self.edited for statement in statements(part.body))

    @cached_property
    def mutants(self) -> tuple[Mutant, ...]:
        """All edits that fit, in the order of the lines; each gives another program."""
        return tuple(sorted(self._mutants(), key=lambda mutant: (mutant.line, mutant.rule, mutant.after)))

    @property
    def can_be_edited(self) -> bool:
        """Whether an edit fits; the first one that does is enough."""
        return next(self._mutants(), None) is not None

    def _mutants(self) -> Iterator[Mutant]:
        idle, dumps = sum(map(_idle, self.edited)), {ast.dump(self.node)}
        for change in changes(ast.Module([self.node], [])):
            if change.form.rule and change.scope.function in self.edited:
                mutants = list(self._written(change))
                changed, now_idle = applied([change], lambda: (ast.dump(self.node), sum(map(_idle, self.edited))))
                if changed not in dumps and now_idle <= idle:
                    dumps.add(changed)
                    yield from [mutant for mutant in mutants if self._definition_in(mutant) == changed][:1]

    def stopped_after(self) -> Iterator[tuple[int, str, str]]:
        """What is called, ended early: line, name of a variable that was set there, and a cell that returns it."""
        for statement in [] if self.is_kernel else self.called.body[:-1]:
            name = single_name(statement)
            if name and statement.end_lineno == statement.lineno:
                rows = list(self._cell_lines)
                indent = " " * statement.col_offset
                rows.insert(statement.lineno, f"{indent}return {name}")
                yield statement.lineno - self.node.lineno + 1, name, "\n".join(rows)

    def _definition_in(self, mutant: Mutant) -> str:
        try:
            node = _definition(_parsed(mutant.source), self.name)
        except (SyntaxError, ValueError):
            return ""
        return "" if node is None else ast.dump(node)

    def _written(self, change: Change) -> Iterator[Mutant]:
        """A change as text, in the ways in which it may be written, those without more brackets first."""
        start, part = self.node.lineno - 1, change.scope.function or self.called
        between = _BETWEEN_METHODS * (part is not self.called)
        if isinstance(change.node, list):
            lines = [line.lineno - 1 for line in change.node]
            rows, line = list(self._cell_lines), self._cell_lines[lines[0]]
            rows[lines[0] : lines[1] + 1] = [*rows[lines[0] + 1 : lines[1] + 1], line]
            through = travels(part, change.node[0]) + between
            yield Mutant("order", lines[0] + 1 - start, line, line, "\n".join(rows), through, lines[1] + 1 - start)
            return
        old, new = _innermost(change.node, change.form.after)
        if old.lineno != old.end_lineno:
            return
        before = self._cell_lines[old.lineno - 1]
        through = travels(part, old if isinstance(old, ast.keyword) else change.node) + between
        is_gone = isinstance(new, ast.Pass) and len(getattr(change.holder, change.field)) > 1
        for after in dict.fromkeys(self._lines(old, new, before.encode())):
            rows = list(self._cell_lines)
            rows[old.lineno - 1] = after
            new_line = "" if is_gone else after
            yield Mutant(change.form.rule, old.lineno - start, before, new_line, "\n".join(rows), through)

    def _lines(self, old: Any, new: Any, line: bytes) -> Iterator[str]:
        start, end, text = old.col_offset, old.end_col_offset, self._text(new)
        match old, new:
            case (ast.BinOp(left=left, right=right), ast.BinOp(left=first, right=last)) | (
                ast.Compare(left=left, comparators=[right]),
                ast.Compare(left=first, comparators=[last]),
            ) if left is first and right is last:
                between = line[left.end_col_offset : right.col_offset].decode().replace(_sign(old), _sign(new), 1)
                text = line[start : left.end_col_offset].decode() + between + line[right.col_offset : end].decode()
        forms = [text, f"({text})"]
        if text.startswith("(") and text.endswith(")"):
            forms.insert(0, text[1:-1])
        has_brackets = _BRACKETS.search(line.decode())
        for form in forms:
            after = line[:start].decode() + form + line[end:].decode()
            yield after if has_brackets else _BRACKETS.sub(r"\1", after)
            yield after

    def _text(self, node: ast.AST) -> str:
        """A part as it is written, or a new one, with what it is made of as it is written."""
        parts: list[str] = []

        def marked(value: Any, holder: ast.AST | None = None) -> Any:
            if isinstance(value, list):
                return [marked(item, holder) for item in value]
            if not isinstance(value, ast.AST):
                return value
            if not hasattr(value, "col_offset"):
                return type(value)(**{field: marked(part, value) for field, part in ast.iter_fields(value)})
            text = ast.get_source_segment(self.cell, value) or ""
            in_brackets = isinstance(holder, _WITH_SIDES) and not isinstance(value, ATOMS)
            parts.append(f"({text})" if in_brackets else text)
            return ast.Name(f"_part_{len(parts) - 1}_", ast.Load())

        text = ast.unparse(marked(node))
        return re.sub(r"_part_(\d+)_", lambda match: parts[int(match[1])], text)


def _innermost(old: Any, new: Any) -> tuple[Any, Any]:
    """The smallest parts in which two differ."""
    if type(old) is type(new) and not isinstance(old, ast.keyword):
        pairs: list[tuple[Any, Any]] = []
        for field, before in ast.iter_fields(old):
            after = getattr(new, field, None)
            both = isinstance(before, list) and isinstance(after, list) and len(before) == len(after)
            pairs += zip(before, after, strict=True) if both else [(before, after)]  # type: ignore[arg-type]
        differing = [(a, b) for a, b in pairs if a != b and not isinstance(a, ast.expr_context)]
        if len(differing) == 1 and hasattr(differing[0][0], "lineno") and isinstance(differing[0][1], ast.AST):
            return _innermost(*differing[0])
    return old, new


def _sign(node: ast.BinOp | ast.Compare) -> str:
    """The sign between the sides of an operation."""
    left, right = ast.Name("a"), ast.Name("b")
    if isinstance(node, ast.BinOp):
        return ast.unparse(ast.BinOp(left, node.op, right))[2:-2]
    return ast.unparse(ast.Compare(left, node.ops, [right]))[2:-2]


def function_in(cell: str, name: str) -> Function | None:
    """The function or class of a task, if it is plain and short enough to ask about; else None."""
    if len(cell) > 4 * MOST_CHARACTERS or not all(sign.isprintable() or sign == "\n" for sign in cell):
        return None
    try:
        tree = _parsed(cell)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    node = _definition(tree, name)
    function = _whole(cell, node) if node is not None and _is_shallow(node) else None
    if function is None:
        return None
    decorators = [part for each in (node, *function.edited) for part in getattr(each, "decorator_list", [])]
    if not _PLAIN_DECORATORS.issuperset(map(ast.unparse, decorators)):
        return None
    short = len(function.lines) <= MOST_LINES and sum(map(len, function.lines)) <= MOST_CHARACTERS
    code = _without_docstrings(function)
    return function if short and max(map(len, code)) <= WIDEST else None


def _without_docstrings(function: Function) -> list[str]:
    """The lines of code: a docstring may be wide, since it is wrapped."""
    bodies = (function.node.body, function.called.body)
    docstrings = {body[0].lineno - function.node.lineno for body in bodies if is_docstring(body[0])}
    return [line for at, line in enumerate(function.lines) if at not in docstrings]


def _whole(cell: str, node: ast.FunctionDef | ast.ClassDef) -> Function | None:
    """A definition with what of it is called; None for a class of which that is not one method."""
    if isinstance(node, ast.FunctionDef):
        return Function(cell, node.name, node, node)
    called = [method for method in _methods(node) if method.name in _CALLED]
    return Function(cell, node.name, node, called[0]) if len(called) == 1 else None


def _methods(node: ast.ClassDef) -> list[ast.FunctionDef]:
    return [part for part in node.body if isinstance(part, ast.FunctionDef)]


def _parsed(text: str) -> ast.Module:
    """The tree of some code; what Python warns of in it is its writer's business."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def without_comments(cell: str) -> list[str]:
    """The lines of a cell that can be parsed, without comments; a line that holds nothing else is empty."""
    rows = cell.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(cell).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            rows[row - 1] = rows[row - 1][:column].rstrip()
    return rows


def _idle(function: ast.FunctionDef) -> int:
    """How many statements set a variable to itself, or return an argument as it came in."""
    bound = {name for statement in statements(function.body) if (name := single_name(statement))}
    arguments = {argument.arg for argument in function.args.args} - bound
    count = 0
    for statement in statements(function.body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=first)], value=ast.Name(id=second)):
                count += first == second
            case ast.Return(value=ast.Name(id=name)):
                count += name in arguments
    return count


def travels(function: ast.FunctionDef, node: ast.AST) -> int:
    """How many operations a change of a node goes through until the result; each loop around it adds two."""
    ends = ast.Return if any(isinstance(part, ast.Return) for part in ast.walk(function)) else ast.Expr
    depth: dict[str, int] = {}
    reached = loops = 0
    for statement in statements(function.body):
        steps = max((above for part, above in _with_depth(statement) if part is node), default=-1)
        uses = [
            depth[part.id] + above
            for part, above in _with_depth(statement)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id in depth
        ]
        loops += steps >= 0 and _in_loop(function, statement)
        steps = max([steps, *uses])
        if steps < 0:
            continue
        if isinstance(statement, ends):
            reached = max(reached, steps)
        for target in ast.walk(statement):
            if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                depth[target.id] = max(steps, depth.get(target.id, 0))
    return reached + 2 * loops


def _is_shallow(node: ast.AST) -> bool:
    """Whether nothing is nested so deeply that a walk by recursion would not come back."""
    level: list[ast.AST] = [node]
    for _ in range(_DEEPEST):
        level = [child for parent in level for child in ast.iter_child_nodes(parent)]
        if not level:
            return True
    return False


def _with_depth(statement: ast.AST, above: int = 0) -> Iterator[tuple[ast.AST, int]]:
    """The nodes of a statement, each with how many operations stand above it; not those of statements within it."""
    yield statement, above
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, ast.stmt):
            yield from _with_depth(child, above + isinstance(statement, _STEPS))


def _in_loop(function: ast.FunctionDef, statement: ast.stmt) -> bool:
    loops = (node for node in ast.walk(function) if isinstance(node, ast.For | ast.While))
    return any(part is statement for loop in loops for part in ast.walk(loop))


def _definition(tree: ast.Module, name: str) -> ast.FunctionDef | ast.ClassDef | None:
    """The only definition of a function or a class at the top of a module."""
    those = [part for part in tree.body if isinstance(part, ast.FunctionDef | ast.ClassDef) and part.name == name]
    return those[0] if len(those) == 1 else None
