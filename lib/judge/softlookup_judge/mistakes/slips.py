"""Slips in code, found by a walk over the syntax tree of the published solution: each is an edit of it.

The names of their rules, and what is said of them, are in ``habits.py``.
"""

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TypeVar

from softlookup_judge.mistakes.habits import HABIT, SAYS, rule_of

T = TypeVar("T")
_FOLDS = {"sum", "mean", "cumsum", "amax", "amin", "any", "all", "argmax", "argmin", "softmax", "log_softmax"}
_FOLDS |= {"std", "var", "prod", "norm", "max", "min", "flip"}
_WHOLE = {"sum", "mean", "amax", "amin", "any", "all", "argmax", "argmin", "std", "var", "prod", "norm", "max", "min"}
_SECOND = {"softmax", "log_softmax", "cat", "stack", "concatenate", "cumsum", "sum", "mean", "argmax"}
_AXES = (0, 1, -1, -2)
_ACTIVATIONS = {"relu", "sigmoid", "tanh", "silu", "gelu", "softmax", "log_softmax", "exp", "abs"}
_OTHER_NAMES = {
    "sum": (("mean-for-sum", "mean"), ("largest-for-sum", "amax")),
    "mean": (("sum-for-mean", "sum"), ("largest-for-mean", "amax")),
    "max": (("least-for-largest", "min"),),
    "min": (("largest-for-least", "max"),),
    "amax": (("least-for-largest", "amin"),),
    "amin": (("largest-for-least", "amax"),),
    "argmax": (("least-for-largest", "argmin"),),
    "argmin": (("largest-for-least", "argmax"),),
    "any": (("all-for-any", "all"),),
    "all": (("any-for-all", "any"),),
    "log": (("another-base", "log2"), ("another-base", "log10")),
    "log2": (("another-base", "log"), ("another-base", "log10")),
    "ceil": (("rounded-down", "floor"),),
    "round": (("rounded-down", "floor"),),
    "relu": (("another-activation", "sigmoid"), ("another-activation", "tanh")),
    "sigmoid": (("another-activation", "relu"), ("another-activation", "tanh")),
    "silu": (("another-activation", "relu"), ("another-activation", "gelu")),
    "log_softmax": (("another-activation", "softmax"),),
}
_BOUNDARY = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_OPPOSITE = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
_ARITHMETIC: dict[type, tuple[tuple[str, type], ...]] = {
    ast.MatMult: (("elementwise", ast.Mult),),
    ast.Mult: (("divided", ast.Div), ("added", ast.Add)),
    ast.Div: (("multiplied", ast.Mult), ("remainder-dropped", ast.FloorDiv)),
    ast.FloorDiv: (("remainder-kept", ast.Div),),
    ast.Add: (("minus-for-plus", ast.Sub), ("times-for-plus", ast.Mult)),
    ast.Sub: (("plus-for-minus", ast.Add),),
}
_LOOPS = (ast.For, ast.While, ast.comprehension)
_QUICK = {"abs", "bool", "float", "int", "len", "max", "min", "round", "sorted", "sum"}
_LARGE = 10_000


def can_run_away(source: str, inputs: Sequence[object]) -> bool:
    """Whether an edited solution might run for long: a ``while``, or anything that repeats beside large numbers.

    Args:
        source: The solution.
        inputs: The arguments of its questions.
    """
    nodes = list(ast.walk(ast.parse(source)))
    if any(isinstance(node, ast.While) for node in nodes):
        return True
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    repeats = any(isinstance(node, _LOOPS) for node in nodes) or any(
        callee.id not in _QUICK if isinstance(callee, ast.Name) else ast.unparse(callee).partition(".")[0] != "math"
        for callee in calls
    )
    return repeats and any(map(_is_large, inputs))


def _is_large(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_is_large, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_is_large, value))
    return isinstance(value, int | float) and abs(value) > _LARGE


def slips(source: str) -> list[str]:
    """The habits that fit a solution.

    Args:
        source: The cell of an answer.

    Returns:
        Their names, the most common first. A name with a number ("habit:axis-0#2") is the slip in one place; one
        without, the same slip in all places where it fits.
    """
    _, edits_by_rule = _catalogue(source)
    every = [rule for rule, edits in edits_by_rule.items() if len({edit.place.where for edit in edits}) == len(edits)]
    each = [f"{rule}#{n + 1}" for rule, edits in edits_by_rule.items() if len(edits) > 1 for n in range(len(edits))]
    rank = {rule: n for n, rule in enumerate(SAYS)}
    return [HABIT + name for name in sorted([*every, *each], key=lambda name: rank.get(rule_of(name), len(rank)))]


def planted(source: str, slugs: Sequence[str], finished: Callable[[ast.Module], T]) -> T:
    """What is made of a solution with habits in it.

    Args:
        source: The cell of an answer.
        slugs: The habits, as ``slips`` gives them for this source.
        finished: Makes something of the tree, which is as it was afterwards.

    Raises:
        ValueError: If one of them does not fit, or two change the same place.
    """
    tree, edits_by_rule = _catalogue(source)
    chosen: list[_Edit] = []
    for slug in slugs:
        rule, _, number = slug.removeprefix(HABIT).partition("#")
        edits = edits_by_rule.get(rule, [])[slice(int(number) - 1, int(number)) if number else slice(None)]
        if not edits:
            raise ValueError(f"the habit {slug!r} does not fit")
        chosen += edits
    if len({edit.place.where for edit in chosen}) < len(chosen):
        raise ValueError("two slips change the same place")
    before: list[tuple[_Place, ast.AST]] = []
    try:
        # Inner ones first: the outer ones are then made of what has become of the inner ones.
        for edit in sorted(chosen, key=lambda edit: -edit.depth):
            made = [new for name, new in _slips(edit.place.node, edit.place.arguments) if name == edit.rule]
            if edit.number >= len(made):
                raise ValueError("two slips change the same place")
            before.append((edit.place, edit.place.node))
            edit.place.replace_node(ast.fix_missing_locations(ast.copy_location(made[edit.number], edit.place.node)))
        return finished(tree)
    finally:
        for place, node in reversed(before):
            place.replace_node(node)


class _Place:
    """Where an expression stands in a tree, and the arguments of the function that holds it."""

    def __init__(self, holder: ast.AST, field: str, number: int | None, arguments: tuple[str, ...]) -> None:
        self.holder, self.field, self.number, self.arguments = holder, field, number, arguments

    @property
    def where(self) -> tuple[int, str, int | None]:
        return id(self.holder), self.field, self.number

    @property
    def node(self) -> ast.AST:
        value = getattr(self.holder, self.field)
        node: ast.AST = value if self.number is None else value[self.number]
        return node

    def replace_node(self, new: ast.AST) -> None:
        if self.number is None:
            setattr(self.holder, self.field, new)
        else:
            getattr(self.holder, self.field)[self.number] = new


@dataclass(frozen=True)
class _Edit:
    """A slip in one place: how deep it stands, and which of the edits of its rule there."""

    rule: str
    place: _Place
    depth: int
    number: int


@lru_cache(maxsize=64)
def _catalogue(source: str) -> tuple[ast.Module, dict[str, list[_Edit]]]:
    """A solution's tree, and all slips that fit, by their rules."""
    tree, edits = ast.parse(source), dict[str, list[_Edit]]()
    for depth, place in _places(tree, 0, None):
        count = Counter[str]()
        for rule, _ in _slips(place.node, place.arguments):
            edits.setdefault(rule, []).append(_Edit(rule, place, depth, count[rule]))
            count[rule] += 1
    return tree, edits


def _places(holder: ast.AST, depth: int, arguments: tuple[str, ...] | None) -> Iterator[tuple[int, _Place]]:
    """Every expression in the bodies of functions; what a function inside another is given has no name for students."""
    if isinstance(holder, ast.FunctionDef):
        names = tuple(arg.arg for arg in holder.args.args if arg.arg != "self")
        arguments = names if arguments is None else ()
    for field, value in ast.iter_fields(holder):
        if isinstance(holder, ast.FunctionDef) and field != "body":
            continue  # default values and annotations
        for number, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(child, ast.AST):
                continue
            if isinstance(holder, ast.Module) and child is not holder.body[-1]:
                yield from _places(child, depth + 1, ())  # an earlier task's function
                continue
            if isinstance(child, ast.FunctionDef) and isinstance(holder, ast.Module):
                yield depth, _Place(holder, field, number, ())
            if arguments is not None and isinstance(child, ast.expr | ast.Return):
                yield depth, _Place(holder, field, number, arguments)
            yield from _places(child, depth + 1, arguments)


def _attribute(value: ast.expr, name: str) -> ast.expr:
    return ast.Attribute(value, name, ast.Load())


def _swapped(value: ast.expr, *axes: int) -> ast.expr:
    return ast.Call(_attribute(value, "swapaxes"), [_number(axis) for axis in axes], [])


def _number(value: int) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def whole_number(node: ast.AST | None) -> int | None:
    """A whole number that is written out."""
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return None


def _one_more(node: ast.expr, step: int) -> ast.expr:
    value = whole_number(node)
    if value is not None:
        return _number(value + step)
    return ast.BinOp(node, ast.Add() if step > 0 else ast.Sub(), ast.Constant(abs(step)))


def _slips(node: ast.AST, arguments: tuple[str, ...]) -> Iterator[tuple[str, ast.AST]]:
    """What may stand in the place of a node, with the name of the habit."""
    match node:
        case ast.Call():
            yield from _of_call(node)
        case ast.Attribute(value=inner, attr="mT" | "T" as name):
            yield from _of_transpose(inner, name)
        case ast.Attribute(value=ast.Call(func=ast.Attribute(value=inner, attr="max" | "min" as name)), attr="values"):
            yield "no-axis", ast.Call(_attribute(inner, name), [], [])
        case ast.BinOp():
            yield from _of_arithmetic(node)
        case ast.UnaryOp(op=ast.Invert() | ast.Not()):
            yield "inverted", node.operand
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            if type(operator) in _BOUNDARY:
                yield "boundary", ast.Compare(left, [_BOUNDARY[type(operator)]()], [right])
            if type(operator) in _OPPOSITE:
                yield "inverted", ast.Compare(left, [_OPPOSITE[type(operator)]()], [right])
        case ast.IfExp(test=ast.Name(id=name)) if name in arguments:
            yield f"flag:{name}:True", node.body
            yield f"flag:{name}:False", node.orelse
        case ast.Subscript(value=inner, slice=index):
            yield from _of_index(node, inner, index)
        case ast.Slice(lower=lower, upper=upper, step=step):
            if upper is not None:
                yield "one-too-many", ast.Slice(lower, _one_more(upper, 1), step)
                if whole_number(upper) != 1:  # nothing at all is no slip of one
                    yield "one-too-few", ast.Slice(lower, _one_more(upper, -1), step)
            if lower is not None:
                yield "one-too-late", ast.Slice(_one_more(lower, 1), upper, step)
        case ast.Return(value=ast.Tuple(elts=parts)):
            for first, second in combinations(range(len(parts)), 2):
                turned = list(parts)
                turned[first], turned[second] = parts[second], parts[first]
                yield "results-swapped", ast.Return(ast.Tuple(turned, ast.Load()))
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant | ast.List | ast.Tuple):
            softmax = ast.Call(_attribute(value, "softmax"), [_number(-1)], [])
            yield "softmax-too", ast.Return(softmax)
        case ast.FunctionDef():
            for arg, other in combinations(node.args.args, 2):
                yield f"swapped:{arg.arg}:{other.arg}", _with_arguments_swapped(node, arg, other)
        case ast.Name(ctx=ast.Load()) if node.id in arguments:
            for another in arguments:
                if another != node.id:
                    yield f"for:{another}:{node.id}", ast.Name(another, ast.Load())


def _with_arguments_swapped(node: ast.FunctionDef, first: ast.arg, second: ast.arg) -> ast.FunctionDef:
    other, order = copy.copy(node), {first: second, second: first}
    args = [order.get(arg, arg) for arg in node.args.args]
    other.args = ast.arguments([], args, None, [], [], None, node.args.defaults)
    return other


def _of_transpose(inner: ast.expr, name: str) -> Iterator[tuple[str, ast.AST]]:
    yield "not-transposed", inner
    if name != "T":
        yield "reversed-axes", _attribute(inner, "T")
        yield "first-two-axes", _swapped(inner, 0, 1)
        yield "axes-one-and-two", _swapped(inner, 1, 2)


def _of_call(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    function, args, keywords = node.func, node.args, node.keywords
    if isinstance(function, ast.Name):
        if function.id == "range" and args:
            yield "one-too-many", ast.Call(function, [*args[:-1], _one_more(args[-1], 1)], [])
            yield "one-too-few", ast.Call(function, [*args[:-1], _one_more(args[-1], -1)], [])
            begin = args[0] if len(args) > 1 else ast.Constant(0)
            yield "one-too-late", ast.Call(function, [_one_more(begin, 1), *args[-1:]], [])
        if function.id in ("min", "max") and len(args) == 2:
            for arg in args:
                yield "unbounded", arg
            for rule, opposite in _OTHER_NAMES[function.id]:
                yield rule, ast.Call(ast.Name(opposite, ast.Load()), args, keywords)
        return
    if not isinstance(function, ast.Attribute):
        return
    inner, name = function.value, function.attr
    of_module = isinstance(inner, ast.Name) and inner.id in ("torch", "np", "math", "F")
    of_module = of_module or ast.unparse(inner) == "torch.nn.functional"
    subject = args[0] if of_module and args else inner
    if name in ("transpose", "swapaxes") and not of_module and len(args) == 2:
        axes = whole_number(args[0]), whole_number(args[1])
        for rule, new in _of_transpose(inner, "T" if set(axes) == {0, 1} else "mT"):
            if not (rule == "axes-one-and-two" and set(axes) == {1, 2}):
                yield rule, new
    for rule, other in _OTHER_NAMES.get(name, ()):
        yield rule, ast.Call(_attribute(inner, other), args, keywords)
    if name in _ACTIVATIONS:
        yield "activation-missing", subject
    if name in ("sqrt", "norm") and (of_module or not args):
        yield "root-missing", subject
    if name == "square":
        yield "square-missing", subject
    if name in ("clamp", "clip", "clamp_min"):
        yield "unbounded", subject
    if name == "masked_fill" and len(args) == 2:
        yield "not-masked", inner
        if "inf" in ast.unparse(args[1]):
            yield "masked-to-zero", ast.Call(function, [args[0], ast.Constant(0.0)], [])
    if name == "where" and of_module and len(args) == 3:
        yield "not-masked", args[1]
        yield "not-masked", args[2]
        yield "inverted", ast.Call(function, [args[0], args[2], args[1]], keywords)
    if name == "unsqueeze" and not of_module:
        yield "new-axis-missing", inner
    if name in ("tril", "triu") and args and len(args) - of_module == 1:
        yield "one-too-many", ast.Call(function, [*args[:-1], _one_more(args[-1], 1)], keywords)
        yield "one-too-few", ast.Call(function, [*args[:-1], _one_more(args[-1], -1)], keywords)
    if name in ("cat", "concatenate") and args and isinstance(args[0], ast.Tuple | ast.List) and len(args[0].elts) == 2:
        turned = ast.Tuple(args[0].elts[::-1], ast.Load())
        yield "joined-the-other-way", ast.Call(function, [turned, *args[1:]], keywords)
    yield from _of_axis(node, name, of_module)
    if name == "mean" and not of_module and isinstance(inner, ast.Call) and "square" in ast.unparse(inner.func):
        yield "n-minus-one", _with_n_minus_one(node, inner)


def _with_n_minus_one(node: ast.Call, inner: ast.expr) -> ast.expr:
    """A mean of squares, times n / (n - 1)."""
    axes = [keyword.value for keyword in node.keywords if keyword.arg in ("dim", "axis")] or node.args[:1]
    size = ast.Subscript(_attribute(inner, "shape"), axes[0] if axes else ast.Constant(-1), ast.Load())
    more = ast.BinOp(size, ast.Div(), ast.BinOp(size, ast.Sub(), ast.Constant(1)))
    return ast.BinOp(node, ast.Mult(), more)


def _of_axis(node: ast.Call, name: str, of_module: bool) -> Iterator[tuple[str, ast.AST]]:
    """Another axis, none, or one that is lost."""
    args, keywords = node.args, node.keywords
    place = 1 if of_module else 0
    named = next((n for n, keyword in enumerate(keywords) if keyword.arg in ("dim", "axis")), None)
    if named is not None:
        now = whole_number(keywords[named].value)
    elif name in (_SECOND if of_module else _FOLDS) and len(args) == place + 1:
        now = whole_number(args[place])
    elif name in ("cat", "stack") and len(args) == 1:
        now = 0
        keywords, named = [*keywords, ast.keyword("dim", ast.Constant(0))], len(keywords)
    else:
        return
    if now is not None:
        for axis in _AXES:
            if axis != now:
                new = _number(axis)
                if named is None:
                    yield f"axis-{axis}", ast.Call(node.func, [*args[:place], new], keywords)
                else:
                    other = ast.keyword(keywords[named].arg, new)
                    changed = [*keywords[:named], other, *keywords[named + 1 :]]
                    yield f"axis-{axis}", ast.Call(node.func, args, changed)
    if name in _WHOLE:
        yield "no-axis", ast.Call(node.func, args[:place], [])
    for n, keyword in enumerate(keywords):
        if keyword.arg in ("keepdim", "keepdims"):
            yield "keepdim-missing", ast.Call(node.func, args, keywords[:n] + keywords[n + 1 :])


def _of_index(node: ast.Subscript, inner: ast.expr, index: ast.expr) -> Iterator[tuple[str, ast.AST]]:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if any(isinstance(part, ast.Constant) and part.value is None for part in parts):
        rest = [part for part in parts if not (isinstance(part, ast.Constant) and part.value is None)]
        if all(ast.unparse(part) in (":", "...") for part in rest):
            yield "new-axis-missing", inner
    match parts:
        case [ast.Slice(lower=None, upper=None), (ast.Name() | ast.Constant(value=int())) as column]:
            yield "row-for-column", ast.Subscript(inner, column, node.ctx)
    for n, part in enumerate(parts):
        value = whole_number(part)
        if value is not None and isinstance(inner, ast.Attribute) and inner.attr == "shape":
            for axis in _AXES:
                if axis != value:
                    yield "another-length", ast.Subscript(inner, _number(axis), node.ctx)
        elif value in (0, -1):
            other = [*parts[:n], _number(-1 - (value or 0)), *parts[n + 1 :]]
            changed = ast.Tuple(other, ast.Load()) if isinstance(index, ast.Tuple) else other[0]
            yield ("last-for-first" if value == 0 else "first-for-last"), ast.Subscript(inner, changed, node.ctx)


def _of_arithmetic(node: ast.BinOp) -> Iterator[tuple[str, ast.AST]]:
    left, right = node.left, node.right
    for rule, operator in _ARITHMETIC.get(type(node.op), ()):
        yield rule, ast.BinOp(left, operator(), right)
    match node.op:
        case ast.MatMult():
            yield "sides-swapped", ast.BinOp(right, node.op, left)
            if not isinstance(right, ast.Attribute | ast.Call):
                yield "transposed-too", ast.BinOp(left, node.op, _attribute(right, "mT"))
            if not isinstance(left, ast.Attribute | ast.Call):
                yield "transposed-too", ast.BinOp(_attribute(left, "mT"), node.op, right)
        case ast.Mult():
            yield "factor-missing", left
            yield "factor-missing", right
        case ast.Div() | ast.FloorDiv():
            yield "not-divided", left
            yield "upside-down", ast.BinOp(right, node.op, left)
            if isinstance(node.op, ast.FloorDiv):
                below = ast.BinOp(ast.UnaryOp(ast.USub(), left), node.op, right)
                yield "rounded-up", ast.UnaryOp(ast.USub(), below)
        case ast.Add():
            yield "term-missing", left
            yield "term-missing", right
        case ast.Sub():
            yield "term-missing", left
            yield "difference-turned", ast.BinOp(right, node.op, left)
        case ast.Pow() if ast.unparse(right) in ("2", "0.5"):
            yield ("square-missing" if ast.unparse(right) == "2" else "root-missing"), left
    step = whole_number(right)
    if isinstance(node.op, ast.Add | ast.Sub) and step == 1:
        yield ("one-too-few" if isinstance(node.op, ast.Add) else "one-too-many"), left
