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
from softlookup.tiles.replay import LaunchError, Traffic, replay

WITHIN_LIMITS = np.zeros(3, np.int64)
"""The last result of a kernel that stays within its limits: bytes beyond what may be read, written, held on chip."""

_UNWRITTEN: dict[str, Callable[[np.dtype], Any]] = {
    "f": lambda dtype: np.nan,
    "i": lambda dtype: np.iinfo(dtype).min,
    "u": lambda dtype: np.iinfo(dtype).max,
    "b": lambda dtype: True,
}
"""What fills an output before a kernel runs, by the kind of its dtype."""

_COSTS = ("reads {} from main memory", "writes {} to main memory", "holds {} on chip at a time")
"""What a limit is on, in words."""


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
    return (*(arrays[at] for at in case.outputs), _excess(case, traffic))


def _excess(case: Case, traffic: Traffic) -> np.ndarray:
    if case.limits is None:
        return WITHIN_LIMITS
    costs = np.array([traffic.read_bytes, traffic.written_bytes, traffic.chip_bytes], np.int64)
    return np.maximum(costs - np.array(case.limits, np.int64), 0)


def excess_in_words(case: Case, excess: np.ndarray) -> str:
    """What a kernel with right values costs too much, in a sentence without its subject and end."""
    for at, cost in enumerate(_COSTS):
        if excess[at]:
            limit = (case.limits or (0, 0, 0))[at]
            total = limit + int(excess[at])
            ratio = total / max(1, limit)
            # A few bytes too many are no "1.0 times".
            more = f"{ratio:.1f} times" if ratio >= 1.05 else f"{int(excess[at]):,} more than"
            times = f"{more} the {limit:,} that are allowed"
            return f"{cost.format(f'{total:,} bytes')}, {times}"
    return ""
