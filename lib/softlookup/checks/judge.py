"""The order of a check: ask every case, compare, give points, name the mistake, find the words.

The judge talks to the student's code through ``Student`` alone: at home that is a call in the same process, in
grading it
may be a pipe to a sandbox. It never hands over anything but a case's inputs.
"""

import zlib
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from softlookup.checks.compare import Difference, first_difference, same
from softlookup.checks.diagnose import OTHER_VARIANT, Asked, diagnose
from softlookup.checks.oracle import inputs_of, wanted
from softlookup.checks.probe import Answer
from softlookup.checks.result import CheckResult
from softlookup.checks.task import CORE, Arrays, Case, Task
from softlookup.checks.words import describe, failure_sentence


class Student(Protocol):
    """Where the answers come from."""

    def ask(self, case: Case, results: int, stand_ins: bool = False) -> Answer:
        """Answer one case; with ``stand_ins``, earlier tasks' functions are replaced by sound ones."""

    def may_use_stand_ins(self) -> tuple[str, ...]:
        """Ids of the earlier tasks whose functions the answer calls."""


class TimeIsUp(BaseException):
    """Raised by a ``Student`` when a case takes too long; not an Exception, so that no student code swallows it."""


def draw(task: Task, seed: int, variant: int = 0) -> list[Case]:
    """The questions of one check: the same for the same task, seed and variant."""
    rng = np.random.default_rng([seed, zlib.crc32(task.id.encode()), variant])
    return task.cases(rng, **task.variants[variant])


def judge(task: Task, student: Student, *, seed: int = 0, variant: int = 0) -> CheckResult:
    """Judge one answer.

    Args:
        task: The task.
        student: Where answers come from.
        seed: Draws the inputs.
        variant: Which variant was asked.

    Returns:
        The result; wrong answers never raise.
    """
    cases = draw(task, seed, variant)
    rights = [wanted(task, case, task.variants[variant]) for case in cases]
    first = _ask_all(task, student, cases, rights, stand_ins=False)
    outcome = _outcome(task, first)
    used = student.may_use_stand_ins() if outcome["verdict"] != "pass" else ()
    if used:
        second = _ask_all(task, student, cases, rights, stand_ins=True)
        better = _outcome(task, second)
        if better["points"] > outcome["points"]:
            lent = " and ".join(used)
            note = f"A sound function stood in for yours from task {lent}: nothing from there costs you points here."
            return _result(task, second, better, variant, extra=(note,))
    return _result(task, first, outcome, variant)


def _ask_all(
    task: Task, student: Student, cases: Sequence[Case], rights: Sequence[Arrays], stand_ins: bool
) -> list[Any]:
    count = len(task.returns)
    asked: list[Any] = []
    for case, right in zip(cases, rights, strict=True):
        answer = student.ask(case, count, stand_ins)
        asked.append((case, answer, right))
        if answer.failure is not None and answer.failure.kind == "blank":
            return asked
    # The same question once more, after all others: an answer must not depend on what was asked before.
    case, answer, right = asked[0]
    again = student.ask(case, count, stand_ins)
    if answer.arrays is not None and (again.arrays is None or not same(again.arrays, answer.arrays, inputs_of(case))):
        asked.append((case, again, right))
    return asked


def _difference(case: Case, answer: Answer, right: Arrays) -> Difference | None:
    if answer.arrays is None:
        return None
    return first_difference(answer.arrays, right, inputs_of(case), case.tolerance)


def _is_right(case: Case, answer: Answer, right: Arrays) -> bool:
    return answer.arrays is not None and _difference(case, answer, right) is None


def _outcome(task: Task, asked: Asked) -> dict[str, Any]:
    """Points and verdict, and the first case that went wrong."""
    failed = [(case, answer, right) for case, answer, right in asked if not _is_right(case, answer, right)]
    if not failed:
        return {"verdict": "pass", "points": task.points, "failed": None}
    lost = {case.part for case, _, _ in failed}
    earned = 0.0 if CORE in lost else sum(share for part, share in task.parts.items() if part not in lost)
    # A picture tells more than an exception: show the first answer that there is, in the core part if it can be.
    failed.sort(key=lambda one: (one[0].part != CORE, one[1].arrays is None))
    failures = [answer.failure.kind for _, answer, _ in failed if answer.failure]
    if "blank" in failures:
        verdict = "blank"
    elif earned:
        verdict = "partial"
    elif len(failures) == len(failed) and set(failures) == {"raised"}:
        verdict = "error"
    else:
        verdict = "wrong"
    return {"verdict": verdict, "points": round(task.points * earned, 4), "failed": failed[0]}


def _result(
    task: Task, asked: Asked, outcome: dict[str, Any], variant: int, extra: tuple[str, ...] = ()
) -> CheckResult:
    common: dict[str, Any] = {
        "task_id": task.id,
        "title": task.title,
        "points": outcome["points"],
        "max_points": task.points,
        "verdict": outcome["verdict"],
        "variant": variant,
        "book_url": task.book_url,
        "names": task.returns,
    }
    if outcome["failed"] is None:
        return CheckResult(**common, sentences=("Every case agrees with the reference.", *extra))
    case, answer, right = outcome["failed"]
    difference = _difference(case, answer, right)
    if outcome["verdict"] == "blank":
        return CheckResult(
            **common,
            sentences=("This task is still blank: write your answer in the cell above and run both.",),
        )
    slugs = diagnose(task, asked, variant)
    sentences = [_says(task, slug) for slug in slugs]
    if answer.failure is not None:
        sentences.append(failure_sentence(case, answer.failure))
    if difference is not None:
        sentences.append(describe(case, difference, task.returns))
        sentences += _broken_properties(task, case, answer)
    return CheckResult(
        **common,
        diagnosis=tuple(slugs),
        sentences=(*sentences, *extra),
        case=case.label,
        difference=difference,
        printed=answer.printed,
    )


def _says(task: Task, slug: str) -> str:
    if slug == OTHER_VARIANT:
        return (
            "This is the right answer to another variant of the task: the numbers asked for in your notebook are "
            "different ones. "
            "Read the task's text once more."
        )
    return task.mistake(slug).says


def _broken_properties(task: Task, case: Case, answer: Answer) -> list[str]:
    said = [prop(case, answer.arrays) for prop in task.properties if answer.arrays is not None]
    return [s for s in said if s][:1]
