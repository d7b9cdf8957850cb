"""Mutants of the published solutions: an operator, axis, constant, name, list or line changed in the syntax tree."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

SWAPS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr, ast.BitXor),
    ast.BitOr: (ast.BitAnd,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.Lt: (ast.LtE,),
    ast.LtE: (ast.Lt,),
    ast.Gt: (ast.GtE,),
    ast.GtE: (ast.Gt,),
}

COMMUTING = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)
"""Operators whose operands a kernel may exchange: they are tiles, pointers and numbers, never lists or text."""

ATTRIBUTES = {
    "max": ("min", "mean"),
    "sum": ("mean", "prod"),
    "exp": ("expm1", "exp2"),
    "sqrt": ("exp", "log"),
    "any": ("all",),
    "softmax": ("log_softmax",),
    "T": ("real",),
}


@dataclass(frozen=True)
class Mutant:
    """A changed solution: what was changed, the statement as it is now ("" if it was dropped), and the whole source."""

    task_id: str
    what: str
    line: str
    source: str


def _changed_line(before: str, after: str) -> str:
    pairs = zip(before.splitlines(), after.splitlines(), strict=False)
    return next((new.strip() for old, new in pairs if old != new), "")


def _constants(node: ast.Constant) -> tuple[object, ...]:
    value = node.value
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (value + 1, value - 1, -value) if value else (1, -1)
    if isinstance(value, float):
        return (value + 1.0, value / 2 if value else -1.0)
    if value == "-inf":
        return ("inf", "0", "-1", "-1e4")
    return ()


def _variants(node: ast.AST, names: list[str], in_kernel: bool) -> Iterator[tuple[str, ast.AST]]:
    """Changed copies of one node."""
    if isinstance(node, ast.BinOp):
        for kind in SWAPS.get(type(node.op), ()):
            changed = copy.copy(node)
            changed.op = kind()
            yield f"{type(node.op).__name__} -> {kind.__name__}", changed
        if not (in_kernel and isinstance(node.op, COMMUTING)):
            changed = copy.copy(node)
            changed.left, changed.right = node.right, node.left
            yield "operands exchanged", changed
        yield "right operand dropped", node.left
        yield "left operand dropped", node.right
    elif isinstance(node, ast.UnaryOp):
        yield f"{type(node.op).__name__} dropped", node.operand
        if ast.unparse(node) in ("-torch.inf", "-math.inf", "-np.inf"):
            yield "-inf -> -1e4", ast.Constant(-1e4)
    elif isinstance(node, ast.Compare):
        for kind in SWAPS.get(type(node.ops[0]), ()):
            changed = copy.copy(node)
            changed.ops = [kind()]
            yield f"{type(node.ops[0]).__name__} -> {kind.__name__}", changed
    elif isinstance(node, ast.Constant):
        for value in _constants(node):
            yield f"{node.value!r} -> {value!r}", ast.Constant(value)
    elif isinstance(node, ast.Attribute):
        for name in ATTRIBUTES.get(node.attr, ()):
            changed = copy.copy(node)
            changed.attr = name
            yield f".{node.attr} -> .{name}", changed
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        for name in names:
            if name != node.id:
                yield f"{node.id} -> {name}", ast.Name(name, ast.Load())
    elif isinstance(node, ast.comprehension | ast.For) and not isinstance(node.iter, ast.Call):
        changed = copy.copy(node)
        changed.iter = ast.Subscript(node.iter, ast.Slice(None, ast.Constant(1)), ast.Load())
        yield f"the first of {ast.unparse(node.iter)} alone", changed
    elif isinstance(node, ast.Call) and node.keywords:
        for i, keyword in enumerate(node.keywords):
            changed = copy.copy(node)
            changed.keywords = node.keywords[:i] + node.keywords[i + 1 :]
            yield f"{keyword.arg}= dropped", changed


def _places(tree: ast.AST) -> dict[int, tuple[object, str | int]]:
    """For each node by its id: what holds it (a node, or a list of one), and the name or number of its place there."""
    places: dict[int, tuple[object, str | int]] = {}
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if isinstance(value, ast.AST):
                places[id(value)] = parent, field
            elif isinstance(value, list):
                places |= {id(child): (value, i) for i, child in enumerate(value)}
    return places


def _text_with(tree: ast.Module, place: tuple[object, str | int], new: ast.AST) -> str:
    """The tree's source with one node replaced; the tree itself stays as it was."""
    holder, key = place
    if isinstance(holder, list):
        old, holder[key] = holder[key], new  # type: ignore[index]
        text = ast.unparse(tree)
        holder[key] = old  # type: ignore[index]
        return text
    old = getattr(holder, str(key))
    setattr(holder, str(key), new)
    text = ast.unparse(tree)
    setattr(holder, str(key), old)
    return text


def mutants(task_id: str, source: str) -> list[Mutant]:
    """All mutants of one solution, in the order of the source; the unchanged one is not among them."""
    tree = ast.parse(source)
    by_source: dict[str, Mutant] = {}
    for part in tree.body:
        inside = part.body if isinstance(part, ast.ClassDef) else [part]
        for function in inside:
            if isinstance(function, ast.FunctionDef):
                by_source |= _mutants_of(function, tree, task_id)
    return list(by_source.values())


def _mutants_of(function: ast.FunctionDef, tree: ast.Module, task_id: str) -> dict[str, Mutant]:
    """All mutants that change one function or method, by their source."""
    arguments = [a.arg for a in function.args.args]
    locals_ = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names = sorted({*arguments, *locals_})
    body = [n for statement in function.body for n in ast.walk(statement)]
    by_source: dict[str, Mutant] = {}
    in_kernel = any(isinstance(node, ast.Name) and node.id == "jit" for node in function.decorator_list)
    plain = ast.unparse(tree)
    places = _places(tree)
    for node in body:
        if _is_docstring(node, function):
            continue
        for what, new in _variants(node, names, in_kernel):
            changed = _text_with(tree, places[id(node)], new)
            if changed != plain:
                where = f"line {getattr(node, 'lineno', 0)}: {what}"
                by_source.setdefault(changed, Mutant(task_id, where, _changed_line(plain, changed), changed))
    for parent in ast.walk(function):
        for field in ("body", "orelse"):
            lines = getattr(parent, field, None)
            if not isinstance(lines, list):
                continue
            for i, line in enumerate(lines):
                if isinstance(line, ast.Return) or _is_docstring(getattr(line, "value", line), function):
                    continue
                shorter = lines[:i] + lines[i + 1 :] or [ast.Pass()]
                setattr(parent, field, shorter)
                changed = ast.unparse(ast.fix_missing_locations(tree))
                setattr(parent, field, lines)
                by_source.setdefault(changed, Mutant(task_id, f"line {line.lineno} dropped", "", changed))
    return by_source


def _is_docstring(node: ast.AST, function: ast.FunctionDef) -> bool:
    first = function.body[0]
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and node in (first, first.value)
