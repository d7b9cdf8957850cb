"""Small edits of a right function: each changes one line, and keeps all other characters as they are.

The edits are those that a person who understands the code can follow in the head: an axis, a scale, a mask, the order
of two operands, a step of one, a line that is gone.
"""

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from softlookup.checking.slips import whole_number

MOST_LINES, MOST_CHARACTERS = 30, 2_000
"""A longer function is no matter for ten minutes on paper."""

WIDEST = 122
"""Characters of a line that fits on paper."""

_DEEPEST = 60
"""Levels of a syntax tree that code on paper has at most."""

_BRACKETS = re.compile(r"(?<![\w\])])\(([\w.]+(?:\[[^][()]*\])*)\)")
"""Brackets around a single name or entry, which an edit may leave."""

_FOLDS = frozenset(
    ("sum", "mean", "cumsum", "amax", "amin", "max", "min", "any", "all", "argmax", "argmin", "softmax", "sort")
    + ("log_softmax", "std", "var", "norm")
)
_RENAMED = {
    "tril": "triu",
    "triu": "tril",
    "max": "min",
    "min": "max",
    "amax": "amin",
    "amin": "amax",
    "argmax": "argmin",
    "argmin": "argmax",
    "any": "all",
    "all": "any",
    "sum": "mean",
    "mean": "sum",
    "log_softmax": "softmax",
}
_OPERATORS: dict[type, tuple[tuple[str, str, str], ...]] = {
    ast.MatMult: (("elementwise", "@", "*"),),
    ast.Div: (("multiplied", "/", "*"),),
    ast.Add: (("sign", "+", "-"),),
    ast.Sub: (("sign", "-", "+"),),
    ast.BitAnd: (("either", "&", "|"),),
    ast.BitOr: (("either", "|", "&"),),
}
_COMPARISONS = {
    ast.Lt: ("<", (("boundary", "<="), ("turned", ">"))),
    ast.LtE: ("<=", (("boundary", "<"), ("turned", ">="))),
    ast.Gt: (">", (("boundary", ">="), ("turned", "<"))),
    ast.GtE: (">=", (("boundary", ">"), ("turned", "<="))),
    ast.Eq: ("==", (("turned", "!="),)),
    ast.NotEq: ("!=", (("turned", "=="),)),
}
_ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript)
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
    """

    rule: str
    line: int
    before: str
    after: str
    source: str
    travels: int


@dataclass(frozen=True)
class Function:
    """A function in a cell.

    Attributes:
        cell: The cell's source.
        name: The function's name.
        node: Its definition.
    """

    cell: str
    name: str
    node: ast.FunctionDef

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
            else:
                rows += [f"{number:2} - {line}"] + [f"{number:2} + {self.becomes(mutant)}"] * bool(mutant.after)
        return "\n".join(rows)

    def becomes(self, mutant: Mutant) -> str:
        """The line that a mutant changes, as it is then, without its comment."""
        return without_comments(mutant.source)[mutant.line + self.node.lineno - 2] if mutant.after else ""

    @cached_property
    def statements(self) -> int:
        """How many statements it has, without a docstring."""
        return sum(not _is_docstring(statement) for statement in _statements(self.node.body))

    @cached_property
    def mutants(self) -> tuple[Mutant, ...]:
        """All edits that fit, in the order of the lines; each gives another program."""
        seen, mutants = {ast.dump(self.node)}, []
        for node, text, rule in _edits(self.node, self._text):
            mutant = self._edited(node, text, rule)
            if mutant is None:
                continue
            try:
                tree = _parsed(mutant.source)
            except (SyntaxError, ValueError):
                continue
            changed = _definition(tree, self.name)
            if changed is not None and _idle(changed) <= _idle(self.node) and (dump := ast.dump(changed)) not in seen:
                seen.add(dump)
                mutants.append(mutant)
        return tuple(sorted(mutants, key=lambda mutant: (mutant.line, mutant.rule, mutant.after)))

    def stopped_after(self) -> Iterator[tuple[int, str, str]]:
        """The function ended early: line, name of a variable that was set there, and a cell that returns it."""
        for statement in self.node.body[:-1]:
            name = _single_name(statement)
            if name and statement.end_lineno == statement.lineno:
                rows = list(self._cell_lines)
                indent = " " * statement.col_offset
                rows.insert(statement.lineno, f"{indent}return {name}")
                yield statement.lineno - self.node.lineno + 1, name, "\n".join(rows)

    def _text(self, node: ast.AST) -> str:
        return ast.get_source_segment(self.cell, node) or ""

    def _edited(self, node: ast.AST, text: str | None, rule: str) -> Mutant | None:
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
        return Mutant(rule, number, before, after, "\n".join(rows), travels(self.node, node))


def function_in(cell: str, name: str) -> Function | None:
    """The function of a task, if it is plain and short enough to ask about.

    Args:
        cell: The source of the answer's cell, whatever it holds.
        name: The function's name.

    Returns:
        None where there is no such function or more than one, where it is too long or too wide for paper, or where it
        holds signs that a reader cannot see.
    """
    if len(cell) > 4 * MOST_CHARACTERS or not all(sign.isprintable() or sign == "\n" for sign in cell):
        return None
    try:
        tree = _parsed(cell)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    node = _definition(tree, name)
    if node is None or node.decorator_list or not _is_shallow(node):
        return None
    function = Function(cell, name, node)
    short = len(function.lines) <= MOST_LINES and sum(map(len, function.lines)) <= MOST_CHARACTERS
    return function if short and max(map(len, function.lines)) <= WIDEST else None


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
    """How many operations a change of a node goes through until the result; each loop around it adds two."""
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
        if isinstance(statement, ast.Return):
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
        for field in ("body", "orelse"):
            yield from _statements(getattr(statement, field, []) or [])


def _with_depth(statement: ast.AST, above: int = 0) -> Iterator[tuple[ast.AST, int]]:
    """The nodes of a statement, each with how many operations stand above it; not those of statements within it."""
    yield statement, above
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, ast.stmt):
            yield from _with_depth(child, above + isinstance(statement, _STEPS))


def _in_loop(function: ast.FunctionDef, statement: ast.stmt) -> bool:
    loops = (node for node in ast.walk(function) if isinstance(node, ast.For | ast.While))
    return any(part is statement for loop in loops for part in ast.walk(loop))


def _definition(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    """The only definition of a function at the top of a module."""
    those = [part for part in tree.body if isinstance(part, ast.FunctionDef) and part.name == name]
    return those[0] if len(those) == 1 else None


def _single_name(statement: ast.stmt) -> str:
    """The variable that a statement sets, if it sets one and nothing else."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)):
            return name
    return ""


def _edits(function: ast.FunctionDef, text: Callable[[ast.AST], str]) -> Iterator[tuple[ast.AST, str | None, str]]:
    """Nodes with what may stand in their place (None: the line goes), and the rule."""
    arguments = [argument.arg for argument in function.args.args]
    bound = set(arguments)
    for statement in _statements(function.body):
        name = _single_name(statement)
        if name and name in bound:
            yield statement, None, "line"
        if name:
            bound.add(name)
        if _is_docstring(statement):
            continue
        for node, _ in _with_depth(statement):
            for new, rule in _in_place_of(node, text):
                yield node, new, rule
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in arguments:
                for other in arguments:
                    if other != node.id and _alike(other, node.id):
                        yield node, other, "argument"


def _alike(name: str, other: str) -> bool:
    """Whether two arguments are easily taken for each other: queries, keys and values, or the same stem (``w_q``)."""
    stem = name[:-1]
    return {name, other} <= {"q", "k", "v"} or (stem.endswith("_") and len(name) == len(other) and stem == other[:-1])


def _in_place_of(node: ast.AST, text: Callable[[ast.AST], str]) -> Iterator[tuple[str, str]]:
    match node:
        case ast.BinOp(left=left, op=operator, right=right):
            yield from _of_operation(node, left, operator, right, text)
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _COMPARISONS:
            sign, others = _COMPARISONS[type(operator)]
            for rule, other in others:
                yield _with_operator(node, left, right, sign, other, text), rule
        case ast.UnaryOp(op=ast.Invert() | ast.Not(), operand=operand):
            yield text(operand), "inverted"
        case ast.Attribute(value=inner, attr="mT" | "T"):
            yield text(inner), "transposed"
        case ast.Call():
            yield from _of_call(node, text)
        case ast.keyword(arg="dim" | "axis" as name, value=value):
            for axis in _other_axes(value):
                yield f"{name}={axis}", "axis"
        case ast.keyword(arg="keepdim" | "keepdims" as name, value=ast.Constant(value=True)):
            yield f"{name}=False", "keepdim"
        case ast.Slice(lower=lower, upper=upper, step=None):
            low, high = text(lower) if lower else "", text(upper) if upper else ""
            if lower is None and whole_number(upper) == -1:
                yield "1:", "slice"
                yield ":", "slice"
            elif upper is None and whole_number(lower) == 1:
                yield ":-1", "slice"
                yield ":", "slice"
            elif lower is None and upper is not None:
                yield f"{high}:", "slice"
                if isinstance(upper, _ATOMS):
                    yield f":{high} + 1", "off-by-one"
            elif upper is None and lower is not None:
                yield f":{low}", "slice"


def _of_operation(
    node: ast.BinOp, left: ast.expr, operator: ast.operator, right: ast.expr, text: Callable[[ast.AST], str]
) -> Iterator[tuple[str, str]]:
    for rule, sign, other in _OPERATORS.get(type(operator), ()):
        yield _with_operator(node, left, right, sign, other, text), rule
    if isinstance(operator, ast.MatMult | ast.Sub):
        sign = {ast.MatMult: "@", ast.Sub: "-"}[type(operator)]
        yield f"{_wrapped(right, text)} {sign} {_wrapped(left, text)}", "swapped"
    if isinstance(operator, ast.Div | ast.Mult):
        yield _wrapped(left, text), "factor"
        if isinstance(operator, ast.Mult) and isinstance(left, _ATOMS):
            yield _wrapped(right, text), "factor"
    if isinstance(operator, ast.Add | ast.Sub):
        yield _wrapped(left, text), "off-by-one" if whole_number(right) == 1 else "term"
    if isinstance(operator, ast.FloorDiv):
        yield _with_operator(node, left, right, "//", "%", text), "remainder"
    if isinstance(operator, ast.Mod):
        yield _with_operator(node, left, right, "%", "//", text), "remainder"
    if isinstance(operator, ast.Pow) and isinstance(right, ast.Constant):
        yield _wrapped(left, text), "power"


def _of_call(node: ast.Call, text: Callable[[ast.AST], str]) -> Iterator[tuple[str, str]]:
    function, args = node.func, node.args
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    of_module = isinstance(function, ast.Attribute) and text(function.value) in ("torch", "np", "math", "F")
    whole = text(node)
    head = text(function)
    if name in ("transpose", "swapaxes", "permute", "t") and isinstance(function, ast.Attribute):
        yield text(args[0]) if of_module and args else text(function.value), "transposed"
    if name == "sqrt" and args:
        yield _wrapped(args[0], text), "root"
    if name in _RENAMED:
        yield head.removesuffix(name) + _RENAMED[name] + whole[len(head) :], "another"
    if name in _FOLDS and args and whole_number(args[-1]) is not None and len(args) == 1 + of_module:
        for axis in _other_axes(args[-1]):
            parts = [*map(text, args[:-1]), str(axis), *map(text, node.keywords)]
            yield f"{head}({', '.join(parts)})", "axis"
    if name in ("tril", "triu"):
        yield from _diagonals(node, head, of_module, text)
    if name == "where" and len(args) == 3:
        yield f"{head}({text(args[0])}, {text(args[2])}, {text(args[1])})", "turned"
    if name in ("masked_fill", "masked_fill_") and len(args) == 2 and "inf" in text(args[1]):
        yield f"{head}({text(args[0])}, 0.0)", "filled"
    if name in ("exp", "clamp") and isinstance(function, ast.Attribute):
        yield _wrapped(args[0], text) if of_module and args else text(function.value), "skipped"
    if name == "arange" and len(args) == 1:
        yield f"{head}(1, {text(args[0])} + 1)", "off-by-one"
    if isinstance(function, ast.Name) and all(isinstance(arg, ast.Name) for arg in args) and len(args) == 2:
        if not node.keywords and "mask" not in whole[len(head) :]:  # nobody takes a mask for something else
            yield f"{head}({text(args[1])}, {text(args[0])})", "swapped"


def _diagonals(node: ast.Call, head: str, of_module: bool, text: Callable[[ast.AST], str]) -> Iterator[tuple[str, str]]:
    """A triangle with its edge one step further."""
    args = node.args
    inside = [text(args[0])] if of_module and args else []
    numbers = [whole_number(arg) for arg in args[of_module:]] + [
        whole_number(keyword.value) for keyword in node.keywords
    ]
    at = next((number for number in numbers if number is not None), 0)
    if len(numbers) <= 1:
        for step in (-1, 1):
            yield f"{head}({', '.join([*inside, f'diagonal={at + step}'])})", "off-by-one"


def _with_operator(
    node: ast.AST, left: ast.expr, right: ast.expr, sign: str, other: str, text: Callable[[ast.AST], str]
) -> str:
    """An operation with another sign between its operands, all else as it is written."""
    whole, first, last = text(node), text(left), text(right)
    start = whole.find(first) + len(first)
    between = whole[start : len(whole) - len(last)] if whole.endswith(last) else whole[start : whole.rfind(last)]
    rest = whole[start + len(between) :]
    return whole[:start] + between.replace(sign, other, 1) + rest if sign in between else whole


def _forms(text: str) -> list[str]:
    """A text without the brackets around it, and with them."""
    return [text[1:-1], text] if text.startswith("(") and text.endswith(")") else [text]


def _same(first: str, second: str) -> bool:
    """Whether two lines are the same statement."""
    try:
        return ast.dump(_parsed(first.strip())) == ast.dump(_parsed(second.strip()))
    except SyntaxError:
        return False


def _wrapped(node: ast.expr, text: Callable[[ast.AST], str]) -> str:
    return text(node) if isinstance(node, _ATOMS) else f"({text(node)})"


def _other_axes(node: ast.AST) -> tuple[int, ...]:
    """The axis beside the one that is named."""
    return {-1: (-2,), -2: (-1,), 0: (1,), 1: (0,), 2: (1,)}.get(whole_number(node), ())  # type: ignore[arg-type]
