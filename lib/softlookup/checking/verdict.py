"""What the answers of one check come to: verdict and points, the case to show, and the sentences."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlookup.checking.compare import Asked, Difference, first_difference, is_right, same
from softlookup.checking.diagnose import OTHER_VARIANT, SHORTCUT, MistakeResults, each_shows, everywhere
from softlookup.checking.errors import meaning
from softlookup.checking.habits import is_slip
from softlookup.checking.inside.candidates import INSIDES
from softlookup.checking.inside.case import CORE, SINGLE, Arrays, Case
from softlookup.checking.inside.probe import Answer, Failure
from softlookup.checking.result import CheckResult
from softlookup.checking.task import Task
from softlookup.checking.variant import Variant
from softlookup.checking.words import describe, failure_sentence, inputs_in_words

SAME_AS_TWO = (
    "Your function gives the same results as a solution with the following two mistakes. "
    "Your own mistake may be another one."
)
"""What comes before two sentences that were recognised together, and not one by one."""

SAME_EVERYWHERE = (
    "All your results are {}, as they would be with the following mistake. Your own mistake may be another one."
)
"""What comes before sentences on an answer that gives one number in all questions."""

SAME_AS_TIMES = (
    "Your results are right but for the factor {} by which your notebook asks for more. They are also what the "
    "following mistake gives. Your own mistake may be another one."
)
"""What comes before the sentence on a mistake that divides by what a variant's convention multiplies by."""

ORDER = "The arguments come in an order of their own: see *In your notebook* in the text of the task."
"""What is said of an exception that nothing explains, where a variant's convention changes the order."""

SAME_AS_HABIT = "Your function gives the same results as a right answer with this slip."
"""What comes before the sentence on a habit."""

_WARNING = re.compile(r"^\w*Warning: .*\n?", re.MULTILINE)
"""A warning among what an answer prints: beside a right one it is noise."""

RAISED = "raised an exception"
"""What a case came to that raised one."""

_LOOKED_AT = 100_000
"""Cells that a result may have for its properties to be looked at: no right answer has so many."""


@dataclass(frozen=True)
class RoundOutcome:
    """What a round of questions came to.

    Attributes:
        verdict: One of ``result.VERDICTS``.
        points: What was earned.
        rounds: All cases, answers and right answers.
        failed: The one to show, None if all is right.
    """

    verdict: str
    points: float
    rounds: Asked
    failed: tuple[Case, Answer, Arrays] | None


def no_points(variant: Variant, verdict: str, sentence: str, diagnosis: tuple[str, ...] = ()) -> CheckResult:
    """A result without a question asked.

    Args:
        variant: What was asked.
        verdict: One of result.VERDICTS.
        sentence: What to tell the student.
        diagnosis: What the mistake is called, if it has a name.
    """
    task, number = variant.task, variant.number
    readings = task.readings(diagnosis)
    return CheckResult(task.id, task.title, 0.0, task.points, verdict, diagnosis, (sentence,), number, readings)


def used_shortcut(variant: Variant, used: str) -> CheckResult:
    """The result where an answer uses what the task forbids."""
    sentence = f"This task asks you to write it yourself: `{used}`, from whatever library, is not allowed here."
    if used in INSIDES:
        sentence = f"Find it out by calling what you are handed, not by looking inside: `{used}` is not allowed here."
    return no_points(variant, "wrong", sentence, (SHORTCUT,))


def score(task: Task, rounds: Asked) -> RoundOutcome:
    """Compare: points and verdict, and the case to show."""
    failed = [answered for answered in rounds if not is_right(*answered)]
    if not failed:
        return RoundOutcome("pass", task.points, rounds, None)
    for case, answer, right in failed:
        if answer.failure and answer.failure.kind == "shortcut":
            return RoundOutcome("wrong", 0.0, rounds, (case, answer, right))
    lost = {case.part for case, _, _ in failed}
    earned = 0.0 if lost & {CORE, SINGLE} else sum(share for part, share in task.parts.items() if part not in lost)
    # A picture tells more than an exception: show an answer that there is, in the core part if it can be.
    # A lost dtype goes before what follows from it.
    failed.sort(
        key=lambda answered: (
            answered[0].part != CORE,
            not (answered[1].failure and answered[1].failure.kind == "dtype"),
            answered[1].arrays is None,
        )
    )
    kinds = [(case.part, answer.failure.kind if answer.failure else "") for case, answer, _ in failed]
    if (CORE, "blank") in kinds:
        verdict = "blank"
    elif earned:
        verdict = "partial"
    elif {kind for _, kind in kinds} == {"raised"}:
        verdict = "error"
    else:
        verdict = "wrong"
    return RoundOutcome(verdict, round(task.points * earned, 4), rounds, failed[0])


def forbidden_call(outcome: RoundOutcome) -> str:
    """The forbidden name that the answer called, empty if none was seen."""
    failure = outcome.failed[1].failure if outcome.failed else None
    return failure.message if failure is not None and failure.kind == "shortcut" else ""


def case_marks(cases: Sequence[Case], rounds: Asked) -> tuple[tuple[str, str], ...]:
    """What each case is called and came to (see ``panel.CASE_MARKS``); a repetition counts as its case.

    Args:
        cases: All that are asked.
        rounds: Those that were, with the answers.
    """
    came_to = {id(case): "not reached" for case in cases}
    for case, answer, right in rounds:
        if came_to[id(case)] not in ("wrong", RAISED):
            raised = answer.failure is not None and answer.failure.kind in ("raised", "blank")
            came_to[id(case)] = RAISED if raised else "right" if is_right(case, answer, right) else "wrong"
    return tuple((case.label, came_to[id(case)]) for case in cases)


@np.errstate(all="ignore")
def word(
    variant: Variant,
    outcome: RoundOutcome,
    slugs: Sequence[str],
    mistake_results: MistakeResults,
    lent: tuple[str, ...],
    reveals: bool,
) -> CheckResult:
    """Put an outcome into words.

    Args:
        variant: What was asked.
        outcome: What the answers came to.
        slugs: The mistakes that were recognised.
        mistake_results: What known mistakes give.
        lent: The earlier tasks whose functions had to be lent.
        reveals: Whether the expected numbers may be shown.

    Returns:
        The result.
    """
    extra = (_stood_in(lent),) if lent else ()
    task = variant.task
    common: dict[str, Any] = {
        "task_id": task.id,
        "title": task.title,
        "points": outcome.points,
        "max_points": task.points,
        "verdict": outcome.verdict,
        "variant": variant.number,
        "reveals": reveals,
    }
    if outcome.failed is None:
        outputs = ((case, _WARNING.sub("", answer.printed)) for case, answer, _ in outcome.rounds)
        case, printed = next(((case, text) for case, text in outputs if text.strip()), (None, ""))
        if case is not None:
            common |= {"case": case.label, "printed": printed}
        return CheckResult(**common, sentences=("Every case agrees with the reference.", *extra))
    if outcome.verdict == "blank":
        sentence = "This task is still blank: write your answer in the cell above and run both."
        return CheckResult(**common, readings=task.readings(()), sentences=(sentence,))
    if used := forbidden_call(outcome):
        return used_shortcut(variant, used if used in task.barred else task.barred[0])
    case, answer, right = outcome.failed if slugs else _smallest(outcome.rounds, outcome.failed)
    difference = _difference(case, answer, right)
    names, input_names = variant.result_names(case), tuple(variant.input_names(case))
    sentences = _on_mistakes(variant, slugs, outcome.rounds, mistake_results)
    if answer.failure is not None:
        sentences += _on_failure(case, answer.failure, input_names)
        if not slugs:
            if not answer.failure.explained:
                sentences += filter(None, [meaning(answer.failure.message, answer.failure.where)])
            if answer.failure.kind == "raised" and variant.convention and variant.convention.order:
                sentences.append(ORDER)
    if difference is not None:
        sentences.append(describe(case, difference, names, reveals))
        sentences += [sentence for cell, sentence in variant.cells.items() if cell == difference.index]
        sentences += _broken_properties(variant, case, answer)
        sentences += _raised_elsewhere(variant, outcome.rounds, bool(slugs))
    return CheckResult(
        **common,
        names=names,
        readings=task.readings(slugs),
        diagnosis=tuple(slugs),
        sentences=(*sentences, *extra),
        case=case.label,
        inputs=case.args,
        input_names=input_names,
        asked=() if slugs else inputs_in_words(case, input_names),
        question=next(number for number, answered in enumerate(outcome.rounds) if answered[0] is case),
        difference=difference,
        printed=answer.printed,
    )


def _on_mistakes(variant: Variant, slugs: Sequence[str], rounds: Asked, mistake_results: MistakeResults) -> list[str]:
    """The sentences on recognised mistakes, with what has to be said before them."""
    says = [_says(variant.task, slug) for slug in slugs]
    slip = any(map(is_slip, slugs))
    if len(slugs) == 1 and slip:
        says = [SAME_AS_HABIT, *says]
    if len(slugs) > 1 and (slip or not each_shows(variant, slugs, rounds, mistake_results)):
        says = [SAME_AS_TWO, *says]
    elif slugs and list(slugs) != [OTHER_VARIANT] and (times := _times_forgotten(variant, rounds)):
        says = [SAME_AS_TIMES.format(times), *says]
    elif slugs and (number := everywhere(rounds)):
        says = [SAME_EVERYWHERE.format(number), *says]
    return says


def _stood_in(lent: Sequence[str]) -> str:
    """Say for which earlier tasks sound functions were lent."""
    sentence = f"A sound function stood in for yours from task {lent[0]}, which is not right yet"
    if len(lent) > 1:
        many = f"{', '.join(lent[:-1])} and {lent[-1]}"
        sentence = f"Sound functions stood in for yours from tasks {many}, which are not right yet"
    return f"{sentence}: that costs you no points here."


def _times_forgotten(variant: Variant, rounds: Asked) -> int:
    """What a variant's convention multiplies results by, if all results are right but for that; else 0."""
    right = variant.convention
    if right is None or right.times == 1 or variant.task.frame == "text":
        return 0
    scaled = [
        (case, tuple(right.times * array for array in answer.arrays or ()), expected)
        for case, answer, expected in rounds
    ]
    return right.times if all(got and same(got, expected, case) for case, got, expected in scaled) else 0


def _difference(case: Case, answer: Answer, right: Arrays) -> Difference | None:
    return None if answer.arrays is None else first_difference(answer.arrays, right, case)


def _smallest(rounds: Asked, shown: tuple[Case, Answer, Arrays]) -> tuple[Case, Answer, Arrays]:
    """Of the failed cases of the same part and kind of failure, the one with the fewest numbers in its inputs."""

    def kind(answered: tuple[Case, Answer, Arrays]) -> tuple[str, bool, str]:
        case, answer, _ = answered
        return case.part, bool(case.gradients), answer.failure.kind if answer.failure else ""

    alike = [answered for answered in rounds if kind(answered) == kind(shown) and not is_right(*answered)]
    return min(alike, key=lambda answered: sum(np.size(a) for a in answered[0].args if isinstance(a, np.ndarray)))


def _raised_elsewhere(variant: Variant, rounds: Asked, named: bool) -> list[str]:
    """What another case raised: a picture of the one case that gave numbers would hide the plainer word.

    Beside a mistake that has a name this is what the exception means alone.
    """
    for case, answer, _ in rounds:
        if answer.failure is not None and answer.failure.kind == "raised":
            if named:
                explained = answer.failure.explained
                return [f'Case "{case.label}": {explained}'] if explained else []
            return _on_failure(case, answer.failure, variant.input_names(case))
    return []


def _on_failure(case: Case, failure: Failure, names: Sequence[str]) -> list[str]:
    """Why a case has no answer, and what that means at the line that raised."""
    return [failure_sentence(case, failure, names), *filter(None, [failure.explained])]


def _says(task: Task, slug: str) -> str:
    if slug == OTHER_VARIANT:
        return (
            "This would be right with another number or another convention than the one that your notebook asks for: "
            "read the task's text once more."
        )
    return task.mistake(slug).says


def _broken_properties(variant: Variant, case: Case, answer: Answer) -> list[str]:
    arrays = answer.arrays or ()
    if not arrays or not all(0 < array.size <= _LOOKED_AT for array in arrays):
        return []
    sentences = [prop(case, arrays) for prop in variant.properties]
    return [sentence for sentence in sentences if sentence][:1]
