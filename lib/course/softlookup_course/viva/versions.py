"""Versions of a student's function that give the same: the student's text among others that are as likely.

Two choices of the writer are varied, each between the student's way and another: that makes four versions. No version
stands nearer to the others than the rest does, so that only who remembers the text can tell which was handed in.
"""

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from string import ascii_lowercase
from textwrap import indent
from typing import TypeGuard

import numpy as np

from softlookup_course.viva.forms import families, filled, in_one_spelling, marks_of
from softlookup_judge.mistakes.edits import Function, function_in

MOST_LINES = 6
"""Lines of a version that is shown; of a longer function, the lines that differ."""

WIDEST = 100
MOST_SETS = 2
"""Sets of versions that are run for a task."""

STEPS = "steps"
"""The mark of whoever gives each step a name, or none: it shows in all code."""

_TEXT = "text"
_ONE_STEP = "one step"
_ORDER = {_TEXT: 0, _ONE_STEP: 1, STEPS: 3}
"""Another text comes first, then a step of it; forms of expressions, and last what cuts all of it into steps."""

_MOST_UNEVEN = 1
_MOST_STEPS = 3
_MOST_PAIRS = 24
_RANKS_APART = 1
"""By how many places, from the shortest version to the longest, the student's may miss the place that was drawn."""

_LONGEST = 2.2
"""How many times as long as the shortest version the longest may be."""

Rewrite = Callable[[ast.FunctionDef], ast.FunctionDef | None]


@dataclass(frozen=True)
class VersionSet:
    """Four versions that differ in two choices; the first is the student's.

    Attributes:
        texts: What is shown of them.
        sources: The cell with each of them.
        whole: Whether the whole body is shown.
        line: The first line that differs, counted from 1 at the ``def``.
        varies: The marks in which they differ.
        shows: The marks that they share.
    """

    texts: tuple[str, ...]
    sources: tuple[str, ...]
    whole: bool
    line: int
    varies: tuple[str, ...]
    shows: tuple[str, ...]


@dataclass(frozen=True)
class _Choice:
    """One choice: the student's way to write, and another."""

    name: str
    uneven: int
    student_way: Rewrite
    other_way: Rewrite


def version_sets(
    function: Function, frame: str, rng: np.random.Generator, others: Sequence[str] = ()
) -> tuple[VersionSet, ...]:
    """Draw sets of versions.

    Args:
        function: The student's function.
        frame: What its arrays are, as ``Case.frame`` says.
        rng: Draws.
        others: Other right answers, sources of cells.

    Returns:
        At most ``MOST_SETS`` of them, without any that has to be run before it is known to give the same; none where
        a function offers fewer than two choices. The student's version is as often the longest as the shortest.
    """
    if any(isinstance(node, ast.Global | ast.Nonlocal | ast.ClassDef | ast.Try) for node in ast.walk(function.called)):
        return ()
    original = in_one_spelling(function.called)
    choices = list(_choices(original, frame))
    choices += [_Choice(_TEXT, 1, copy.deepcopy, other) for text in others if (other := _in_place(function, text))]
    pairs = [
        pair
        for pair in combinations(choices, 2)
        if pair[0].name != pair[1].name and pair[0].uneven + pair[1].uneven <= _MOST_UNEVEN
    ]
    pairs = [pairs[at] for at in rng.permutation(len(pairs))]
    pairs.sort(key=_guessable)
    rank, drawn = int(rng.integers(4)), list[VersionSet]()
    for pair in pairs[:_MOST_PAIRS]:
        try:
            versions = _version_set(function, original, *pair)
        except SyntaxError:  # what was written is no Python
            continue
        if versions is not None and abs(_rank(versions) - rank) <= _RANKS_APART:
            drawn.append(versions)
        if len(drawn) == MOST_SETS:
            break
    return tuple(drawn)


def _guessable(pair: tuple[_Choice, _Choice]) -> tuple[bool, int, int]:
    """Sorts pairs of choices: what all code shows comes last, and what has a common form after what has none."""
    names = [choice.name for choice in pair]
    return STEPS in names, sum(choice.uneven for choice in pair), -sum(name.startswith(_ONE_STEP) for name in names)


def _place(choice: _Choice) -> int:
    """When a choice is made of the two of a set."""
    return _ORDER[_ONE_STEP] if choice.name.startswith(_ONE_STEP) else _ORDER.get(choice.name, 2)


def _rank(versions: VersionSet) -> int:
    """How many versions are shorter than the student's."""
    return sum(len(text) < len(versions.texts[0]) for text in versions.texts)


def _choices(original: ast.FunctionDef, frame: str) -> Iterator[_Choice]:
    """The choices that a function shows, each with one other way to write it."""
    before = ast.dump(original)
    nodes = list(ast.walk(original))
    for number, family in enumerate(families(frame)):
        if not any(family.knows(node) for node in nodes):
            continue
        forms = [family.written(original, form) for form in range(family.count)]
        ways = [form for form, tree in enumerate(forms) if ast.dump(tree) == before]
        if len(ways) != 1:
            continue  # it does not occur, or is written in several ways
        for form in range(family.count):
            if form != ways[0]:
                student_way, other_way = (partial(family.written, form=at) for at in (ways[0], form))
                yield _Choice(str(number), family.uneven, student_way, other_way)
    steps, operands = used_once(original), operands_of(original)
    if steps and operands:  # some values have names and some have none: that of one of them follows from no other
        for name in steps[:_MOST_STEPS]:
            yield _Choice(f"{_ONE_STEP} {name}", 0, copy.deepcopy, partial(joined, name=name))
        for operand in operands[:_MOST_STEPS]:
            yield _Choice(f"{_ONE_STEP} {operand}", 0, copy.deepcopy, partial(split_at, operand=operand))
        return
    for rewrite in (joined, split):
        if rewrite(original) is not None:
            yield _Choice(STEPS, 0, copy.deepcopy, rewrite)


def _in_place(function: Function, text: str) -> Rewrite | None:
    """Another right answer in the place of the student's, with the student's names of the arguments.

    None for a class, whose methods work with parts that the student names.
    """
    other = function_in(text.strip(), function.name)
    if function.called is not function.node or other is None or other.called is not other.node:
        return None
    if len(other.called.args.args) != len(function.called.args.args):
        return None
    names = {a.arg: b.arg for a, b in zip(other.called.args.args, function.called.args.args, strict=True)}
    tree = in_one_spelling(other.called)
    if set(names.values()) & (_bound(tree) - set(names)):
        return None
    tree = _Renamer(names).visit(tree)
    tree.args = copy.deepcopy(function.called.args)
    return lambda _: copy.deepcopy(tree)


def _version_set(function: Function, original: ast.FunctionDef, first: _Choice, second: _Choice) -> VersionSet | None:
    """Four versions; None where they are not four, or would give themselves away."""
    first, second = sorted((first, second), key=_place)
    trees = []
    for way in (first.student_way, first.other_way):
        for following in (second.student_way, second.other_way):
            tree = way(original)
            tree = None if tree is None else following(tree)
            if tree is None:
                return None
            trees.append(neutral(tree))
    if len({ast.dump(tree) for tree in trees}) < len(trees):
        return None
    lines = [_lines(tree) for tree in trees]
    whole = max(map(len, lines)) <= MOST_LINES
    shared = 0
    if not whole:
        if {STEPS, _TEXT} & {first.name, second.name}:
            return None
        shared, lines = _differing(lines)
        if max(map(len, lines)) > MOST_LINES:
            return None
    texts = tuple("\n".join(_dedented(each)) for each in lines)
    lengths = [len(text) for text in texts]
    wide = max(len(line) for each in lines for line in each) > WIDEST
    if wide or max(lengths) > _LONGEST * min(lengths) or len(set(texts)) < len(texts):
        return None
    shown_trees = trees if whole else [_parsed_lines(text) for text in texts]
    if any(tree is None for tree in shown_trees):
        return None
    counts = [Counter(marks_of(tree)) for tree in shown_trees if tree is not None]
    marks = set().union(*counts)
    varies = {mark for mark in marks - _COMMON if len({count[mark] for count in counts}) > 1}
    if first.name != _TEXT and any(all(count[mark] for count in counts) for mark in varies):
        return None  # the lines that all versions share show the student's way
    if STEPS in (first.name, second.name):
        varies.add(STEPS)
    return VersionSet(
        texts,
        tuple(_in_cell(function, tree) for tree in trees),
        whole,
        2 + shared + function.called.lineno - function.node.lineno,
        tuple(sorted(varies)),
        tuple(sorted((marks - varies) | ({STEPS} - varies))),
    )


_COMMON = frozenset(("Div", "Mult", "Add", "Sub", "USub", "Eq", "len()", ".shape"))
"""Marks of all code: that one of them occurs says nothing."""


def _lines(tree: ast.FunctionDef) -> list[str]:
    return ast.unparse(tree).split("\n")[1:]


def _differing(lines: list[list[str]]) -> tuple[int, list[list[str]]]:
    """The lines between those that all versions begin and end with, and how many they begin with."""
    start = 0
    while all(len(each) > start for each in lines) and len({each[start] for each in lines}) == 1:
        start += 1
    end = 0
    while all(len(each) - end > start for each in lines) and len({each[len(each) - 1 - end] for each in lines}) == 1:
        end += 1
    return start, [each[start : len(each) - end] for each in lines]


def _dedented(lines: list[str]) -> list[str]:
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[margin:] for line in lines]


def _parsed_lines(text: str) -> ast.AST | None:
    """The tree of some lines of a function; None where they are no statements of their own."""
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def _in_cell(function: Function, tree: ast.FunctionDef) -> str:
    rows = function.cell.split("\n")
    node = function.called
    text = indent(ast.unparse(tree), " " * node.col_offset)
    return "\n".join([*rows[: node.lineno - 1], text, *rows[node.end_lineno :]])


def neutral(tree: ast.FunctionDef) -> ast.FunctionDef:
    """A function whose variables are called a, b, c and so on, in their order; arguments keep their names."""
    tree = copy.deepcopy(tree)
    arguments = {argument.arg for argument in ast.walk(tree.args) if isinstance(argument, ast.arg)}
    variables = _bound(tree) - arguments
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - variables
    letters = (*ascii_lowercase, *(2 * letter for letter in ascii_lowercase))
    free = (letter for letter in letters if letter not in used | arguments)
    order = dict.fromkeys(name for name in _names_in_order(tree) if name in variables)
    return _Renamer(dict(zip(order, free, strict=False))).visit(tree)


def _bound(tree: ast.FunctionDef) -> set[str]:
    """The variables of a function, with those of comprehensions and of functions within it."""
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return bound | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def _names_in_order(tree: ast.FunctionDef) -> Iterator[str]:
    """Names as they are read, statement by statement and, within one, from left to right as it is printed."""
    printed = ast.parse(ast.unparse(tree))
    nodes = [node for node in ast.walk(printed) if isinstance(node, ast.Name | ast.arg)]
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        yield node.id if isinstance(node, ast.Name) else node.arg


class _Renamer(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self.names.get(node.arg, node.arg)
        return node


def joined(tree: ast.FunctionDef, name: str = "") -> ast.FunctionDef | None:
    """A function in which values that are used once stand where they are used; None where there are none such.

    Args:
        tree: The function.
        name: The only one of these variables that goes; empty means all of them.
    """
    tree, count = copy.deepcopy(tree), 0
    while (pair := _used_once(tree, name)) is not None:
        at, use = pair
        statement = tree.body[at]
        assert isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        tree.body[use] = filled(tree.body[use], {statement.targets[0].id: statement.value})
        del tree.body[at]
        count += 1
    return tree if count else None


def used_once(tree: ast.FunctionDef) -> list[str]:
    """The variables that ``joined`` may take out."""
    names = [statement.targets[0].id for statement in tree.body if _sets_one(statement)]  # type: ignore[attr-defined]
    return [name for name in names if _used_once(tree, name) is not None]


def _sets_one(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name()], value=value):
            return not isinstance(value, ast.Constant)
    return False


def _used_once(tree: ast.FunctionDef, only: str = "") -> tuple[int, int] | None:
    """The first statement that sets a variable which a later one alone uses, once, and that one."""
    names = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    for at, statement in enumerate(tree.body):
        if not _sets_one(statement):
            continue
        name, value = statement.targets[0].id, statement.value  # type: ignore[attr-defined]
        if names[name] != 2 or (only and name != only):
            continue
        needed = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        for use in range(at + 1, len(tree.body)):
            following = tree.body[use]
            inner = list(ast.walk(following))
            if any(isinstance(node, ast.Name) and node.id == name for node in inner):
                repeated = any(isinstance(node, ast.comprehension | ast.Lambda) for node in inner)
                if isinstance(following, ast.Assign | ast.Return) and not repeated:
                    return at, use
                break
            if any(isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id in needed for n in inner):
                break
    return None


def split(tree: ast.FunctionDef) -> ast.FunctionDef | None:
    """A function in which each operation on arrays has a line of its own; None where it is so already."""
    made = tree
    while operands := operands_of(made):
        following = split_at(made, operands[0])
        if following is None:
            return None
        made = following
    return None if made is tree else made


def operands_of(tree: ast.FunctionDef) -> list[str]:
    """Operations that are operands of another one, and have no name; the last of the function come first."""
    dumps: dict[str, None] = {}
    for statement in reversed(tree.body):
        if _has_operands(statement):
            for operand in _operands(statement.value):
                dumps.setdefault(ast.dump(operand))
    return list(dumps)


def _has_operands(statement: ast.stmt) -> TypeGuard[ast.Assign]:
    """Whether steps may be cut out of a statement; nobody names the sides of ``a, b = f(a), f(b)``."""
    match statement:
        case ast.Assign(value=ast.Tuple()) | ast.Return(value=None):
            return False
    return isinstance(statement, ast.Return | ast.Assign)  # both have a value, which is an expression


def _operands(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, right=right):
            those = [left, right]
        case ast.Call(func=ast.Attribute(value=value), args=args):
            those = [value, *args]
        case ast.Call(args=args) | ast.Tuple(elts=args):
            those = [*args]
        case _:
            those = []
    return [part for part in those if isinstance(part, ast.BinOp | ast.Call) and _works_on_values(part)]


def split_at(tree: ast.FunctionDef, operand: str) -> ast.FunctionDef | None:
    """A function in which one operand, given by the dump of its tree, has a line of its own; None where it has not.

    None, too, where a function has so many steps that nobody would read it.
    """
    tree = copy.deepcopy(tree)
    name = next((name for n in range(1, 60) if (name := f"step_{n}") not in _bound(tree)), "")
    for at, statement in enumerate(tree.body):
        if _has_operands(statement):
            for part in _operands(statement.value):
                if name and ast.dump(part) == operand:
                    exchanged = _Exchange(part, ast.Name(name, ast.Load())).visit(statement.value)
                    assert isinstance(exchanged, ast.expr)
                    statement.value = exchanged
                    tree.body.insert(at, ast.Assign([ast.Name(name, ast.Store())], part, lineno=0))
                    return ast.fix_missing_locations(tree)
    return None


class _Exchange(ast.NodeTransformer):
    def __init__(self, before: ast.expr, after: ast.expr) -> None:
        self.before, self.after = before, after

    def visit(self, node: ast.AST) -> ast.AST:
        return self.after if node is self.before else self.generic_visit(node)


def _works_on_values(node: ast.expr) -> bool:
    """Whether an operation is a step of its own: not a root of a number, and nothing of constants alone."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        if node.func.value.id in _NUMBERS_ALONE:
            return False
    called = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
    variables = [part for part in ast.walk(node) if isinstance(part, ast.Name) and part not in called]
    return bool(variables) and not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow | ast.FloorDiv))


_NUMBERS_ALONE = ("math",)
