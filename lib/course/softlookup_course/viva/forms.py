"""Other ways to write an expression that give the same: tables of templates, matched and written as syntax trees.

A family is one choice of a writer, such as a transposition by ``mT`` or by ``transpose``. Its rows are patterns, its
columns the ways to write them; no form repeats what it is given, so that nested ones stay short. In a template ``_x``
stands for any expression, ``_v`` for a plain number, ``_p`` and ``_q`` for anything but a number, and ``*_r`` for all
further arguments. Whether a form gives the same in a student's function is not known here: it is run.
"""

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TypeVar

Bound = dict[str, ast.expr]
Tree = TypeVar("Tree", bound=ast.AST)

_HOLE = "_"
_NUMBER, _REST, _NO_NUMBER = "_v", "_r", ("_p", "_q")
_MODULES = ("torch", "np", "math")

_CALLED = ("exp", "log", "sum", "mean", "argmax", "argsort", "cumsum", "sort", "topk", "triu", "tril", "log_softmax")
"""Functions that are as often called by themselves as on their first argument."""

_FOLDS = frozenset(
    ("sum", "mean", "amax", "amin", "max", "min", "any", "all", "argmax", "argmin", "cumsum", "logsumexp")
    + ("softmax", "log_softmax")
)

_TABLES = """
0 _x.mT | _x.transpose(-2, -1)
1 _x.T | _x.transpose(0, 1) | _x.mT
0 torch.softmax(_x, dim=-1) | _x.softmax(dim=-1)
1 _x / math.sqrt(_d) | _x / _d ** 0.5 | _x * _d ** -0.5
  _x / (_t * math.sqrt(_d)) | _x / (_t * _d ** 0.5) | _x / _t * _d ** -0.5
1 math.sqrt(_d) | _d ** 0.5
1 _x / np.sqrt(_d) | _x / _d ** 0.5 | _x * _d ** -0.5
0 _x.masked_fill(~_m, _v) | torch.where(_m, _x, _v)
  _x.masked_fill(_m, _v) | torch.where(_m, _v, _x)
1 _x[:, None] | _x.unsqueeze(1)
  _x[..., None] | _x.unsqueeze(-1)
  _x[None, :] | _x.unsqueeze(0)
  _x[None] | _x.unsqueeze(0)
  _x[:, None, None, :] | _x.unsqueeze(1).unsqueeze(1)
1 _p <= _q | _q >= _p
  _p < _q | _q > _p
1 _x ** 2 | _x.pow(2)
1 _x.flatten() | _x.reshape(-1)
1 _x.transpose(1, 2) | _x.movedim(2, 1) | _x.permute(0, 2, 1, 3)
1 _x.float() | _x.to(torch.float32)
  _x.double() | _x.to(torch.float64)
  _x.long() | _x.to(torch.int64)
  _x.int() | _x.to(torch.int32)
  _x.bool() | _x.to(torch.bool)
0 _a if _x is None else _b | _b if _x is not None else _a
0 _a + [_b] | [*_a, _b]
  [_a] + _b | [_a, *_b]
0 int(_x.argmax()) | _x.argmax().item()
1 _x += _y | _x = _x + _y
1 len(_x) | _x.shape[0]
"""
"""A family begins with how unequally common its forms are, 0 or 1; each of its rows has them side by side."""

_NOT_IN_NUMPY = ("torch.", "dim=", ".unsqueeze(", ".masked_fill(", ".transpose(-2", ".movedim(", ".permute(", ".pow(")

_ONE_SPELLING = (
    ("_x.transpose(-1, -2)", "_x.transpose(-2, -1)"),
    ("_x.transpose(2, 1)", "_x.transpose(1, 2)"),
    ("_x.transpose(1, 0)", "_x.transpose(0, 1)"),
    ("_x.t()", "_x.T"),
    ("torch.transpose(_x, *_r)", "_x.transpose(*_r)"),
    ("torch.matmul(_a, _b)", "_a @ _b"),
    ("_a.matmul(_b)", "_a @ _b"),
)
"""Spellings that nobody remembers, written in one way in all versions."""


@dataclass(frozen=True)
class Family:
    """One choice of a writer.

    Attributes:
        rows: Patterns, each with its templates, one for each form.
        uneven: How unequally common the forms are, 0 or 1: a reader would guess the common one.
    """

    rows: tuple[tuple[str, ...], ...]
    uneven: int = 0

    @cached_property
    def count(self) -> int:
        """How many forms there are."""
        return len(self.rows[0])

    def knows(self, node: ast.AST) -> bool:
        """Whether a node is written in any of the forms."""
        return any(_match(_pattern(template), node, {}) for row in self.rows for template in row)

    def written(self, tree: ast.FunctionDef, form: int) -> ast.FunctionDef:
        """A function with all of its expressions that the family knows written in one form."""
        new = _Writer(self, form).visit(copy.deepcopy(tree))
        assert isinstance(new, ast.FunctionDef)  # no form is one of a whole function
        return new

    def in_form(self, node: ast.AST, form: int) -> ast.AST | None:
        """A node in one form; None where the family does not know it, or it has the form already."""
        for row in self.rows:
            if _match(_pattern(row[form]), node, {}):
                return None
        for row in self.rows:
            for at, template in enumerate(row):
                bound: Bound = {}
                if at != form and _match(_pattern(template), node, bound):
                    return filled(_pattern(row[form]), bound)
        return None


class Products(Family):
    """A matrix product by its operator, or by ``einsum``."""

    def __init__(self, module: str) -> None:
        super().__init__((("_a @ _b", f"{module}.einsum(_e, _a, _b)"),), 1)
        object.__setattr__(self, "module", module)

    def in_form(self, node: ast.AST, form: int) -> ast.AST | None:
        """A product in one form; an equation that is no matrix product is left alone."""
        bound: Bound = {}
        module = self.module  # type: ignore[attr-defined]
        dots = "..." if module == "torch" else ""
        if form == 1 and isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            (a, turned_a), (b, turned_b) = (_without_turn(side) for side in (node.left, node.right))
            rows, inner, columns = ("t", "h", "s") if turned_b else ("t", "s", "h")
            first = inner + rows if turned_a else rows + inner
            second = columns + inner if turned_b else inner + columns
            equation = ast.Constant(f"{dots}{first},{dots}{second}->{dots}{rows}{columns}")
            return filled(_pattern(self.rows[0][1]), {"_e": equation, "_a": a, "_b": b})
        if form == 0 and _match(_pattern(self.rows[0][1]), node, bound):
            turns = _turns(bound["_e"])
            if turns is not None:
                turn = "_x.transpose(-2, -1)" if module == "torch" else "_x.T"
                sides = {
                    name: filled(_pattern(turn), {"_x": bound[name]}) if turned else bound[name]
                    for name, turned in zip(("_a", "_b"), turns, strict=True)
                }
                return filled(_pattern(self.rows[0][0]), sides)  # type: ignore[arg-type]
        return None


def _without_turn(node: ast.expr) -> tuple[ast.expr, bool]:
    """An operand without its transposition, and whether there was one."""
    for template in ("_x.mT", "_x.transpose(-2, -1)", "_x.T"):
        bound: Bound = {}
        if _match(_pattern(template), node, bound):
            return bound["_x"], True
    return node, False


def _turns(equation: ast.expr) -> tuple[bool, bool] | None:
    """Which operands of an equation are transposed in the product that it is; None where it is none."""
    if not isinstance(equation, ast.Constant) or not isinstance(equation.value, str):
        return None
    parts = re.fullmatch(r"((?:\.\.\.|[a-z]*?))([a-z]{2}),(\1|)([a-z]{2})->\1([a-z]{2})", equation.value)
    if parts is None:
        return None
    first, second, result = parts[2], parts[4], parts[5]
    row, column = result[0], result[1]
    inner = (set(first) & set(second)) - set(result)
    if len({row, column, *inner}) != 3 or set(first) != {row, *inner} or set(second) != {column, *inner}:
        return None
    return first[0] != row, second[1] != column


class _Writer(ast.NodeTransformer):
    """Writes all that a family knows in one form."""

    def __init__(self, family: Family, form: int) -> None:
        self.family, self.form = family, form

    def visit(self, node: ast.AST) -> ast.AST:
        node = self.generic_visit(node)
        new = self.family.in_form(node, self.form)
        return node if new is None else ast.copy_location(new, node)


def families(frame: str) -> Iterator[Family]:
    """The families for tasks whose arrays are torch's or numpy's.

    Args:
        frame: As ``Case.frame`` says.
    """
    in_numpy = frame == "numpy"
    foreign = ("torch.",) if in_numpy else ("np.",)
    yield Products("np" if in_numpy else "torch")
    for uneven, table in _tables():
        rows = [row for row in table if not (in_numpy and any(sign in form for form in row for sign in _NOT_IN_NUMPY))]
        if rows and not any(sign in form for row in rows for form in row for sign in foreign):
            yield Family(tuple(rows), uneven)


@cache
def _tables() -> list[tuple[int, list[tuple[str, ...]]]]:
    tables: list[tuple[int, list[tuple[str, ...]]]] = []
    for line in _TABLES.strip().splitlines():
        if line[0] != " ":
            tables.append((int(line[0]), []))
        tables[-1][1].append(tuple(line[2:].split(" | ")))
    tables += [(int(name != "exp"), [(f"_x.{name}(*_r)", f"torch.{name}(_x, *_r)")]) for name in _CALLED]
    in_numpy = ("sum", "max", "mean", "cumsum", "argmax")
    return tables + [(1, [(f"_x.{name}(*_r)", f"np.{name}(_x, *_r)")]) for name in in_numpy]


def in_one_spelling(tree: ast.FunctionDef) -> ast.FunctionDef:
    """A function without its docstring, with axes given by name and transpositions by the same call."""
    tree = copy.deepcopy(tree)
    if isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant) and len(tree.body) > 1:
        del tree.body[0]
    tree = _NamedAxes().visit(tree)
    for before, after in _ONE_SPELLING:
        tree = Family(((before, after),)).written(tree, 1)
    return ast.fix_missing_locations(tree)


class _NamedAxes(ast.NodeTransformer):
    """Names the axis of a call of torch that has it by position."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _FOLDS:
            of_module = isinstance(function.value, ast.Name) and function.value.id in _MODULES
            in_numpy = of_module and function.value.id == "np"  # type: ignore[attr-defined]
            at = int(of_module)
            if len(node.args) == at + 1 and _is_number(node.args[at]) and not in_numpy:
                node.keywords.insert(0, ast.keyword("dim", node.args.pop()))
        return node


def marks_of(tree: ast.AST) -> list[str]:
    """What shows how somebody writes: operators, and names of functions and attributes, as often as they occur."""
    marks = []
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in _MODULES:
                marks.append(f"{module}.{name}")
            case ast.Attribute(attr=name):
                marks.append(f".{name}")
            case ast.Call(func=ast.Name(id=name)):
                marks.append(f"{name}()")
            case ast.BinOp(op=operator) | ast.UnaryOp(op=operator) | ast.AugAssign(op=operator):
                marks.append(type(operator).__name__)
            case ast.Compare(ops=operators):
                marks += [type(operator).__name__ for operator in operators]
            case ast.Subscript(slice=inside) if any(
                isinstance(part, ast.Constant) and part.value is None for part in ast.walk(inside)
            ):
                marks.append("[None]")
            case ast.keyword(arg="keepdim" | "keepdims"):
                marks.append("keepdim")
    return marks


@lru_cache(maxsize=1024)
def _pattern(template: str) -> ast.AST:
    """The tree of a template: an expression, or a statement that is none."""
    (statement,) = ast.parse(template).body
    return statement.value if isinstance(statement, ast.Expr) else statement


def _match(pattern: ast.AST, node: ast.AST, bound: Bound) -> bool:
    """Whether a node is as a pattern says; binds what stands in its holes."""
    if isinstance(pattern, ast.Name) and pattern.id.startswith(_HOLE):
        if (
            not isinstance(node, ast.expr)
            or isinstance(node, ast.Starred)
            or _is_number(node) > (pattern.id not in _NO_NUMBER)
        ):
            return False
        if pattern.id == _NUMBER and not _is_number(node):
            return False
        before = bound.setdefault(pattern.id, node)
        return before is node or (ast.dump(before) == ast.dump(node) and isinstance(node, ast.Name | ast.Attribute))
    if type(pattern) is not type(node):
        return False
    if isinstance(pattern, ast.Call) and isinstance(node, ast.Call) and _takes_more(pattern):
        first = pattern.args[:-1]
        if len(node.args) < len(first) or not _match(pattern.func, node.func, bound):
            return False
        bound[_REST] = ast.Call(ast.Name(_REST), node.args[len(first) :], node.keywords)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and not first:
            if node.func.value.id in _MODULES:
                return False
        return all(_match(part, arg, bound) for part, arg in zip(first, node.args, strict=False))
    for field in pattern._fields:
        if field in ("ctx", "type_comment", "kind"):
            continue
        left, right = getattr(pattern, field), getattr(node, field)
        if isinstance(left, list):
            if len(left) != len(right) or not all(_match(a, b, bound) for a, b in zip(left, right, strict=True)):
                return False
        elif isinstance(left, ast.AST):
            if not isinstance(right, ast.AST) or not _match(left, right, bound):
                return False
        elif left != right:
            return False
    return True


def _takes_more(pattern: ast.Call) -> bool:
    match pattern.args:
        case [*_, ast.Starred(value=ast.Name(id=name))]:
            return name == _REST
    return False


def filled(pattern: Tree, bound: Bound) -> Tree:
    """A tree with expressions in the places of names: a pattern with what belongs into its holes."""
    made: Tree = ast.fix_missing_locations(_Filler(bound).visit(copy.deepcopy(pattern)))
    return made


class _Filler(ast.NodeTransformer):
    def __init__(self, bound: Bound) -> None:
        self.bound = bound

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.bound:
            return node
        new = copy.deepcopy(self.bound[node.id])
        if isinstance(new, ast.Name | ast.Attribute | ast.Subscript):
            new.ctx = node.ctx
        return new

    def visit_Call(self, node: ast.Call) -> ast.Call:
        more = self.bound.get(_REST) if _takes_more(node) else None
        if isinstance(more, ast.Call):
            node.args = [*node.args[:-1], *copy.deepcopy(more.args)]
            node.keywords = copy.deepcopy(more.keywords)
        self.generic_visit(node)
        return node


def _is_number(node: ast.expr) -> bool:
    """Whether an expression is a plain number, infinity among them."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_number(operand)
        case ast.Constant(value=int() | float()) | ast.Attribute(attr="inf"):
            return True
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant()]):
            return True
        case ast.Attribute(value=ast.Call(func=ast.Attribute(attr="finfo")), attr="min"):
            return True
    return False
