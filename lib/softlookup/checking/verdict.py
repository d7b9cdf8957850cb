"""The words of a verdict: which case to show, where it differs, and what else there is to say of it."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from softlookup.checking import kernels
from softlookup.checking.compare import Asked, Difference, RoundOutcome, first_difference
from softlookup.checking.diagnose import SHORTCUT
from softlookup.checking.errors import meaning
from softlookup.checking.inside import texts
from softlookup.checking.inside.candidates import INSIDES
from softlookup.checking.inside.case import Arrays, Case
from softlookup.checking.inside.probe import FED, Answer, Failure
from softlookup.checking.result import CheckResult
from softlookup.checking.variant import Variant
from softlookup.checking.words import number, shape, which

ORDER = "The arguments come in an order of their own: see *In your notebook* in the text of the task."
"""What is said of an exception that nothing explains, where a variant's convention changes the order."""

_SMALL = 16
"""Numbers that an input may have to be shown in full."""

_WARNING = re.compile(r"^\w*Warning: .*\n?", re.MULTILINE)
"""A warning among what an answer prints: beside a right one it is noise."""

RAISED = "raised an exception"
"""What a case came to that raised one."""

_LOOKED_AT = 100_000
"""Cells that a result may have for its properties to be looked at: no right answer has so many."""


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


def case_marks(cases: Sequence[Case], outcome: RoundOutcome) -> tuple[tuple[str, str], ...]:
    """What each case is called and came to (see ``panel.CASE_MARKS``); a repetition counts as its case.

    Args:
        cases: All that are asked.
        outcome: What the answers to those that were asked came to.
    """
    came_to = {id(case): "not reached" for case in cases}
    for (case, answer, _), right in zip(outcome.rounds, outcome.right, strict=True):
        if came_to[id(case)] not in ("wrong", RAISED):
            raised = answer.failure is not None and answer.failure.kind in ("raised", "blank")
            came_to[id(case)] = RAISED if raised else "right" if right else "wrong"
    return tuple((case.label, came_to[id(case)]) for case in cases)


@np.errstate(all="ignore")
def word(
    variant: Variant,
    outcome: RoundOutcome,
    slugs: Sequence[str],
    on_mistakes: Sequence[str],
    lent: tuple[str, ...],
    reveals: bool,
) -> CheckResult:
    """Put an outcome into words.

    Args:
        variant: What was asked.
        outcome: What the answers came to.
        slugs: The mistakes that were recognised.
        on_mistakes: What is said of them.
        lent: The earlier tasks whose functions had to be lent.
        reveals: Whether the expected numbers may be shown.
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
    if used := outcome.forbidden:
        return used_shortcut(variant, used if used in task.barred else task.barred[0])
    case, answer, right = outcome.failed if slugs else _smallest(outcome, outcome.failed)
    difference = None if answer.arrays is None else first_difference(answer.arrays, right, case)
    names, input_names = variant.result_names(case), tuple(variant.input_names(case))
    sentences = list(on_mistakes)
    if answer.failure is not None:
        sentences += _on_failure(case, answer.failure, input_names)
        if not slugs:
            if not answer.failure.explained:
                sentences += filter(None, [meaning(answer.failure.message, answer.failure.where)])
            if answer.failure.kind == "raised" and variant.convention and variant.convention.order:
                sentences.append(ORDER)
    if difference is not None:
        sentences.append(_described(case, difference, names, reveals))
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
        asked=() if slugs else _inputs_in_words(case, input_names),
        question=next(number for number, answered in enumerate(outcome.rounds) if answered[0] is case),
        difference=difference,
        printed=answer.printed,
    )


def _stood_in(lent: Sequence[str]) -> str:
    """Say for which earlier tasks sound functions were lent."""
    sentence = f"A sound function stood in for yours from task {lent[0]}, which is not right yet"
    if len(lent) > 1:
        many = f"{', '.join(lent[:-1])} and {lent[-1]}"
        sentence = f"Sound functions stood in for yours from tasks {many}, which are not right yet"
    return f"{sentence}: that costs you no points here."


def _smallest(outcome: RoundOutcome, shown: tuple[Case, Answer, Arrays]) -> tuple[Case, Answer, Arrays]:
    """Of the failed cases of the same part and kind of failure, the one with the fewest numbers in its inputs."""

    def kind(answered: tuple[Case, Answer, Arrays]) -> tuple[str, bool, str]:
        case, answer, _ = answered
        return case.part, bool(case.gradients), answer.failure.kind if answer.failure else ""

    marked = zip(outcome.rounds, outcome.right, strict=True)
    alike = [answered for answered, right in marked if not right and kind(answered) == kind(shown)]
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


def _broken_properties(variant: Variant, case: Case, answer: Answer) -> list[str]:
    arrays = answer.arrays or ()
    if not arrays or not all(0 < array.size <= _LOOKED_AT for array in arrays):
        return []
    sentences = [prop(case, arrays) for prop in variant.properties]
    return [sentence for sentence in sentences if sentence][:1]


def _named(difference: Difference, names: tuple[str, ...]) -> str:
    """A result that is a single number, as the subject of a sentence."""
    return f"`{names[difference.result]}`" if len(names) > 1 and difference.result < len(names) else "the result"


def _are_whole(*values: float) -> bool:
    """Whether these are whole numbers that a float holds exactly: then there is nothing to round, or to tolerate."""
    return all(np.isfinite(v) and abs(float(v)) < 2**53 and float(v).is_integer() for v in values)


def _pair(got: float, expected: float) -> tuple[str, str]:
    """Both numbers, with as many digits as it takes to tell them apart; counts in full."""
    if isinstance(expected, np.bool_) and got in (0, 1):
        return str(bool(got)), str(bool(expected))
    if _are_whole(got, expected):
        return f"{got:,.0f}", f"{expected:,.0f}"
    for digits in (6, 10, 17):
        pair = tuple(number(v) if not np.isfinite(v) else f"{float(v):.{digits}g}" for v in (got, expected))
        if pair[0] != pair[1]:
            break
    return pair[0], pair[1]


_NAN_IN_KERNELS = "NaN also stands where a kernel stores nothing, and where a masked load without `other` counts."


def _described(case: Case, difference: Difference, names: tuple[str, ...], reveals: bool) -> str:
    """Where an answer first differs from the right one: got, tolerance, and what is wanted if it may be revealed."""
    prefix = f'Case "{case.label}"'
    if difference.kind == "text":
        name = which(difference, names).removeprefix(" of ")
        message = texts.difference(difference.got, difference.expected, reveals)
        return f"{prefix}: {name + ': ' if name else ''}{message}."
    if difference.kind == "shape":
        message = f"{prefix}: the shape{which(difference, names)} is {shape(difference.got)}, "
        message += f"wanted is {shape(difference.expected)}."
        if difference.got.shape[1:] == difference.expected.shape and difference.got.ndim:
            is_single = difference.got.shape[0] == 1
            many = "did you return several results?" if difference.expected.ndim else "one number is asked for."
            message += " There is one axis too many in front: " + ("take `[0]`." if is_single else many)
        return message
    if case.grid and difference.result == len(case.outputs):
        return f"{prefix}: every value is right, and the kernel {kernels.excess_in_words(case, difference.got)}."
    if difference.kind == "kind":
        return f"{prefix}: {_kinds(difference.got.dtype, difference.expected.dtype, which(difference, names))}"
    index = difference.index or ()
    cell = f"cell {list(index)}{which(difference, names)}" if index else _named(difference, names)
    got, expected = _pair(difference.got[index], difference.expected[index])
    total = difference.got.size
    count = f" {difference.count} of {total} cells differ." if total > 1 else ""
    wanted_part = f", wanted is {expected}" if reveals else ", which is not right"
    exact = not reveals or _are_whole(difference.got[index], difference.expected[index])
    tolerance = float(f"{difference.tolerance:.0e}")  # one digit says enough
    allowed = "" if exact else f" (tolerance {tolerance:g})"
    unwritten = f" {_NAN_IN_KERNELS}" if case.grid and got == "NaN" else ""
    return f"{prefix}: {cell} is {got}{wanted_part}{allowed}.{count}{unwritten}"


def _kinds(got: np.dtype, expected: np.dtype, name: str) -> str:
    """A sentence about right values of another kind than is asked for."""
    came = "True and False" if got.kind == "b" else f"{'floats' if got.kind == 'f' else 'whole numbers'} ({got})"
    values = f"the values{name} are right, but they are {came}, "
    if expected.kind == "b":
        return values + "where True and False are asked for: `~mask` would go wrong. Return booleans."
    if expected.kind == "i" and got.kind in "iu":
        return values + f"and {got} does not hold larger ones: return int64."
    if expected.kind == "i":
        return values + "where whole numbers are asked for, which can be used as indices. Return int64."
    return values + "where floats are asked for, which can be multiplied with other floats. Return floats."


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
    kind = "torch.tensor" if frame == "torch" else "np.array"
    if arg.size > _SMALL:
        return f"{kind}(…), shape {shape(arg)}, {arg.dtype}"
    values = np.round(arg.astype(np.float64), 4) if arg.dtype.kind == "f" else arg
    return f"{kind}({values.tolist()})"
