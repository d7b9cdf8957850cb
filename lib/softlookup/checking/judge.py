"""The order of a check: ask every case, compare, give points, name the mistake, find the words.

The judge talks to the student's code through ``protocols.Student`` alone: at home that is a call in the same process,
in grading it may be a pipe to a sandbox. It never hands over anything but a case's inputs.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from softlookup.checking.compare import Difference, first_difference, same
from softlookup.checking.diagnose import (
    OTHER_VARIANT,
    SHORTCUT,
    Asked,
    MistakeResults,
    diagnose,
    each_shows,
    everywhere,
    is_right,
)
from softlookup.checking.errors import meaning
from softlookup.checking.habits import HABIT, is_slip
from softlookup.checking.inside.candidates import INSIDES
from softlookup.checking.inside.case import CORE, SINGLE, Arrays, Case
from softlookup.checking.inside.probe import Answer
from softlookup.checking.oracle import expected_results, mistaken
from softlookup.checking.overlooked import overlooks
from softlookup.checking.protocols import Student
from softlookup.checking.result import CheckResult
from softlookup.checking.task import Task
from softlookup.checking.variant import Variant, variant_of
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

HOME_SEED = 4
"""At home the inputs are the same every time, so that a picture can be compared with the one before."""

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


@dataclass(frozen=True)
class TaskQuestions:
    """What one check asks, with the right answers: drawn once, it may serve for a whole class.

    Attributes:
        cases: The questions, in the order in which they are asked.
        rights: The right answer to each.
        mistake_results: What known mistakes give in these cases, as far as it was asked for (see ``diagnose``).
    """

    cases: tuple[Case, ...]
    rights: tuple[Arrays, ...]
    mistake_results: MistakeResults = field(default_factory=MistakeResults)


def questions(variant: Variant, seed: int, *, shuffled: bool = False) -> TaskQuestions:
    """Draw the questions of one check and answer them.

    Args:
        variant: What is asked.
        seed: Draws the inputs, and the order.
        shuffled: Whether they come in another order for each seed: an answer must not count its calls.
    """
    cases = draw(variant, seed)
    if shuffled:
        order = _generator(variant, seed, 1).permutation(len(cases))
        cases = [cases[i] for i in order]
    return TaskQuestions(tuple(cases), tuple(expected_results(variant, case) for case in cases))


@lru_cache(maxsize=32)
def questions_at_home(variant: Variant) -> TaskQuestions:
    """The questions that a check at home asks: drawn and answered at the first check of a task, or written down."""
    prepared = variant.task.prepared
    return prepared.questions[variant.number] if prepared is not None else questions(variant, HOME_SEED)


def draw(variant: Variant, seed: int) -> list[Case]:
    """The questions of one check: the same for the same variant and seed."""
    cases = variant.cases(_generator(variant, seed))
    if not variant.task.cuts:
        return cases
    return [*cases, *(case for case in with_axes_of_one(cases) if _can_be_asked(variant, case))]


def _generator(variant: Variant, *seed: int) -> np.random.Generator:
    first, *rest = seed
    return np.random.default_rng([first, zlib.crc32(variant.task.id.encode()), variant.number, *rest])


def with_axes_of_one(cases: Sequence[Case]) -> Iterator[Case]:
    """The first core question with one axis after another cut to length 1, in all inputs that have an axis so long.

    A batch of one, a single token and width 1 are where ``squeeze`` and broadcasting go wrong. Sizes are unequal in a
    question, so that an axis is known by its length; a number among the arguments that equals it keeps it whole.
    """
    valued = (case for case in cases if case.part == CORE and not case.gradients and not case.sizes)
    base = next((case for case in valued if not any(isinstance(a, list | dict | tuple | str) for a in case.args)), None)
    if base is None or base.frame == "text":
        return
    arrays = [arg for arg in base.args if isinstance(arg, np.ndarray)]
    for length in sorted(
        {n for array in arrays for n in array.shape if n > 1} - {a for a in base.args if type(a) is int}
    ):
        args = tuple(
            arg[tuple(slice(1) if n == length else slice(n) for n in arg.shape)] if isinstance(arg, np.ndarray) else arg
            for arg in base.args
        )
        yield replace(base, label=f"the axis of length {length} cut to length 1", args=args, part=SINGLE)


def _can_be_asked(variant: Variant, case: Case) -> bool:
    """Whether a question made from another has a right answer: finite, and the published solution gives it, too."""
    try:
        right = expected_results(variant, case)
    except Exception:  # the inputs do not fit together any more
        return False
    if not all(array.size and np.isfinite(array.astype(np.float64)).all() for array in right):
        return False
    published = mistaken(variant, (), case)
    return published is not None and is_right(case, Answer(published), right)


def judge(
    variant: Variant,
    student: Student,
    *,
    seed: int = 0,
    task_questions: TaskQuestions | None = None,
    reveals: bool = True,
    names: bool = True,
    copied: Callable[[], bool] | None = None,
) -> CheckResult:
    """Judge one answer.

    Args:
        variant: What is asked.
        student: Where answers come from.
        seed: Draws the inputs.
        task_questions: The questions, where they have been drawn already; the seed is not looked at then.
        reveals: Whether the wanted numbers may be shown, if the task allows it.
        names: Whether the mistake is looked for; not where the verdict alone counts.
        copied: Tells whether the code is a published answer to another variant; asked where no numbers tell it.

    Returns:
        The result; wrong answers never raise.
    """
    task_questions = task_questions or questions(variant, seed)
    shown = reveals and variant.task.reveals

    def attempt(lent: tuple[str, ...]) -> RoundOutcome:
        answered = _ask_all(variant, student, task_questions.cases, task_questions.rights, lent)
        if lent:
            answered = _without_gifts(outcome.rounds, answered, student, len(task_questions.cases))
        return _outcome(variant.task, answered)

    def named(outcome: RoundOutcome) -> list[str]:
        """The known mistakes; if none fits, once more with all that is called computed as the mistakes are."""
        if not names or outcome.failed is None or outcome.verdict == "blank" or _used(outcome):
            return []
        slugs = diagnose(variant, outcome.rounds, task_questions.mistake_results)
        # What a notebook changes is overlooked more often than a habit or two mistakes give the same numbers.
        doubtful = len(slugs) != 1 or slugs[0].startswith(HABIT)
        if doubtful and variant.convention is not None:
            if copied is not None and copied():
                return [OTHER_VARIANT]
            if outcome.points == 0 and overlooks(variant, student, questions_at_home(variant_of(variant.task))):
                return [OTHER_VARIANT]
        leans_on = student.lendable(sound_too=True) if not slugs and outcome.points == 0 else ()
        if leans_on:
            again = _ask_all(variant, student, task_questions.cases, task_questions.rights, leans_on)
            slugs = diagnose(variant, again, task_questions.mistake_results)
        return slugs

    def result(outcome: RoundOutcome, *extra: str) -> CheckResult:
        slugs = named(outcome)
        says = [_says(variant.task, slug) for slug in slugs]
        slip = any(map(is_slip, slugs))
        if len(slugs) == 1 and slip:
            says = [SAME_AS_HABIT, *says]
        if len(slugs) > 1 and (slip or not each_shows(variant, slugs, outcome.rounds, task_questions.mistake_results)):
            says = [SAME_AS_TWO, *says]
        elif slugs and slugs != [OTHER_VARIANT] and (times := _times_forgotten(variant, outcome.rounds)):
            says = [SAME_AS_TIMES.format(times), *says]
        elif slugs and (number := everywhere(outcome.rounds)):
            says = [SAME_EVERYWHERE.format(number), *says]
        return _result(variant, outcome, slugs, says, shown, extra)

    outcome = attempt(())
    lent = student.lendable() if outcome.verdict != "pass" else ()
    if lent:
        better = attempt(lent)
        if better.points >= outcome.points and better.verdict not in ("blank", "error"):
            if better.points == outcome.points:
                return result(better)
            # Which of them were needed? Those that can be left out are the student's own, and sound.
            for lent_id in lent:
                without = tuple(task_id for task_id in lent if task_id != lent_id)
                if attempt(without).points == better.points:
                    lent = without
            return result(better, _stood_in(lent))
    return result(outcome)


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


def _stood_in(lent: Sequence[str]) -> str:
    """Say for which earlier tasks sound functions were lent."""
    sentence = f"A sound function stood in for yours from task {lent[0]}, which is not right yet"
    if len(lent) > 1:
        many = f"{', '.join(lent[:-1])} and {lent[-1]}"
        sentence = f"Sound functions stood in for yours from tasks {many}, which are not right yet"
    return f"{sentence}: that costs you no points here."


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


def _ask_all(
    variant: Variant, student: Student, cases: Sequence[Case], rights: Sequence[Arrays], lent: tuple[str, ...]
) -> list[tuple[Case, Answer, Arrays]]:
    count = len(variant.returns)
    rounds: list[tuple[Case, Answer, Arrays]] = []
    # The first question comes once more after all others: an answer must not depend on what was asked before.
    answers = student.answers((*cases, cases[0]), count, lent)
    for case, right in zip(cases, rights, strict=True):
        answer = next(answers)
        rounds.append((case, answer, right))
        if answer.failure is not None and answer.failure.kind == "blank" and case.part == CORE:
            return rounds
    case, answer, right = rounds[0]
    again = next(answers)
    # An answer of another shape is wrong whatever comes the second time, and may be too large to be compared.
    alike = answer.arrays is not None and [a.shape for a in answer.arrays] == [r.shape for r in right]
    if answer.arrays is not None and alike and (again.arrays is None or not same(again.arrays, answer.arrays, case)):
        rounds.append((case, again, right))
    return rounds


def _without_gifts(alone: Asked, helped: Asked, student: Student, count: int) -> list[tuple[Case, Answer, Arrays]]:
    """The answers of a round with lent functions, less what these do not account for.

    An answer may turn right because a lent function gave what the student's own does not give. Where all of them gave
    the same, it turned right because the code saw that it is lent to, and the answer without them counts.

    Args:
        alone: The answers without lent functions; fewer than asked if it is blank.
        helped: The answers with them.
        student: Tells whether the lent functions gave something else.
        count: How many questions were asked, the repetition of the first one aside.
    """
    counted = []
    for at, (case, answer, right) in enumerate(helped):
        before = alone[min(at, len(alone) - 1)][1] if at < count else answer
        if is_right(case, answer, right) and not is_right(case, before, right) and not student.differed(at):
            answer = before
        counted.append((case, answer, right))
    if len(alone) > count >= len(helped) and not student.differed(0):
        counted.append(alone[count])
    return counted


def _used(outcome: RoundOutcome) -> str:
    """The forbidden name that the answer called, empty if none was seen."""
    failure = outcome.failed[1].failure if outcome.failed else None
    return failure.message if failure is not None and failure.kind == "shortcut" else ""


def _difference(case: Case, answer: Answer, right: Arrays) -> Difference | None:
    return None if answer.arrays is None else first_difference(answer.arrays, right, case)


def _outcome(task: Task, rounds: Asked) -> RoundOutcome:
    """Points and verdict, and the case to show."""
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


@np.errstate(all="ignore")
def _result(
    variant: Variant,
    outcome: RoundOutcome,
    slugs: list[str],
    says: list[str],
    reveals: bool,
    extra: tuple[str, ...] = (),
) -> CheckResult:
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
        return CheckResult(**common, sentences=("Every case agrees with the reference.", *extra))
    if outcome.verdict == "blank":
        sentence = "This task is still blank: write your answer in the cell above and run both."
        return CheckResult(**common, readings=task.readings(()), sentences=(sentence,))
    if used := _used(outcome):
        return used_shortcut(variant, used if used in task.barred else task.barred[0])
    case, answer, right = outcome.failed if slugs else _smallest(outcome.rounds, outcome.failed)
    difference = _difference(case, answer, right)
    names, input_names = variant.result_names(case), tuple(variant.input_names(case))
    sentences = list(says)
    if answer.failure is not None:
        sentences.append(failure_sentence(case, answer.failure, input_names))
        if not slugs:
            sentences += filter(None, [meaning(answer.failure.message, answer.failure.where)])
            if answer.failure.kind == "raised" and variant.convention and variant.convention.order:
                sentences.append(ORDER)
    if difference is not None:
        sentences.append(describe(case, difference, names, reveals))
        sentences += [sentence for cell, sentence in variant.cells.items() if cell == difference.index]
        sentences += _broken_properties(variant, case, answer)
        if not slugs:
            sentences += _raised_elsewhere(variant, outcome.rounds)
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


def _smallest(rounds: Asked, shown: tuple[Case, Answer, Arrays]) -> tuple[Case, Answer, Arrays]:
    """Of the failed cases of the same part and kind of failure, the one with the fewest numbers in its inputs."""

    def kind(answered: tuple[Case, Answer, Arrays]) -> tuple[str, bool, str]:
        case, answer, _ = answered
        return case.part, bool(case.gradients), answer.failure.kind if answer.failure else ""

    alike = [answered for answered in rounds if kind(answered) == kind(shown) and not is_right(*answered)]
    return min(alike, key=lambda answered: sum(np.size(a) for a in answered[0].args if isinstance(a, np.ndarray)))


def _raised_elsewhere(variant: Variant, rounds: Asked) -> list[str]:
    """What another case raised: a picture of the one case that gave numbers would hide the plainer word."""
    raised = [(case, answer.failure) for case, answer, _ in rounds if answer.failure is not None]
    raised = [(case, failure) for case, failure in raised if failure.kind == "raised"]
    return [failure_sentence(case, failure, variant.input_names(case)) for case, failure in raised[:1]]


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
