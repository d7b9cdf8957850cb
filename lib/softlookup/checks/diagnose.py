"""Naming the mistake: which known mistake, or pair of them, gives exactly the student's tensors."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from softlookup.checks.compare import same
from softlookup.checks.oracle import inputs_of, mistaken, wanted
from softlookup.checks.probe import Answer
from softlookup.checks.task import CORE, Arrays, Case, Task

OTHER_VARIANT = "other-variant"
SHORTCUT = "forbidden-shortcut"

Asked = Sequence[tuple[Case, Answer, Arrays]]
"""Cases with the student's answer and the right one."""


def _agrees(task: Task, flags: frozenset[str], asked: Asked, constants: Mapping[str, Any]) -> bool:
    """Whether code with these mistakes would have answered every case as the student's did, and some case wrongly."""
    tells = False
    for case, answer, right in asked:
        if case.gradients:
            continue
        expected = mistaken(task, flags, case, constants)
        if expected is None or answer.arrays is None:
            if (expected is None) != (answer.arrays is None):
                return False
            # Both raise. That alone names nothing, since a dozen slips raise on sizes that do not fit.
            continue
        if not same(answer.arrays, expected, inputs_of(case), case.tolerance):
            return False
        tells = tells or not same(expected, right, inputs_of(case), case.tolerance)
    return tells


def _candidates(task: Task) -> Iterator[frozenset[str]]:
    slugs = [m.slug for m in task.mistakes if m.symptom is None]
    yield from (frozenset({s}) for s in slugs)
    yield from (frozenset(pair) for pair in combinations(slugs, 2))


def _by_symptom(task: Task, asked: Asked) -> list[str]:
    kinds = {answer.failure.kind for _, answer, _ in asked if answer.failure}
    return [m.slug for m in task.mistakes if m.symptom in kinds][:1]


def _is_other_variant(task: Task, asked: Asked, variant: int) -> bool:
    for number, constants in enumerate(task.variants):
        if number == variant:
            continue
        if all(
            answer.arrays is not None
            and same(answer.arrays, wanted(task, case, constants), inputs_of(case), case.tolerance)
            for case, answer, _ in asked
        ):
            return True
    return False


def diagnose(task: Task, asked: Asked, variant: int) -> list[str]:
    """Name what is wrong with a wrong answer.

    The other variants' right answers are looked at first, then each known mistake alone, then each pair of them,
    all on every
    case; then once more on the cases of the core part only, for answers that hold a further slip elsewhere.

    Args:
        task: The task.
        asked: The cases, the student's answers, the right answers.
        variant: Which variant was asked.

    Returns:
        Slugs: empty if nothing known fits, one, or two where a pair does.
    """
    constants = task.variants[variant]
    if _is_other_variant(task, asked, variant):
        return [OTHER_VARIANT]
    core = [one for one in asked if one[0].part == CORE]
    for scope in (asked, core) if len(core) < len(asked) else (asked,):
        for flags in _candidates(task):
            if _agrees(task, flags, scope, constants):
                order = [m.slug for m in task.mistakes]
                return sorted(flags, key=order.index)
    return _by_symptom(task, asked)
