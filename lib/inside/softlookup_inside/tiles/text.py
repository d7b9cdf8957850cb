"""A kernel's text as Triton's compiler reads it: what that refuses is refused, too, where the kernel gets to it.

Each loop, and each `if` on a number of the launch, is built, so that a name has one type there. Here the kernel runs as
Python, in a second version that ``checks.py`` watches. Source: ``triton/compiler/code_generator.py``, version 3.9.
"""

import ast
import functools
import inspect
import itertools
import linecache
import re
import textwrap
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from softlookup_inside.tiles.checks import Checks
from softlookup_inside.tiles.language import Language
from softlookup_inside.tiles.values import KernelError

_CHECKS = "checks of the text"
"""The name under which a kernel's second version has its checks: no name that a text can have."""


def watched(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel's second version, which refuses what Triton's compiler refuses; without its text, the kernel itself."""
    return (_second_version(function) if isinstance(function, types.FunctionType) else None) or function


@functools.lru_cache(maxsize=128)
def _second_version(function: types.FunctionType) -> Callable[..., Any] | None:
    tree = _tree(function)
    if tree is None:
        return None
    code = function.__code__
    if _outline(_code(tree, code)) != _outline(code):  # the file has changed since, or something rewrote it
        return None
    around = {**function.__globals__, **_enclosing(function)}
    names = {name for name, value in around.items() if isinstance(value, Language)}
    checks = Checks(function.__name__)
    _Watching(code, names, checks).visit(tree)
    second = _code(ast.fix_missing_locations(tree), code, _CHECKS)
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True)) | {_CHECKS: types.CellType(checks)}
    closure = tuple(cells[name] for name in second.co_freevars)
    twin = types.FunctionType(second, function.__globals__, function.__name__, function.__defaults__, closure)
    twin.__kwdefaults__, twin.__qualname__ = function.__kwdefaults__, function.__qualname__
    returns_often = sum(isinstance(node, ast.Return) for node in ast.walk(tree)) > 1

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        checks.begin([*args, *kwargs.values()])
        try:
            result = twin(*args, **kwargs)
        except UnboundLocalError as error:
            name = next(iter(re.findall(r"'(\w+)'", str(error))), "")
            if name not in checks.lost:
                raise
            raise KernelError(checks.lost[name]) from None
        return checks.returned(result) if returns_often else result

    return run


def _enclosing(function: types.FunctionType) -> dict[str, Any]:
    """The names of enclosing functions that have a value."""
    values = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:
            continue
    return values


def _tree(function: types.FunctionType) -> ast.FunctionDef | None:
    """The text of a function, with the numbers of its lines."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    try:
        tree = ast.parse(textwrap.dedent("".join(inspect.getblock(lines)))) if lines else ast.Module([], [])
    except (SyntaxError, IndentationError, ValueError):
        return None
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        return None
    definition = tree.body[0]
    ast.increment_lineno(definition, code.co_firstlineno - 1)
    definition.decorator_list.clear()
    return definition


def _code(tree: ast.FunctionDef, of: types.CodeType, *more: str) -> types.CodeType:
    """The code of a function, with the names of enclosing functions that it had, and more of them."""
    around = [ast.arg(name) for name in (*of.co_freevars, *more)]
    outer = ast.FunctionDef("outer", ast.arguments([], around, None, [], [], None, []), [tree], [])
    ast.copy_location(outer, tree)
    outer.type_params = []  # type: ignore[attr-defined]
    compiled = compile(ast.fix_missing_locations(ast.Module([outer], [])), of.co_filename, "exec", dont_inherit=True)
    for name in ("outer", tree.name):
        compiled = next(
            part for part in compiled.co_consts if isinstance(part, types.CodeType) and part.co_name == name
        )
    return compiled


def _outline(code: types.CodeType) -> tuple[Any, ...]:
    """What two compilations of one text have in common; calls of a module's functions may be compiled in two ways."""
    constants = [repr(value) for value in code.co_consts if not isinstance(value, types.CodeType)]
    lines = sorted({line for *_, line in code.co_lines() if line})[
        1:
    ]  # the first is the decorator's, where there is one
    return code.co_varnames, code.co_cellvars, set(code.co_names), constants, lines


class _Watching(ast.NodeTransformer):
    """Puts the calls of checks into a kernel's text; ``direct`` names, those of ``tl``, need none."""

    def __init__(self, code: types.CodeType, direct: set[str], checks: Checks) -> None:
        self.local = {*code.co_varnames, *code.co_cellvars}
        self.direct, self.checks = direct - self.local, checks
        self.constants: set[str] = set()
        self.loops = 0
        self.refused: list[str] = []
        self._numbers = itertools.count()

    # What is refused where it is reached, and in a loop or a branch as soon as that is.

    def _refusal(self, node: ast.AST, construct: str, advice: str) -> ast.expr:
        sentence = f"Triton's compiler knows no {construct} in a kernel: {advice}"
        self.refused.append(sentence)
        return ast.copy_location(_call("refuse", ast.Constant(sentence)), node)

    def _refused_statement(self, node: ast.stmt, construct: str, advice: str) -> ast.stmt:
        return ast.copy_location(ast.Expr(self._refusal(node, construct, advice)), node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Refuse what is on the list, and look into all else."""
        if type(node) in _REFUSED:
            words = _REFUSED[type(node)]
            return self._refused_statement(node, *words) if isinstance(node, ast.stmt) else self._refusal(node, *words)
        return super().generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """The kernel itself, or a function in it."""
        if self.checks.is_begun:
            advice = "write it outside, with @jit above it"
            return self._refused_statement(node, f"function (`{node.name}`)", advice)
        self.checks.is_begun = True
        node.body = self._statements(node.body)
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        """Leave it: an exercise that is not written yet raises NotImplementedError."""
        return node

    def visit_Return(self, node: ast.Return) -> Any:
        if self.loops:
            advice = "put what follows under an `if`, or into a mask"
            return self._refused_statement(node, "`return` in a loop", advice)
        return self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> Any:
        return ast.copy_location(ast.Expr(self.visit(node.test)), node)  # checked with TRITON_DEBUG alone

    def visit_Call(self, node: ast.Call) -> Any:
        is_int = isinstance(node.func, ast.Name) and node.func.id == "int" and "int" not in self.local
        self.generic_visit(node)
        return ast.copy_location(_call("whole", *node.args), node) if is_int else node

    def visit_Compare(self, node: ast.Compare) -> Any:
        if any(isinstance(sign, ast.In | ast.NotIn) for sign in node.ops):
            return self._refusal(node, "`in`", "compare with each value by itself")
        self.generic_visit(node)
        if len(node.ops) == 1:
            return node
        previous, parts = node.left, []
        for sign, operand in zip(node.ops, node.comparators, strict=True):
            name = self._name()
            parts.append(ast.Compare(previous, [sign], [ast.NamedExpr(ast.Name(name, ast.Store()), operand)]))
            previous = ast.Name(name, ast.Load())
        return ast.copy_location(self._joined(parts, "both"), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        return ast.copy_location(self._joined(node.values, "both" if isinstance(node.op, ast.And) else "either"), node)

    def _joined(self, values: Sequence[ast.expr], way: str) -> ast.expr:
        """`a and b`: b counts where a is no constant that settles it."""
        joined = values[0]
        for value in values[1:]:
            name = self._name()
            settles = _call("settles", ast.NamedExpr(ast.Name(name, ast.Store()), joined), ast.Constant(way))
            joined = ast.IfExp(settles, ast.Name(name, ast.Load()), _call(way, ast.Name(name, ast.Load()), value))
        return joined

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return ast.copy_location(_call("negated", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.FormattedValue:
        self.generic_visit(node)
        node.value = _call("formatted", node.value)
        return node

    def visit_List(self, node: ast.List) -> Any:
        self.generic_visit(node)
        return ast.copy_location(_call("list_of_tiles", *node.elts), node) if isinstance(node.ctx, ast.Load) else node

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        if len(node.generators) > 1:
            return self._refusal(node, "list over two loops", "write loops")
        source = node.generators[0]
        outer, self.local = self.local, self.local | _assigned_in([source.target])
        self.generic_visit(node)
        self.local = outer
        source.iter = _call("tupled", source.iter)
        return ast.copy_location(_call("list_of_tiles", ast.Starred(node, ast.Load())), node)

    # Names, and what is assigned to them.

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id in self.local or node.id in self.direct or not isinstance(node.ctx, ast.Load):
            return node
        return ast.copy_location(_call("outer", ast.Constant(node.id), node), node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in self.local or root.id in self.direct:
            return self.generic_visit(node)
        text = ast.unparse(node)
        return ast.copy_location(
            _call("attribute", self.visit(node.value), ast.Constant(node.attr), ast.Constant(text)), node
        )

    def visit_Assign(self, node: ast.Assign) -> Any:
        target = node.targets[0]
        if len(node.targets) > 1:
            advice = "write one assignment for each name"
            return self._refused_statement(node, "`a = b = …`", advice)
        if any(isinstance(part, ast.Starred) for part in ast.walk(target)):
            return self._refused_statement(node, "`a, *b = …`", "name each part")
        if isinstance(target, ast.Attribute):
            advice = "give what you make a name"
            return self._refused_statement(node, "assignment to an attribute", advice)
        node.value = self.visit(node.value)
        if isinstance(target, ast.Subscript):
            self.generic_visit(target)
            advice = "store with tl.store, and make new tiles by tl.where"
            return [node, self._refused_statement(node, "assignment to an index", advice)]
        if not isinstance(target, ast.Name) or target.id not in self.constants:
            node.value = self._assigned(ast.unparse(target), node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        is_constant = ast.unparse(node.annotation).strip("\"'").rpartition(".")[2] == "constexpr"
        if node.value is None or not isinstance(node.target, ast.Name):
            self.constants |= {node.target.id} if is_constant and isinstance(node.target, ast.Name) else set()
            return node
        value, name = self.visit(node.value), node.target.id
        value = _call("constant", ast.Constant(name), value, _locals()) if is_constant else self._assigned(name, value)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        before = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        total = ast.copy_location(ast.BinOp(before, node.op, self.visit(node.value)), node)
        return ast.copy_location(ast.Assign([node.target], self._assigned(node.target.id, total)), node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        self.generic_visit(node)
        node.value = self._assigned(node.target.id, node.value)
        return node

    def _assigned(self, name: str, value: ast.expr) -> ast.expr:
        return ast.copy_location(_call("assigned", ast.Constant(name), value), value)

    # Loops and branches.

    def visit_For(self, node: ast.For) -> Any:
        call = node.iter
        if node.orelse:
            return self._refused_statement(node, "`else` of a loop", "write it behind the loop")
        if not isinstance(node.target, ast.Name) or not isinstance(call, ast.Call):
            advice = "loop over range(…), tl.range(…) or tl.static_range(…)"
            loop = f"loop over `{ast.unparse(call)}`"
            return self._refused_statement(node, loop, advice)
        is_static = ast.unparse(call.func).rpartition(".")[2] == "static_range"
        node.iter = self.visit(call)
        if is_static:
            for part in node.iter.keywords:  # type: ignore[attr-defined]
                part.value = _call("known", part.value)
            node.iter.args = [_call("known", arg) for arg in node.iter.args]  # type: ignore[attr-defined]
            node.body = self._statements(node.body)
            return node
        node.iter = _call("turns", node.iter)
        return self._loop(node, {node.target.id})

    def visit_While(self, node: ast.While) -> Any:
        if node.orelse:
            return self._refused_statement(node, "`else` of a loop", "write it behind the loop")
        node.test = _call("condition", self.visit(node.test))
        return self._loop(node, set())

    def _loop(self, node: ast.For | ast.While, targets: set[str]) -> list[ast.stmt]:
        names = _assigned_in(node.body) - targets
        begin = len(self.refused)
        self.loops += 1
        node.body = self._statements(node.body)
        self.loops -= 1
        before = self._name()
        sentence = ast.Constant(next(iter(self.refused[begin:]), ""))
        end = _call("turn", ast.Name(before, ast.Load()), _locals(), _names(names))
        node.body += self._forgetting(end, names)
        first = ast.Assign([ast.Name(before, ast.Store())], _call("before", _locals(), sentence))
        return [ast.copy_location(first, node), node]

    def _forgetting(self, lost: ast.expr, names: set[str]) -> list[ast.stmt]:
        """Take away the names that are no longer known, as the checks have it."""
        if not names:
            return [ast.Expr(lost)]
        name = self._name()
        statements: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], lost)]
        for each in sorted(names):
            is_lost = ast.Compare(ast.Constant(each), [ast.In()], [ast.Name(name, ast.Load())])
            statements.append(ast.If(is_lost, [ast.Delete([ast.Name(each, ast.Del())])], []))
        return statements

    def visit_If(self, node: ast.If) -> Any:
        then_names, else_names = _assigned_in(node.body), _assigned_in(node.orelse)
        test = self.visit(node.test)
        outer, self.refused = self.refused, []
        node.body, node.orelse = self._statements(node.body), self._statements(node.orelse)
        sentence, self.refused = next(iter(self.refused), ""), outer
        branch, names = self._name(), then_names | else_names
        first = ast.Assign(
            [ast.Name(branch, ast.Store())],
            _call("branch", test, _locals(), ast.Constant(next(self._numbers)), ast.Constant(sentence)),
        )
        both = _names(then_names & else_names)
        node.test = ast.Attribute(ast.Name(branch, ast.Load()), "is_taken", ast.Load())
        end = _call("joined", ast.Name(branch, ast.Load()), _locals(), _names(names), both)
        after = self._forgetting(end, names) if names else []
        return [ast.copy_location(part, node) for part in (first, node, *after)]

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        literals = []
        for part in (node.body, node.orelse):
            try:
                literals.append(ast.literal_eval(part))
            except ValueError:
                continue
        self.generic_visit(node)
        index = ast.Constant(next(self._numbers))
        node.test = _call("tested", node.test, index)
        values = ast.Tuple([ast.Constant(value) for value in literals], ast.Load())
        return ast.copy_location(_call("chosen", node, index, values), node)

    def _statements(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        watched: list[ast.stmt] = []
        for statement in statements:
            result = self.visit(statement)
            watched += result if isinstance(result, list) else [result]
        return watched

    def _name(self) -> str:
        return f"{_CHECKS} {next(self._numbers)}"


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(_CHECKS, ast.Load()), name, ast.Load()), list(args), [])


def _names(names: set[str]) -> ast.expr:
    return ast.Tuple([ast.Constant(name) for name in sorted(names)], ast.Load())


def _locals() -> ast.expr:
    return _call("locals")


def _assigned_in(statements: Sequence[ast.AST]) -> set[str]:
    """The names that some statements may assign, but for those of comprehensions."""

    def names(node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.ListComp | ast.Lambda | ast.FunctionDef | ast.GeneratorExp):
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        for child in ast.iter_child_nodes(node):
            yield from names(child)

    return {name for statement in statements for name in names(statement)}


_LOOPS = "put the condition into a mask, or loop with `while`"
_COMPUTE_OUTSIDE = "compute it outside, and hand it to the kernel as an argument"

_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Break: ("`break`", _LOOPS),
    ast.Continue: ("`continue`", _LOOPS),
    ast.Lambda: ("lambda", "write a function outside, with @jit above it"),
    ast.Dict: ("dict", "give each value a name"),
    ast.DictComp: ("dict", "give each value a name"),
    ast.Set: ("set", "give each value a name"),
    ast.SetComp: ("set", "give each value a name"),
    ast.GeneratorExp: ("generator", "write a loop"),
    ast.Yield: ("`yield`", "store results with tl.store"),
    ast.YieldFrom: ("`yield`", "store results with tl.store"),
    ast.Await: ("`await`", "leave it out"),
    ast.Try: ("`try`", "put what may go wrong into a mask"),
    ast.With: ("`with`", "leave it out"),
    ast.Delete: ("`del`", "leave it out"),
    ast.Global: ("`global`", "a kernel changes nothing but memory, with tl.store"),
    ast.Nonlocal: ("`nonlocal`", "a kernel changes nothing but memory, with tl.store"),
    ast.Import: ("`import`", "import it outside"),
    ast.ImportFrom: ("`import`", "import it outside"),
    ast.ClassDef: ("class", _COMPUTE_OUTSIDE),
    ast.Match: ("`match`", "write `if` and `elif`"),
    ast.AsyncFor: ("`async`", "leave it out"),
    ast.AsyncWith: ("`async`", "leave it out"),
    ast.AsyncFunctionDef: ("`async`", "leave it out"),
}
"""What Triton's compiler has no rule for: what it is called, and what to do instead."""
