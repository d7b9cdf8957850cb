"""Kernels as answers: their code sees shapes and dtypes alone; values and traffic are computed from its record."""

import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Arrays, Case
from softlookup_inside.asking.probe import Answer, Failure
from softlookup_judge.data.compare import identical, score
from softlookup_judge.data.limits import excess
from softlookup_judge.data.protocols import Student
from softlookup_judge.data.variant import Variant

_UNWRITTEN: dict[str, Callable[[np.dtype], Any]] = {
    "f": lambda dtype: np.nan,
    "i": lambda dtype: np.iinfo(dtype).min,
    "u": lambda dtype: np.iinfo(dtype).max,
    "b": lambda dtype: True,
}
"""What fills an output before a kernel runs, by the kind of its dtype."""


RECORDINGS = 40
"""How often a kernel is recorded in all questions of a task together, at least: of 100 that do something else in a
tenth of their launches, one or two are the same each time."""

MOST_RECORDED_ROWS = 15_000
"""Rows that are recorded for that; a kernel with more of them is asked each question twice, or a little more."""

UNSTEADY = (
    "launched several times, the kernel does something else each time, or it needs its programs to run in their order. "
    "What it does may depend on its arguments and on `tl.program_id` alone: not on a counter, a list that grows, "
    "chance or the time"
)
"""What is said of a kernel whose records differ."""


def answers_of_kernel(
    variant: Variant, student: Student, cases: Sequence[Case], rights: Sequence[Arrays] = ()
) -> Iterator[Answer]:
    """What a kernel gives for some questions, each recorded several times in changing orders, the same to the byte."""
    orders = np.random.default_rng(zlib.crc32(b"".join(_bytes_of(case) for case in cases)))
    first: dict[Case, Answer] = {}
    answers: list[Answer] = []
    rows = 0
    for at in range(max(2, math.ceil(RECORDINGS / len(cases)))):
        order = [cases[index] for index in orders.permutation(len(cases))]
        records = list(student.answers([without_numbers(case) for case in order], len(variant.task.returns)))
        pairs = [(first.setdefault(case, answer), answer) for case, answer in zip(order, records, strict=False)]
        rows += sum(len(np.atleast_1d(answer.arrays[0])) for answer in records if answer.arrays)
        if not all(_is_same(*pair) for pair in pairs):
            return iter([Answer(None, Failure("unsteady", UNSTEADY), first[case].printed) for case in cases])
        if at == 1:
            answers = [settled(case, first[case], variant.input_names(case)) for case in cases]
            if rights and not score(variant.task, list(zip(cases, answers, rights, strict=True))).points:
                break
        if rows == 0 or at and rows > MOST_RECORDED_ROWS:
            break
    return iter(answers or [settled(case, first[case], variant.input_names(case)) for case in cases])


def _bytes_of(case: Case) -> bytes:
    """Its numbers, which a student's code does not see: they draw the order of questions."""
    return b"".join(arg.tobytes() for arg in case.args if isinstance(arg, np.ndarray))


def _is_same(before: Answer, after: Answer) -> bool:
    """Whether two records are the same to the byte, or there is none in both."""
    if before.arrays is None or after.arrays is None:
        return before.arrays is after.arrays
    return identical(before.arrays, after.arrays)


@lru_cache(maxsize=1024)
def without_numbers(case: Case) -> Case:
    """A question as a student's code gets it: a kernel's arrays hold zeros."""
    if not case.grid:
        return case
    zeros = tuple(np.zeros_like(arg) if isinstance(arg, np.ndarray) else arg for arg in case.args)
    return replace(case, args=zeros)


def settled(case: Case, answer: Answer, names: Sequence[str]) -> Answer:
    """An answer whose arrays are results: where they are a kernel's record, it is run."""
    if not case.grid or answer.arrays is None:
        return answer
    from softlookup.tiles.replay import LaunchError

    try:
        return replace(answer, arrays=results(case, answer.arrays, names))
    except LaunchError as error:
        return Answer(None, Failure(error.kind, str(error)), answer.printed)


def results(case: Case, recording: Arrays, names: Sequence[str] = ()) -> Arrays:
    """What a kernel writes, and the bytes by which it exceeds its limits; LaunchError if it cannot be run."""
    from softlookup.tiles.costs import JUDGED_WORK_NS
    from softlookup.tiles.replay import LaunchError, replay

    arrays = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in case.args]
    for at in case.outputs:
        # What is never written must not look right.
        arrays[at].fill(_UNWRITTEN[arrays[at].dtype.kind](arrays[at].dtype))
    if len(recording) != 2:
        raise LaunchError("record", "this is no record of a kernel")
    names = names or [f"argument {at + 1}" for at in range(len(arrays))]
    programs = math.prod(case.grid)
    traffic = replay(
        (recording[0], recording[1]), arrays, names, case.outputs, programs=programs, most_work_ns=JUDGED_WORK_NS
    )
    if not traffic.written_bytes:
        raise LaunchError("unwritten", "no program stores anything")
    costs = traffic.read_bytes, traffic.written_bytes, traffic.chip_bytes, max(traffic.program_bytes)
    return *(arrays[at] for at in case.outputs), excess(case, costs)
