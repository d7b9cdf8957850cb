"""Running the right answer and the known mistakes on a case; nothing of the student's comes here."""

import contextlib
import copy
import io
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from softlookup.checking.habits import HABIT
from softlookup.checking.inside.answers import to_arrays
from softlookup.checking.inside.case import Arrays, Case
from softlookup.checking.inside.probe import called, inputs_for
from softlookup.checking.inside.texts import to_texts
from softlookup.checking.published import answer, with_habits
from softlookup.checking.task import Task


def results_of(result: Any, task: Task) -> Arrays:
    """Results of an oracle as numpy arrays, in the dtype they come in; texts as their bytes."""
    if task.frame == "text":
        return to_texts(result, len(task.returns))
    many = result if isinstance(result, tuple) else (result,)
    return tuple(np.asarray(r.detach().numpy() if hasattr(r, "detach") else r) for r in many)


def wanted(task: Task, case: Case, constants: Mapping[str, Any]) -> Arrays:
    """The right answer to a case: floats in float64, whole numbers, booleans and a text's bytes as they are.

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
    exact = "biu"  # a text's bytes, too
    return tuple(a if a.dtype.kind in exact else a.astype(np.float64) for a in arrays)


def mistaken(task: Task, slugs: tuple[str, ...], case: Case, variant: int = 0) -> Arrays | None:
    """What the published solution gives for a case with some mistakes in it.

    Args:
        task: The task.
        slugs: The known mistakes, and habits.
        case: The question.
        variant: Which variant was asked.

    Returns:
        The arrays, or None where such code raises an exception, and where the mistakes do not fit in together.
    """
    try:
        made = with_habits if any(slug.startswith(HABIT) for slug in slugs) else answer
        function = made(task, slugs, variant)
    except ValueError:  # they do not fit in together
        return None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            result = called(function, case, inputs_for(case))
            return (to_texts if task.frame == "text" else to_arrays)(result, len(task.returns))
    except Exception:  # whatever goes wrong in wrong code
        return None


def of_other_variant(task: Task, case: Case, variant: int, number: int) -> Arrays | None:
    """What the right answer to another variant of a task gives in a question of this one; None where it raises.

    Args:
        task: The task.
        case: The question, as it was asked.
        variant: Which variant was asked.
        number: The other one.
    """
    if not any((task.conventions[variant], task.conventions[number]) if task.conventions else ()):
        return wanted(task, case, task.variants[number])
    return mistaken(task, (), case, number)
