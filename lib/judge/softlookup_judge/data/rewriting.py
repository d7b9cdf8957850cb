"""An answer's source, carried over to another convention in its ``def`` line, its first lines and its returns."""

import ast
import re
from collections.abc import Iterator

from softlookup_judge.data.conventions import Convention

AS_THE_TEXT_SAYS = "Your notebook changes this: see the text above."
"""What is added to a docstring that describes the published layout."""


class NotCarriedOver(ValueError):
    """A source is not written so that it can be carried over; the message says why."""


def carried_over(source: str, name: str, convention: Convention, *, torch: bool) -> str:
    """The cell of a function under another convention, for tensors or arrays; NotCarriedOver if it cannot be."""
    tree = ast.parse(source)
    function = next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name), None)
    if function is None:
        raise NotCarriedOver(f"no function {name} is defined")
    if any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree)):
        raise NotCarriedOver(f"{name} is called in its own cell")
    names = [parameter.arg for parameter in function.args.args]
    edits: list[tuple[int, int, str]] = []
    at = _Places(source)
    if convention.order:
        args = function.args.args[: len(convention.order)]
        texts = [source[at.start(arg) : at.end(arg)] for arg in args]
        edits.append((at.start(args[0]), at.end(args[-1]), ", ".join(texts[old] for old in convention.order)))
    if convention.turned:
        lines = [f"{names[position]} = {_turned(names[position], torch)}" for position in convention.turned]
        edits.append(_beginning(source, function, at, lines))
    if convention.body != Convention().body and isinstance(function.body[0], ast.Expr):
        words = function.body[0].value  # the docstring describes the published layout
        if isinstance(words, ast.Constant) and isinstance(words.value, str) and source[: at.end(words)].endswith('"""'):
            end = at.end(words) - len('"""')
            gap = "" if source[:end].endswith((" ", "\n")) else " "
            edits.append((end, end, f"{gap}{AS_THE_TEXT_SAYS}"))
    if convention.results or convention.turned_results or convention.times != 1:
        for node in _returns(function):
            if node.value is not None:
                edits.append(_returned(source, node, at, convention, torch))
    for start, end, text in sorted(edits, reverse=True):
        source = source[:start] + text + source[end:]
    return source


class _Places:
    """Where nodes of a syntax tree begin and end, in characters of the source."""

    def __init__(self, source: str) -> None:
        self.lines = source.splitlines(keepends=True)
        self.begins = [0]
        for line in self.lines:
            self.begins.append(self.begins[-1] + len(line))

    def _at(self, line: int, column: int) -> int:
        return self.begins[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def start(self, node: ast.AST) -> int:
        return self._at(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        return self._at(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def _turned(text: str, torch: bool) -> str:
    if not torch:
        return f"np.swapaxes({text}, -2, -1)"
    plain = re.fullmatch(r"[\w.]+", text)
    return f"{text if plain else f'({text})'}.transpose(-2, -1)"


def _beginning(source: str, function: ast.FunctionDef, at: _Places, lines: list[str]) -> tuple[int, int, str]:
    """Puts lines before the first statement of the body: behind the docstring and nbgrader's mark."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    if not body:
        raise NotCarriedOver(f"{function.name} has no body")
    start = at.start(body[0])
    indent = " " * body[0].col_offset
    return start, start, "".join(f"{line}\n{indent}" for line in lines)


def _returns(function: ast.FunctionDef) -> Iterator[ast.Return]:
    """The return statements of a function, without those of functions in it."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            todo += ast.iter_child_nodes(node)


def _returned(source: str, node: ast.Return, at: _Places, convention: Convention, torch: bool) -> tuple[int, int, str]:
    """A return statement under the convention."""
    value = node.value
    assert value is not None
    start, end = at.start(node), at.end(node)
    text = source[at.start(value) : at.end(value)]
    several = convention.results or any(position > 0 for position in convention.turned_results)

    def convert(position: int, part: str) -> str:
        part = _turned(part, torch) if position in convention.turned_results else part
        return part if convention.times == 1 else f"{convention.times} * {part if part.isidentifier() else f'({part})'}"

    if isinstance(value, ast.Tuple):
        parts = [source[at.start(element) : at.end(element)] for element in value.elts]
        order = convention.results or range(len(parts))
        if any(old >= len(parts) for old in order):
            raise NotCarriedOver("fewer results are returned than the task has")
        return start, end, "return " + ", ".join(convert(old, parts[old]) for old in order)
    if several or isinstance(value, ast.List | ast.ListComp) and convention.times != 1:
        count = len(convention.results) or 1 + max((*convention.turned_results, 0))
        before = source[:start].rsplit("\n", 1)[-1]
        if before.strip() or not several:
            raise NotCarriedOver("several results are returned by a line that does not name them")
        parts = [f"result_{position + 1}" for position in range(count)]
        order = convention.results or range(count)
        returned_text = ", ".join(convert(old, parts[old]) for old in order)
        return start, end, f"{', '.join(parts)} = {text}\n{before}return {returned_text}"
    return start, end, f"return {convert(0, text)}"
