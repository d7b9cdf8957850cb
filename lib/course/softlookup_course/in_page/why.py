"""Questions on a reader's right answer, made in the page: one of its lines is changed, and both programs are run."""

import contextlib
import itertools
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
from softlookup_judge.judging.mistake_results import MistakeResults
from softlookup_judge.judging.ranks import ask_ranks
from softlookup_judge.mistakes.habits import RULES
from softlookup_judge.mistakes.student_function import Function, Mutant, function_in

MOST = 2
"""Questions on one answer."""

_CHANGED = "<changed>"
_MOST_LINES = 50_000
"""Lines that run before a call is ended: a changed line may make a loop endless, and a page has no clock for it."""

_MOST_EDITS, _MOST_CASES, _MOST_ENTRIES, _MOST_CHARACTERS = 10, 3, 12, 200

_TEXTS, _WIDEST = 3, 80
"""Texts among the options of a question on an answer of text, and the characters of one."""

SAME, OTHER, SHAPE, STOPS = EFFECTS = (
    "The same numbers as before.",
    "Other numbers, in an array of the same shape.",
    "A result of another shape.",
    "An exception.",
)
SAME_TEXT, OTHER_TEXT = "the text that came before", "another text"
WAITS = "Ranks that wait for ever."
EFFECTS_OF_RANKS = (*EFFECTS, WAITS)

_KINDS = {"raised": STOPS, "mismatch": STOPS, **dict.fromkeys(("deadlock", "unsent", "unread"), WAITS)}
"""Effects by the kind of a failure; a send that nobody receives does not end, so that its rank waits, too."""


def why_questions(
    variant: Variant,
    source: str,
    world: Mapping[str, Any],
    cases: Sequence[Case],
    rng: np.random.Generator,
    known: MistakeResults | None = None,
) -> list[dict[str, Any]]:
    """Draw questions on an answer that is right: ``MOST`` at most, each with another effect.

    ``known`` is what known mistakes give: where answers are texts, options come from there.
    """
    task = variant.task
    function = function_in(source.strip(), task.name)
    if function is None:
        return []
    plain = [case for case in cases if case.part == CORE and not case.gradients]
    plain = sorted(plain, key=_size)[:_MOST_CASES]
    before = [_results(world[task.name], case, variant) for case in plain]
    questions: dict[str, dict[str, Any]] = {}
    mutants = [function.mutants[at] for at in rng.permutation(len(function.mutants))[:_MOST_EDITS]]
    for mutant in mutants:
        changed = _made(mutant, task.name, world)
        if changed is None:
            continue
        for case_index in rng.permutation(len(plain)):
            case, original = plain[case_index], before[case_index]
            answer = _results(changed, case, variant)
            effect = _effect(case, original, answer)
            if not effect or effect in questions:
                continue
            question = _question(variant, function, mutant, case, (original, answer))
            if case.frame == "text":
                others = _others(variant, case, mutants, world, rng, known)
                choice = _text_choice(effect, (original, answer), others, rng)
            else:
                choice = _choice(effect, EFFECTS_OF_RANKS if case.world else EFFECTS, rng)
            if choice:
                where = choice.pop("where", "")
                question["asks"] += f" What comes out{', ' * bool(where)}{where}?"
                questions[effect] = question | choice
                break
        if len(questions) == len(EFFECTS):
            break
    # What most edits do comes last.
    return [questions[effect] for effect in sorted(questions, key=lambda each: each in (OTHER, OTHER_TEXT))][:MOST]


def can_ask(source: str, name: str) -> bool:
    """Whether an answer has lines to change: without running anything."""
    function = function_in(source.strip(), name)
    return function is not None and function.can_be_edited


def _choice(effect: str, options: Sequence[str], rng: np.random.Generator) -> dict[str, Any]:
    """The options of a question in an order that is drawn, and which of them is right."""
    order = rng.permutation(len(options)).tolist()
    return {"options": [options[at] for at in order], "key": order.index(options.index(effect))}


def _text_choice(
    effect: str, answers: tuple[Answer, Answer], others: Iterator[Arrays], rng: np.random.Generator
) -> dict[str, Any]:
    """The same where answers are texts: these are the options, and an exception; empty where there is one text only."""
    original, changed = (answer.arrays for answer in answers)
    assert original is not None  # no question is asked of an input that raises
    key_result = original if changed is None else changed
    every = [key_result]
    where, text_options = _texts(every)
    for other in itertools.chain([original], others):
        where_of_all, all_options = _texts([*every, other])
        if len({*all_options}) > len(every):
            every, where, text_options = [*every, other], where_of_all, all_options
        if len(every) == _TEXTS:
            break
    if len(every) < 2:
        return {}
    choice = _choice(STOPS if effect == STOPS else text_options[0], [*text_options, STOPS], rng)
    return choice | {"where": where, "codes": [at for at, option in enumerate(choice["options"]) if option != STOPS]}


def _others(
    variant: Variant,
    case: Case,
    mutants: Sequence[Mutant],
    world: Mapping[str, Any],
    rng: np.random.Generator,
    known: MistakeResults | None,
) -> Iterator[Arrays]:
    """What wrong programs give for an input: those with the task's known mistakes first, then other edits."""
    mistakes = [mistake for mistake in variant.task.mistakes if mistake.symptom is None and known is not None]
    for at in rng.permutation(len(mistakes)):
        arrays = known.by(variant, (mistakes[at].slug,), case) if known is not None else None
        if arrays is not None:
            yield arrays
    for mutant in mutants:
        changed = _made(mutant, variant.task.name, world)
        answer = None if changed is None else _results(changed, case, variant)
        if answer is not None and answer.arrays is not None:
            yield answer.arrays


def _texts(results: Sequence[Arrays], most: int = _WIDEST) -> tuple[str, list[str]]:
    """Results of text as Python writes them, and where they begin to be shown."""
    values = [[texts.to_value(array) for array in arrays] for arrays in results]
    return texts.side_by_side([value[0] if len(value) == 1 else value for value in values], most)


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
    variant: Variant, function: Function, mutant: Mutant, case: Case, answers: tuple[Answer, Answer]
) -> dict[str, Any]:
    """What is said of a changed line, without the options."""
    what, mention = RULES[mutant.rule]
    inputs = ", ".join(map(_input, variant.input_names(case), case.args))
    where = f"on {case.world} {'ranks' if case.world > 1 else 'rank'}, with" if case.world else "on"
    begins, (before, after) = _both(case, *answers)
    return {
        "says": f"In your `{function.name}`, {mutant.says}.",
        "code": function.numbered_lines(mutant),
        "asks": f"It is called {where} {inputs} (“{case.label}”).",
        "right": f"Right: {what}.\nBefore{begins}: {before}\nChanged{begins}: {after}",
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


def _both(case: Case, original: Answer, changed: Answer) -> tuple[str, list[str]]:
    """The results before and after, in one line or a few, and where texts begin to be shown, after a comma."""
    if case.frame == "text" and original.arrays is not None and changed.arrays is not None:
        where, pair = _texts([original.arrays, changed.arrays], _MOST_CHARACTERS)
        return f"{', ' * bool(where)}{where}", pair
    return "", [_shown(case, original), _shown(case, changed)]


def _shown(case: Case, answer: Answer) -> str:
    """A result, or the exception, in one line or a few."""
    if answer.arrays is None:
        return answer.failure.message if answer.failure is not None else ""
    if case.frame == "text":
        return _texts([answer.arrays], _MOST_CHARACTERS)[1][0]
    arrays = answer.arrays[:-1] if case.is_recorded else answer.arrays  # the last is the traffic beyond the limits
    if not case.world:
        return "; ".join(map(_array, arrays))
    count = len(arrays) // case.world
    by_rank = [arrays[rank * count : (rank + 1) * count] for rank in range(case.world)]
    return "; ".join(f"rank {rank}: {', '.join(map(_array, results))}" for rank, results in enumerate(by_rank))


def _array(array: Arrays | np.ndarray) -> str:
    array = np.asarray(array)
    shape = f"shape {array.shape}"
    if array.size > _MOST_ENTRIES:
        first = ", ".join(f"{entry:.4g}" for entry in array.ravel()[:4].astype(float))
        return f"{shape}, and in it {first}, …"
    return f"{shape}: {np.array2string(array, precision=3, separator=', ')}".replace("\n", " ")
