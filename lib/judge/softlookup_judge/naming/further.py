"""Further questions, on which no points depend: a mistake is named only where an answer shows it in these, too."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Arrays, Case
from softlookup_inside.asking.probe import Answer, TimeIsUp
from softlookup_judge.data.compare import Asked, identical, inputs_of, same
from softlookup_judge.data.protocols import Student
from softlookup_judge.data.variant import Variant
from softlookup_judge.judging.kernels import settled, without_numbers
from softlookup_judge.judging.mistake_results import MistakeResults
from softlookup_judge.judging.oracle import expected_results
from softlookup_judge.judging.questions import converted, generator
from softlookup_judge.judging.ranks import ask_ranks
from softlookup_judge.mistakes.habits import HABIT, IGNORED
from softlookup_judge.naming.diagnose import OTHER_VARIANT, diagnose

SEED = 5
"""Draws further inputs: the same at home and in grading, since no points depend on them."""

MOST_RECORDED = 3
"""Further questions to a kernel, or to ranks: each takes long."""

_MOST_CHANGES = 4
"""Questions in which one argument is changed."""


def answers_to(
    variant: Variant, student: Student, cases: Sequence[Case], stand_in_ids: tuple[str, ...] = ()
) -> list[Answer]:
    """What the student's code gives for questions on which no points depend: each is asked once."""
    count = len(variant.task.returns)
    if any(case.world for case in cases):
        return [ask_ranks(case, student, count - 1).answer for case in cases]
    answers = student.answers([without_numbers(case) for case in cases], count, stand_in_ids)
    return [settled(case, answer, variant.input_names(case)) for case, answer in zip(cases, answers, strict=False)]


def confirmed(
    variant: Variant,
    student: Student,
    rounds: Asked,
    mistakes: list[str],
    mistake_results: MistakeResults,
    stand_in_ids: tuple[str, ...] = (),
) -> list[str]:
    """The same mistakes, others that agree with further answers, too, or none; the same where nothing is computed."""
    if not mistakes or mistakes == [OTHER_VARIANT] or not mistake_results.computes:
        return mistakes
    if mistake_results.further is None:
        mistake_results.further = [(case, expected_results(variant, case)) for case in _further(variant)]
    cases = [case for case, _ in mistake_results.further]
    try:
        answers = answers_to(variant, student, cases, stand_in_ids)
    except (TimeoutError, TimeIsUp):
        return []
    more = [
        (case, answer, expected) for (case, expected), answer in zip(mistake_results.further, answers, strict=False)
    ]
    return diagnose(variant, [*rounds, *more], mistake_results)


def _further(variant: Variant) -> list[Case]:
    """Questions of the same kinds as in a check, with other numbers; of those that take long the smallest ones."""
    task_cases = variant.task.cases(generator(variant, SEED), **variant.constants)
    cases = [case for case in task_cases if not case.gradients]
    if any(case.is_recorded for case in cases):
        cases.sort(key=lambda case: (case.world == 1, sum(array.size for array in inputs_of(case))))
        cases = cases[:MOST_RECORDED]
    return converted(variant, cases)


def ignored_argument(
    variant: Variant,
    student: Student,
    rounds: Asked,
    mistake_results: MistakeResults,
    stand_in_ids: tuple[str, ...] = (),
) -> list[str]:
    """The first argument on which the right answer depends and the student's does not, known by changing it."""
    if not mistake_results.computes or any(case.is_recorded for case, _, _ in rounds):
        return []
    if all(array.dtype.kind in "bi" and not array.ndim for _, _, expected in rounds for array in expected):
        return []  # yes, no and other verdicts stay the same by chance
    if mistake_results.changed is None:
        mistake_results.changed = list(_changed(variant, rounds))
    before = {id(case): answer.arrays for case, answer, _ in rounds}
    tried = [(name, before.get(id(case)), other) for name, case, other in mistake_results.changed]
    try:
        answers = answers_to(variant, student, [other for _, _, other in tried], stand_in_ids)
    except (TimeoutError, TimeIsUp):
        return []
    stays: dict[str, bool] = {}
    for (name, arrays, _), answer in zip(tried, answers, strict=False):
        alike = arrays is not None and answer.arrays is not None and identical(answer.arrays, arrays)
        stays[name] = stays.get(name, True) and alike
    ignored = [name for name, alike in stays.items() if alike]
    return [f"{HABIT}{IGNORED}{name}" for name in ignored[:1]] if len(ignored) < len(stays) else []


def _changed(variant: Variant, rounds: Asked) -> Iterator[tuple[str, Case, Case]]:
    """Questions with another value of one argument, where the right answer is another one."""
    further = {case.label: case for case in _further(variant)}
    valued = {id(case): (case, expected) for case, _, expected in rounds if not case.gradients}.values()
    names = dict.fromkeys(name for case, _ in valued for name in variant.input_names(case) if name.isidentifier())
    for name in names:
        every = (
            (name, case, other)
            for case, expected in valued
            if name in variant.input_names(case)
            if (other := _with_another(variant, case, expected, variant.input_names(case).index(name), further))
        )
        yield from islice(every, _MOST_CHANGES)


def _with_another(variant: Variant, case: Case, expected: Arrays, at: int, further: dict[str, Case]) -> Case | None:
    """A question with the value that one argument has in another question, if that changes the right answer."""
    others = [further[case.label]] if case.label in further else []
    for other in (*others, *further.values()):
        if len(other.args) <= at or not _is_like(case.args[at], other.args[at]):
            continue
        changed = replace(case, args=(*case.args[:at], other.args[at], *case.args[at + 1 :]))
        try:
            new_expected = expected_results(variant, changed)
        except Exception:  # the arguments do not fit together any more
            continue
        finite = all(np.isfinite(array.astype(np.float64)).all() for array in new_expected)
        if (
            finite
            and [a.shape for a in new_expected] == [a.shape for a in expected]
            and not same(new_expected, expected, case)
        ):
            return changed
    return None


def _is_like(value: Any, other: Any) -> bool:
    """Whether an argument may have another value: of the same type, and an array of the same shape."""
    if isinstance(value, np.ndarray):
        return isinstance(other, np.ndarray) and (value.shape, value.dtype) == (other.shape, other.dtype)
    return type(value) is type(other) and repr(value) != repr(other)  # a list may hold arrays
