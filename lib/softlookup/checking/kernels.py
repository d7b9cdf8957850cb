"""Kernels as answers: what a student's code is told of a question, and what the judge makes of the record it gives.

The code beside a question sees shapes and dtypes alone. Values and traffic are computed here, from its record.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from softlookup.checking.inside.case import Arrays, Case
from softlookup.checking.inside.probe import Answer, Failure
from softlookup.checking.limits import excess
from softlookup.tiles.replay import LaunchError, replay

_UNWRITTEN: dict[str, Callable[[np.dtype], Any]] = {
    "f": lambda dtype: np.nan,
    "i": lambda dtype: np.iinfo(dtype).min,
    "u": lambda dtype: np.iinfo(dtype).max,
    "b": lambda dtype: True,
}
"""What fills an output before a kernel runs, by the kind of its dtype."""


@lru_cache(maxsize=1024)
def without_numbers(case: Case) -> Case:
    """A question as a student's code gets it: a kernel's arrays are there, but hold zeros.

    It is the same one for a whole class, since what is sent to the sandbox is put together once for each question.
    """
    if not case.grid:
        return case
    zeros = tuple(np.zeros_like(arg) if isinstance(arg, np.ndarray) else arg for arg in case.args)
    return replace(case, args=zeros)


def settled(case: Case, answer: Answer, names: Sequence[str]) -> Answer:
    """An answer whose arrays are results: where they are a kernel's record, it is run.

    Args:
        case: The question, with its numbers.
        answer: What came back.
        names: What the question's inputs are called.
    """
    if not case.grid or answer.arrays is None:
        return answer
    try:
        return replace(answer, arrays=results(case, answer.arrays, names))
    except LaunchError as error:
        return Answer(None, Failure(error.kind, str(error)), answer.printed)


def results(case: Case, record: Arrays, names: Sequence[str] = ()) -> Arrays:
    """What a kernel writes, and the bytes by which it exceeds its limits.

    Raises:
        LaunchError: If it cannot be run to its end.
    """
    arrays = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in case.args]
    for at in case.outputs:
        # What is never written must not look right.
        arrays[at].fill(_UNWRITTEN[arrays[at].dtype.kind](arrays[at].dtype))
    if len(record) != 2:
        raise LaunchError("record", "this is no record of a kernel")
    names = names or [f"argument {at + 1}" for at in range(len(arrays))]
    traffic = replay((record[0], record[1]), arrays, names, case.outputs, programs=math.prod(case.grid))
    if not traffic.written_bytes:
        raise LaunchError("unwritten", "no program stores anything")
    return (
        *(arrays[at] for at in case.outputs),
        excess(case, (traffic.read_bytes, traffic.written_bytes, traffic.chip_bytes)),
    )
