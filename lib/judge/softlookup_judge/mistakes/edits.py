"""Small edits of a right function, or of a class's methods: one line is changed, all other characters stay.

The edits are those that a person who understands the code can follow in the head: an axis, a scale, a mask, the order
of two operands, a step of one, a residual, a line that is gone or stands elsewhere.
"""

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

from softlookup_judge.mistakes.line_edits import alike, in_place_of, is_mask

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

_STEPS = (ast.BinOp, ast.Call, ast.Compare, ast.UnaryOp, ast.Subscript, ast.BoolOp, ast.IfExp)


@dataclass(frozen=True)
class Mutant:
    """A cell with one line of its function changed.

    Attributes:
        rule: What kind of edit it is, a key of ``edit_words.RULES``.
        line: The line's number, counted from 1 at the ``def``.
        before: The line as the student wrote it.
        after: The line as it is now; empty where it is gone.
        source: The whole cell.
        travels: How many operations the change goes through until the result.
        behind: The line behind which it stands now; 0 where it has not moved.
    """

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
    """A function in a cell, or a class that is called.

    Attributes:
        cell: The cell's source.
        name: Its name.
        node: Its definition.
        called: What computes the result: the function itself, or a method of the class.
    """

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

    def shown(self, mutant: Mutant | None = None) -> str:
        """The function with numbered lines, without its comments, and the line that a mutant changes before and after.

        A comment would say what the line does, or did before it was changed.
        """
        rows, lines = [], without_comments(self.cell)[self.node.lineno - 1 : self.node.end_lineno]
        for number, line in enumerate(lines, 1):
            if mutant is None or number != mutant.line:
                rows.append(f"{number:2}   {line}".rstrip())
                if mutant is not None and number == mutant.behind:
                    rows.append(f"{mutant.line:2} + {self.becomes(mutant)}")
            else:
                rows.append(f"{number:2} - {line}")
                if mutant.after and not mutant.behind:
                    rows.append(f"{number:2} + {self.becomes(mutant)}")
        return "\n".join(rows)

    def becomes(self, mutant: Mutant) -> str:
        """The line that a mutant changes, as it is then, without its comment."""
        at = (mutant.behind or mutant.line) + self.node.lineno - 2
        return without_comments(mutant.source)[at] if mutant.after else ""

    @cached_property
    def statements(self) -> int:
        """How many statements compute the result, without a docstring."""
        return sum(not _is_docstring(statement) for part in self.edited for statement in _statements(part.body))

    @cached_property
    def mutants(self) -> tuple[Mutant, ...]:
        """All edits that fit, in the order of the lines; each gives another program."""
        return tuple(sorted(self._mutants(), key=lambda mutant: (mutant.line, mutant.rule, mutant.after)))

    @property
    def can_be_edited(self) -> bool:
        """Whether an edit fits; the first one that does is enough."""
        return next(self._mutants(), None) is not None

    def _mutants(self) -> Iterator[Mutant]:
        seen = {ast.dump(self.node)}
        is_method = self.called is not self.node
        for part in self.edited:
            extra = _BETWEEN_METHODS * (part is not self.called)
            edits = (
                self._edited(node, text, rule, travels(part, node) + extra)
                for node, text, rule in _edits(part, self._text, is_method)
            )
            moves = (self._moved(*pair, travels(part, pair[0]) + extra) for pair in _exchangeable(part))
            for mutant in chain(edits, moves):
                if mutant is not None and (changed := self._changed_by(mutant)) not in seen:
                    seen.add(changed)
                    yield mutant

    def stopped_after(self) -> Iterator[tuple[int, str, str]]:
        """What is called, ended early: line, name of a variable that was set there, and a cell that returns it."""
        for statement in [] if self.is_kernel else self.called.body[:-1]:
            name = _single_name(statement)
            if name and statement.end_lineno == statement.lineno:
                rows = list(self._cell_lines)
                indent = " " * statement.col_offset
                rows.insert(statement.lineno, f"{indent}return {name}")
                yield statement.lineno - self.node.lineno + 1, name, "\n".join(rows)

    def _text(self, node: ast.AST) -> str:
        return ast.get_source_segment(self.cell, node) or ""

    def _changed_by(self, mutant: Mutant) -> str:
        """The definition in a mutant, as text; its own where an edit is idle, or leaves no code."""
        try:
            tree = _parsed(mutant.source)
        except (SyntaxError, ValueError):
            return ast.dump(self.node)
        node = _definition(tree, self.name)
        changed = None if node is None else _whole(mutant.source, node)
        if changed is None or sum(map(_idle, changed.edited)) > sum(map(_idle, self.edited)):
            return ast.dump(self.node)
        return ast.dump(changed.node)

    def _moved(self, first: ast.stmt, second: ast.stmt, through: int) -> Mutant:
        """A cell in which two lines have changed places."""
        rows = list(self._cell_lines)
        above, below = first.lineno - 1, second.lineno - 1
        before = rows[above]
        rows[above : below + 1] = [*rows[above + 1 : below + 1], before]
        start = self.node.lineno - 1
        return Mutant("order", above - start + 1, before, before, "\n".join(rows), through, below - start + 1)

    def _edited(self, node: ast.AST, text: str | None, rule: str, through: int) -> Mutant | None:
        """A cell with the text of a node replaced, or a statement's line gone; None where that is no edit of a line."""
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
        if not first or first != last or "\n" in (text or ""):
            return None
        rows = list(self._cell_lines)
        before = rows[first - 1]
        if text is None:
            rows[first - 1] = before[: len(before) - len(before.lstrip())] + "pass"
            after = ""
        else:
            raw = before.encode()
            start, end = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
            lines = [(raw[:start] + form.encode() + raw[end:]).decode() for form in _forms(text)]
            after = lines[0] if len(lines) == 1 or _same(*lines) else lines[1]
            tidy = after if _BRACKETS.search(before) else _BRACKETS.sub(r"\1", after)
            after = rows[first - 1] = tidy if _same(tidy, after) else after
        number = first - self.node.lineno + 1
        return Mutant(rule, number, before, after, "\n".join(rows), through)


def function_in(cell: str, name: str) -> Function | None:
    """The function or class of a task, if it is plain and short enough to ask about.

    Args:
        cell: The source of the answer's cell, whatever it holds.
        name: Its name.

    Returns:
        None where there is none of this name or more than one, where it is too long or too wide for paper, where it
        holds signs that a reader cannot see, or a decorator that may make something else of it.
    """
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
    docstrings = {body[0].lineno - function.node.lineno for body in bodies if _is_docstring(body[0])}
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
            number, column = token.start
            rows[number - 1] = rows[number - 1][:column].rstrip()
    return rows


def _idle(function: ast.FunctionDef) -> int:
    """How many statements set a variable to itself, or return an argument as it came in."""
    bound = {name for statement in _statements(function.body) if (name := _single_name(statement))}
    arguments = {argument.arg for argument in function.args.args} - bound
    count = 0
    for statement in _statements(function.body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=first)], value=ast.Name(id=second)):
                count += first == second
            case ast.Return(value=ast.Name(id=name)):
                count += name in arguments
    return count


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def travels(function: ast.FunctionDef, node: ast.AST) -> int:
    """How many operations a change of a node goes through until the result; each loop around it adds two.

    The result is what is returned; of a function that returns nothing, what it stores.
    """
    ends = ast.Return if any(isinstance(part, ast.Return) for part in ast.walk(function)) else ast.Expr
    depth: dict[str, int] = {}
    reached = loops = 0
    for statement in _statements(function.body):
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


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body and of those within it, in their order."""
    for statement in body:
        yield statement
        for block in _blocks(statement):
            yield from _statements(block)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a statement, without those that are empty."""
    for field in ("body", "orelse"):
        block = getattr(node, field, None)
        if isinstance(block, list) and block:
            yield block


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


def _single_name(statement: ast.stmt) -> str:
    """The variable that a statement sets, if it sets one and nothing else."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)):
            return name
    return ""


def _edits(
    function: ast.FunctionDef, text: Callable[[ast.AST], str], is_method: bool
) -> Iterator[tuple[ast.AST, str | None, str]]:
    """Nodes with what may stand in their place (None: the line goes), and the rule.

    A line that is alone in its block becomes ``pass``: without it, what is shown would be no Python.
    """
    alone = {body[0] for node in ast.walk(function) for body in _blocks(node) if len(body) == 1}
    arguments = [argument.arg for argument in function.args.args[is_method:]]
    parts = {node.attr for node in ast.walk(function) if _is_part(node)}  # type: ignore[attr-defined]
    bound = set(arguments)
    for statement in _statements(function.body):
        name = _single_name(statement)
        if name and name in bound:
            yield statement, "pass" if statement in alone else None, "line"
        if name:
            bound.add(name)
        if _is_docstring(statement):
            continue
        for node, _ in _with_depth(statement):
            for new, rule in in_place_of(node, text):
                yield node, new, rule
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in arguments:
                for other in arguments:
                    same_side = is_method and is_mask(other) == is_mask(node.id)
                    if other != node.id and (same_side or alike(other, node.id)):
                        yield node, other, "argument"
            if _is_part(node):
                for other in sorted(parts):
                    if other != node.attr and alike(other, node.attr):  # type: ignore[attr-defined]
                        yield node, f"self.{other}", "part"


def _is_part(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="self"), ctx=ast.Load()):
            return True
    return False


def _exchangeable(function: ast.FunctionDef) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    """Lines that follow each other, set the same variable and read it: they may change places."""
    for parent in ast.walk(function):
        body = getattr(parent, "body", None)
        for first, second in pairwise(body if isinstance(body, list) else []):
            names = {_single_name(first), _single_name(second)}
            lines = first.lineno == first.end_lineno and second.lineno == second.end_lineno
            if lines and len(names) == 1 and all(_reads(part, name) for part in (first, second) for name in names):
                yield first, second


def _reads(statement: ast.stmt, name: str) -> bool:
    loads = (node for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return isinstance(statement, ast.AugAssign) or any(node.id == name for node in loads)


def _forms(text: str) -> list[str]:
    """A text without the brackets around it, and with them."""
    return [text[1:-1], text] if text.startswith("(") and text.endswith(")") else [text]


def _same(first: str, second: str) -> bool:
    """Whether two lines are the same statement."""
    try:
        return ast.dump(_parsed(first.strip())) == ast.dump(_parsed(second.strip()))
    except SyntaxError:
        return False
