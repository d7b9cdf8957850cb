"""The order of a check: draw the questions, ask them, score the answers, diagnose the mistake, word the verdict.

The judge talks to the student's code through ``protocols.Student`` alone, and hands over nothing but a case's inputs.
"""

from collections.abc import Callable, Iterator

from softlookup_inside.asking.case import CORE, Arrays, Case
from softlookup_inside.asking.probe import Answer, TimeIsUp
from softlookup_judge.data.compare import Asked, RoundOutcome, is_right, same, score
from softlookup_judge.data.protocols import Student, StudentApart
from softlookup_judge.data.result import CheckResult
from softlookup_judge.data.variant import Variant, variant_of
from softlookup_judge.judging import ranks
from softlookup_judge.judging.kernels import answers_of_kernel
from softlookup_judge.judging.mistake_results import MistakeResults
from softlookup_judge.judging.questions import TaskQuestions, questions, questions_at_home
from softlookup_judge.mistakes.habits import HABIT, is_slip, names_argument
from softlookup_judge.naming.diagnose import OTHER_VARIANT, diagnose
from softlookup_judge.naming.further import answers_to, confirmed, ignored_argument
from softlookup_judge.naming.verdict import word


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
    """Judge one answer; wrong answers never raise.

    ``seed`` draws inputs where there are no ``task_questions``; ``names``: whether mistakes are looked for; ``copied``
    tells whether the code is a published answer to another variant, and is asked where no numbers tell it.
    """
    task_questions = task_questions or questions(variant, seed)
    outcome, stand_in_ids = _asked_and_scored(variant, student, task_questions)
    mistakes: list[str] = []
    if names and outcome.failed is not None and outcome.verdict != "blank" and not outcome.forbidden:
        mistakes = _diagnosed(variant, student, outcome.rounds, task_questions.mistake_results, stand_in_ids)
        # What a notebook changes is overlooked more often than a habit or two mistakes give the same numbers.
        if len(mistakes) != 1 or mistakes[0].startswith(HABIT):
            mistakes = _diagnosed_again(variant, student, task_questions, outcome, mistakes, copied)
        if not _is_certain(mistakes):
            results = task_questions.mistake_results
            mistakes = ignored_argument(variant, student, outcome.rounds, results, stand_in_ids) or mistakes
    return word(variant, task_questions, outcome, mistakes, stand_in_ids, reveals and variant.task.reveals)


def _asked_and_scored(
    variant: Variant, student: Student, task_questions: TaskQuestions
) -> tuple[RoundOutcome, tuple[str, ...]]:
    """What the answers come to, where it helps with sound earlier functions; and which of these earned points."""
    alone = score(variant.task, ask(variant, student, task_questions))

    def helped(task_ids: tuple[str, ...]) -> RoundOutcome:
        rounds = ask(variant, student, task_questions, task_ids)
        if task_ids:
            rounds = _without_gifts(alone.rounds, rounds, student, len(task_questions.cases))
        return score(variant.task, rounds)

    # Earlier functions are not lent to kernels and ranks, which are run many times: what is lent is compared by calls.
    lends = alone.verdict != "pass" and not any(case.is_recorded for case in task_questions.cases)
    stand_in_ids = student.lendable() if lends else ()
    if not stand_in_ids:
        return alone, ()
    better = helped(stand_in_ids)
    if better.points < alone.points or better.verdict in ("blank", "error"):
        return alone, ()
    if better.points == alone.points:
        return better, ()
    # Which of them were needed? Those that can be left out are the student's own, and sound.
    for lent_id in stand_in_ids:
        without = tuple(task_id for task_id in stand_in_ids if task_id != lent_id)
        if helped(without).points == better.points:
            stand_in_ids = without
    return better, stand_in_ids


def _diagnosed(
    variant: Variant, student: Student, rounds: Asked, mistake_results: MistakeResults, stand_in_ids: tuple[str, ...]
) -> list[str]:
    """What is named for some answers, if further answers agree with it."""
    mistakes = diagnose(variant, rounds, mistake_results)
    return confirmed(variant, student, rounds, mistakes, mistake_results, stand_in_ids)


def _is_certain(mistakes: list[str]) -> bool:
    """Whether what is named is no guess at the code, as a slip is."""
    guesses = [name for name in mistakes if name.startswith(HABIT) and is_slip(name) and not names_argument(name)]
    return bool(mistakes) and not guesses


def _diagnosed_again(
    variant: Variant,
    student: Student,
    task_questions: TaskQuestions,
    outcome: RoundOutcome,
    mistakes: list[str],
    copied: Callable[[], bool] | None,
) -> list[str]:
    """What is overlooked; if no mistake fits, what is named with all that is called computed as the mistakes are."""
    if variant.convention is not None:
        if copied is not None and copied():
            return [OTHER_VARIANT]
        if outcome.points == 0 and _overlooks(variant, student):
            return [OTHER_VARIANT]
    is_named = mistakes or outcome.points or any(case.is_recorded for case in task_questions.cases)
    leans_on = () if is_named else student.lendable(sound_too=True)
    if leans_on:
        rounds = ask(variant, student, task_questions, leans_on)
        return _diagnosed(variant, student, rounds, task_questions.mistake_results, leans_on)
    return mistakes


def _overlooks(variant: Variant, student: Student) -> bool:
    """Whether an answer overlooks something that the notebook changes: it is right where that is as published."""
    task, convention = variant.task, variant.convention
    published = questions_at_home(variant_of(task))
    valued = [pair for pair in zip(published.cases, published.rights, strict=True) if not pair[0].gradients]
    for partly in convention.overlooked() if convention is not None and valued else ():
        if task.frame == "text" and partly.times != 1:
            continue
        cases = [partly.convert_case(case) for case, _ in valued]
        try:
            answers = answers_to(variant, student, cases)
        except (TimeoutError, TimeIsUp):
            return False
        if all(map(is_right, cases, answers, [partly.returned(expected) for _, expected in valued])):
            return True
    return False


def ask(
    variant: Variant, student: Student, task_questions: TaskQuestions, stand_in_ids: tuple[str, ...] = ()
) -> list[tuple[Case, Answer, Arrays]]:
    """Each case with its answer and the right one, up to a blank core case; an unsteady first one comes twice."""
    cases, rights = task_questions.cases, task_questions.rights
    rounds: list[tuple[Case, Answer, Arrays]] = []
    answers: Iterator[Answer]
    # The first question comes once more after all others: an answer must not depend on what was asked before.
    if any(case.world for case in cases):
        count = len(variant.task.returns) - 1
        answers = (ranks.ask_ranks(case, student, count).answer for case in (*cases, cases[0]))
        answers = iter(student.answers_apart()) if isinstance(student, StudentApart) else answers
    elif any(case.grid for case in cases):
        return [*zip(cases, answers_of_kernel(variant, student, cases, rights), rights, strict=True)]
    else:
        answers = student.answers((*cases, cases[0]), len(variant.task.returns), stand_in_ids)
    for case, expected in zip(cases, rights, strict=True):
        answer = next(answers)
        rounds.append((case, answer, expected))
        if answer.failure is not None and answer.failure.kind == "blank" and case.part == CORE:
            return rounds
    case, answer, expected = rounds[0]
    again = next(answers)
    # An answer of another shape is wrong whatever comes the second time, and may be too large to be compared.
    alike = answer.arrays is not None and [a.shape for a in answer.arrays] == [r.shape for r in expected]
    if answer.arrays is not None and alike and (again.arrays is None or not same(again.arrays, answer.arrays, case)):
        rounds.append((case, again, expected))
    return rounds


def _without_gifts(alone: Asked, helped: Asked, student: Student, count: int) -> list[tuple[Case, Answer, Arrays]]:
    """The answers of a round with stand-ins, less those that turned right although the stand-ins changed nothing.

    Such code saw that it is lent to; ``count`` is how many questions there are without the repetition of the first one.
    """
    counted = []
    for at, (case, answer, expected) in enumerate(helped):
        before = alone[min(at, len(alone) - 1)][1] if at < count else answer
        if is_right(case, answer, expected) and not is_right(case, before, expected) and not student.differed(at):
            answer = before
        counted.append((case, answer, expected))
    if len(alone) > count >= len(helped) and not student.differed(0):
        counted.append(alone[count])
    return counted
