"""What may stand in place of a part of a line: edits that a person who knows the code can follow in the head."""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from softlookup_judge.mistakes.slips import whole_number

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
_MASK = re.compile("mask|may_|visible|causal|allowed|^(past|real)$")
_ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript)


def is_mask(name: str) -> bool:
    """Whether a variable says which keys may be attended to, by its name."""
    return bool(_MASK.search(name)) and not name.startswith("n_")


def alike(name: str, other: str) -> bool:
    """Whether two names are easily confused: queries, keys and values, two masks, or the same stem (``w_q``)."""
    stem = name[:-1]
    if is_mask(name) and is_mask(other):
        return True
    return {name, other} <= {"q", "k", "v"} or (stem.endswith("_") and len(name) == len(other) and stem == other[:-1])


def in_place_of(node: ast.AST, text: Callable[[ast.AST], str]) -> Iterator[tuple[str, str]]:
    """Texts that may stand in place of a node, each with its rule, a key of ``edit_words.RULES``."""
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
    if isinstance(operator, ast.Add) and isinstance(left, ast.Name) and isinstance(right, ast.Call):
        yield text(right), "residual"
        yield from _norm_behind(left, right, text)
    if isinstance(operator, ast.FloorDiv):
        yield _with_operator(node, left, right, "//", "%", text), "remainder"
    if isinstance(operator, ast.Mod):
        yield _with_operator(node, left, right, "%", "//", text), "remainder"
    if isinstance(operator, ast.Pow) and isinstance(right, ast.Constant):
        yield _wrapped(left, text), "power"


def _of_call(node: ast.Call, text: Callable[[ast.AST], str]) -> Iterator[tuple[str, str]]:
    function, args = node.func, node.args
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    of_module = isinstance(function, ast.Attribute) and text(function.value) in ("torch", "np", "math", "F", "tl")
    whole = text(node)
    head = text(function)
    if name in ("transpose", "swapaxes", "permute", "t") and isinstance(function, ast.Attribute):
        yield text(args[0]) if of_module and args else text(function.value), "transposed"
    if name == "sqrt" and args:
        yield _wrapped(args[0], text), "root"
    if name in _RENAMED and not (head.startswith("tl.") and _RENAMED[name] == "mean"):
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
    if args and ("norm" in name or (head.startswith("self.") and len(args) == 1)):
        yield _wrapped(args[0], text), "skipped"
        yield from _norm_in_front(node, text)
    if isinstance(function, ast.Name) or head.startswith("self."):
        yield from _handed_on(node, text)


def _handed_on(node: ast.Call, text: Callable[[ast.AST], str]) -> Iterator[tuple[str, str]]:
    """A call with two of its arguments in each other's place, or without its mask; nobody takes a mask for data."""
    texts = [*map(text, node.args)]
    for at, (first, second) in enumerate(pairwise(node.args)):
        if not isinstance(first, ast.Name) or not isinstance(second, ast.Name) or first.id == second.id:
            continue
        values = len(texts) == 2 or (at == 0 and "_" not in first.id + second.id)
        if is_mask(first.id) == is_mask(second.id) and (values or alike(first.id, second.id)):
            yield _call(node, [*texts[:at], texts[at + 1], texts[at], *texts[at + 2 :]], text), "swapped"
    for at, mask in enumerate(node.args):
        if at and isinstance(mask, ast.Name) and is_mask(mask.id):
            yield _call(node, [*texts[:at], "None", *texts[at + 1 :]], text), "unmasked"


def _norm_behind(left: ast.Name, right: ast.Call, text: Callable[[ast.AST], str]) -> Iterator[tuple[str, str]]:
    """``x + f(norm(x))`` as ``norm(x + f(x))``."""
    texts = [*map(text, right.args)]
    for at, norm in enumerate(right.args):
        if isinstance(norm, ast.Call) and _is_norm(norm) and text(norm.args[0]) == left.id:
            total = f"{left.id} + {_call(right, [*texts[:at], left.id, *texts[at + 1 :]], text)}"
            yield _call(norm, [total, *map(text, norm.args[1:])], text), "moved"


def _norm_in_front(norm: ast.Call, text: Callable[[ast.AST], str]) -> Iterator[tuple[str, str]]:
    """``norm(x + f(x))`` as ``x + f(norm(x))``."""
    match norm.args[0]:
        case ast.BinOp(left=ast.Name(id=name), op=ast.Add(), right=ast.Call(args=[ast.Name(id=first), *rest]) as part):
            if name == first and _is_norm(norm):
                inside = _call(norm, [name, *map(text, norm.args[1:])], text)
                yield f"{name} + {_call(part, [inside, *map(text, rest)], text)}", "moved"


def _is_norm(node: ast.Call) -> bool:
    return bool(node.args) and "norm" in ast.unparse(node.func)


def _call(node: ast.Call, args: Sequence[str], text: Callable[[ast.AST], str]) -> str:
    """A call with other arguments; those by name stay."""
    return f"{text(node.func)}({', '.join([*args, *map(text, node.keywords)])})"


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


def _wrapped(node: ast.expr, text: Callable[[ast.AST], str]) -> str:
    return text(node) if isinstance(node, _ATOMS) else f"({text(node)})"


def _other_axes(node: ast.AST) -> tuple[int, ...]:
    """The axis beside the one that is named."""
    return {-1: (-2,), -2: (-1,), 0: (1,), 1: (0,), 2: (1,)}.get(whole_number(node), ())  # type: ignore[arg-type]
