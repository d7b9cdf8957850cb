"""How an answer is called: the inputs that a case makes, and a function or a layer's class that gets them."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from softlookup_inside.asking.answers import is_tensor, to_arrays
from softlookup_inside.asking.candidates import resolve_candidate
from softlookup_inside.asking.case import Case
from softlookup_inside.ranks import dist as ranks
from softlookup_inside.tiles.tracing import record


class NoParameter(Exception):
    """A layer does not have the weights that were asked for; the message says which."""


def inputs_for(case: Case) -> list[Any]:
    """What is handed to the student's object: copies, arrays as tensors, candidates as what can be called."""
    inputs: list[Any] = []
    for index, arg in enumerate(case.args):
        if case.frame == "torch" and isinstance(arg, np.ndarray):
            import torch

            arg = torch.from_numpy(arg.copy())
            if index in case.gradients:
                arg.requires_grad_(True)
        else:
            arg = copy.deepcopy(arg)
            if isinstance(arg, dict):
                arg = resolve_candidate(arg)
        inputs.append(arg)
    return inputs


def called(obj: Callable[..., Any], case: Case, inputs: list[Any], results: int = 1) -> Any:
    """Call the student's object: a function with all inputs, a layer's class with the weights of its case in place.

    A function that does the same in one call will do. Kernels and ranks are recorded. NoParameter if a class makes no
    torch module, or one with other parameters.
    """
    if case.grid:
        return record(obj, case.grid, inputs, in_any_order=True)
    if case.world:
        return ranks.record(
            lambda dist: to_arrays(obj(*inputs, dist), results),
            case.rank,
            case.world,
            (case.inbox[0], case.inbox[1]),
            case.offers,
        )
    if not case.parameters or not isinstance(obj, type):
        return obj(*inputs)
    import torch

    end = case.sizes + len(case.parameters)
    weights = dict(zip(case.parameters, inputs[case.sizes : end], strict=True))
    layer = obj(*inputs[: case.sizes])
    if not isinstance(layer, torch.nn.Module):
        raise NoParameter("Your class is no torch.nn.Module: write `class Name(nn.Module)`.")
    parameters = dict(layer.named_parameters())
    for name, weight in weights.items():
        if name not in parameters:
            attribute = getattr(layer, name, None)
            if is_tensor(attribute):
                raise NoParameter(f"`self.{name}` is a plain tensor: only an nn.Parameter is trained and saved.")
            if name in dict(layer.named_parameters(remove_duplicate=False)):
                message = "has no weights of its own: the same part stands there twice (`[part] * 2` is one part)"
                raise NoParameter(f"`{name.rpartition('.')[0] or name}` {message}.")
            raise NoParameter(f"Your class has no parameter `{name}`; it has {', '.join(parameters) or 'none at all'}.")
        if parameters[name].shape != weight.shape:
            shapes = f"{tuple(parameters[name].shape)}, wanted is {tuple(weight.shape)}"
            raise NoParameter(f"The parameter `{name}` has the shape {shapes}.")
    more = [name for name in parameters if name not in weights]
    if more:
        raise NoParameter(f"Your class has parameters besides those asked for: {', '.join(more[:5])}.")
    return torch.func.functional_call(layer, weights, tuple(inputs[end:]))
