"""What an exception of numpy or torch says of the line that raised it, in one sentence, with its names and shapes.

It looks at exact types of arrays and tensors alone, so that nothing of the student's is called.
"""

import ast
import linecache
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

MOST_LETTERS = 300  # characters that a sentence has at most

_MOST_QUOTED = 40
_MOST_SOURCE = 2000
_KINDS = (ValueError, TypeError, IndexError, RuntimeError, AttributeError)

_SAME_SHAPE = {"exp", "sqrt", "log", "tanh", "abs", "softmax", "float", "astype", "copy", "clone"}
_REDUCING = {"sum", "mean", "amax", "amin", "std", "var", "all", "any"}
"""Functions and methods whose result has the shape of what they are called on, or lacks an axis of it."""

Shape = tuple[int, ...]


def explained(error: BaseException, is_students: Callable[[str], bool]) -> str:
    """Say what an exception means at the line of the student's that raised it; empty where nothing is sure."""
    if type(error) not in _KINDS or not error.args or type(error.args[0]) is not str:
        return ""
    try:
        at = _last_place(error, is_students)
        sentence = next(filter(None, _sentences(error.args[0][:_MOST_SOURCE], *at)), "") if at else ""
    except Exception:  # a sentence that fails must not take with it what it is about
        return ""
    return sentence if len(sentence) <= MOST_LETTERS else ""


def arguments_differ(error: BaseException, function: Any, count: int) -> str:
    """Say that a function, which was called with ``count`` arguments, takes others than a task hands over."""
    calls = error.__traceback__ is not None and type(error) is TypeError and type(function) is FunctionType
    code = function.__code__ if calls else None
    if code is None or code.co_flags & 0x0C or code.co_argcount == count:
        return ""
    return f"Your function takes {_listed(_parameters(code))}, and the task calls it with {_count(count, 'argument')}."


def _last_place(error: BaseException, is_students: Callable[[str], bool]) -> tuple[ast.AST, "_Values"] | None:
    """What was computed in the student's last frame when it raised, and the values there."""
    frame, instruction = None, 0
    traceback = error.__traceback__
    while traceback is not None:
        if is_students(traceback.tb_frame.f_code.co_filename):
            frame, instruction = traceback.tb_frame, traceback.tb_lasti
        traceback = traceback.tb_next
    if frame is None:
        return None
    positions = list(frame.f_code.co_positions())
    first, last, begin, end = positions[instruction // 2]
    if first is None or last is None or begin is None or end is None or last - first > 20:
        return None
    lines = [linecache.getline(frame.f_code.co_filename, line_number) for line_number in range(first, last + 1)]
    raw = [line.encode() for line in lines]
    raw[-1] = raw[-1][:end]
    raw[0] = raw[0][begin:]
    source = b"".join(raw).decode()
    if not source or len(source) > _MOST_SOURCE:
        return None
    try:
        tree: ast.AST = ast.parse(f"({source})", mode="eval").body
    except SyntaxError:
        tree = ast.parse(source).body[0]
    return tree, _Values(frame)


class _Values:
    """The values of names at the line that a frame runs."""

    def __init__(self, frame: FrameType) -> None:
        self.spaces = [space for space in (frame.f_locals, frame.f_globals) if _is_plain(space)]

    def of(self, name: str) -> Any:
        """The value of a name; ``Ellipsis`` where there is none."""
        known = (space[key] for space in self.spaces for key in space if type(key) is str and key == name)
        return next(known, ...)

    def is_module(self, node: ast.AST, *names: str) -> bool:
        """Whether an expression is the name of one of some modules."""
        return isinstance(node, ast.Name) and any(self.of(node.id) is sys.modules.get(name, 0) for name in names)

    def shape(self, node: ast.AST) -> Shape | None:
        """The shape that an expression has, None where that is not known; () for numbers."""
        if isinstance(node, ast.Constant):
            return () if type(node.value) in (int, float) else None
        if isinstance(node, ast.Name):
            return _shape(self.of(node.id))
        if isinstance(node, ast.UnaryOp):
            return self.shape(node.operand)
        if isinstance(node, ast.BinOp):
            left_shape, right_shape = self.shape(node.left), self.shape(node.right)
            if left_shape is None or right_shape is None:
                return None
            return (
                _product(left_shape, right_shape)
                if isinstance(node.op, ast.MatMult)
                else _together(left_shape, right_shape)
            )
        if isinstance(node, ast.Subscript):
            shape, index = self.shape(node.value), _index(node.slice)
            return np.broadcast_to(0, shape)[index].shape if shape and index is not None else None
        turned = self.turned(node)
        if turned is None:
            return self._called_shape(node) if isinstance(node, ast.Call) else None
        base, first, second = turned
        shape = self.shape(base)
        if shape is None:
            return None
        if first is None or second is None:
            return shape[::-1]
        axes = list(shape)
        axes[first], axes[second] = axes[second], axes[first]
        return tuple(axes)

    def called(self, call: ast.Call) -> tuple[str, list[ast.expr]]:
        """Of a call of numpy, of torch, or of a method: its name, and its arguments, that of the dot first."""
        if not isinstance(call.func, ast.Attribute):
            return "", []
        in_module = self.is_module(call.func.value, "numpy", "torch")
        return call.func.attr, [*call.args] if in_module else [call.func.value, *call.args]

    def _called_shape(self, call: ast.Call) -> Shape | None:
        """The shape of a result that has its first argument's, or lacks one axis of it."""
        name, arguments = self.called(call)
        shape = self.shape(arguments[0]) if arguments else None
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        if shape is None or name in _SAME_SHAPE:
            return shape
        if name not in _REDUCING or not keywords.keys() <= {"axis", "dim", "keepdims", "keepdim"} or len(arguments) > 2:
            return None
        axes = [*arguments[1:], *(keywords[key] for key in ("axis", "dim") if key in keywords)]
        axis = ast.literal_eval(axes[0]) if len(axes) == 1 else None
        keeps = any(ast.literal_eval(keywords[key]) for key in ("keepdims", "keepdim") if key in keywords)
        if type(axis) is not int:
            return None
        reduced_shape = list(shape)
        reduced_shape[axis] = 1
        return tuple(reduced_shape) if keeps else tuple(np.delete(reduced_shape, axis).tolist())

    def turned(self, node: ast.AST) -> tuple[ast.expr, int | None, int | None] | None:
        """Of an expression that exchanges axes: what is turned, and which two; None and None where all are."""
        if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
            return (node.value, None, None) if node.attr == "T" else (node.value, -1, -2)
        if not isinstance(node, ast.Call) or node.keywords:
            return None
        name, arguments = self.called(node)
        if name not in ("swapaxes", "transpose") or len(arguments) not in (1, 3):
            return None
        if len(arguments) == 1:
            return arguments[0], None, None
        axes = [ast.literal_eval(argument) for argument in arguments[1:]]
        return (arguments[0], axes[0], axes[1]) if all(type(axis) is int for axis in axes) else None


def _is_plain(space: Any) -> bool:
    return type(space) is dict or type(space).__name__ == "FrameLocalsProxy" and type(space).__module__ == "builtins"


def _index(node: ast.AST) -> Any:
    """An index of whole numbers, slices, None and ``...``; None for others."""
    if isinstance(node, ast.Tuple):
        parts = [_index_part(part) for part in node.elts]
        return tuple(parts) if all(part is not _UNKNOWN for part in parts) else None
    part = _index_part(node)
    return None if part is _UNKNOWN else (part,)


def _index_part(node: ast.AST | None) -> Any:
    if isinstance(node, ast.Slice):
        ends = [None if end is None else _index_part(end) for end in (node.lower, node.upper, node.step)]
        return slice(*ends) if _UNKNOWN not in ends else _UNKNOWN
    try:
        value = ast.literal_eval(node) if node is not None else None
    except ValueError:
        return _UNKNOWN
    return value if value is None or value is ... or type(value) is int else _UNKNOWN


_UNKNOWN = object()


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and type(value) in (torch.Tensor, torch.nn.Parameter)


def _shape(value: Any) -> Shape | None:
    """The shape of a value, None of what is neither an array nor a number."""
    if type(value) is np.ndarray or _is_tensor(value):
        return tuple(int(size) for size in value.shape)
    return () if type(value) in (int, float, bool, np.float32, np.float64) else None


def _together(left_shape: Shape, right_shape: Shape) -> Shape | None:
    """The shape of two arrays after broadcasting, None where they do not fit."""
    try:
        return np.broadcast_shapes(left_shape, right_shape)
    except ValueError:
        return None


def _product(left_shape: Shape, right_shape: Shape) -> Shape | None:
    """The shape of a matrix product, None where the shapes do not fit."""
    if not left_shape or not right_shape or left_shape[-1] != right_shape[-2 if len(right_shape) > 1 else 0]:
        return None
    front = _together(left_shape[:-2], right_shape[:-2])
    return None if front is None else (*front, *left_shape[-2:-1], *(right_shape[-1:] if len(right_shape) > 1 else ()))


def _sentences(message: str, tree: ast.AST, values: _Values) -> Iterator[str]:
    """What may be said of an expression that raised, the most telling first."""
    yield _on_none(message, tree, values)
    if isinstance(tree, ast.Subscript):
        yield _on_index(message, tree, values)
    if isinstance(tree, ast.AugAssign):
        tree = ast.BinOp(tree.target, tree.op, tree.value)
    if isinstance(tree, ast.BinOp):
        matrices = isinstance(tree.op, ast.MatMult)
        yield (_on_product if matrices else _on_broadcast)(tree.left, tree.right, values)
    if isinstance(tree, ast.Compare) and len(tree.comparators) == 1:
        yield _on_broadcast(tree.left, tree.comparators[0], values)
    if isinstance(tree, ast.Call):
        yield from _on_call(message, tree, values)


def _on_call(message: str, call: ast.Call, values: _Values) -> Iterator[str]:
    yield _on_arguments(message, call, values)
    name, arguments = values.called(call)
    if name == "einsum":
        yield _on_einsum(arguments, values)
    elif name in ("matmul", "dot", "mm", "bmm") and len(arguments) == 2:
        yield _on_product(arguments[0], arguments[1], values)
    elif name in ("reshape", "view"):
        yield _on_reshape(message, arguments[0], values)
    elif name in ("where", "masked_fill"):
        for first, second in combinations(arguments, 2):
            yield _on_broadcast(first, second, values)
    elif name in ("add", "subtract", "multiply", "divide", "maximum", "minimum") and len(arguments) == 2:
        yield _on_broadcast(arguments[0], arguments[1], values)


def _on_none(message: str, tree: ast.AST, values: _Values) -> str:
    ends = "a function that ends without `return` gives None"
    operands = [tree.left, tree.right] if isinstance(tree, ast.BinOp) else [getattr(tree, "value", None)]
    for node in operands:
        if isinstance(node, ast.Name) and values.of(node.id) is None:
            return f"{_quoted(node)} is None here: {ends}."
    only = operands[0]
    if "NoneType" in message and len(operands) == 1 and isinstance(only, ast.Call) and isinstance(only.func, ast.Name):
        return f"`{only.func.id}` gave None: {ends}."
    return ""


def _on_product(left_node: ast.expr, right_node: ast.expr, values: _Values) -> str:
    a, b = values.shape(left_node), values.shape(right_node)
    if a is None or b is None or _product(a, b) is not None:
        return ""
    both = _have(left_node, a, right_node, b)
    if not a or not b:
        return f"{both}: `@` needs at least one axis on both sides. For a plain number, write `*`."
    if a[-1] == b[-2 if len(b) > 1 else 0]:
        return f"{both}: the axes before the last two do not fit; {_where_apart(a[:-2], b[:-2])}."
    unit = "row" if len(b) > 1 else "entry"
    needs = f"for `@` the second needs {_count(a[-1], unit)}, and it has {b[-2 if len(b) > 1 else 0]}"
    return f"{both}: {needs}.{_instead(left_node, a, right_node, b, values)}"


def _instead(left_node: ast.expr, a: Shape, right_node: ast.expr, b: Shape, values: _Values) -> str:
    """A product that fits, as a question: with one of the two transposed, or in the other order."""
    for turns_right in (True, False):
        node, shape = (right_node, b) if turns_right else (left_node, a)
        turned = values.turned(node)
        base = turned[0] if turned else node
        base_shape = values.shape(base) if turned else shape
        if base_shape is None or len(base_shape) < 2 or not isinstance(base, ast.Name):
            continue
        flipped = (*base_shape[:-2], base_shape[-1], base_shape[-2])
        for other, text in ((base_shape, base.id), (flipped, _flipped(base, values))):
            pair = (a, other) if turns_right else (other, b)
            if other != shape and _product(*pair) is not None:
                texts = (_text(left_node), text) if turns_right else (text, _text(right_node))
                return f" Did you mean `{texts[0]} @ {texts[1]}`?" if all(texts) else ""
    return ""


def _flipped(base: ast.Name, values: _Values) -> str:
    return f"{base.id}.mT" if _is_tensor(values.of(base.id)) else f"np.swapaxes({base.id}, -1, -2)"


def _on_broadcast(left_node: ast.expr, right_node: ast.expr, values: _Values) -> str:
    a, b = values.shape(left_node), values.shape(right_node)
    if a is None or b is None or _together(a, b) is not None:
        return ""
    sentence = f"{_have(left_node, a, right_node, b)}: broadcasting aligns axes from the right; {_where_apart(a, b)}."
    small, node = (b, right_node) if len(b) < len(a) else (a, left_node)
    large = a if small is b else b
    fitting = [at for at in range(len(small) + 1) if _together((*small[:at], 1, *small[at:]), large)]
    if len(small) == len(large) or len(fitting) != 1 or not isinstance(node, ast.Name):
        return sentence
    at = fitting[0]
    index = "..., None" if at == len(small) else ", ".join([*[":"] * at, "None"])
    return f"{sentence} Did you mean `{node.id}[{index}]`?"


def _where_apart(a: Shape, b: Shape) -> str:
    """Where two shapes do not broadcast."""
    pairs = zip(a[::-1], b[::-1], strict=False)
    at, (size, other_size) = next(
        (at, pair) for at, pair in enumerate(pairs, 1) if pair[0] != pair[1] and 1 not in pair
    )
    return f"at axis -{at}, {size} meets {other_size}"


def _on_einsum(arguments: Sequence[ast.expr], values: _Values) -> str:
    if not arguments or not isinstance(arguments[0], ast.Constant) or type(arguments[0].value) is not str:
        return ""
    names = arguments[0].value.replace(" ", "").partition("->")[0].split(",")
    sizes: dict[str, tuple[int, str]] = {}
    for letters, node in zip(names, arguments[1:], strict=False):
        shape, text = values.shape(node), _quoted(node)
        if shape is None or not text:
            return ""
        count = len(letters.replace("...", ""))
        if len(shape) != count and not ("..." in letters and len(shape) > count):
            axes = f"{text} has shape {shape}, {_count(len(shape), 'axis')}, and `{letters}` names {count}"
            return f"{axes}: `...{letters}` stands for any axes in front." if len(shape) > count else f"{axes}."
        before, _, after = letters.rpartition("...")
        ends = [*zip(before, shape, strict=False), *zip(after[::-1], shape[::-1], strict=False)]
        for letter, size in ends:
            known, where = sizes.setdefault(letter, (size, text))
            if known != size and 1 not in (known, size):
                return f"In `einsum`, the letter {letter} stands for {known} in {where} and for {size} in {text}."
    return ""


def _on_reshape(message: str, node: ast.expr, values: _Values) -> str:
    message = message.replace("newaxis", "-1")
    match = re.search(r"into shape \(([\d, -]+)\)|shape '\[([\d, -]+)\]' is invalid", message)
    shape, text = values.shape(node), _quoted(node)
    if match is None or shape is None or not text:
        return ""
    target = [int(size) for size in re.findall(r"-?\d+", match[1] or match[2])]
    count = int(np.prod(shape))
    target_count = int(np.prod([size for size in target if size >= 0]))
    has = f"{text} has shape {shape}, {count:,} numbers"
    if -1 in target:
        return f"{has}: that is no multiple of {target_count:,}, which the other axes of {tuple(target)} need."
    return f"{has}, and the shape {tuple(target)} has {target_count:,}."


def _on_index(message: str, tree: ast.Subscript, values: _Values) -> str:
    shape, text = values.shape(tree.value), _quoted(tree.value)
    value: Any = values.of(tree.value.id) if isinstance(tree.value, ast.Name) else None
    if type(value) in (list, tuple) and "out of range" in message:
        count = len(value)
        return f"{text} has {_count(count, 'entry')}: indices go from 0 to {count - 1}." if count else ""
    if not shape or not text:
        return ""
    if match := re.search(r"index (-?\d+) is out of bounds for (?:axis|dimension) (\d+) with size (\d+)", message):
        index, axis, size = map(int, match.groups())
        if axis < len(shape) and shape[axis] == size:
            return f"{text} has shape {shape}: along axis {axis} indices go from 0 to {size - 1}, and {index} is asked."
    if "too many indices" in message and isinstance(tree.slice, ast.Tuple):
        return f"{text} has shape {shape}, {_count(len(shape), 'axis')}: there are more indices than axes."
    return ""


def _on_arguments(message: str, call: ast.Call, values: _Values) -> str:
    if not re.search(r"positional argument|unexpected keyword argument", message) or not isinstance(
        call.func, ast.Name
    ):
        return ""
    function = values.of(call.func.id)
    if type(function) is not FunctionType or f"{function.__code__.co_name}()" not in message:
        return ""
    count, takes = len(call.args) + len(call.keywords), _listed(_parameters(function.__code__))
    return f"`{call.func.id}` takes {takes}, and this line hands over {_count(count, 'argument')}."


def _parameters(code: CodeType) -> Sequence[str]:
    return code.co_varnames[: code.co_argcount]


def _listed(names: Sequence[str]) -> str:
    return f"({', '.join(names)})" if names else "no arguments"


def _count(count: int, unit: str) -> str:
    plural = {"axis": "axes", "entry": "entries"}.get(unit, f"{unit}s")
    return f"{count} {unit if count == 1 else plural}"


def _text(node: ast.AST) -> str:
    """An expression as it is written, empty if it is long."""
    text = ast.unparse(node)
    return text if len(text) <= _MOST_QUOTED and "`" not in text and "\n" not in text else ""


def _quoted(node: ast.AST) -> str:
    return f"`{text}`" if (text := _text(node)) else ""


def _have(left_node: ast.AST, a: Shape, right_node: ast.AST, b: Shape) -> str:
    first, second = _quoted(left_node) or "The first operand", _quoted(right_node) or "the second"
    return f"{first} has shape {a} and {second} {b}"
