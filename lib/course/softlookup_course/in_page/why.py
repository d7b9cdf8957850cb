"""Questions on a reader's right answer, made in the page: one of its lines is changed, and both programs are run."""

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np

from softlookup_inside.asking import texts
from softlookup_inside.asking.case import CORE, Arrays, Case
from softlookup_inside.asking.printed import quiet
from softlookup_inside.asking.probe import Answer, TimeIsUp, run
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.compare import same
from softlookup_judge.data.variant import Variant
from softlookup_judge.judging.kernels import settled, without_numbers
from softlookup_judge.judging.ranks import ask_ranks
from softlookup_judge.mistakes.habits import RULES
from softlookup_judge.mistakes.student_function import Function, Mutant, function_in

MOST = 2
"""Questions on one answer."""

_CHANGED = "<changed>"
_MOST_LINES = 50_000
"""Lines that run before a call is ended: a changed line may make a loop endless, and a page has no clock for it."""

_MOST_EDITS, _MOST_CASES, _MOST_ENTRIES, _MOST_CHARACTERS = 10, 3, 12, 200

SAME, OTHER, SHAPE, STOPS = EFFECTS = (
    "The same numbers as before.",
    "Other numbers, in an array of the same shape.",
    "A result of another shape.",
    "An exception.",
)
EFFECTS_OF_TEXT = SAME_TEXT, OTHER_TEXT, _ = "The same result as before.", "Another result.", STOPS
WAITS = "Ranks that wait for ever."
EFFECTS_OF_RANKS = (*EFFECTS, WAITS)

_KINDS = {"raised": STOPS, "mismatch": STOPS, **dict.fromkeys(("deadlock", "unsent", "unread"), WAITS)}
"""Effects by the kind of a failure; a send that nobody receives does not end, so that its rank waits, too."""


def why_questions(
    variant: Variant, source: str, world: Mapping[str, Any], cases: Sequence[Case], rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Draw questions on an answer that is right: ``MOST`` at most, each with another effect."""
    task = variant.task
    function = function_in(source.strip(), task.name)
    if function is None:
        return []
    plain = [case for case in cases if case.part == CORE and not case.gradients]
    plain = sorted(plain, key=_size)[:_MOST_CASES]
    before = [_results(world[task.name], case, variant) for case in plain]
    questions, effects = [], set[str]()
    for at in rng.permutation(len(function.mutants))[:_MOST_EDITS]:
        mutant = function.mutants[at]
        changed = _made(mutant, task.name, world)
        if changed is None:
            continue
        for case_index in rng.permutation(len(plain)):
            case, original = plain[case_index], before[case_index]
            answer = _results(changed, case, variant)
            effect = _effect(case, original, answer)
            if effect and effect not in effects:
                effects.add(effect)
                questions.append(_question(variant, function, mutant, case, (original, answer), effect, rng))
                break
        if len(questions) == len(EFFECTS):
            break
    # What most edits do comes last.
    questions.sort(key=lambda question: question["options"][question["key"]] in (OTHER, OTHER_TEXT))
    return questions[:MOST]


def can_ask(source: str, name: str) -> bool:
    """Whether an answer has lines to change: without running anything."""
    function = function_in(source.strip(), name)
    return function is not None and function.can_be_edited


def _options(case: Case) -> tuple[str, ...]:
    if case.frame == "text":
        return EFFECTS_OF_TEXT
    return EFFECTS_OF_RANKS if case.world else EFFECTS


def _size(case: Case) -> int:
    """How many numbers a question has, those of all ranks together."""
    args = [item for arg in case.args for item in (arg if isinstance(arg, list) else [arg])]
    return sum(arg.size for arg in args if isinstance(arg, np.ndarray))


def _made(mutant: Mutant, name: str, world: Mapping[str, Any]) -> Callable[..., Any] | None:
    """The changed function, None where its cell does not run."""
    space = dict(world)
    try:
        with quiet(), _counted():
            exec(compile(mutant.source, _CHANGED, "exec"), space)
    except (Exception, TimeIsUp):  # whatever a changed line does
        return None
    return space.get(name)


def _results(function: Callable[..., Any], case: Case, variant: Variant) -> Answer:
    try:
        with quiet(), _counted():
            if case.world:
                return ask_ranks(case, LocalStudent(variant, function), len(variant.task.returns) - 1).answer
            answer = run(function, without_numbers(case), len(variant.task.returns), variant.task.barred)
    except TimeIsUp:
        return Answer(None)
    return settled(case, answer, variant.input_names(case))


@contextlib.contextmanager
def _counted() -> Iterator[None]:
    """Raise ``TimeIsUp`` in an answer that runs too many lines."""
    remaining, before = _MOST_LINES, sys.gettrace()

    def count(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal remaining
        file = frame.f_code.co_filename
        if not file.startswith("<") or file.startswith("<frozen"):
            return None  # a library's lines, or those of an import
        remaining -= 1
        if remaining < 0:
            raise TimeIsUp
        return count

    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(before)


def _effect(case: Case, original: Answer, changed: Answer) -> str:
    """What a change does to a result; empty where it is none of the effects."""
    if original.arrays is None:
        return ""
    if changed.arrays is None:
        return "" if changed.failure is None else _KINDS.get(changed.failure.kind, "")
    if case.frame == "text":
        return SAME_TEXT if same(changed.arrays, original.arrays, case) else OTHER_TEXT
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
    inputs = ", ".join(map(_input, variant.input_names(case), case.args))
    where = f"on {case.world} {'ranks' if case.world > 1 else 'rank'}, with" if case.world else "on"
    options = _options(case)
    order = rng.permutation(len(options))
    original, changed = answers
    line = f"In your `{function.name}`, {mutant.says}."
    return {
        "says": line,
        "code": function.numbered_lines(mutant),
        "asks": f"It is called {where} {inputs} (“{case.label}”). What comes out?",
        "options": [options[at] for at in order],
        "key": [options[at] for at in order].index(effect),
        "right": f"Right: {what}.\nBefore: {_shown(case, original)}\nChanged: {_shown(case, changed)}",
        "wrong": f"No. Think of {mention}.",
    }


def _input(name: str, value: Any) -> str:
    """What an argument is; a list is that of all ranks."""
    if isinstance(value, list) and value and all(isinstance(item, np.ndarray) for item in value):
        shapes = [str(item.shape) for item in value]
        return f"{name} of shapes {', '.join(shapes)} by rank" if len({*shapes}) > 1 else f"{name} of shape {shapes[0]}"
    if isinstance(value, np.ndarray):
        return f"{name} of shape {value.shape}"
    return f"{name} = {texts.brief(value, _MOST_CHARACTERS)}"


def _shown(case: Case, answer: Answer) -> str:
    """A result, or the exception, in one line or a few."""
    if answer.arrays is None:
        return answer.failure.message if answer.failure is not None else ""
    if case.frame == "text":
        return "; ".join(texts.whole(array, _MOST_CHARACTERS) for array in answer.arrays)
    if not case.world:
        return "; ".join(map(_array, answer.arrays))
    *results, _ = answer.arrays  # the last is the traffic beyond the limits
    count = len(results) // case.world
    by_rank = [results[rank * count : (rank + 1) * count] for rank in range(case.world)]
    return "; ".join(f"rank {rank}: {', '.join(map(_array, arrays))}" for rank, arrays in enumerate(by_rank))


def _array(array: Arrays | np.ndarray) -> str:
    array = np.asarray(array)
    shape = f"shape {array.shape}"
    if array.size > _MOST_ENTRIES:
        first = ", ".join(f"{entry:.4g}" for entry in array.ravel()[:4].astype(float))
        return f"{shape}, and in it {first}, …"
    return f"{shape}: {np.array2string(array, precision=3, separator=', ')}".replace("\n", " ")
