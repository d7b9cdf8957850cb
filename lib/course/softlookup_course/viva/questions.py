"""The kinds of questions that can be asked of a trial; each answer is what a program gave, and so is every option."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlookup_course.viva.shown import apart, array_text, inputs_text, result_text
from softlookup_course.viva.trials import Trial
from softlookup_inside.asking.case import Arrays
from softlookup_judge.mistakes.habits import RULES
from softlookup_judge.mistakes.student_function import Function, Mutant

OPTIONS = 4
LETTERS = "ABCD"
RESULT, EDIT, VALUE = "result", "edit", "value"

Pair = tuple[Arrays, Mutant | None]
"""What an edit gave for an input, and the edit; none of the function as it is."""


@dataclass(frozen=True)
class VivaQuestion:
    """One question with four options, each what some program gave; ``key`` is the index of the right one."""

    question_type: str
    task: str
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
    questions = [*_edits(trial, rng), *_values(trial, rng)]
    return [questions[at] for at in rng.permutation(len(questions))]


def _question(
    trial: Trial, question_type: str, at: int, options: Sequence[str], rng: np.random.Generator, **texts: Any
) -> VivaQuestion:
    """A question on an input, whose right option comes first, with its options in an order that is drawn."""
    order, function = rng.permutation(len(options)), trial.function
    plain = {"code": function.numbered_lines(), "before": f"Your `{function.name}` is called, unchanged.", "gives": ""}
    return VivaQuestion(
        question_type=question_type,
        task=trial.check.task.id,
        call=inputs_text(trial.check.variant, trial.cases[at]),
        options=tuple(options[at] for at in order),
        key=order.tolist().index(0),
        **plain | texts,
    )


def _edits(trial: Trial, rng: np.random.Generator) -> Iterator[VivaQuestion]:
    """Which of four results does a changed line lead to, and which of four edits leads to a result?"""
    function, names = trial.function, trial.check.variant.returns
    for at, original in enumerate(trial.original.outcomes):
        programs = [trial.original, *(trial.mutants[index] for index in rng.permutation(len(trial.mutants)))]
        pairs = [(outcome, each.mutant) for each in programs if (outcome := each.outcomes[at]) is not None]
        fitting = [pair for pair in pairs if result_text(pair[0], names)]
        changing = [pair for pair in fitting if apart(pair[0], original or ())]
        for outcome, mutant in changing:
            assert mutant is not None  # what the function itself gives is not apart from it
            why, mention = RULES[mutant.rule]
            texts: dict[str, Any] = {
                "why": f"{why[:1].upper()}{why[1:].rstrip('.')}.",
                "mention": mention,
                "line": mutant.line,
                "travels": mutant.travels,
                "about": (trial.check.task.id, str(mutant.line), mutant.after),
            }
            results = [result_text(each, names) for each, _ in _distinct((outcome, mutant), fitting)]
            if len(results) == OPTIONS:
                before = f"In your `{function.name}`, {mutant.says}."
                shown_code = {"code": function.numbered_lines(mutant), "before": before}
                asks = "What does the changed function return?"
                yield _question(trial, RESULT, at, results, rng, after=asks, **shown_code, **texts)
            lines = [_becomes(function, each) for _, each in _distinct((outcome, mutant), changing) if each]
            if outcome and len(set(lines)) == OPTIONS:
                gave = {"before": f"One line of your `{function.name}` was changed.", "gives": results[0]}
                yield _question(trial, EDIT, at, lines, rng, after="Which change was it?", **gave, **texts)


def _distinct(first: Pair, others: Sequence[Pair]) -> list[Pair]:
    """An outcome and three others, all of them far apart; those come first that share most entries with it."""
    chosen = [first]
    for pair in sorted(others, key=lambda other: -_shared(other[0], first[0])):
        if len(chosen) < OPTIONS and all(apart(pair[0], each) for each, _ in chosen):
            chosen.append(pair)
    return chosen


def _shared(first: Arrays, second: Arrays) -> float:
    """Which part of the entries two results share; -1 where their shapes are not the same."""
    if not first or [a.shape for a in first] != [b.shape for b in second]:
        return -1.0
    pairs = [(a.astype(float), b.astype(float)) for a, b in zip(first, second, strict=True)]
    return float(np.concatenate([np.isclose(a, b, atol=0.01, equal_nan=True).ravel() for a, b in pairs]).mean())


def _becomes(function: Function, mutant: Mutant) -> str:
    after = function.becomes(mutant).strip()
    return mutant.says if mutant.behind or mutant.rule == "line" else f"{mutant.line}:  {after}"


def _values(trial: Trial, rng: np.random.Generator) -> Iterator[VivaQuestion]:
    """Which number is an entry of a variable after a line?"""
    for at, case in enumerate(trial.cases):
        entries: list[tuple[float, str, int]] = []
        for program in trial.values:
            for array in (program.outcomes[at] or ())[:1]:
                if array.dtype.kind in "iuf" and array.ndim in (1, 2) and array.size <= 12 and np.isfinite(array).all():
                    for index, scalar in np.ndenumerate(array):
                        entries.append((float(scalar), f"{program.name}[{', '.join(map(str, index))}]", program.line))
        entries = [entries[position] for position in rng.permutation(len(entries))]
        inputs = [scalar for arg in case.args if isinstance(arg, np.ndarray | float | int) for scalar in np.ravel(arg)]
        moved = {0.0, 1.0, *map(float, inputs)}  # these are read off, not computed
        computed = [entry for entry in entries if entry[0] not in moved and (4 * entry[0]).is_integer()]
        for value, where, line in computed[:3]:
            numbers = [value]
            for scalar, _, _ in sorted(entries, key=lambda entry: (entry[2] != line, entry[0] in moved)):
                if len(numbers) < OPTIONS and all(abs(scalar - other) > 0.08 for other in numbers):
                    numbers.append(scalar)
            if len(numbers) == OPTIONS:
                options = [array_text(np.array(scalar)) for scalar in numbers]
                texts: dict[str, Any] = {
                    "after": f"Which number is `{where}` after line {line}? Indices count from 0.",
                    "why": f"{where} is {options[0]} after line {line}.",
                    "mention": "what the axes of this array stand for, and from which inputs this entry is computed",
                    "about": (trial.check.task.id, VALUE),
                }
                yield _question(trial, VALUE, at, options, rng, line=line, travels=2, **texts)
