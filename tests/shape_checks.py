"""Shapes and types of the library's functions are checked in tests, once for each combination that a test brings.

A check takes longer than many a function, and a model calls the same ones with the same shapes again and again.
"""

import dataclasses
import functools
import inspect
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

import jaxtyping
import numpy as np
import torch
from jaxtyping import install_import_hook, jaxtyped


def check_shapes(modules: list[str]) -> None:
    """Have the functions and dataclasses checked of modules that are imported from now on."""
    jaxtyping.jaxtyped = checked_once  # what the hook decorates them with
    install_import_hook(modules, "beartype.beartype")


def checked_once(function: Any = None, *, typechecker: Any) -> Any:
    """Check a function as ``jaxtyped`` does, but not where arguments and result look like those of an earlier call.

    The looks of a value are its type, of an array its dtype and shape, too; where annotations name values
    (``"B {k}"``, ``Literal``), also numbers and words themselves.
    """
    if function is None:
        return functools.partial(checked_once, typechecker=typechecker)
    if inspect.isclass(function):
        if dataclasses.is_dataclass(function):
            function.__init__ = checked_once(function.__init__, typechecker=typechecker)
        return function
    # A function inside another is made anew at each call of that.
    code = function.__code__
    checks = _MADE.get(id(code)) or _MADE.setdefault(id(code), _Checks(function, typechecker))

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        return checks.call(function, args, named)

    return call if function.__annotations__ else function


class _Checks:
    """What checks all functions of one code; made when the first of them is called."""

    def __init__(self, function: FunctionType, typechecker: Any) -> None:
        hints = str([*function.__annotations__.values()])
        self.look = _look_closely if "{" in hints or "Literal" in hints else _look
        self.function, self.typechecker, self.seen, self.waiting = function, typechecker, set(), _Waiting()

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if jaxtyping.config.jaxtyping_disable:
            return function(*args, **named)
        look = self.look
        looks = tuple(map(look, args)), tuple((name, look(value)) for name, value in named.items())
        is_new = looks not in self.seen
        result = self._checked(function, args, named) if is_new else function(*args, **named)
        both = looks, look(result)
        if both not in self.seen:
            if not is_new:
                self._checked(lambda *args, **named: result, args, named)
            self.seen.update((looks, both))
        return result

    def _checked(self, function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        self.waiting.functions.append(function)
        return self.checking(*args, **named)

    @functools.cached_property
    def checking(self) -> Callable[..., Any]:
        """What has the arguments and the result checked of a function that waits."""
        waiting = self.waiting

        def call(*args: Any, **named: Any) -> Any:
            return waiting.functions.pop()(*args, **named)

        # Annotations are read among the function's own globals.
        in_place = FunctionType(call.__code__, self.function.__globals__, None, None, call.__closure__)
        return jaxtyped(functools.update_wrapper(in_place, self.function), typechecker=self.typechecker)


class _Waiting(threading.local):
    def __init__(self) -> None:
        self.functions: list[Callable[..., Any]] = []


_MADE: dict[int, _Checks] = {}


def _look(value: Any) -> Any:
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return type(value), value.dtype, value.shape
    if isinstance(value, tuple):
        return type(value), *map(_look, value)
    if isinstance(value, list) and value:
        return list, _look(value[0]), _look(value[-1])
    if isinstance(value, dict) and value:
        return dict, *map(_look, next(iter(value.items())))
    return type(value)


def _look_closely(value: Any) -> Any:
    return (type(value), value) if isinstance(value, (int, str)) else _look(value)
