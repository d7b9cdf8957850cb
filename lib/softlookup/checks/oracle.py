"""Running the right answer and the known mistakes on a case; nothing of the student's comes here."""

import copy
from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from softlookup.checks.task import Arrays, Case, Task
from softlookup.checks.texts import to_texts


def results_of(result: Any, task: Task) -> Arrays:
    """Results of an oracle as numpy arrays, in the dtype they come in; texts as their bytes."""
    if task.frame == "text":
        return to_texts(result, len(task.returns))
    many = result if isinstance(result, tuple) else (result,)
    return tuple(np.asarray(r.detach().numpy() if hasattr(r, "detach") else r) for r in many)


def wanted(task: Task, case: Case, constants: Mapping[str, Any]) -> Arrays:
    """The right answer to a case, in float64; a text's bytes as they are.

    Args:
        task: The task.
        case: The question; its float arrays are taken to float64 first.
        constants: The variant's constants.
    """
    args: list[Any] = []
    for i, arg in enumerate(case.args):
        if isinstance(arg, np.ndarray):
            arg = arg.astype(np.float64) if arg.dtype.kind == "f" else arg.copy()
            if case.frame == "torch":
                import torch

                arg = torch.from_numpy(arg)
                if i in case.gradients:
                    arg.requires_grad_(True)
        elif isinstance(arg, list | dict | tuple):
            arg = copy.deepcopy(arg)
        args.append(arg)
    result = task.oracle(*args, **constants)
    if case.gradients:
        import torch

        upstream = torch.from_numpy(np.asarray(case.upstream, dtype=np.float64))
        # The shares of inputs that a case leaves out of the graph are zero, not missing.
        grads = torch.autograd.grad(result, [args[i] for i in case.gradients], upstream, allow_unused=True)
        result = tuple(
            torch.zeros_like(args[i]) if g is None else g for i, g in zip(case.gradients, grads, strict=True)
        )
    arrays = results_of(result, task)
    return arrays if task.frame == "text" else tuple(a.astype(np.float64) for a in arrays)


def mistaken(task: Task, flags: Set[str], case: Case, constants: Mapping[str, Any]) -> Arrays | None:
    """What the task's answer would be with some known mistakes in it.

    Returns:
        The arrays, or None where such code would raise an exception instead.
    """
    args = copy.deepcopy(case.args)
    try:
        with np.errstate(all="ignore"):
            return results_of(task.mistaken(frozenset(flags), *args, **constants), task)
    except (ValueError, LookupError, TypeError, ZeroDivisionError):
        return None
