"""Whether a function is a published one, word for word: where arguments do not fit, no numbers tell it."""

import ast
from collections.abc import Iterator
from types import CodeType
from typing import Any

from softlookup_judge.data.published import solution
from softlookup_judge.data.variant import Variant


def code_of(source: str, name: str) -> CodeType | None:
    """The compiled code of a function that a cell defines, which is never run; None where there is none."""
    try:
        tree = ast.parse(source)
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
        if not functions:
            return None
        module_code = compile(ast.Module([functions[-1]], []), "<cell>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return next(
        (constant for constant in module_code.co_consts if isinstance(constant, CodeType) and constant.co_name == name),
        None,
    )


def is_copy(variant: Variant, code: CodeType | None) -> bool:
    """Whether some code is that of another variant's published solution; names and comments aside."""
    if code is None:
        return False
    steps = list(_steps(code))
    others = (code_of(solution(other), other.task.name) for other in variant.others)
    return any(steps == list(_steps(published)) for published in others if published is not None)


def _steps(code: CodeType) -> Iterator[Any]:
    """What a function does: its instructions, its constants without a docstring, the attributes that it uses."""
    constants = list(code.co_consts)
    if constants and isinstance(constants[0], str):
        constants = constants[1:]  # a docstring, or in a lambda's place nothing that tells two solutions apart
    yield code.co_argcount, code.co_code, code.co_names
    for constant in constants:
        if isinstance(constant, CodeType):
            yield from _steps(constant)
        else:
            yield repr(constant)
