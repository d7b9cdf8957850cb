"""The only part that runs beside the student's code: inputs in, raw arrays or a failure out.

Nothing here knows a right answer. It imports numpy and, when a case asks for tensors, torch.
"""

import copy
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlookup.checking.inside.answers import Refused, is_tensor, to_array, to_arrays
from softlookup.checking.inside.candidates import is_candidate, made
from softlookup.checking.inside.case import Arrays, Case
from softlookup.checking.inside.explained import arguments_differ, explained
from softlookup.checking.inside.gates import closed
from softlookup.checking.inside.printed import caught_output, cut
from softlookup.checking.inside.products import Fed, counting
from softlookup.checking.inside.source import functions_behind
from softlookup.checking.inside.texts import to_texts
from softlookup.tiles.inside.tracing import record

FED = ("fed-again", "fed-singly")
"""Kinds of failure of an answer that feeds more, or less at a time, than its case allows (see ``Case.fed``)."""


class TimeIsUp(BaseException):
    """A case takes too long; not an Exception, so that no ``except Exception`` of a student's swallows it."""


@dataclass(frozen=True)
class Failure:
    """Why there is no answer.

    Attributes:
        kind: "blank", "raised", "kind" (not a tensor, array or number), "inputs-changed", "no-gradient", "dtype",
            "no-parameter" (a layer that does not have the weights that were asked for), "fed-again" or "fed-singly"
            (see ``Case.fed``), "shortcut" (it called what its task forbids, whatever it made of the exception), or of a
            kernel "outside", "race", "overlap", "input-written" or "record" (see ``tiles.LaunchError``).
        message: One line for the student; for a shortcut the dotted name of what was called.
        where: The line of the student's code, if known.
        explained: What the exception means there (see ``explained``), if that is known.
    """

    kind: str
    message: str
    where: str = ""
    explained: str = ""


@dataclass(frozen=True)
class Answer:
    """What came back from one case.

    Attributes:
        arrays: The results as numpy arrays, None where ``failure`` says why.
        failure: The reason, None where there are arrays.
        printed: What the code wrote to stdout and stderr, cut.

    Book: instructors_task.html#instructors-task-front-end.
    """

    arrays: Arrays | None = None
    failure: Failure | None = None
    printed: str = ""


class _NoGradient(Exception):
    """The result is a sound one, but it is not connected to the inputs."""


class _NoParameter(Exception):
    """A layer does not have the weights that were asked for; the message says which."""


def inputs_for(case: Case) -> list[Any]:
    """What is handed to the student's object: copies, arrays as tensors, candidates as what can be called."""
    if case.frame != "torch":
        return [made(copy.deepcopy(a)) for a in case.args]
    import torch

    inputs: list[Any] = []
    for index, arg in enumerate(case.args):
        if isinstance(arg, np.ndarray):
            arg = torch.from_numpy(arg.copy())
            if index in case.gradients:
                arg.requires_grad_(True)
        else:
            arg = made(copy.deepcopy(arg))
        inputs.append(arg)
    return inputs


def _changed(case: Case, inputs: list[Any]) -> bool:
    for before, after in zip(case.args, inputs, strict=True):
        if isinstance(before, np.ndarray):
            # Its size first: an input may have been made a large one, whose numbers nobody wants to read.
            if tuple(after.shape) != before.shape or not _same(before, to_array(after)):
                return True
        elif isinstance(before, list | dict | tuple) and not is_candidate(before) and not _alike(before, after):
            return True
    return False


def _same(before: np.ndarray, now: np.ndarray) -> bool:
    """Whether arrays of one shape hold the same numbers, NaN in the same places."""
    return bool((before == now).all()) or np.array_equal(before, now, equal_nan=before.dtype.kind == "f")


def _recorded(case: Case, inputs: list[Any]) -> bool:
    """Whether autograd's record has been begun on an input: the next call with it would not be the same."""
    others = [a for i, a in enumerate(inputs) if i not in case.gradients and is_tensor(a)]
    return any(a.requires_grad or a.grad is not None for a in others)


def _alike(before: Any, after: Any) -> bool:
    """Whether a list or dictionary is as it was; what cannot be compared is not."""
    try:
        return bool(before == after)
    except Exception:
        return False


def _gradients(case: Case, inputs: list[Any], result: Any) -> Arrays:
    import torch

    to_array(result)  # refuses what is no result at all, in its own words
    if isinstance(result, list | tuple) and all(is_tensor(item) for item in result):
        result = torch.stack(tuple(result))
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        raise _NoGradient
    result.backward(torch.from_numpy(np.asarray(case.upstream)).to(result.dtype))
    grads = [inputs[i].grad for i in case.gradients]
    return tuple(
        to_array(torch.zeros_like(inputs[i]) if g is None else g) for i, g in zip(case.gradients, grads, strict=True)
    )


def called(obj: Callable[..., Any], case: Case, inputs: list[Any]) -> Any:
    """Call the student's object: a function with all the inputs, a layer's class as its case says.

    A kernel is recorded: its record is two arrays, of which the judge makes the results.

    A class is made with the sizes, gets the given weights in place of its own (gradients flow to them), and is called
    with what is left. A function that does the same, all in one call, will do as well.

    Raises:
        _NoParameter: If the class makes no torch module, or one without these parameters or with others.
    """
    if case.grid:
        return record(obj, case.grid, inputs)
    if not case.parameters or not isinstance(obj, type):
        return obj(*inputs)
    import torch

    end = case.sizes + len(case.parameters)
    weights = dict(zip(case.parameters, inputs[case.sizes : end], strict=True))
    layer = obj(*inputs[: case.sizes])
    if not isinstance(layer, torch.nn.Module):
        raise _NoParameter("Your class is no torch.nn.Module: write `class Name(nn.Module)`.")
    parameters = dict(layer.named_parameters())
    for name, weight in weights.items():
        if name not in parameters:
            attribute = getattr(layer, name, None)
            if is_tensor(attribute):
                raise _NoParameter(f"`self.{name}` is a plain tensor: only an nn.Parameter is trained and saved.")
            if name in dict(layer.named_parameters(remove_duplicate=False)):
                message = "has no weights of its own: the same part stands there twice (`[part] * 2` is one part)"
                raise _NoParameter(f"`{name.rpartition('.')[0] or name}` {message}.")
            raise _NoParameter(
                f"Your class has no parameter `{name}`; it has {', '.join(parameters) or 'none at all'}."
            )
        if parameters[name].shape != weight.shape:
            shapes = f"{tuple(parameters[name].shape)}, wanted is {tuple(weight.shape)}"
            raise _NoParameter(f"The parameter `{name}` has the shape {shapes}.")
    more = [name for name in parameters if name not in weights]
    if more:
        raise _NoParameter(f"Your class has parameters besides those asked for: {', '.join(more[:5])}.")
    return torch.func.functional_call(layer, weights, tuple(inputs[end:]))


def _too_much(case: Case, fed: Fed) -> Failure | None:
    """Whether more was multiplied with a matrix than its case allows, or less at a time."""
    if case.fed is None:
        return None
    at, rows, times = case.fed
    if fed.rows > rows + 0.5:
        message = f"{fed.rows:.0f} vectors are multiplied with argument {at + 1}, where {rows} are enough"
        return Failure(FED[0], f"{message}.")
    if fed.times > times + 0.5:
        message = f"Argument {at + 1} is multiplied {fed.times:.0f} times, where {times} times are enough"
        return Failure(FED[1], f"{message}: several vectors can be multiplied with it together.")
    return None


def _students_frames(error: BaseException) -> list[traceback.FrameSummary]:
    return [f for f in traceback.extract_tb(error.__traceback__) if _is_students(f.filename)]


def _is_students(filename: str) -> bool:
    """Whether a file is a notebook cell or a script of the student's, and no library's."""
    if filename.startswith("<"):
        return "ipython" in filename or filename.startswith("<submission")
    return "site-packages" not in filename and "softlookup" not in filename and "/lib/python" not in filename


def _fail(obj: Callable[..., Any], error: BaseException, arguments: int) -> Failure:
    frames = _students_frames(error)
    if isinstance(error, NotImplementedError) and frames:
        # Blank only if the task's own function says so; an earlier one that it calls is another matter.
        if frames[-1].name in {f.__code__.co_name for f in functions_behind(obj)}:
            return Failure("blank", "This task is still blank.")
        if not str(error):
            return Failure("raised", f"It calls `{frames[-1].name}`, which is still blank")
    try:
        lines = str(error).strip().splitlines()
    except Exception:
        lines = []
    name = type(error).__name__
    message = f"{name}: {lines[0][:300]}" if lines else name
    if not frames:
        return Failure("raised", message, explained=arguments_differ(error, obj, arguments))
    code = f": {frames[-1].line.strip()}" if frames[-1].line else ""
    return Failure(
        "raised", message, f"line {frames[-1].lineno} of `{frames[-1].name}`{code}", explained(error, _is_students)
    )


def run(obj: Callable[..., Any], case: Case, results: int = 1, forbids: tuple[str, ...] = ()) -> Answer:
    """Ask the student's object one case.

    Args:
        obj: What the student handed in.
        case: The question.
        results: How many arrays the task returns.
        forbids: Dotted names of what raises an exception meanwhile.

    Returns:
        The answer. Exceptions of the student's code become a failure; an interruption or a time limit passes through.
    """
    inputs = inputs_for(case)
    arrays: Arrays | None = None
    failure: Failure | None = None
    counted = None if case.fed is None else case.fed[0]
    with caught_output() as out, closed(forbids) as gates, counting(inputs, counted) as fed:
        try:
            result = called(obj, case, inputs)
            if case.gradients:
                arrays = _gradients(case, inputs, result)
            else:
                count = 2 if case.grid else results
                arrays = to_texts(result, count) if case.frame == "text" else to_arrays(result, count)
        except (TimeIsUp, KeyboardInterrupt):
            raise
        except _NoGradient:
            failure = Failure("no-gradient", "No gradient flows back from the result to the inputs.")
        except _NoParameter as missing:
            failure = Failure("no-parameter", str(missing))
        except Refused as refused:
            failure = Failure("kind", f"Your function returned {refused}.")
        except BaseException as error:
            failure = _fail(obj, error, len(inputs))
    if gates.used:
        arrays, failure = None, Failure("shortcut", gates.used)
    if arrays is not None and _changed(case, inputs):
        failure = Failure("inputs-changed", "Your function changes its inputs in place; work on a copy.")
    elif arrays is not None and _recorded(case, inputs):
        message = "Your function sets `requires_grad` on a tensor that it was given, or leaves a `.grad` there"
        failure = Failure("inputs-changed", f"{message}; work on a copy.")
    elif arrays is not None and case.keeps_dtype and arrays[0].dtype != case.dtype:
        message = f"The inputs are {case.dtype}, your result is {arrays[0].dtype}; this task keeps the dtype."
        failure = Failure("dtype", message)
    elif arrays is not None:
        failure = _too_much(case, fed)
    return Answer(None if failure else arrays, failure, cut(out.getvalue()))
