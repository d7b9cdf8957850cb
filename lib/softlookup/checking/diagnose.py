"""Naming the mistake: which known mistake, or pair of them, gives exactly the student's tensors."""

from collections.abc import Sequence
from itertools import combinations

from softlookup.checking.compare import another_kind, same
from softlookup.checking.inside.case import CORE, Arrays, Case
from softlookup.checking.inside.probe import FED, Answer
from softlookup.checking.oracle import mistaken, of_other_variant
from softlookup.checking.task import Task

OTHER_VARIANT = "other-variant"
SHORTCUT = "forbidden-shortcut"

Asked = Sequence[tuple[Case, Answer, Arrays]]
"""Cases with the student's answer and the right one."""


class Given:
    """What known mistakes give, and what other variants want: computed once for a whole class.

    A task may have a hundred pairs of mistakes, and in some tasks each takes a tenth of a second.

    Args:
        mistakes: What is known already, by the mistakes' slugs and the number (``id``) of the case.
        variants: Likewise what other variants want, by their number.
        computes: Whether what is not known is computed; else such mistakes give nothing.
    """

    def __init__(
        self,
        mistakes: dict[tuple[tuple[str, ...], int], Arrays | None] | None = None,
        variants: dict[tuple[int, int], Arrays | None] | None = None,
        computes: bool = True,
    ) -> None:
        self.mistakes, self.variants = mistakes or {}, variants or {}
        self.computes = computes

    def by(self, task: Task, slugs: tuple[str, ...], case: Case, variant: int) -> Arrays | None:
        """What code with these mistakes gives, None where it raises an exception."""
        key = slugs, id(case)
        if key not in self.mistakes and self.computes:
            self.mistakes[key] = mistaken(task, slugs, case, variant)
        return self.mistakes.get(key)

    def of_variant(self, task: Task, case: Case, variant: int, number: int) -> Arrays | None:
        """What the right answer to another variant gives, None where it raises an exception."""
        key = number, id(case)
        if key not in self.variants and self.computes:
            self.variants[key] = of_other_variant(task, case, variant, number)
        return self.variants.get(key)


def _told(asked: Asked) -> list[tuple[Case, Answer, Arrays]]:
    """The cases that tell mistakes apart: those that ask for values."""
    return [one for one in asked if not one[0].gradients]


def each_shows(task: Task, slugs: Sequence[str], asked: Asked, variant: int, given: Given) -> bool:
    """Whether each of several mistakes is seen by itself: it alone would have given the same wrong answer to some case.

    Where it is not, the answer equals code with all of them, but what is said of one of them may not be true of it.
    """
    wrong = [(case, answer.arrays) for case, answer, right in _told(asked) if not is_right(case, answer, right)]

    def shows(slug: str) -> bool:
        alone = ((case, arrays, given.by(task, (slug,), case, variant)) for case, arrays in wrong)
        return any(a is not None and b is not None and same(a, b, case) for case, a, b in alone)

    return all(shows(slug) for slug in slugs)


def _agrees(task: Task, slugs: tuple[str, ...], asked: Asked, variant: int, given: Given) -> bool:
    """Whether code with these mistakes would have answered every case as the student's did, and some case wrongly."""
    tells = False
    for case, answer, right in _told(asked):
        expected = given.by(task, slugs, case, variant)
        lost = case.keeps_dtype and answer.failure is not None and answer.failure.kind == "dtype"
        if expected is not None and lost:
            # The numbers are not there to compare; a mistake that keeps the dtype is not this one.
            if expected[0].dtype == case.dtype:
                return False
            continue
        if answer.failure is not None and answer.failure.kind in FED:
            continue  # here, too, the numbers are not there
        if expected is None or answer.arrays is None:
            if (expected is None) != (answer.arrays is None):
                return False
            # Both raise. That alone names nothing, since a dozen slips raise on sizes that do not fit.
            continue
        if not same(answer.arrays, expected, case):
            return False
        tells = tells or not same(expected, right, case)
    return tells


def _named(task: Task, slugs: list[str], size: int, asked: Asked, variant: int, given: Given) -> list[str]:
    """The first set of so many mistakes that agrees with every answer, in the task's own order; empty if none does."""
    for some in combinations(slugs, size):
        if _agrees(task, some, asked, variant, given):
            return list(some)
    return []


def _by_symptom(task: Task, asked: Asked) -> list[str]:
    """A mistake that shows as a kind of failure: where nothing else is wrong, or a dtype lost beside sound numbers."""
    failed = [
        # Right values of another kind are a lost dtype, too.
        (case.part, answer.failure.kind if answer.failure else "dtype" * same(answer.arrays or (), right, case))
        for case, answer, right in asked
        if not is_right(case, answer, right)
    ]
    kinds = {kind for _, kind in failed}
    if "dtype" in kinds and all(part != CORE for part, _ in failed):
        kinds = {"dtype"}
    return [m.slug for m in task.mistakes if kinds == {m.symptom}][:1]


def is_right(case: Case, answer: Answer, right: Arrays) -> bool:
    """Whether there is an answer, and it agrees with the right one."""
    if answer.arrays is None or not same(answer.arrays, right, case):
        return False
    return not any(another_kind(g, w, case) for g, w in zip(answer.arrays, right, strict=True))


def _is_other_variant(task: Task, asked: Asked, variant: int, given: Given) -> bool:
    return any(_fits(task, asked, variant, number, given) for number in task.others(variant))


def _fits(task: Task, asked: Asked, variant: int, number: int, given: Given) -> bool:
    """Whether the right answer to another variant would have answered every case as the student's did, one wrongly."""
    tells = False
    for case, answer, right in asked:
        expected = given.of_variant(task, case, variant, number)
        if expected is None or answer.arrays is None:
            if (expected is None) != (answer.arrays is None) and not case.gradients:
                return False
        elif case.gradients:
            continue  # a published solution is run for its values alone
        elif not is_right(case, answer, expected):
            return False
        else:
            tells = tells or not same(expected, right, case)
    return tells


def diagnose(task: Task, asked: Asked, variant: int, given: Given | None = None) -> list[str]:
    """Name what is wrong with a wrong answer.

    In this order: each known mistake alone, the right answers of other variants, pairs of known mistakes of which each
    shows by itself, all on every case; then singles on the core cases only, for answers that hold a further slip
    elsewhere; then other pairs, on every case and on the core cases; then what shows as a kind of failure.

    Args:
        task: The task.
        asked: The cases, the student's answers, the right answers.
        variant: Which variant was asked.
        given: What mistakes were found to give in these cases; is added to, and serves as long as the cases live.

    Returns:
        Slugs: empty if nothing known fits, one, or two where a pair does.
    """
    given = given or Given()
    slugs = [m.slug for m in task.mistakes if m.symptom is None]
    if not any(answer.arrays is not None and not is_right(case, answer, right) for case, answer, right in _told(asked)):
        # No wrong numbers, so no mistake that shows in numbers; hundreds of pairs need not be tried.
        slugs = []
    core = [one for one in asked if one[0].part == CORE]
    # Under a convention of its own, a verbatim copy of another variant's answer may give what a known mistake gives.
    if task.published and _is_other_variant(task, asked, variant, given):
        return [OTHER_VARIANT]
    found = _named(task, slugs, 1, asked, variant, given)
    if not found and _is_other_variant(task, asked, variant, given):
        return [OTHER_VARIANT]
    if found:
        return found
    pair = _named(task, slugs, 2, asked, variant, given)
    if pair and each_shows(task, pair, asked, variant, given):
        return pair
    return (
        _named(task, slugs, 1, core, variant, given)
        or pair
        or _named(task, slugs, 2, core, variant, given)
        or _by_symptom(task, asked)
    )
