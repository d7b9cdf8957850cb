"""What may stand in place of a part of a program, with its names: the judge's habit, the rule of a question."""

import ast
import copy
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from softlookup_judge.mistakes.scopes import Scope, alike, is_docstring, is_mask, is_number, is_part

ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript)
"""What never needs brackets."""

_SIGNS: dict[type, tuple[tuple[type, str, str, bool], ...]] = {
    ast.MatMult: ((ast.Mult, "elementwise", "elementwise", True),),
    ast.Mult: ((ast.Div, "divided", "", True), (ast.Add, "added", "", True)),
    ast.Div: ((ast.Mult, "multiplied", "multiplied", True), (ast.FloorDiv, "remainder-dropped", "", False)),
    ast.FloorDiv: ((ast.Div, "remainder-kept", "", False), (ast.Mod, "", "remainder", False)),
    ast.Mod: ((ast.FloorDiv, "", "remainder", False),),
    ast.Add: ((ast.Sub, "minus-for-plus", "sign", True), (ast.Mult, "times-for-plus", "", True)),
    ast.Sub: ((ast.Add, "plus-for-minus", "sign", True),),
    ast.Pow: ((ast.Mult, "", "", True),),
    ast.BitAnd: ((ast.BitOr, "", "either", True), (ast.BitXor, "", "", True)),
    ast.BitOr: ((ast.BitAnd, "", "either", True),),
    ast.Lt: ((ast.LtE, "boundary", "boundary", True), (ast.GtE, "inverted", "", False), (ast.Gt, "", "turned", False)),
    ast.LtE: ((ast.Lt, "boundary", "boundary", True), (ast.Gt, "inverted", "", False), (ast.GtE, "", "turned", False)),
    ast.Gt: ((ast.GtE, "boundary", "boundary", True), (ast.LtE, "inverted", "", False), (ast.Lt, "", "turned", False)),
    ast.GtE: ((ast.Gt, "boundary", "boundary", True), (ast.Lt, "inverted", "", False), (ast.LtE, "", "turned", False)),
    ast.Eq: ((ast.NotEq, "inverted", "turned", False),),
    ast.NotEq: ((ast.Eq, "inverted", "turned", False),),
    ast.Is: ((ast.IsNot, "", "", True),),
    ast.IsNot: ((ast.Is, "", "", True),),
}
"""For each sign those that may stand in its place, each with its habit and rule, and whether tests try it."""
_SIDES = {
    ast.MatMult: ("sides-swapped", "swapped", "", ""),
    ast.Mult: ("", "", "factor-missing", "factor"),
    ast.Div: ("upside-down", "", "not-divided", "factor"),
    ast.FloorDiv: ("upside-down", "", "not-divided", ""),
    ast.Add: ("", "", "term-missing", "term"),
    ast.Sub: ("difference-turned", "swapped", "term-missing", "term"),
}
"""For each sign the habit and rule where its sides are swapped, and those where its right side is gone."""
_OTHER_NAMES = {
    "sum": (("mean", "mean-for-sum"), ("amax", "largest-for-sum")),
    "mean": (("sum", "sum-for-mean"), ("amax", "largest-for-mean")),
    **{f"{stem}max": ((f"{stem}min", "least-for-largest"),) for stem in ("", "a", "arg")},
    **{f"{stem}min": ((f"{stem}max", "largest-for-least"),) for stem in ("", "a", "arg")},
    "any": (("all", "all-for-any"),),
    "all": (("any", "any-for-all"),),
    "tril": (("triu", ""),),
    "triu": (("tril", ""),),
    "log_softmax": (("softmax", "another-activation"),),
    "log": (("log2", "another-base"), ("log10", "another-base")),
    "log2": (("log", "another-base"), ("log10", "another-base")),
    "ceil": (("floor", "rounded-down"),),
    "round": (("floor", "rounded-down"),),
    "relu": (("sigmoid", "another-activation"), ("tanh", "another-activation")),
    "sigmoid": (("relu", "another-activation"), ("tanh", "another-activation")),
    "silu": (("relu", "another-activation"), ("gelu", "another-activation")),
}
"""For each function those that may be called in its place; questions take the first one, but none of these:"""
_NOT_ASKED = {"log", "log2", "ceil", "round", "relu", "sigmoid", "silu"}
_TRIED_NAMES = {
    "max": ("min", "mean"),
    "sum": ("mean", "prod"),
    "exp": ("expm1", "exp2"),
    "sqrt": ("exp", "log"),
    "any": ("all",),
    "softmax": ("log_softmax",),
    "T": ("real",),
}
_LEFT_OUT = dict.fromkeys(("relu", "sigmoid", "tanh", "silu", "gelu", "softmax", "log_softmax"), "activation-missing")
_LEFT_OUT |= {"exp": "activation-missing", "abs": "activation-missing", "square": "square-missing"}
_LEFT_OUT |= dict.fromkeys(("clamp", "clip", "clamp_min"), "unbounded")
_MODULES = {"torch", "np", "math", "F", "torch.nn.functional"}
_WHOLE = {"sum", "mean", "amax", "amin", "any", "all", "argmax", "argmin", "std", "var", "prod", "norm", "max", "min"}
_FOLDS = _WHOLE | {"cumsum", "softmax", "log_softmax", "flip"}
_SECOND = {"softmax", "log_softmax", "cat", "stack", "concatenate", "cumsum", "sum", "mean", "argmax"}
_AXES = (0, 1, -1, -2)
_BESIDE = {-1: -2, -2: -1, 0: 1, 1: 0, 2: 1}
"""For each axis the one that a question takes in its place."""
_WITHOUT_SIGN = {"abs", "torch.abs", "np.abs", "math.fabs", "torch.square", "np.square"}


class Form(NamedTuple):
    """What may stand in a place: the node, its habit in ``SAYS``, its rule in ``RULES``, and whether tests try it."""

    after: Any
    habit: str = ""
    rule: str = ""
    is_tried: bool = False


def forms(node: ast.AST, holder: ast.AST, scope: Scope) -> Iterator[Form]:
    """What may stand in place of a node."""
    match node:
        case ast.BinOp():
            yield from _of_operation(node, holder, scope)
        case ast.Call():
            yield from _of_call(node)
        case ast.Subscript(value=inner, slice=index):
            yield from _of_index(node, inner, index)
        case ast.Slice():
            yield from _of_slice(node.lower, node.upper, node.step)
        case ast.Attribute(value=inner, attr=name):
            if name in ("mT", "T"):
                yield from _of_transpose(inner, name)
            match inner:
                case ast.Call(func=ast.Attribute(value=core, attr="max" | "min" as fold)) if name == "values":
                    yield Form(_form(f"A.{fold}()", A=core), "no-axis")
            yield from (Form(_form(f"A.{other}", A=inner), is_tried=True) for other in _TRIED_NAMES.get(name, ()))
            for other in scope.parts if is_part(node) else ():
                if other != name and alike(other, name):
                    yield Form(_form(f"self.{other}"), rule="part")
        case ast.UnaryOp(op=op, operand=operand):
            turns = "inverted" if isinstance(op, ast.Invert | ast.Not) else ""
            yield Form(operand, turns, turns, bool(turns) or not _loses_sign(node, holder))
            if ast.unparse(node) in ("-torch.inf", "-math.inf", "-np.inf"):
                yield Form(ast.Constant(-1e4), is_tried=True)
        case ast.Compare(left=left, ops=signs, comparators=sides):
            for at, sign in enumerate(signs):
                for opposite, habit, rule, is_tried in _SIGNS.get(type(sign), ()):
                    names = (habit, rule) if len(signs) == 1 else ("", "")
                    yield Form(ast.Compare(left, _with(signs, at, opposite()), sides), *names, is_tried)
        case ast.IfExp(test=ast.Name(id=name)) if scope.is_known and name in scope.arguments:
            yield Form(node.body, f"flag:{name}:True")
            yield Form(node.orelse, f"flag:{name}:False")
        case ast.Constant(value=value):
            of_axes = isinstance(holder, ast.keyword) and holder.arg in ("keepdim", "keepdims")
            for new in _other_values(value, isinstance(holder, ast.UnaryOp) and isinstance(holder.op, ast.USub)):
                yield Form(ast.Constant(new), rule="keepdim" if of_axes and value else "", is_tried=True)
        case ast.Name(id=name, ctx=ast.Load()) if name in scope.names:
            for other in scope.names:
                if other != name:
                    yield Form(ast.Name(other, ast.Load()), *_of_name(name, other, scope), True)
        case ast.comprehension(iter=several) | ast.For(iter=several) if not isinstance(several, ast.Call):
            changed = copy.copy(node)
            changed.iter = _form("A[:1]", A=several)
            yield Form(changed, is_tried=True)
        case ast.Return(value=ast.Tuple(elts=parts)):
            for first, second in combinations(range(len(parts)), 2):
                swapped = _with(_with(parts, first, parts[second]), second, parts[first])
                yield Form(ast.Return(ast.Tuple(swapped, ast.Load())), "results-swapped")
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant | ast.List | ast.Tuple):
            yield Form(ast.Return(_form("A.softmax(-1)", A=value)), "softmax-too")
        case ast.FunctionDef() if isinstance(holder, ast.Module):
            for arg, another in combinations(node.args.args, 2):
                order, turned = {arg: another, another: arg}, copy.copy(node)
                args = [order.get(each, each) for each in node.args.args]
                turned.args = ast.arguments([], args, None, [], [], None, node.args.defaults)
                yield Form(turned, f"swapped:{arg.arg}:{another.arg}")
            return
    if isinstance(node, ast.stmt) and not isinstance(node, ast.Return) and not is_docstring(node):
        yield Form(ast.Pass(), rule="line" if node in scope.second_settings else "", is_tried=True)


def _of_name(name: str, other: str, scope: Scope) -> tuple[str, str]:
    if not {name, other} <= {*scope.arguments}:
        return "", ""
    is_asked = alike(other, name) or ("self" in scope.names and is_mask(other) == is_mask(name))
    return f"for:{other}:{name}" if scope.is_known else "", "argument" if is_asked else ""


def _of_operation(node: ast.BinOp, holder: ast.AST, scope: Scope) -> Iterator[Form]:
    left, right, sign = node.left, node.right, type(node.op)
    for other, habit, rule, is_tried in _SIGNS.get(sign, ()):
        yield Form(ast.BinOp(left, other(), right), habit, rule, is_tried)
    turned, turned_rule, habit, rule = _SIDES.get(sign, ("", "", "", ""))
    is_equal = sign in (ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor) or (sign is ast.Sub and _loses_sign(node, holder))
    is_equal = is_equal or (sign is ast.Add and is_number(node, scope.numbers))
    yield Form(ast.BinOp(right, node.op, left), turned, turned_rule, not is_equal)
    if sign is ast.Pow:
        habit = {"2": "square-missing", "0.5": "root-missing"}.get(ast.unparse(right), "")
        rule = "power" if isinstance(right, ast.Constant) else ""
    if sign in (ast.Add, ast.Sub) and _whole_number(right) == 1:
        rule = "off-by-one"
        yield Form(left, "one-too-few" if sign is ast.Add else "one-too-many")
    yield Form(left, habit, rule, True)
    rule = "factor" if sign is ast.Mult and isinstance(left, ATOMS) else ""
    if sign is ast.Add and isinstance(left, ast.Name) and isinstance(right, ast.Call):
        rule = "residual"
        yield from _norm_behind(left, right)
    yield Form(right, habit if sign in (ast.Mult, ast.Add) else "", rule, True)
    if sign is ast.MatMult and not isinstance(right, ast.Attribute | ast.Call):
        yield Form(_form("A @ B.mT", A=left, B=right), "transposed-too")
    if sign is ast.MatMult and not isinstance(left, ast.Attribute | ast.Call):
        yield Form(_form("A.mT @ B", A=left, B=right), "transposed-too")
    if sign is ast.FloorDiv:
        yield Form(_form("-(-A // B)", A=left, B=right), "rounded-up")


def _of_call(node: ast.Call) -> Iterator[Form]:
    function, args, keywords = node.func, node.args, node.keywords
    owner = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""
    name = getattr(function, "attr", getattr(function, "id", ""))
    for n, keyword in enumerate(keywords):
        habit = "keepdim-missing" if owner and keyword.arg in ("keepdim", "keepdims") else ""
        yield Form(ast.Call(function, args, keywords[:n] + keywords[n + 1 :]), habit, is_tried=True)
    bounds = args if not owner and name in ("min", "max") and len(args) == 2 else []
    yield from (Form(arg, "unbounded") for arg in bounds)
    for n, (other, habit) in enumerate(_OTHER_NAMES.get(name, ())):
        called = _form(f"A.{other}", A=function.value) if isinstance(function, ast.Attribute) else _form(other)
        rule = "another" if not n and name not in _NOT_ASKED and (owner, other) != ("tl", "mean") else ""
        yield Form(ast.Call(called, args, keywords), habit if owner or bounds else "", rule)
    if name == "range" and args and not owner:
        yield from _with_end_moved(node, "")
        begin = args[0] if len(args) > 1 else ast.Constant(0)
        yield Form(_call(node, _one_more(begin, 1), *args[-1:]), "one-too-late")
    if name == "sqrt" and args:
        yield Form(args[0], rule="root")
    if name == "where" and len(args) == 3:
        yield Form(_call(node, args[0], args[2], args[1]), "inverted" if owner in _MODULES else "", "turned")
    if name == "arange" and len(args) == 1:
        yield Form(_call(node, ast.Constant(1), _form("A + 1", A=args[0])), rule="off-by-one")
    is_part = owner.partition(".")[0] == "self"
    if args and ("norm" in name or (is_part and len(args) == 1)):
        yield Form(args[0], rule="skipped")
        yield from _norm_in_front(node)
    if is_part or isinstance(function, ast.Name):
        yield from _handed_on(node)
    yield from _of_axis(node, name, owner)
    if isinstance(function, ast.Attribute):
        yield from _of_method(node, function.value, name, owner)


def _of_method(node: ast.Call, inner: ast.expr, name: str, owner: str) -> Iterator[Form]:
    """Calls of methods, and of a module's functions; ``subject`` is what they work on."""
    args, of_module = node.args, owner in _MODULES
    subject = args[0] if of_module and args else inner
    asked_subject = args[0] if owner == "tl" and args else subject
    if name in ("transpose", "swapaxes") and not of_module and len(args) == 2:
        pair = {_whole_number(arg) for arg in args}
        for form in _of_transpose(inner, "T" if pair == {0, 1} else "mT"):
            if form.habit != "axes-one-and-two" or pair != {1, 2}:
                yield form
    if name in ("transpose", "swapaxes", "permute", "t", "exp", "clamp"):
        yield Form(asked_subject, rule="skipped" if name in ("exp", "clamp") else "transposed")
    if name in _LEFT_OUT:
        yield Form(subject, _LEFT_OUT[name])
    if name in ("sqrt", "norm") and (of_module or not args):
        yield Form(subject, "root-missing")
    if name in ("masked_fill", "masked_fill_") and len(args) == 2:
        is_habit = name == "masked_fill"
        yield Form(inner, "not-masked" if is_habit else "")
        if "inf" in ast.unparse(args[1]):
            yield Form(_call(node, args[0], ast.Constant(0.0)), "masked-to-zero" if is_habit else "", "filled")
    if name == "where" and of_module and len(args) == 3:
        yield from (Form(arg, "not-masked") for arg in args[1:])
    if name == "unsqueeze" and not of_module:
        yield Form(inner, "new-axis-missing")
    if name in ("tril", "triu") and len(args) == 1 + of_module:
        yield from _with_end_moved(node, "off-by-one")
    elif name in ("tril", "triu"):
        edge = _whole_number(node.keywords[0].value) if node.keywords else 0
        for step in (-1, 1):
            keyword = ast.keyword("diagonal", _number((edge or 0) + step))
            yield Form(ast.Call(node.func, args, [keyword]), rule="off-by-one")
    if name in ("cat", "concatenate") and args and isinstance(args[0], ast.Tuple | ast.List) and len(args[0].elts) == 2:
        swapped = ast.Tuple(args[0].elts[::-1], ast.Load())
        yield Form(_call(node, swapped, *args[1:]), "joined-the-other-way")
    if name == "mean" and not of_module and isinstance(inner, ast.Call) and "square" in ast.unparse(inner.func):
        axes = [keyword.value for keyword in node.keywords if keyword.arg in ("dim", "axis")] or args[:1]
        size = _form("A.shape[B]", A=inner, B=axes[0] if axes else ast.Constant(-1))
        yield Form(_form("A * (B / (B - 1))", A=node, B=size), "n-minus-one")


def _of_axis(node: ast.Call, name: str, owner: str) -> Iterator[Form]:
    """Another axis, or none."""
    args, keywords, of_module = node.args, node.keywords, owner in _MODULES
    axis_keywords = [n for n, keyword in enumerate(keywords) if keyword.arg in ("dim", "axis")]
    at, rule, is_habit = int(of_module or owner == "tl"), "axis", owner != ""
    if axis_keywords:
        now = _whole_number(keywords[axis_keywords[0]].value)
    elif owner and name in _FOLDS | _SECOND | {"sort"} and len(args) == at + 1:
        now, is_habit = _whole_number(args[at]), owner != "tl" and name in (_SECOND if of_module else _FOLDS)
    elif owner and name in ("cat", "stack") and len(args) == 1:
        now, rule, axis_keywords, keywords = 0, "", [len(keywords)], [*keywords, ast.keyword("dim", ast.Constant(0))]
    else:
        return
    for axis in _AXES if now is not None else ():
        if axis != now:
            changed = ast.Call(node.func, [*args[:at], _number(axis)], keywords)
            if axis_keywords:
                other = ast.keyword(keywords[axis_keywords[0]].arg, _number(axis))
                changed = ast.Call(node.func, args, _with(keywords, axis_keywords[0], other))
            yield Form(changed, f"axis-{axis}" if is_habit else "", rule if axis == _BESIDE.get(now or 0) else "")
    if is_habit and name in _WHOLE:
        yield Form(ast.Call(node.func, args[: int(of_module)], []), "no-axis")


def _of_transpose(inner: ast.expr, name: str) -> Iterator[Form]:
    yield Form(inner, "not-transposed", "transposed")
    if name != "T":
        yield Form(_form("A.T", A=inner), "reversed-axes")
        yield Form(_form("A.swapaxes(0, 1)", A=inner), "first-two-axes")
        yield Form(_form("A.swapaxes(1, 2)", A=inner), "axes-one-and-two")


def _of_index(node: ast.Subscript, inner: ast.expr, index: ast.expr) -> Iterator[Form]:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    other_parts = [part for part in parts if not (isinstance(part, ast.Constant) and part.value is None)]
    if len(other_parts) < len(parts) and all(ast.unparse(part) in (":", "...") for part in other_parts):
        yield Form(inner, "new-axis-missing")
    match parts:
        case [ast.Slice(lower=None, upper=None), (ast.Name() | ast.Constant(value=int())) as column]:
            yield Form(ast.Subscript(inner, column, node.ctx), "row-for-column")
    for n, part in enumerate(parts):
        value = _whole_number(part)
        if value is not None and isinstance(inner, ast.Attribute) and inner.attr == "shape":
            others = [axis for axis in _AXES if axis != value]
            yield from (Form(ast.Subscript(inner, _number(axis), node.ctx), "another-length") for axis in others)
        elif value in (0, -1):
            other = _with(parts, n, _number(-1 - value))
            changed = ast.Tuple(other, ast.Load()) if isinstance(index, ast.Tuple) else other[0]
            yield Form(ast.Subscript(inner, changed, node.ctx), "first-for-last" if value else "last-for-first")


def _of_slice(lower: ast.expr | None, upper: ast.expr | None, step: ast.expr | None) -> Iterator[Form]:
    value = _whole_number(upper or lower)
    is_end, is_half = value == (-1 if upper else 1), step is None and (lower is None) != (upper is None)
    if upper is not None:
        rule = "off-by-one" if is_half and not is_end and isinstance(upper, ATOMS) else ""
        yield Form(ast.Slice(lower, _one_more(upper, 1), step), "one-too-many", rule)
        if _whole_number(upper) != 1:  # nothing at all is no slip of one
            yield Form(ast.Slice(lower, _one_more(upper, -1), step), "one-too-few")
    if lower is not None:
        yield Form(ast.Slice(_one_more(lower, 1), upper, step), "one-too-late")
    if is_half:
        other_end = _number(-value) if value is not None and is_end else upper or lower
        yield Form(ast.Slice(*((other_end, None) if upper else (None, other_end))), rule="slice")
        yield Form(ast.Slice(), rule="slice" if is_end else "")


def _with_end_moved(node: ast.Call, rule: str) -> Iterator[Form]:
    for step, habit in ((1, "one-too-many"), (-1, "one-too-few")):
        yield Form(_call(node, *node.args[:-1], _one_more(node.args[-1], step)), habit, rule)


def _handed_on(node: ast.Call) -> Iterator[Form]:
    """A call with two of its arguments in each other's place, or without its mask; nobody takes a mask for data."""
    args, names = node.args, [arg.id if isinstance(arg, ast.Name) else "" for arg in node.args]
    for at, (first, second) in enumerate(pairwise(names)):
        values = len(args) == 2 or (at == 0 and "_" not in first + second)
        if first and second and first != second and is_mask(first) == is_mask(second):
            if values or alike(first, second):
                swapped = _with(_with(args, at, args[at + 1]), at + 1, args[at])
                yield Form(_call(node, *swapped), rule="swapped")
    for at, name in enumerate(names):
        if at and is_mask(name):
            yield Form(_call(node, *_with(args, at, ast.Constant(None))), rule="unmasked")


def _norm_behind(left: ast.Name, right: ast.Call) -> Iterator[Form]:
    """``x + f(norm(x))`` as ``norm(x + f(x))``."""
    for at, norm in enumerate(right.args):
        if isinstance(norm, ast.Call) and _is_norm(norm) and ast.unparse(norm.args[0]) == left.id:
            total = _form("A + B", A=left, B=_call(right, *_with(right.args, at, left)))
            yield Form(_call(norm, total, *norm.args[1:]), rule="moved")


def _norm_in_front(norm: ast.Call) -> Iterator[Form]:
    """``norm(x + f(x))`` as ``x + f(norm(x))``."""
    match norm.args[0]:
        case ast.BinOp(left=ast.Name() as x, op=ast.Add(), right=ast.Call(args=[ast.Name(id=first), *rest]) as part):
            if x.id == first and _is_norm(norm):
                inside = _call(part, _call(norm, x, *norm.args[1:]), *rest)
                yield Form(_form("A + B", A=x, B=inside), rule="moved")


def _is_norm(node: ast.Call) -> bool:
    return bool(node.args) and "norm" in ast.unparse(node.func)


def _other_values(value: object, is_negated: bool) -> tuple[Any, ...]:
    """What may stand in place of a constant; a second minus sign would be none."""
    match value:
        case bool():
            return (not value,)
        case int():
            return (value + 1, value - 1, -value)[: 2 if is_negated else 3] if value else (1, -1)
        case float():
            return (value + 1.0, value / 2 if value else -1.0)
    return ("inf", "0", "-1", "-1e4") if value == "-inf" else ()


def _form(text: str, **parts: ast.expr) -> Any:
    """An expression in which capital letters stand for parts of the program."""

    def filled(node: Any) -> Any:
        if isinstance(node, list):
            return [filled(item) for item in node]
        if isinstance(node, ast.AST):
            name = node.id if isinstance(node, ast.Name) else ""
            return parts.get(name) or type(node)(**{field: filled(value) for field, value in ast.iter_fields(node)})
        return node

    return filled(_parsed(text))


@cache
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _with(items: Sequence[Any], at: int, new: Any) -> list[Any]:
    return [*items[:at], new, *items[at + 1 :]]


def _call(node: ast.Call, *args: ast.expr) -> ast.Call:
    return ast.Call(node.func, [*args], node.keywords)


def _number(value: int) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def _one_more(node: ast.expr, step: int) -> Any:
    value = _whole_number(node)
    return _form("A + 1" if step > 0 else "A - 1", A=node) if value is None else _number(value + step)


def _whole_number(node: ast.AST | None) -> int | None:
    """A whole number that is written out."""
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return None


def _loses_sign(node: ast.AST, holder: ast.AST) -> bool:
    """Whether a part is squared, or its absolute value is taken."""
    match holder:
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)):
            return left is node and power % 2 == 0
        case ast.Attribute(attr="abs" | "square"):
            return True
        case ast.Call(func=function):
            return function is not node and ast.unparse(function) in _WITHOUT_SIGN
    return False
