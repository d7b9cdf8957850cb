"""What is run of an answer: the function, its edits, the inputs; and what of it is kept, whoever runs it."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from nbformat import NotebookNode

from softlookup_course.viva.cases import small_cases
from softlookup_course.viva.versions import VersionSet, version_sets
from softlookup_course.viva.words import LIKED, PARTS
from softlookup_grader.course.notebooks import grade_id, is_graded, is_solution
from softlookup_grader.data.work import RunSettings
from softlookup_grader.judging.rebuild import ReleasedCheck
from softlookup_inside.asking.case import CORE, SINGLE, Arrays, Case
from softlookup_inside.asking.probe import Answer
from softlookup_judge.data.compare import is_right
from softlookup_judge.data.result import CheckResult
from softlookup_judge.helping.helping import published_ways
from softlookup_judge.judging.oracle import expected_results
from softlookup_judge.mistakes.edits import Function, Mutant, function_in

MOST_MUTANTS = 14
"""Edits of one function that are run."""

MOST_SLOW = 3
"""After so many programs of one answer that did not come to an end, no further edit of it is run."""

_LEAST_MUTANTS = 3
"""With the original, they are the four options of a question."""

_LONG = 3
"""Statements of a function that is asked about before shorter ones."""

_ON_NUMBERS = frozenset(("argument", "factor", "term"))
"""Edits that ask nothing where only numbers are multiplied and added."""


@dataclass(frozen=True)
class Outcome:
    """What a program gave for one input.

    Attributes:
        arrays: The results; None where it stopped with an exception.
    """

    arrays: Arrays | None

    def agrees(self, other: "Outcome") -> bool:
        """Whether another run gave the same to the last bit."""
        if self.arrays is None or other.arrays is None:
            return self.arrays is other.arrays
        pairs = zip(self.arrays, other.arrays, strict=False)
        return len(self.arrays) == len(other.arrays) and all(
            a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs
        )


def agreed(first: Sequence[Outcome | None], second: Sequence[Outcome | None]) -> tuple[Outcome | None, ...]:
    """What two runs gave alike, input by input; None where they differ."""
    return tuple(a if a and b and a.agrees(b) else None for a, b in zip(first, second, strict=True))


@dataclass(frozen=True)
class Program:
    """A program and what it came to.

    Attributes:
        source: The cell.
        outcomes: One for each input, in their order; None where there was none, or not the same twice.
        mutant: The edit; None for the student's own and for what was ended early.
        wrong: The parts of the check's cases that it has wrong; None where that was not asked.
        line: For a function that was ended early: after which line.
        name: The variable that it returned then.
    """

    source: str
    outcomes: tuple[Outcome | None, ...] = ()
    mutant: Mutant | None = None
    wrong: frozenset[str] | None = None
    line: int = 0
    name: str = ""


@dataclass(frozen=True)
class Trial:
    """One task of one submission, run with all its edits.

    Attributes:
        check: What is asked.
        function: The student's.
        cases: Small inputs, and behind them one of the check's, whose shapes alone are shown.
        original: The function as it is.
        mutants: Its edits.
        values: The function ended after one of its lines.
        version_sets: Versions of the function that should give the same.
        versions: The programs of those.
        published: Whether it is the published answer, and not the student's.
    """

    check: ReleasedCheck
    function: Function
    cases: tuple[Case, ...]
    original: Program
    mutants: tuple[Program, ...]
    values: tuple[Program, ...]
    version_sets: tuple[VersionSet, ...] = ()
    versions: tuple[Program, ...] = ()
    published: bool = False

    @property
    def rank(self) -> int:
        """0 for a function of three statements and more, 1 for a shorter one, 2 for arithmetic on numbers."""
        return 2 if _on_numbers_alone(self.cases) else int(self.function.statements < _LONG)


def _on_numbers_alone(cases: Sequence[Case]) -> bool:
    return not any(isinstance(arg, np.ndarray | list) for case in cases for arg in case.args)


class ProgramRunner(Protocol):
    """Runs programs: in the sandbox those of a class, and in this process a learner's own, at home."""

    def ran(self, plan: Trial, program: Program, judged: bool) -> Program | None:
        """Run one program; None where it ends its process, or cannot be asked.

        Args:
            plan: What is asked, with the inputs.
            program: The program.
            judged: Whether the check is to look at it, too.
        """


def generator(settings: RunSettings, student: str, *more: int) -> np.random.Generator:
    """Draws for one student: the same for the same seed, assignment and student, whoever else is in the class."""
    names = (zlib.crc32(name.encode("utf-8", "replace")) for name in (settings.assignment, student))
    return np.random.default_rng([settings.seed, *names, *more])


def _plan(
    cell: NotebookNode,
    task_checks: Mapping[str, ReleasedCheck],
    published: bool,
    settings: RunSettings,
    student: str,
    versions: bool,
) -> Trial | None:
    """What is to be run for the task of a cell; None where there is nothing to ask."""
    check = task_checks[grade_id(cell)]
    function = function_in(cell.source, check.task.name) if is_solution(cell) else None
    if function is None:
        return None
    rng = generator(settings, student, zlib.crc32(check.task.id.encode()))
    cases = small_cases(check.variant, rng)
    if not cases:
        return None
    plain = _on_numbers_alone(cases)
    mutants = tuple(mutant for mutant in function.mutants if not (plain and mutant.rule in _ON_NUMBERS))
    sets: tuple[VersionSet, ...] = ()
    if versions and not published:
        texts = [way.code for way in published_ways(check.variant)]
        seeded = generator(settings, student, zlib.crc32(check.task.id.encode()), 1)
        sets = version_sets(function, cases[0].frame, seeded, texts)
    if len(mutants) < _LEAST_MUTANTS and not sets:
        return None
    if len(mutants) > MOST_MUTANTS:
        drawn = sorted(rng.permutation(len(mutants)), key=lambda at: mutants[at].rule not in LIKED)
        drawn = [*drawn[: MOST_MUTANTS // 2], *rng.permutation(drawn[MOST_MUTANTS // 2 :])]
        mutants = tuple(mutants[at] for at in sorted(drawn[:MOST_MUTANTS]))
    return Trial(
        check,
        function,
        tuple(cases),
        Program(cell.source),
        tuple(Program(mutant.source, mutant=mutant) for mutant in mutants),
        tuple(Program(source, line=line, name=name) for line, name, source in function.stopped_after()),
        sets,
        tuple(map(Program, dict.fromkeys(source for versions in sets for source in versions.sources))),
        published,
    )


def checks_by_task(checks: Mapping[str, ReleasedCheck | None]) -> dict[str, ReleasedCheck]:
    """The checks of a release by the grade ids of the answers that they check."""
    return {check.task.slug: check for check in checks.values() if check is not None}


def plans_of(
    cells: Sequence[NotebookNode],
    task_checks: Mapping[str, ReleasedCheck],
    settings: RunSettings,
    student: str,
    published: bool = False,
    versions: bool = True,
) -> Iterator[Trial]:
    """What is to be run, tasks in an order that is drawn by their points; longer functions come first.

    Args:
        cells: The notebook's.
        task_checks: As ``checks_by_task`` gives them.
        settings: The assignment and the seed.
        student: The student's id.
        published: Whether the cells hold the published answers.
        versions: Whether versions of a student's function are run that give the same.
    """
    rng = generator(settings, student)
    cells_of_tasks = [cell for cell in cells if grade_id(cell) in task_checks and cell.cell_type == "code"]
    points = np.array([task_checks[grade_id(cell)].task.points for cell in cells_of_tasks], dtype=float)
    order = rng.choice(len(points), len(points), replace=False, p=points / points.sum()).tolist() if len(points) else []
    drawn = (_plan(cells_of_tasks[at], task_checks, published, settings, student, versions) for at in order)
    return iter(sorted((plan for plan in drawn if plan), key=lambda plan: plan.rank))


def tried(plan: Trial, runner: ProgramRunner) -> Trial | None:
    """Run a task with all its edits; None where the student's own answer is not right."""
    original = runner.ran(plan, plan.original, True)
    if original is None or not _is_right(plan, original):
        return None
    judged = any(part in PARTS for part in plan.check.task.parts)
    mutants = [runner.ran(plan, mutant, judged) for mutant in plan.mutants]
    if plan.mutants and not any(mutant and _differs(original, mutant) for mutant in mutants):
        return None
    values = [runner.ran(plan, value, False) for value in plan.values if plan.mutants]
    versions = [runner.ran(plan, version, True) for version in plan.versions]
    runner.ran(plan, plan.original, False)  # as it was, for the tasks that call it
    return replace(
        plan,
        original=original,
        mutants=tuple(mutant for mutant in mutants if mutant and not _is_silly(original, mutant)),
        values=tuple(value for value in values if value),
        versions=tuple(version for version in versions if version and _is_right(plan, version)),
    )


def _differs(original: Program, mutant: Program) -> bool:
    """Whether an edit shows: a function that no edit changes is not the one that is shown."""
    pairs = zip(original.outcomes, mutant.outcomes, strict=True)
    spoiled = mutant.wrong is not None and mutant.wrong != original.wrong
    return spoiled or any(not (a and b and a.agrees(b)) for a, b in pairs)


def _is_right(plan: Trial, program: Program) -> bool:
    """Whether a program gives what is right, for each input and for the check."""
    if program.wrong is None or program.wrong:
        return False
    results = zip(plan.cases, program.outcomes, strict=True)
    variant = plan.check.variant
    return all(
        outcome and outcome.arrays and is_right(case, Answer(outcome.arrays), expected_results(variant, case))
        for case, outcome in results
    )


def is_check(cell: NotebookNode) -> bool:
    """Whether a cell checks an answer: nothing of it is run."""
    return is_graded(cell) and not is_solution(cell)


def outcome_of(answer: Answer) -> Outcome | None:
    """What an answer comes to; None where it is neither a result nor an exception."""
    if answer.arrays is not None:
        return Outcome(answer.arrays)
    return Outcome(None) if answer.failure is not None and answer.failure.kind == "raised" else None


def _is_silly(original: Program, mutant: Program) -> bool:
    """Whether nothing depends on the input any more, or an index has left its bounds on every input."""
    if mutant.mutant and mutant.mutant.rule == "off-by-one" and all(o and o.arrays is None for o in mutant.outcomes):
        return True
    pairs = [(o, m) for o, m in zip(original.outcomes, mutant.outcomes, strict=True) if o and m and m.arrays]
    return any(not _is_flat(o) for o, _ in pairs) and all(_is_flat(m) for _, m in pairs)


def _is_flat(outcome: Outcome) -> bool:
    """Whether all entries of all arrays are alike."""
    arrays = [array for array in outcome.arrays or () if array.size > 1]
    return bool(arrays) and all(np.array_equal(array, np.full_like(array, array.flat[0]), True) for array in arrays)


def wrong_parts(result: CheckResult, cases: Sequence[Case]) -> frozenset[str]:
    """The parts of a check that are not right."""
    wrong = {case.part for case, (_, mark) in zip(cases, result.cases, strict=False) if mark != "right"}
    return frozenset(CORE if part == SINGLE else part for part in wrong)


def verdict_of(result: CheckResult, cases: Sequence[Case]) -> frozenset[str] | None:
    """The parts of a check that are wrong, None where it did not come to its end."""
    whole = len(result.cases) == len(cases) and all(mark != "not reached" for _, mark in result.cases)
    return wrong_parts(result, cases) if whole else None
