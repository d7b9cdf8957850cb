"""Whether a function is a published one, word for word: where arguments do not fit, no numbers tell it."""

import ast
from collections.abc import Iterator
from types import CodeType
from typing import Any

from softlookup.checking.published import solution
from softlookup.checking.variant import Variant


def code_of(source: str, name: str) -> CodeType | None:
    """The compiled code of a function that a cell defines, None where the cell does not define it, or is no Python.

    The cell is compiled and never run.

    Args:
        source: The cell.
        name: The function.
    """
    try:
        tree = ast.parse(source)
        found = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == name]
        if not found:
            return None
        made = compile(ast.Module([found[-1]], []), "<cell>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return next((one for one in made.co_consts if isinstance(one, CodeType) and one.co_name == name), None)


def is_copy(variant: Variant, code: CodeType | None) -> bool:
    """Whether some code is that of another variant's published solution; names and comments aside.

    Args:
        variant: What was asked.
        code: The code of a student's function.
    """
    if code is None:
        return False
    own = list(_steps(code))
    others = (code_of(solution(other), other.task.name) for other in variant.others)
    return any(own == list(_steps(one)) for one in others if one is not None)


def _steps(code: CodeType) -> Iterator[Any]:
    """What a function does: its instructions, its constants without a docstring, the attributes that it uses."""
    constants = list(code.co_consts)
    if constants and isinstance(constants[0], str):
        constants = constants[1:]  # a docstring, or in a lambda's place nothing that tells two solutions apart
    yield code.co_argcount, code.co_code, code.co_names
    for one in constants:
        if isinstance(one, CodeType):
            yield from _steps(one)
        else:
            yield repr(one)
