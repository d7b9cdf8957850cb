"""The only part that runs beside the student's code: inputs in, raw arrays or a failure out.

Nothing here knows a right answer. It imports numpy and, when a case asks for tensors, torch.
"""

import contextlib
import io
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlookup.checks.task import Arrays, Case

MAX_PRINTED = 2000
"""Characters kept of what the student's code prints; the rest is counted only."""

ALLOWED = frozenset("biuf")
"""Kinds of numpy dtype that an answer may have: booleans, integers, floats."""


@dataclass(frozen=True)
class Failure:
    """Why there is no answer.

    Attributes:
        kind: "blank", "raised", "kind" (not a tensor, array or number), "inputs-changed", "no-gradient" or "dtype".
        message: One line for the student.
        where: The line of the student's code, if known.
    """

    kind: str
    message: str
    where: str = ""


@dataclass(frozen=True)
class Answer:
    """What came back from one case.

    Attributes:
        arrays: The results as numpy arrays, None where ``failure`` says why.
        failure: The reason, None where there are arrays.
        printed: What the code wrote to stdout and stderr, cut.
    """

    arrays: Arrays | None = None
    failure: Failure | None = None
    printed: str = ""


class Refused(Exception):
    """An answer of a kind that cannot be compared; the message says what was got."""


def to_array(value: Any) -> np.ndarray:
    """Take a tensor, an array, a number or a list of these as a plain numpy array.

    Raises:
        Refused: If it is anything else, or holds objects, text or complex numbers.
    """
    if type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float().numpy() if str(value.dtype) == "torch.bfloat16" else value.numpy()
    elif isinstance(value, list | tuple):
        # Nested lists of tensors are how loops often end; numpy alone would refuse those with gradients.
        value = [to_array(item) for item in value]
    if value is None:
        raise Refused("None, as a function does that ends without `return`")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise Refused(f"{type(value).__name__} of unequal lengths ({error})") from None
    if array.dtype.kind not in ALLOWED:
        raise Refused(f"{type(value).__name__} (dtype {array.dtype}), which holds no plain numbers")
    return np.array(array, copy=True)


def to_arrays(result: Any, count: int) -> Arrays:
    """Take a result apart into as many arrays as the task returns."""
    if count == 1:
        return (to_array(result),)
    if isinstance(result, dict):
        result = tuple(result.values())
    if not isinstance(result, list | tuple) or len(result) != count:
        got = f"{len(result)} results" if isinstance(result, list | tuple) else f"one {type(result).__name__}"
        raise Refused(f"{got}, where {count} are returned together")
    return tuple(to_array(item) for item in result)


def _inputs(case: Case) -> list[Any]:
    if case.frame != "torch":
        return [a.copy() if isinstance(a, np.ndarray) else a for a in case.args]
    import torch

    made: list[Any] = []
    for index, arg in enumerate(case.args):
        if isinstance(arg, np.ndarray):
            arg = torch.from_numpy(arg.copy())
            if index in case.gradients:
                arg.requires_grad_(True)
        made.append(arg)
    return made


def _changed(case: Case, inputs: list[Any]) -> list[int]:
    return [
        i
        for i, (before, after) in enumerate(zip(case.args, inputs, strict=True))
        if isinstance(before, np.ndarray)
        and not np.array_equal(before, to_array(after), equal_nan=before.dtype.kind == "f")
    ]


def _gradients(case: Case, inputs: list[Any], result: Any) -> Arrays:
    import torch

    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        raise Refused("no-gradient")
    result.backward(torch.from_numpy(np.asarray(case.upstream)).to(result.dtype))
    grads = [inputs[i].grad for i in case.gradients]
    return tuple(
        to_array(torch.zeros_like(inputs[i]) if g is None else g) for i, g in zip(case.gradients, grads, strict=True)
    )


def _where(error: BaseException) -> str:
    """The deepest line that is the student's: in a notebook cell, not in a library."""
    lines = [f for f in traceback.extract_tb(error.__traceback__) if _is_students(f.filename)]
    if not lines:
        return ""
    last = lines[-1]
    code = f": {last.line.strip()}" if last.line else ""
    return f"line {last.lineno} of `{last.name}`{code}"


def _is_students(filename: str) -> bool:
    if filename.startswith("<") and "ipython" not in filename and filename != "<submission>":
        return False
    return "site-packages" not in filename and "softlookup" not in filename and "/lib/python" not in filename


def _fail(error: BaseException) -> Failure:
    if isinstance(error, NotImplementedError):
        return Failure("blank", "This task is still blank.")
    line = str(error).strip().splitlines()
    said = line[0][:300] if line else ""
    return Failure("raised", f"{type(error).__name__}: {said}" if said else type(error).__name__, _where(error))


def run(obj: Callable[..., Any], case: Case, results: int = 1) -> Answer:
    """Ask the student's object one case.

    Args:
        obj: What the student handed in.
        case: The question.
        results: How many arrays the task returns.

    Returns:
        The answer. Exceptions of the student's code become a failure; an interruption or a time limit passes through.
    """
    inputs = _inputs(case)
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), warnings.catch_warnings():
            # A warning is noise, never a verdict, whatever filters are set around here.
            warnings.simplefilter("default")
            result = obj(*inputs)
            if case.gradients:
                arrays = _gradients(case, inputs, result)
            else:
                arrays = to_arrays(result, results)
    except Refused as refused:
        if str(refused) == "no-gradient":
            failure = Failure("no-gradient", "No gradient flows back from the result to the inputs.")
        else:
            failure = Failure("kind", f"Your function returned {refused}.")
        return Answer(failure=failure, printed=_cut(out))
    except (Exception, SystemExit) as error:
        return Answer(failure=_fail(error), printed=_cut(out))
    if _changed(case, inputs):
        return Answer(
            failure=Failure("inputs-changed", "Your function changes its inputs in place; work on a copy."),
            printed=_cut(out),
        )
    if case.keeps_dtype and arrays[0].dtype != case.args[0].dtype:
        said = f"The inputs are {case.args[0].dtype}, your result is {arrays[0].dtype}; this task keeps the dtype."
        return Answer(failure=Failure("dtype", said), printed=_cut(out))
    return Answer(arrays=arrays, printed=_cut(out))


def _cut(out: io.StringIO) -> str:
    text = out.getvalue()
    if len(text) <= MAX_PRINTED:
        return text
    return text[:MAX_PRINTED] + f"\n… and {len(text) - MAX_PRINTED:,} characters more"
