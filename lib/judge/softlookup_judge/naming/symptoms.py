"""Mistakes that show as a kind of failure, or beside the right answer, without other code that gives the same."""

from collections.abc import Callable

import numpy as np

from softlookup_inside.asking.case import CORE, Arrays, Case
from softlookup_inside.asking.probe import Answer
from softlookup_judge.data.compare import another_kind, same
from softlookup_judge.data.task import Task
from softlookup_judge.mistakes import errors
from softlookup_judge.mistakes.habits import HABIT
from softlookup_judge.naming.nudge import ENOUGH, numbers_off

Failed = list[tuple[Case, Answer, Arrays]]


def by_symptom(task: Task, failed: Failed) -> list[str]:
    """The mistake, or else the habit, that shows alone in all questions that went wrong; empty if there is none."""
    kinds = {_kind(*answered) for answered in failed}
    if "dtype" in kinds and all(case.part != CORE for case, _, _ in failed):
        kinds = {"dtype"}
    if kinds == {"outside", "race"}:
        kinds = {"outside"}  # behind the end of a row is the next one, behind the last one nothing
    mistake_names = [m.slug for m in task.mistakes if kinds == {m.symptom}][:1]
    if mistake_names or len(kinds) != 1:
        return mistake_names
    name = {"inputs-changed": "inputs-changed", "dtype": "another-kind"}.get(min(kinds), "")
    if kinds == {"raised"}:
        habits = {
            errors.habit_of(answer.failure.message, answer.failure.where) for _, answer, _ in failed if answer.failure
        }
        name = habits.pop() if len(habits) == 1 else ""
    if kinds == {""}:
        related = (name for name, turned in _RELATIONS.items() if all(_is(turned, *answered) for answered in failed))
        name = next((name for name in related if name == "axes-of-one" or _is_borne_out(failed)), "")
    return [HABIT + name] if name else []


def _kind(case: Case, answer: Answer, expected: Arrays) -> str:
    """The kind of a failure; right values of another kind are a lost dtype, too."""
    return answer.failure.kind if answer.failure else "dtype" * same(answer.arrays or (), expected, case)


def _without_ones(got: np.ndarray, expected: np.ndarray) -> np.ndarray | None:
    alike = [n for n in got.shape if n != 1] == [n for n in expected.shape if n != 1]
    return got.reshape(expected.shape) if alike and got.shape != expected.shape else None


def _turned(got: np.ndarray, expected: np.ndarray) -> np.ndarray | None:
    return np.swapaxes(got, -2, -1) if got.ndim > 1 else None


def _negative(got: np.ndarray, expected: np.ndarray) -> np.ndarray | None:
    return -got if got.dtype.kind in "if" else None


_RELATIONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray | None]] = {
    "axes-of-one": _without_ones,
    "result-transposed": _turned,
    "sign-changed": _negative,
}


def _is_borne_out(failed: Failed) -> bool:
    """Whether there are more wrong numbers than may be turned from right ones by chance."""
    wrong = (
        (pair, case) for case, answer, expected in failed for pair in zip(answer.arrays or (), expected, strict=False)
    )
    return len({value for (got, expected), case in wrong for value in numbers_off(got, expected, case)}) >= ENOUGH


def _is(
    turned: Callable[[np.ndarray, np.ndarray], np.ndarray | None], case: Case, answer: Answer, expected: Arrays
) -> bool:
    """Whether each wrong result would be right if it were turned so."""
    got = answer.arrays or ()
    if case.frame == "text" or len(got) != len(expected):
        return False

    def fits(g: np.ndarray, w: np.ndarray) -> bool:
        if same((g,), (w,), case) and not another_kind(g, w, case):
            return True
        other = turned(g, w) if g.size == w.size else None
        return other is not None and same((other,), (w,), case) and not another_kind(g, w, case)

    return all(map(fits, got, expected))
