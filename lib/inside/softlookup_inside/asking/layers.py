"""What stands in for a student's function or layer is called as their own is, and computed elsewhere."""

import inspect
from collections.abc import Callable
from itertools import takewhile
from typing import Any

from softlookup_inside.asking.case import LayerAnswer


def layer_around(student_class: Any, call: Callable[..., Any], layer: LayerAnswer) -> Any:
    """Make a class with the student's parameters and another's forward pass; for what is no class, ``call`` itself."""
    if not isinstance(student_class, type):
        return call

    class StandInLayer(student_class):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.__dict__["made_with"] = _in_order(student_class.__init__, (self, *args), kwargs)[1 : layer.sizes + 1]

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            weights = dict(self.named_parameters())
            inputs = _in_order(student_class.forward, (self, *args), kwargs)[1:]
            return call(*self.made_with, *(weights[name] for name in layer.names(self.made_with)), *inputs)

    return StandInLayer


def called_like(student_function: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function be called with the names of another's parameters, which it knows by their order alone."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        order = [
            parameter.name
            for parameter in inspect.signature(student_function).parameters.values()
            if parameter.kind in kinds
        ]
    except Exception:  # a signature may be anything that a student made of it
        return call

    def ordered(*args: Any, **kwargs: Any) -> Any:
        remaining = order[len(args) :]
        names = list(takewhile(lambda name: name in kwargs, remaining))
        return call(*args, *(kwargs.pop(name) for name in names), **kwargs)

    return ordered


def _in_order(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments as if all had been given by position."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return [*bound.args, *bound.kwargs.values()]
