"""What the function around a part of a program says of it: its names, and which of them are numbers or masks."""

import ast
import re
from collections.abc import Iterator
from functools import cached_property

_MASK = re.compile("mask|may_|visible|causal|allowed|^(past|real)$")


class Scope:
    """The outermost function around a part of a program; ``is_known``: students know its arguments by name."""

    def __init__(self, function: ast.FunctionDef | None, is_known: bool) -> None:
        self.function, self.is_known = function, is_known
        self._nodes = list(ast.walk(function)) if function else []

    @cached_property
    def arguments(self) -> list[str]:
        """The names of its arguments."""
        return [arg.arg for arg in self.function.args.args if arg.arg != "self"] if self.function else []

    @cached_property
    def names(self) -> list[str]:
        """Arguments, and then variables, and ``self``."""
        stored = {node.id for node in self._nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        others = {arg.arg for arg in self.function.args.args} | stored if self.function else set()
        return [*dict.fromkeys([*self.arguments, *sorted(others)])]

    @cached_property
    def parts(self) -> list[str]:
        """What it reads of ``self``."""
        return sorted({node.attr for node in self._nodes if isinstance(node, ast.Attribute) and is_part(node)})

    @cached_property
    def second_settings(self) -> set[ast.stmt]:
        """Statements that set a variable which has been set before."""
        again, bound = set(), set(self.arguments)
        for statement in statements(self.function.body if self.function else []):
            if name := single_name(statement):
                again |= {statement} if name in bound else set()
                bound.add(name)
        return again

    @cached_property
    def numbers(self) -> set[str]:
        """Names of numbers, arrays and modules: operands of arithmetic, and what is set to its results."""
        numbers = {"torch", "np", "math", "F", "tl", "len", "sum"}
        for node in self._nodes:
            match node:
                case ast.BinOp(left=left, right=right) if is_number(node, numbers):
                    numbers |= {side.id for side in (left, right) if isinstance(side, ast.Name)}
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if is_number(value, numbers):
                    numbers.add(name)
        return numbers


def is_number(node: ast.AST, numbers: set[str]) -> bool:
    """Whether a part is a number or an array, and no list or text, by what is done with it."""
    match node:
        case ast.Name(id=name):
            return name in numbers
        case ast.Subscript(value=inner) | ast.Attribute(value=inner) | ast.Call(func=inner):
            return is_number(inner, numbers)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return is_number(left, numbers) or is_number(right, numbers)
        case ast.BinOp(left=left):
            return not isinstance(left, ast.List)
    return isinstance(node, ast.UnaryOp) or (isinstance(node, ast.Constant) and isinstance(node.value, int | float))


def is_part(node: ast.Attribute) -> bool:
    """Whether a part of ``self`` is read."""
    return isinstance(node.value, ast.Name) and node.value.id == "self" and isinstance(node.ctx, ast.Load)


def is_mask(name: str) -> bool:
    """Whether a variable says which keys may be attended to, by its name."""
    return bool(_MASK.search(name)) and not name.startswith("n_")


def alike(name: str, other: str) -> bool:
    """Whether two names are easily confused: queries, keys and values, two masks, or the same stem (``w_q``)."""
    stem = name[:-1]
    if is_mask(name) and is_mask(other):
        return True
    return {name, other} <= {"q", "k", "v"} or (stem.endswith("_") and len(name) == len(other) and stem == other[:-1])


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body and of those within it, in their order."""
    for statement in body:
        yield statement
        for field in ("body", "orelse"):
            yield from statements(getattr(statement, field, []))


def single_name(statement: ast.AST) -> str:
    """The variable that a statement sets, if it sets one and nothing else."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)):
            return name
    return ""


def is_docstring(statement: ast.AST) -> bool:
    """Whether a statement is a constant alone."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def can_change_places(*lines: ast.stmt) -> bool:
    """Whether two lines set the same variable and read it."""
    names = {*map(single_name, lines)}
    return len(lines) == 2 and len(names) == 1 and names != {""} and all(_reads(line, *names) for line in lines)


def _reads(line: ast.stmt, name: str) -> bool:
    nodes = ast.walk(line.value)  # type: ignore[attr-defined]
    reads = isinstance(line, ast.AugAssign) or any(isinstance(node, ast.Name) and node.id == name for node in nodes)
    return line.lineno == line.end_lineno and reads
