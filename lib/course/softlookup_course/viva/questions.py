"""The kinds of questions that can be asked of a trial; each answer is what a program gave, and so is every option."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from softlookup_course.viva.cases import SHAPES, SMALL, WEIGHTS_IN_WORDS
from softlookup_course.viva.forms import marks_of
from softlookup_course.viva.shown import STOPS, apart, array_text, inputs_text, result_text, shapes_text
from softlookup_course.viva.trials import Outcome, Program, Trial, wrong_parts
from softlookup_course.viva.versions import STEPS
from softlookup_course.viva.words import LIKED, told_apart, verdict_words
from softlookup_inside.asking.case import CORE, Arrays, Case
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.compare import same
from softlookup_judge.data.published import answer
from softlookup_judge.data.variant import Variant
from softlookup_judge.judging.oracle import mistaken
from softlookup_judge.judging.questions import HOME_SEED, questions
from softlookup_judge.mistakes.edit_words import RULES

OPTIONS = 4
LETTERS = "ABCD"
RESULT, EDIT, CHECK, SHAPE, PLACE, YOURS = "result", "edit", "check", "shape", "place", "yours"

_SHAPE_TRAVELS, _CHECK_TRAVELS, _PLACE_TRAVELS, _VERSION_TRAVELS = 1, 2, 2, 2


@dataclass(frozen=True)
class VivaQuestion:
    """One question with four options.

    Attributes:
        kind: What is asked for.
        task: The task's id.
        published: Whether it is about the published answer.
        code: The function with numbered lines, as it is to be shown.
        before: What is said above the code.
        call: The inputs of the call, each with its name; empty where there are none.
        gives: What the changed function returned; empty where that is asked.
        after: What is asked.
        options: Four answers, each what some program gave.
        key: Which of them is right.
        why: What the edit does, and what the check says of it.
        mention: What a good explanation mentions.
        line: The line that is in question, counted from the ``def``.
        travels: How many operations stand between that line and the result.
        about: Names the edit, so that no two questions of a sheet are on the same.
        liking: How much it is about following the code, from -2 to 4; sheets are filled with those first.
        varies: Marks of the student's writing, as ``forms.marks_of`` names them, in which the options differ.
        shows: Marks of the student's writing that whoever reads the question sees.
    """

    kind: str
    task: str
    published: bool
    code: str
    before: str
    call: tuple[str, ...]
    gives: str
    after: str
    options: tuple[str, ...]
    key: int
    why: str
    mention: str
    line: int
    travels: int
    about: tuple[str, ...]
    liking: int = 0
    varies: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()

    @property
    def difficulty(self) -> int:
        """From 1 to 3, by how far the change travels."""
        return 1 + (self.travels >= 2) + (self.travels >= 5)

    @property
    def letter(self) -> str:
        """The letter of the right answer."""
        return LETTERS[self.key]


def questions_on(trial: Trial, rng: np.random.Generator) -> list[VivaQuestion]:
    """All questions that a trial gives, in an order that is drawn."""
    kinds: tuple[Callable[[Trial, np.random.Generator], Iterator[VivaQuestion]], ...] = (
        *(_results, _edits, _checks, _shapes, _places, _versions),
    )
    made = [question for kind in kinds for question in kind(trial, rng)]
    return [made[at] for at in rng.permutation(len(made))]


def _whose(trial: Trial) -> str:
    return "the published" if trial.published else "your"


def _question(
    trial: Trial,
    kind: str,
    code: str,
    program: Program | None,
    options: Sequence[str],
    rng: np.random.Generator,
    **texts: Any,
) -> VivaQuestion:
    """A question whose right option comes first, with its options in an order that is drawn."""
    order = rng.permutation(len(options))
    mutant = program.mutant if program else None
    why, mention = RULES[mutant.rule] if mutant else ("", "")
    defaults: dict[str, Any] = {
        "before": "",
        "call": (),
        "gives": "",
        "why": why[:1].upper() + why[1:].rstrip(".") + ".",
        "mention": mention,
        "line": mutant.line if mutant else 0,
        "travels": mutant.travels if mutant else 0,
        "about": _about(trial, program) if program else (),
        "liking": 1 - trial.rank + (kind in (CHECK, EDIT)) + bool(mutant and mutant.rule in LIKED),
        "shows": () if trial.published else (STEPS, *sorted(set(marks_of(trial.function.called)))),
    }
    return VivaQuestion(
        kind=kind,
        task=trial.check.task.id,
        published=trial.published,
        code=code,
        options=tuple(options[at] for at in order),
        key=int(np.flatnonzero(order == 0)[0]),
        **{**defaults, **texts},
    )


def known_mistake(trial: Trial, question: VivaQuestion) -> str:
    """What the course says of a known mistake that gives the same as an edit, on all inputs; empty if none does."""
    variant = trial.check.variant
    program = next((each for each in trial.mutants if each.mutant and question.about == _about(trial, each)), None)
    for mistake in variant.task.mistakes:
        results = (
            [mistaken(variant, (mistake.slug,), case) for case in trial.cases] if program and mistake.edits else [None]
        )
        if program and all(map(_gives, program.outcomes, results, trial.cases)):
            return mistake.says
    return ""


def _gives(outcome: Outcome | None, result: Arrays | None, case: Case) -> bool:
    return (
        result is not None and outcome is not None and outcome.arrays is not None and same(outcome.arrays, result, case)
    )


def _about(trial: Trial, program: Program) -> tuple[str, ...]:
    mutant = program.mutant
    return (trial.check.task.id, str(mutant.line), mutant.after) if mutant else (trial.check.task.id,)


def _cases(trial: Trial, label: str) -> Iterator[tuple[int, Case]]:
    return ((at, case) for at, case in enumerate(trial.cases) if case.label == label)


def _distinct(
    first: tuple[Outcome, Program], others: Sequence[tuple[Outcome, Program]]
) -> list[tuple[Outcome, Program]]:
    """An outcome and three others, all of them far apart; those come first that share most entries with it."""
    chosen = [first]
    for outcome, program in sorted(others, key=lambda other: -_shared(other[0], first[0])):
        if len(chosen) < OPTIONS and all(apart(outcome.arrays, each.arrays) for each, _ in chosen):
            chosen.append((outcome, program))
    return chosen


def _shared(outcome: Outcome, other: Outcome) -> float:
    """Which part of the entries two results share; -1 where their shapes are not the same."""
    first, second = outcome.arrays, other.arrays
    if first is None or second is None or [a.shape for a in first] != [b.shape for b in second]:
        return -1.0
    alike = [
        np.isclose(a.astype(float), b.astype(float), atol=0.01, equal_nan=True).ravel()
        for a, b in zip(first, second, strict=True)
    ]
    return float(np.concatenate(alike).mean())


def _fitting(trial: Trial, at: int, programs: Sequence[Program]) -> list[tuple[Outcome, Program]]:
    """The programs whose outcome for an input fits into an option."""
    names = trial.check.variant.returns
    outcomes = [(program.outcomes[at], program) for program in programs]
    return [(outcome, program) for outcome, program in outcomes if outcome and result_text(outcome.arrays, names)]


def _shuffled(programs: Sequence[Program], rng: np.random.Generator) -> list[Program]:
    return [programs[at] for at in rng.permutation(len(programs))]


def _results(trial: Trial, rng: np.random.Generator) -> Iterator[VivaQuestion]:
    """Which of four results does a changed line lead to?"""
    names, variant = trial.check.variant.returns, trial.check.variant
    for at, case in _cases(trial, SMALL):
        for key_outcome, program in _fitting(trial, at, trial.mutants):
            others = _fitting(trial, at, [trial.original, *_shuffled(trial.mutants, rng)])
            chosen = _distinct((key_outcome, program), others)
            if len(chosen) < OPTIONS or not apart(key_outcome.arrays, trial.original.outcomes[at].arrays):  # type: ignore[union-attr]
                continue
            yield _question(
                trial,
                RESULT,
                trial.function.shown(program.mutant),
                program,
                [result_text(outcome.arrays, names) for outcome, _ in chosen],
                rng,
                before=f"In {_whose(trial)} `{trial.function.name}`, {_changed(program)}{_weights(trial)}",
                call=inputs_text(variant, case),
                after="What does the changed function return?",
            )


def _edits(trial: Trial, rng: np.random.Generator) -> Iterator[VivaQuestion]:
    """Which of four edits leads to a result?"""
    names, variant = trial.check.variant.returns, trial.check.variant
    for at, case in _cases(trial, SMALL):
        for key_outcome, program in _fitting(trial, at, trial.mutants):
            if key_outcome.arrays is None or not apart(key_outcome.arrays, trial.original.outcomes[at].arrays):  # type: ignore[union-attr]
                continue
            others = [
                pair
                for pair in _fitting(trial, at, _shuffled(trial.mutants, rng))
                if apart(pair[0].arrays, trial.original.outcomes[at].arrays)  # type: ignore[union-attr]
            ]
            chosen = _distinct((key_outcome, program), others)
            lines = [_becomes(trial, each) for _, each in chosen]
            if len(chosen) < OPTIONS or len(set(lines)) < OPTIONS:
                continue
            yield _question(
                trial,
                EDIT,
                trial.function.shown(),
                program,
                lines,
                rng,
                before=f"One line of {_whose(trial)} `{trial.function.name}` was changed.{_weights(trial)}",
                call=inputs_text(variant, case),
                gives=result_text(key_outcome.arrays, names),
                after="Which change was it?",
                liking=1 - trial.rank + 1 + 2 * _has_structure(key_outcome.arrays),
            )


def _checks(trial: Trial, rng: np.random.Generator) -> Iterator[VivaQuestion]:
    """Does the check still pass, and if not, what does it find?"""
    judged = [program for program in trial.mutants if program.wrong is not None]
    if sum(bool(program.wrong) for program in judged) < 2:
        return  # a function that no edit changes is not the one that is shown
    texts = [verdict_words(program.wrong) for program in judged if program.wrong is not None]
    pool = list(dict.fromkeys([text for text in (verdict_words(()), *texts) if text]))
    pool = list(dict.fromkeys([*pool, *_other_verdicts(trial.check.variant)]))
    plain, spoiled = verdict_words({CORE}), False
    likeliest = (verdict_words(()), plain)  # they are among the options: the others are ruled out by what they name
    if not set(texts) - {plain, ""}:
        return
    for program in _shuffled(judged, rng):
        text = verdict_words(program.wrong) if program.wrong is not None else ""
        others: list[str] = []
        drawn = sorted(rng.permutation(len(pool)), key=lambda at: pool[at] not in likeliest)
        for other in (pool[at] for at in drawn):
            if all(told_apart(other, each) for each in (text, *others)):
                others.append(other)
        if not text or len(others) < OPTIONS - 1:
            continue
        if text == plain:  # most edits spoil everything, which is soon seen: one of them is enough
            if spoiled:
                continue
            spoiled = True
        yield _question(
            trial,
            CHECK,
            trial.function.shown(program.mutant),
            program,
            [text, *others[: OPTIONS - 1]],
            rng,
            before=f"In {_whose(trial)} `{trial.function.name}`, {_changed(program)} {ordinary(trial.check.variant)}",
            after="What does the check of the task find in the changed function?",
            travels=max(_CHECK_TRAVELS, program.mutant.travels) if program.mutant else 0,
        )


@cache
def ordinary(variant: Variant) -> str:
    """What the ordinary inputs of a task's check are, one sentence, and whether a mask is among them."""
    cases = [case for case in questions(variant, HOME_SEED).cases if case.part == CORE]
    masks = [[arg for arg in case.args if isinstance(arg, np.ndarray) and arg.dtype == bool] for case in cases]
    named = [name for case in cases for name in variant.input_names(case)]
    if any(masks):
        blind = any(not mask.any(-1).all() for those in masks for mask in those if mask.ndim)
        which = "with a mask" if all(masks) else "some of them with a mask"
        more = ", which may hide everything" if blind else ", which never hides a whole row"
        return f"Ordinary inputs of this task are random numbers, {which}{more}."
    without = ", without a mask" if "mask" in variant.parameters and "mask" not in named else ""
    return f"Ordinary inputs of this task are random numbers of usual size{without}."


@cache
def _other_verdicts(variant: Variant) -> tuple[str, ...]:
    """What the check says of the published answer with each of the task's known mistakes."""
    drawn = questions(variant, HOME_SEED)
    texts = []
    for mistake in variant.task.mistakes:
        try:
            student = LocalStudent(variant, answer(variant, (mistake.slug,)))
            result = judge(variant, student, task_questions=drawn, names=False)
        except Exception:  # a mistake that shows in no numbers, or takes too long
            continue
        texts.append(verdict_words(wrong_parts(result, drawn.cases)))
    return tuple(dict.fromkeys(text for text in texts if text))


def _shapes(trial: Trial, rng: np.random.Generator) -> Iterator[VivaQuestion]:
    """Which shape has the result of a changed function?"""
    for at, case in _cases(trial, SHAPES):
        pool = {
            _shape(outcome): None for program in (trial.original, *trial.mutants) if (outcome := program.outcomes[at])
        }
        for program in trial.mutants:
            outcome = program.outcomes[at]
            if outcome is None or _shape(outcome) == _shape(trial.original.outcomes[at]):  # type: ignore[arg-type]
                continue
            others = [text for text in pool if text != _shape(outcome)]
            if len(others) < OPTIONS - 1:
                continue
            others = [others[number] for number in rng.permutation(len(others))[: OPTIONS - 1]]
            yield _question(
                trial,
                SHAPE,
                trial.function.shown(program.mutant),
                program,
                [_shape(outcome), *others],
                rng,
                before=f"In {_whose(trial)} `{trial.function.name}`, {_changed(program)}",
                call=shapes_text(trial.check.variant, case),
                after="Which shape does the result have?",
                travels=max(_SHAPE_TRAVELS, program.mutant.travels) if program.mutant else 0,
            )


def _shape(outcome: Outcome) -> str:
    return STOPS if outcome.arrays is None else ", ".join(str(tuple(array.shape)) for array in outcome.arrays)


def _places(trial: Trial, rng: np.random.Generator) -> Iterator[VivaQuestion]:
    """Where in the run does a number stand?"""
    for at, case in _cases(trial, SMALL):
        cells: list[tuple[float, str, int, str]] = []
        for program in trial.values:
            outcome = program.outcomes[at]
            array = outcome.arrays[0] if outcome and outcome.arrays else None
            if array is None or array.dtype.kind not in "iuf" or not 1 <= array.ndim <= 2 or array.size > 12:
                continue
            for index in np.ndindex(array.shape):
                where = f"{program.name}[{', '.join(map(str, index))}]"
                cells.append((float(array[index]), where, program.line, f"after line {program.line}"))
        order = [cells[number] for number in rng.permutation(len(cells))]
        moved = {0.0, 1.0, -100.0, *_numbers_in(case)}
        computed = [cell for cell in order if np.isfinite(cell[0]) and cell[0] not in moved]
        for value, where, line, when in computed[:3]:
            if 4 * value != round(4 * value):
                continue
            others: list[tuple[float, str, int, str]] = []
            for cell in sorted(order, key=_nearness(where, line, moved)):
                values = [value, *(other[0] for other in others)]
                if all(abs(cell[0] - other) > 0.08 for other in values) and len(others) < OPTIONS - 1:
                    others.append(cell)
            if len(others) < OPTIONS - 1 or all(other[0] in moved for other in others):
                continue
            texts = [
                f"{cell_where} {cell_when}" for _, cell_where, _, cell_when in [(value, where, line, when), *others]
            ]
            yield _question(
                trial,
                PLACE,
                trial.function.shown(),
                None,
                texts,
                rng,
                before=f"{_whose(trial).capitalize()} `{trial.function.name}` is called, unchanged.{_weights(trial)}",
                call=inputs_text(trial.check.variant, case),
                after=f"Which of these numbers is {array_text(np.array(value))}? Indices count from 0.",
                why=f"{where} is {array_text(np.array(value))} {when}.",
                mention="what the axes of this array stand for, and from which inputs this entry is computed",
                line=line,
                travels=_PLACE_TRAVELS,
                about=(trial.check.task.id, PLACE),
            )


def _versions(trial: Trial, rng: np.random.Generator) -> Iterator[VivaQuestion]:
    """Which of four versions that are all right is the student's?"""
    proved = {program.source for program in trial.versions}
    for versions in trial.version_sets:
        if not proved.issuperset(versions.sources):
            continue
        what = "" if versions.whole else "these lines of "
        yield _question(
            trial,
            YOURS,
            "",
            None,
            versions.texts,
            rng,
            before=f"Four versions of {what}`{trial.function.title}` pass all checks. Variables have other names here.",
            after="Which of them did you hand in?",
            why="This is what was handed in; the other three give the same.",
            mention="what differs between the four, and why they all give the same",
            line=versions.line,
            travels=_VERSION_TRAVELS,
            about=(trial.check.task.id, YOURS),
            varies=versions.varies,
            shows=versions.shows,
        )


def _numbers_in(case: Case) -> set[float]:
    """All numbers that stand in the inputs of a case."""
    arrays = [np.asarray(arg) for arg in case.args if isinstance(arg, np.ndarray | int | float)]
    lists = [row for arg in case.args if isinstance(arg, list) for row in arg]
    return {float(number) for part in (*arrays, *map(np.asarray, lists)) for number in part.flat}


def _nearness(
    where: str, line: int, moved: Collection[float]
) -> Callable[[tuple[float, str, int, str]], tuple[bool, bool, bool]]:
    """Sorts cells: the same one after another line first, then those that are computed, then those of its array."""
    name = where.split("[")[0]
    return lambda cell: (cell[1] != where or cell[2] == line, cell[0] in moved, cell[1].split("[")[0] != name)


def _changed(program: Program) -> str:
    mutant = program.mutant
    assert mutant is not None
    return f"{mutant.says}."


def _weights(trial: Trial) -> str:
    """What small inputs say in words, a sentence behind another; empty where all of them are shown."""
    sentence = WEIGHTS_IN_WORDS.get(trial.check.task.id)
    return f" {sentence}" if sentence else ""


def _becomes(trial: Trial, program: Program) -> str:
    mutant = program.mutant
    assert mutant is not None
    after = trial.function.becomes(mutant).strip()
    return mutant.says if mutant.behind or mutant.rule == "line" else f"{mutant.line}:  {after}"


def _has_structure(arrays: Arrays) -> bool:
    """Whether the structure of a result tells what was done: a row or a column that is nan alone, other sums."""
    array = arrays[0].astype(np.float64)
    if array.ndim < 2 or array.dtype.kind != "f" or array.size < 2:
        return False
    missing = np.isnan(array)
    if missing.any() or not np.isfinite(array).all():
        return bool(not missing.all())
    whole = [np.abs(4 * array.sum(axis) - np.round(4 * array.sum(axis))).max() < 0.01 for axis in (-1, -2)]
    return any(whole) and bool((array != np.round(array)).any())
