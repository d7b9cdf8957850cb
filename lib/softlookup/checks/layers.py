"""A sound layer in place of a student's class: the parameters are the student's own, the rest is computed elsewhere.

Runs beside a student's code and knows no right answer.
"""

import inspect
from collections.abc import Callable
from typing import Any

from softlookup.checks.task import Layer


def layer_around(own: Any, call: Callable[..., Any], layer: Layer) -> Any:
    """Make a class with the student's own parameters whose forward pass is another's.

    Args:
        own: The student's class; anything else is replaced by ``call`` itself.
        call: Takes the sizes, the parameters and the inputs, and gives the result.
        layer: How many sizes, and which parameters.
    """
    if not isinstance(own, type):
        return call

    class Sound(own):
        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            self.__dict__["made_with"] = _in_order(own.__init__, (self, *args), named)[1 : layer.sizes + 1]

        def forward(self, *args: Any, **named: Any) -> Any:
            weights = dict(self.named_parameters())
            inputs = _in_order(own.forward, (self, *args), named)[1:]
            return call(*self.made_with, *(weights[name] for name in layer.names(self.made_with)), *inputs)

    return Sound


def _in_order(function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
    """The arguments as if all had been given by position."""
    bound = inspect.signature(function).bind(*args, **named)
    bound.apply_defaults()
    return [*bound.args, *bound.kwargs.values()]
