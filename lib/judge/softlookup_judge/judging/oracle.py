"""Running the right answer and the known mistakes on a case; nothing of the student's comes here."""

import copy
from typing import Any

import numpy as np

from softlookup_inside.asking.answers import to_arrays
from softlookup_inside.asking.calling import called, inputs_for
from softlookup_inside.asking.case import Arrays, Case
from softlookup_inside.asking.printed import quiet
from softlookup_inside.asking.texts import to_texts
from softlookup_judge.data.conventions import turned
from softlookup_judge.data.published import answer, with_habits
from softlookup_judge.data.task import Task
from softlookup_judge.data.variant import Variant
from softlookup_judge.judging import kernels, ranks
from softlookup_judge.mistakes.habits import HABIT


def right_answer(variant: Variant, *args: Any, **kwargs: Any) -> Any:
    """The right answer to arguments that are given as a variant asks for them; a tuple of several results."""
    task, convention = variant.task, variant.convention
    if convention is None:
        return task.oracle(*args, **kwargs, **variant.constants)
    published = list(task.parameters)
    exchanged = {published[at] for at in convention.turned}
    bound = variant.signature.bind(*args, **kwargs).arguments
    published_args = {name: turned(value) if name in exchanged else value for name, value in bound.items()}
    result = task.oracle(**published_args, **variant.constants)
    many = convention.returned(result if isinstance(result, tuple) else (result,))
    return many if isinstance(result, tuple) else many[0]


def results_of(result: Any, task: Task) -> Arrays:
    """Results of an oracle as numpy arrays, in the dtype they come in; texts as their bytes."""
    if task.frame == "text":
        return to_texts(result, len(task.returns))
    many = result if isinstance(result, tuple) else (result,)
    return tuple(np.asarray(r.detach().numpy() if hasattr(r, "detach") else r) for r in many)


def expected_results(variant: Variant, case: Case) -> Arrays:
    """The right answer to a case, computed in float64: whole numbers, booleans and a text's bytes stay as they are."""
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
            if case.world and isinstance(arg, list):
                arg = [a.astype(np.float64) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a for a in arg]
        args.append(arg)
    result = right_answer(variant, *args)
    if case.gradients:
        import torch

        upstream = torch.from_numpy(np.asarray(case.upstream, dtype=np.float64))
        # The shares of inputs that a case leaves out of the graph are zero, not missing.
        grads = torch.autograd.grad(result, [args[i] for i in case.gradients], upstream, allow_unused=True)
        result = tuple(
            torch.zeros_like(args[i]) if g is None else g for i, g in zip(case.gradients, grads, strict=True)
        )
    arrays = results_of(result, variant.task)
    exact = "biu"  # a text's bytes, too
    return tuple(a if a.dtype.kind in exact else a.astype(np.float64) for a in arrays)


def mistaken(variant: Variant, mistake_names: tuple[str, ...], case: Case) -> Arrays | None:
    """What the published solution gives with mistakes and habits in it; None where it raises, or they do not fit in."""
    try:
        make = with_habits if any(mistake_name.startswith(HABIT) for mistake_name in mistake_names) else answer
        function = make(variant, mistake_names)
    except ValueError:  # they do not fit in together
        return None
    try:
        with quiet():
            if case.world:
                return ranks.results(case, function, len(variant.task.returns) - 1)
            result = called(function, case, inputs_for(case))
            if case.grid:
                return kernels.results(case, result)
            return (to_texts if variant.task.frame == "text" else to_arrays)(result, len(variant.task.returns))
    except Exception:  # whatever goes wrong in wrong code
        return None


def of_other_variant(variant: Variant, other: Variant, case: Case) -> Arrays | None:
    """What the right answer to another variant of a task gives in a question of this one; None where it raises."""
    if variant.convention is None and other.convention is None:
        return expected_results(other, case)
    return mistaken(other, (), case)
