"""The words of a verdict: what is said of the mistakes, which case is shown, and what else there is to say of it."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from softlookup_inside.asking.candidates import INSIDES
from softlookup_inside.asking.case import Arrays, Case
from softlookup_inside.asking.probe import FED, Answer, Failure
from softlookup_judge.data.compare import Asked, RoundOutcome, first_difference, same
from softlookup_judge.data.result import CheckResult
from softlookup_judge.data.task import Task
from softlookup_judge.data.variant import Variant
from softlookup_judge.data.words import difference_text, number_text, shape
from softlookup_judge.judging.mistake_results import MistakeResults
from softlookup_judge.judging.questions import TaskQuestions
from softlookup_judge.mistakes.errors import meaning, whose
from softlookup_judge.mistakes.habits import HABIT, is_slip
from softlookup_judge.naming.diagnose import OTHER_VARIANT, SHORTCUT, each_shows

ORDER = "The arguments come in an order of their own: see *In your notebook* in the text of the task."
"""What is said of an exception that nothing explains, where a variant's convention changes the order."""

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

SAME_AS_HABIT = "Your function gives the same results as a right answer with this slip."
"""What comes before the sentence on a habit."""

SAYS_OTHER_VARIANT = (
    "This would be right with another number or another convention than the one that your notebook asks for: "
    "read the task's text once more."
)
"""What is said of an answer that is right for another variant."""

_SMALL = 16
"""Numbers that an input may have to be shown in full."""

_WARNING = re.compile(r"^\w*Warning: .*\n?", re.MULTILINE)
"""A warning among what an answer prints: beside a right one it is noise."""

RAISED = "raised an exception"
"""What a case came to that raised one."""

_LOOKED_AT = 100_000
"""Cells that a result may have for its properties to be looked at: no right answer has so many."""


def no_points(variant: Variant, verdict: str, sentence: str, diagnosis: tuple[str, ...] = ()) -> CheckResult:
    """A result without a question asked; the verdict is one of result.VERDICTS."""
    task, variant_number = variant.task, variant.number
    sections = readings(task, diagnosis)
    return CheckResult(task.id, task.title, 0.0, task.points, verdict, diagnosis, (sentence,), variant_number, sections)


def readings(task: Task, diagnosis: Sequence[str]) -> tuple[str, ...]:
    """The sections to read after a diagnosis, or the task's own, as addresses relative to the book's first page."""
    anchors = [m.anchor or task.anchor for mistake_name in diagnosis for m in task.mistakes if m.slug == mistake_name]
    sections = dict.fromkeys(anchors or [task.anchor])
    return tuple(f"book/{at}" if "#" in at else f"book/{task.page}.html#{at}" for at in sections)


def used_shortcut(variant: Variant, used: str) -> CheckResult:
    """The result where an answer uses what the task forbids."""
    sentence = f"This task asks you to write it yourself: `{used}`, from whatever library, is not allowed here."
    if used in INSIDES:
        sentence = f"Find it out by calling what you are handed, not by looking inside: `{used}` is not allowed here."
    return no_points(variant, "wrong", sentence, (SHORTCUT,))


@np.errstate(all="ignore")
def word(
    variant: Variant,
    task_questions: TaskQuestions,
    outcome: RoundOutcome,
    mistake_names: Sequence[str],
    stand_in_ids: tuple[str, ...],
    reveals: bool,
) -> CheckResult:
    """Put an outcome into words; ``stand_in_ids`` are the earlier tasks whose functions had stand-ins."""
    extra = (_stood_in(stand_in_ids),) if stand_in_ids else ()
    task = variant.task
    common: dict[str, Any] = {
        "task_id": task.id,
        "title": task.title,
        "points": outcome.points,
        "max_points": task.points,
        "verdict": outcome.verdict,
        "variant": variant.number,
        "reveals": reveals,
        "cases": _case_marks(task_questions.cases, outcome),
    }
    if outcome.failed is None:
        outputs = ((case, _WARNING.sub("", answer.printed)) for case, answer, _ in outcome.rounds)
        case, printed = next(((case, text) for case, text in outputs if text.strip()), (None, ""))
        if case is not None:
            common |= {"case": case.label, "printed": printed}
        return CheckResult(**common, sentences=("Every case agrees with the reference.", *extra))
    if outcome.verdict == "blank":
        sentence = "This task is still blank: write your answer in the cell above and run both."
        return CheckResult(**common, readings=(task.book_url,), sentences=(sentence,))
    if used := outcome.forbidden:
        return used_shortcut(variant, used if used in task.barred else task.barred[0])
    case, answer, expected = outcome.failed if mistake_names else _smallest(outcome, outcome.failed)
    difference = None if answer.arrays is None else first_difference(answer.arrays, expected, case)
    names, input_names = variant.result_names(case), tuple(variant.input_names(case))
    sentences = _on_mistakes(variant, mistake_names, outcome.rounds, task_questions.mistake_results)
    sections = readings(task, mistake_names)
    if answer.failure is not None:
        sentences += _on_failure(case, answer.failure, input_names)
        task_ids = {earlier.name: earlier.id for earlier in task.earlier}
        sentences += filter(None, [whose(answer.failure, task_ids)])
        if not mistake_names:
            if not answer.failure.explained:
                sentences += filter(None, [meaning(answer.failure.message, answer.failure.where)])
            if answer.failure.kind == "raised" and variant.convention and variant.convention.order:
                sentences.append(ORDER)
    if difference is not None:
        beside = [sentence for cell, sentence in variant.cells.items() if cell == difference.index]
        beside += _broken_properties(variant, case, answer)
        beside += _raised_elsewhere(variant, outcome.rounds, bool(mistake_names))
        sentences += [difference_text(case, difference, names, reveals, outcome.rounds), *beside]
    return CheckResult(
        **common,
        names=names,
        readings=sections,
        diagnosis=tuple(mistake_names),
        sentences=(*sentences, *extra),
        case=case.label,
        inputs=case.args,
        input_names=input_names,
        asked=() if mistake_names else _inputs_in_words(case, input_names),
        question=next(index for index, answered in enumerate(outcome.rounds) if answered[0] is case),
        difference=difference,
        printed=answer.printed,
    )


def _case_marks(cases: Sequence[Case], outcome: RoundOutcome) -> tuple[tuple[str, str], ...]:
    """What each case is called and came to (see ``panel.CASE_MARKS``); a repetition counts as its case."""
    came_to = {id(case): "not reached" for case in cases}
    for (case, answer, _), is_correct in zip(outcome.rounds, outcome.are_right, strict=True):
        if came_to[id(case)] not in ("wrong", RAISED):
            raised = answer.failure is not None and answer.failure.kind in ("raised", "blank")
            came_to[id(case)] = RAISED if raised else "right" if is_correct else "wrong"
    return tuple((case.label, came_to[id(case)]) for case in cases)


def _on_mistakes(
    variant: Variant, mistake_names: Sequence[str], rounds: Asked, mistake_results: MistakeResults
) -> list[str]:
    """The sentences on mistakes that ``diagnose`` recognised, with what has to be said before them."""
    says = [SAYS_OTHER_VARIANT if m == OTHER_VARIANT else variant.task.mistake(m).says for m in mistake_names]
    has_slip = any(is_slip(mistake_name) for mistake_name in mistake_names if mistake_name.startswith(HABIT))
    if len(mistake_names) == 1 and has_slip:
        says = [SAME_AS_HABIT, *says]
    if len(mistake_names) > 1 and (has_slip or not each_shows(variant, mistake_names, rounds, mistake_results)):
        says = [SAME_AS_TWO, *says]
    elif mistake_names and list(mistake_names) != [OTHER_VARIANT] and (times := _times_forgotten(variant, rounds)):
        says = [SAME_AS_TIMES.format(times), *says]
    elif mistake_names and (entry_text := _everywhere(rounds)):
        says = [SAME_EVERYWHERE.format(entry_text), *says]
    return says


def _times_forgotten(variant: Variant, rounds: Asked) -> int:
    """What a variant's convention multiplies results by, if all results are right but for that; else 0."""
    convention = variant.convention
    if convention is None or convention.times == 1 or variant.task.frame == "text":
        return 0
    scaled = [
        (case, tuple(convention.times * array for array in answer.arrays or ()), expected)
        for case, answer, expected in rounds
    ]
    return convention.times if all(got and same(got, expected, case) for case, got, expected in scaled) else 0


def _everywhere(rounds: Asked) -> str:
    """The one number in all cells of an answer to all cases, in words: many mistakes give it; else empty."""
    valued = [answered for answered in rounds if not answered[0].gradients]
    if any(answer.arrays is None or case.frame == "text" for case, answer, _ in valued):
        return ""
    rights = [expected_arrays for _, _, expected_arrays in valued]
    if all(len(arrays) == 1 and arrays[0].dtype.kind == "b" and not arrays[0].ndim for arrays in rights):
        return ""
    got, expected = (
        {float(entry) for arrays in many for array in arrays for entry in np.unique(array)}
        for many in ([answer.arrays or () for _, answer, _ in valued], rights)
    )
    if len(got) > 1 or len(expected) == 1:
        return ""
    truth = all(array.dtype.kind == "b" for arrays in rights for array in arrays)
    return str(bool(got.pop())) if truth else number_text(got.pop())


def _stood_in(task_ids: Sequence[str]) -> str:
    """Say for which earlier tasks sound functions were lent."""
    sentence = f"A sound function stood in for yours from task {task_ids[0]}, which is not right yet"
    if len(task_ids) > 1:
        many = f"{', '.join(task_ids[:-1])} and {task_ids[-1]}"
        sentence = f"Sound functions stood in for yours from tasks {many}, which are not right yet"
    return f"{sentence}: that costs you no points here."


def _smallest(outcome: RoundOutcome, failed: tuple[Case, Answer, Arrays]) -> tuple[Case, Answer, Arrays]:
    """Of the failed cases of the same part and kind of failure, the one with the fewest numbers in its inputs."""

    def group_of(answered: tuple[Case, Answer, Arrays]) -> tuple[str, bool, str]:
        case, answer, _ = answered
        return case.part, bool(case.gradients), answer.failure.kind if answer.failure else ""

    marked = zip(outcome.rounds, outcome.are_right, strict=True)
    alike = [answered for answered, is_correct in marked if not is_correct and group_of(answered) == group_of(failed)]
    return min(alike, key=lambda answered: sum(np.size(a) for a in answered[0].args if isinstance(a, np.ndarray)))


def _raised_elsewhere(variant: Variant, rounds: Asked, is_named: bool) -> list[str]:
    """What another case raised, or beside a named mistake what that means: it says more than a picture of one case."""
    for case, answer, _ in rounds:
        if answer.failure is not None and answer.failure.kind == "raised":
            if is_named:
                explained = answer.failure.explained
                return [f'Case "{case.label}": {explained}'] if explained else []
            return _on_failure(case, answer.failure, variant.input_names(case))
    return []


def _broken_properties(variant: Variant, case: Case, answer: Answer) -> list[str]:
    arrays = answer.arrays or ()
    if not arrays or not all(0 < array.size <= _LOOKED_AT for array in arrays):
        return []
    sentences = [prop(case, arrays) for prop in variant.properties]
    return [sentence for sentence in sentences if sentence][:1]


def _on_failure(case: Case, failure: Failure, names: Sequence[str]) -> list[str]:
    """Why a case has no answer, and what that means at the line that raised; ``names`` are those of its inputs."""
    if failure.kind == "blank":
        return [f'Case "{case.label}": your function raises NotImplementedError.']
    where = f" ({failure.where})" if failure.where else ""
    message = failure.message.rstrip(".")
    if case.fed and failure.kind in FED:
        message = re.sub(rf"[Aa]rgument {case.fed[0] + 1}\b", f"`{names[case.fed[0]]}`", message)
    return [f'Case "{case.label}": {message}{where}.', *filter(None, [failure.explained])]


def _inputs_in_words(case: Case, names: Sequence[str]) -> tuple[str, ...]:
    """What a case hands over, a line for each input: small ones as Python writes them, of others shape and dtype."""
    return tuple(f"{name} = {_written(arg, case.frame)}" for name, arg in zip(names, case.args, strict=True))


def _written(arg: Any, frame: str) -> str:
    if not isinstance(arg, np.ndarray):
        text = repr(arg)
        return text if len(text) <= 200 else f"{text[:200]} …"
    constructor = "torch.tensor" if frame == "torch" else "np.array"
    if arg.size > _SMALL:
        return f"{constructor}(…), shape {shape(arg)}, {arg.dtype}"
    values = np.round(arg.astype(np.float64), 4) if arg.dtype.kind == "f" else arg
    return f"{constructor}({values.tolist()})"
