"""What is run of an answer: the function, its edits, the inputs; and what of it is kept, whoever runs it."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from nbformat import NotebookNode

from softlookup_course.viva.cases import small_cases
from softlookup_grader.course.notebooks import grade_id, is_graded, is_solution
from softlookup_grader.data.work import RunSettings
from softlookup_grader.judging.rebuild import ReleasedCheck
from softlookup_inside.asking.case import Arrays, Case
from softlookup_inside.asking.probe import Answer
from softlookup_judge.mistakes.student_function import Function, Mutant, function_in

MOST_MUTANTS = 14
"""Edits of one function that are run."""

MOST_SLOW = 3
"""After so many programs of one answer that did not come to an end, no further edit of it is run."""

SPARE = 4
"""Tasks that are tried beyond the number of questions: each gives one, as long as there are others."""

LIKED = frozenset(("filled", "keepdim", "line", "slice", "inverted"))
"""Kinds of edits that come first: whoever follows the code sees what they do, and nobody else."""

_LEAST_MUTANTS = 3
"""With the original, they are the four options of a question."""


STOPPED: Arrays = ()
"""What a program gave that stopped with an exception."""


def alike(first: Arrays, second: Arrays) -> bool:
    """Whether two runs gave the same to the last bit."""
    pairs = zip(first, second, strict=False)
    same = [a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs]
    return len(first) == len(second) and all(same)


def agreed(first: Sequence[Arrays | None], second: Sequence[Arrays | None]) -> tuple[Arrays | None, ...]:
    """What two runs gave alike, input by input; None where they differ."""
    pairs = zip(first, second, strict=True)
    return tuple(a if a is not None and b is not None and alike(a, b) else None for a, b in pairs)


@dataclass(frozen=True)
class Program:
    """A program and an outcome for each input, None where two runs differ; ``line``, ``name``: ended early there."""

    source: str
    outcomes: tuple[Arrays | None, ...] = ()
    mutant: Mutant | None = None
    passes: bool = False
    line: int = 0
    name: str = ""


@dataclass(frozen=True)
class Trial:
    """One task of one submission: its function, small inputs, all edits, and ``values`` after single lines."""

    check: ReleasedCheck
    function: Function
    cases: tuple[Case, ...]
    original: Program
    mutants: tuple[Program, ...]
    values: tuple[Program, ...]


ProgramRunner = Callable[[Trial, Program, bool], Program | None]
"""Runs a program of a trial, in the sandbox or at home; None where it ends its process, or cannot be asked. The last
argument says whether the check is to look at it, too."""


def generator(settings: RunSettings, student: str, *more: int) -> np.random.Generator:
    """Draws for one student: the same for the same seed, assignment and student, whoever else is in the class."""
    names = (zlib.crc32(name.encode("utf-8", "replace")) for name in (settings.assignment, student))
    return np.random.default_rng([settings.seed, *names, *more])


def checks_by_task(checks: Mapping[str, ReleasedCheck | None]) -> dict[str, ReleasedCheck]:
    """The checks of a release by the grade ids of the answers that they check."""
    return {check.task.slug: check for check in checks.values() if check is not None}


def is_check(cell: NotebookNode) -> bool:
    """Whether a cell checks an answer: nothing of it is run."""
    return is_graded(cell) and not is_solution(cell)


def plans_of(
    cells: Sequence[NotebookNode], task_checks: Mapping[str, ReleasedCheck], settings: RunSettings, student: str
) -> Iterator[Trial]:
    """What is to be run, tasks in an order that is drawn; functions of three statements and more come first."""
    answers = [cell for cell in cells if is_solution(cell) and grade_id(cell) in task_checks]
    order = generator(settings, student).permutation(len(answers))
    plans = (_plan(answers[at], task_checks[grade_id(answers[at])], settings, student) for at in order)
    return iter(sorted(filter(None, plans), key=lambda plan: plan.function.statements < 3))


def _plan(cell: NotebookNode, check: ReleasedCheck, settings: RunSettings, student: str) -> Trial | None:
    """What is to be run for the task of a cell; None where there is nothing to ask."""
    function = function_in(cell.source, check.task.name)
    if function is None or len(function.mutants) < _LEAST_MUTANTS:
        return None
    rng = generator(settings, student, zlib.crc32(check.task.id.encode()))
    cases = small_cases(check.variant, rng)
    if not cases:
        return None
    chosen = [function.mutants[at] for at in rng.permutation(len(function.mutants))]
    chosen = sorted(chosen, key=lambda mutant: mutant.rule not in LIKED)[:MOST_MUTANTS]
    mutants = tuple(Program(mutant.source, mutant=mutant) for mutant in chosen)
    values = tuple(Program(source, line=line, name=name) for line, name, source in function.stopped_after())
    return Trial(check, function, tuple(cases), Program(cell.source), mutants, values)


def tried(plan: Trial, ran: ProgramRunner) -> Trial | None:
    """Run a task with all its edits; None where the student's own answer is not right."""
    original = ran(plan, plan.original, True)
    if original is None or not original.passes or not all(original.outcomes):
        return None
    mutants = [mutant for each in plan.mutants if (mutant := ran(plan, each, False))]
    if not any(_differs(original, mutant) for mutant in mutants):
        return None  # a function that no edit changes is not the one that is shown
    values = tuple(value for each in plan.values if (value := ran(plan, each, False)))
    ran(plan, plan.original, False)  # as it was, for the tasks that call it
    mutants = [mutant for mutant in mutants if _is_flat(original) or not _is_flat(mutant)]
    return replace(plan, original=original, mutants=tuple(mutants), values=values)


def outcome_of(answer: Answer) -> Arrays | None:
    """What an answer comes to; None where it is neither a result nor an exception."""
    return STOPPED if answer.failure is not None and answer.failure.kind == "raised" else answer.arrays


def _differs(original: Program, mutant: Program) -> bool:
    pairs = zip(original.outcomes, mutant.outcomes, strict=True)
    return any(a is not None and b is not None and not alike(a, b) for a, b in pairs)


def _is_flat(program: Program) -> bool:
    """Whether all entries of each result are alike: nothing depends on the input any more."""
    return all(each and all(np.unique(array).size == 1 < array.size for array in each) for each in program.outcomes)
