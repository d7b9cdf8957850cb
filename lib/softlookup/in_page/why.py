"""Questions on a reader's right answer, made in the page: one of its lines is changed, and both programs are run."""

import contextlib
import io
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np

from softlookup.checking.edit_words import RULES
from softlookup.checking.edits import Function, Mutant, function_in
from softlookup.checking.inside.case import CORE, Arrays, Case
from softlookup.checking.inside.probe import Answer, TimeIsUp, run
from softlookup.checking.kernels import settled, without_numbers
from softlookup.checking.variant import Variant

MOST = 2
"""Questions on one answer."""

_CHANGED = "<changed>"
_MOST_LINES = 50_000
"""Lines that run before a call is ended: a changed line may make a loop endless, and a page has no clock for it."""

_MOST_EDITS, _MOST_CASES, _MOST_ENTRIES = 10, 3, 12

SAME, OTHER, SHAPE, STOPS = EFFECTS = (
    "The same numbers as before.",
    "Other numbers, in an array of the same shape.",
    "A result of another shape.",
    "An exception.",
)


def why_questions(
    variant: Variant, source: str, world: Mapping[str, Any], cases: Sequence[Case], rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Draw questions on an answer that is right.

    Args:
        variant: The task.
        source: The answer's cell.
        world: The names that it has, after it has run.
        cases: The questions of the task's check.
        rng: Draws edits, inputs and the order of the options.

    Returns:
        At most ``MOST`` of them, each with another effect: ``says``, ``code``, ``asks``, ``options``, ``key`` (the
        right option's position), ``right`` and ``wrong`` (what is said of a choice). None where the answer is no
        plain, short function.
    """
    task = variant.task
    function = function_in(source.strip(), task.name)
    if function is None:
        return []
    plain = [case for case in cases if case.part == CORE and not case.gradients]
    plain = sorted(plain, key=_size)[:_MOST_CASES]
    before = [_results(world[task.name], case, variant) for case in plain]
    drawn, effects = [], set[str]()
    for at in rng.permutation(len(function.mutants))[:_MOST_EDITS]:
        mutant = function.mutants[at]
        changed = _made(mutant, task.name, world)
        if changed is None:
            continue
        for number in rng.permutation(len(plain)):
            case, original = plain[number], before[number]
            answer = _results(changed, case, variant)
            effect = _effect(original, answer)
            if effect and effect not in effects:
                effects.add(effect)
                drawn.append(_question(variant, function, mutant, case, (original, answer), effect, rng))
                break
        if len(drawn) == len(EFFECTS):
            break
    drawn.sort(key=lambda question: question["options"][question["key"]] == OTHER)  # what most edits do comes last
    return drawn[:MOST]


def can_ask(source: str, name: str) -> bool:
    """Whether an answer has lines to change: without running anything."""
    function = function_in(source.strip(), name)
    return function is not None and function.can_be_edited


def _size(case: Case) -> int:
    return sum(arg.size for arg in case.args if isinstance(arg, np.ndarray))


def _made(mutant: Mutant, name: str, world: Mapping[str, Any]) -> Callable[..., Any] | None:
    """The changed function, None where its cell does not run."""
    space = dict(world)
    try:
        with _quiet(), _counted():
            exec(compile(mutant.source, _CHANGED, "exec"), space)
    except (Exception, TimeIsUp):  # whatever a changed line does
        return None
    return space.get(name)


def _results(function: Callable[..., Any], case: Case, variant: Variant) -> Answer:
    try:
        with _quiet(), _counted():
            answer = run(function, without_numbers(case), len(variant.task.returns), variant.task.barred)
    except TimeIsUp:
        return Answer(None)
    return settled(case, answer, variant.input_names(case))


@contextlib.contextmanager
def _counted() -> Iterator[None]:
    """Raise ``TimeIsUp`` in an answer that runs too many lines."""
    left, before = _MOST_LINES, sys.gettrace()

    def count(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal left
        file = frame.f_code.co_filename
        if not file.startswith("<") or file.startswith("<frozen"):
            return None  # a library's lines, or those of an import
        left -= 1
        if left < 0:
            raise TimeIsUp
        return count

    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(before)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def _effect(original: Answer, changed: Answer) -> str:
    """What a change does to a result; empty where it is neither a result nor an exception."""
    if original.arrays is None:
        return ""
    if changed.arrays is None:
        return STOPS if changed.failure is not None and changed.failure.kind == "raised" else ""
    pairs = list(zip(original.arrays, changed.arrays, strict=False))
    if len(original.arrays) != len(changed.arrays) or any(a.shape != b.shape for a, b in pairs):
        return SHAPE
    return SAME if all(np.allclose(a, b, 1e-5, 1e-6, equal_nan=True) for a, b in pairs) else OTHER


def _question(
    variant: Variant,
    function: Function,
    mutant: Mutant,
    case: Case,
    answers: tuple[Answer, Answer],
    effect: str,
    rng: np.random.Generator,
) -> dict[str, Any]:
    what, mention = RULES[mutant.rule]
    inputs = ", ".join(
        f"{name} of shape {value.shape}" if isinstance(value, np.ndarray) else f"{name} = {value}"
        for name, value in zip(variant.input_names(case), case.args, strict=True)
    )
    order = rng.permutation(len(EFFECTS))
    original, changed = answers
    line = f"In your `{function.name}`, {mutant.says}."
    return {
        "says": line,
        "code": function.shown(mutant),
        "asks": f"It is called on {inputs} (“{case.label}”). What comes out?",
        "options": [EFFECTS[at] for at in order],
        "key": int(np.flatnonzero([EFFECTS[at] == effect for at in order])[0]),
        "right": f"Right: {what}.\nBefore: {_shown(original)}\nChanged: {_shown(changed)}",
        "wrong": f"No. Think of {mention}.",
    }


def _shown(answer: Answer) -> str:
    """A result, or the exception, in one line or a few."""
    if answer.arrays is None:
        return answer.failure.message if answer.failure is not None else ""
    return "; ".join(map(_array, answer.arrays))


def _array(array: Arrays | np.ndarray) -> str:
    array = np.asarray(array)
    shape = f"shape {array.shape}"
    if array.size > _MOST_ENTRIES:
        first = ", ".join(f"{entry:.4g}" for entry in array.ravel()[:4].astype(float))
        return f"{shape}, and in it {first}, …"
    return f"{shape}: {np.array2string(array, precision=3, separator=', ')}".replace("\n", " ")
