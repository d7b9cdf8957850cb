"""Runs a student's functions and small edits of them in the sandbox, twice, and keeps what came out both times.

Nothing of a submission, and no edit of it, runs anywhere else. What comes back are arrays and failures that
``sandbox/outside/session.py`` has checked; only what two runs in two processes agree on is kept.
"""

import socket
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

import nbformat
import numpy as np
from nbformat import NotebookNode

from softlookup.checking.compare import is_right
from softlookup.checking.inside.case import CORE, SINGLE, Arrays, Case
from softlookup.checking.inside.probe import Answer
from softlookup.checking.judge import judge
from softlookup.checking.oracle import expected_results
from softlookup.checking.published import solution
from softlookup.grading.course.notebooks import BadNotebook, grade_id, is_graded, is_solution
from softlookup.grading.data.work import RunSettings, parted
from softlookup.grading.judging.forks import Forks
from softlookup.grading.judging.rebuild import ReleasedCheck, rebuild
from softlookup.grading.judging.remote import Remote, about
from softlookup.grading.judging.running import Assignment
from softlookup.grading.judging.zygotes import asked_by
from softlookup.grading.sandbox.outside import cgroups
from softlookup.grading.sandbox.outside.session import Dead, OutOfTime, SubmissionSession
from softlookup.grading.viva.cases import small_cases
from softlookup.grading.viva.mutants import Function, Mutant, function_in
from softlookup.grading.viva.words import LIKED, PARTS

MOST_MUTANTS = 14
"""Edits of one function that are run."""

_LEAST_MUTANTS = 3
"""With the original, they are the four options of a question."""

_LONG = 3
"""Statements of a function that is asked about before shorter ones."""

_ON_NUMBERS = frozenset(("argument", "factor", "term"))
"""Edits that ask nothing where only numbers are multiplied and added."""

_PARTS = 1
"""How many parts besides the core a check needs so that there is something to ask about it."""

_ROUNDS = 4
"""How often a process is begun for one pass over a submission: anew after each program that ended it."""


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


@dataclass(frozen=True)
class Checked:
    """What the task's check says of a program.

    Attributes:
        wrong: The parts of its cases that are wrong.
    """

    wrong: frozenset[str]


@dataclass(frozen=True)
class Program:
    """A program and what it came to.

    Attributes:
        source: The cell.
        outcomes: One for each input, in their order; None where there was none, or not the same twice.
        mutant: The edit; None for the student's own and for what was ended early.
        checked: What the check says of it; None where that was not asked.
        line: For a function that was ended early: after which line.
        name: The variable that it returned then.
    """

    source: str
    outcomes: tuple[Outcome | None, ...] = ()
    mutant: Mutant | None = None
    checked: Checked | None = None
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
        published: Whether it is the published answer, and not the student's.
    """

    check: ReleasedCheck
    function: Function
    cases: tuple[Case, ...]
    original: Program
    mutants: tuple[Program, ...]
    values: tuple[Program, ...]
    published: bool = False

    @property
    def plain(self) -> bool:
        """Whether it is arithmetic on numbers: no array goes in."""
        return not any(isinstance(arg, np.ndarray | list) for case in self.cases for arg in case.args)

    @property
    def rank(self) -> int:
        """0 for a function of three statements and more, 1 for a shorter one, 2 for arithmetic on numbers."""
        return 2 if self.plain else int(self.function.statements < _LONG)


class VivaExaminer:
    """Runs submissions of one assignment and their edits; a context, since it holds a sandbox open.

    Args:
        settings: The assignment, the seed, the limits.
        zygote: The connection to a copy of a zygote, made by ``judging.zygotes.Shared``; None starts a zygote.

    Raises:
        CourseError: If the sandbox does not start, or the release is no notebook.
    """

    def __init__(self, settings: RunSettings, zygote: socket.socket | None = None) -> None:
        self.assignment = Assignment(settings)
        self.forks = Forks(settings, self.assignment.release, self.assignment.catalogue, zygote)

    def __enter__(self) -> "VivaExaminer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.forks.close()
        cgroups.sweep(patience_s=1.0)

    def trials(self, student: str, submission: bytes, most: int, published: bool = False) -> list[Trial]:
        """Run one submission.

        Args:
            student: The student's id; with the seed, it draws inputs and edits.
            submission: The submitted file; with the student's own release where the settings say so.
            most: How many tasks are wanted.
            published: Run the published answers in place of the submitted ones.

        Returns:
            The tasks that the submission has right and that can be asked about, in the order of the notebook; none
            where the file is no notebook. Nothing that a student handed in makes it raise.
        """
        settings = self.assignment.settings
        release, checks = self.assignment.release, self.assignment.checks
        if settings.personal:
            personal_release, submission = parted(submission)
            release = nbformat.reads(personal_release.decode(), as_version=4)
            checks = asked_by(release, self.assignment.catalogue)
        try:
            cells = rebuild(release, submission, f"{settings.assignment}.ipynb").notebook.cells
        except BadNotebook:
            if not published:
                return []
            cells = [NotebookNode(cell) for cell in release.cells]
        task_checks = {check.task.slug: check for check in checks.values() if check is not None}
        if published:
            for cell in cells:
                if grade_id(cell) in task_checks:
                    cell.source = solution(task_checks[grade_id(cell)].variant)
        rng = generator(settings, student)
        cells_of_tasks = [cell for cell in cells if grade_id(cell) in task_checks and cell.cell_type == "code"]
        points = np.array([task_checks[grade_id(cell)].task.points for cell in cells_of_tasks], dtype=float)
        order = (
            rng.choice(len(points), len(points), replace=False, p=points / points.sum()).tolist() if len(points) else []
        )
        drawn = [_plan(cells_of_tasks[at], task_checks, published, settings, student) for at in order]
        plans = iter(sorted((plan for plan in drawn if plan), key=lambda plan: plan.rank))
        return _Passes(self, cells, plans, most).trials()


def generator(settings: RunSettings, student: str, *more: int) -> np.random.Generator:
    """Draws for one student: the same for the same seed, assignment and student, whoever else is in the class."""
    names = (zlib.crc32(name.encode("utf-8", "replace")) for name in (settings.assignment, student))
    return np.random.default_rng([settings.seed, *names, *more])


def _plan(
    cell: NotebookNode, task_checks: Mapping[str, ReleasedCheck], published: bool, settings: RunSettings, student: str
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
    plain = not any(isinstance(arg, np.ndarray | list) for case in cases for arg in case.args)
    mutants = tuple(mutant for mutant in function.mutants if not (plain and mutant.rule in _ON_NUMBERS))
    if len(mutants) < _LEAST_MUTANTS:
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
        published,
    )


class _Passes:
    """Two passes over a submission, each in a process of its own; only what agrees is left."""

    def __init__(
        self, examiner: VivaExaminer, cells: Sequence[NotebookNode], plans: Iterator[Trial], most: int
    ) -> None:
        self.assignment, self.forks, self.cells = examiner.assignment, examiner.forks, cells
        self.limits, self.plans, self.most = examiner.assignment.settings.limits, plans, most
        self.until = time.monotonic() + self.limits.total_s
        self.session: SubmissionSession | None = None
        self.begun = 0

    def trials(self) -> list[Trial]:
        first = list(self._pass(self.plans, self.most))
        second = {id(trial.check): trial for trial in self._pass(first, len(first))}
        both = [_agreeing(trial, second[id(trial.check)]) for trial in first if id(trial.check) in second]
        at = {grade_id(cell): number for number, cell in enumerate(self.cells)}
        return sorted(
            (trial for trial in both if trial is not None), key=lambda trial: at.get(trial.check.task.slug, -1)
        )

    def _pass(self, plans: Iterable[Trial], most: int) -> Iterator[Trial]:
        self.begun, count = 0, 0
        try:
            for plan in plans:
                if time.monotonic() > self.until:
                    return
                if trial := self._tried(plan):
                    count += 1
                    yield trial
                if count == most:
                    return
        finally:
            self._end()

    def _tried(self, plan: Trial) -> Trial | None:
        """Run a task with all its edits; None where the student's own answer is not right."""
        original = self._ran(plan, plan.original, True)
        if original is None or original.checked is None or original.checked.wrong:
            return None
        for case, outcome in zip(plan.cases, original.outcomes, strict=True):
            if outcome is None or outcome.arrays is None or not _right(plan, case, outcome.arrays):
                return None
        judged = sum(part in PARTS for part in plan.check.task.parts) >= _PARTS
        mutants = [self._ran(plan, mutant, judged) for mutant in plan.mutants]
        values = [self._ran(plan, value, False) for value in plan.values]
        self._ran(plan, plan.original, False)  # as it was, for the tasks that call it
        return replace(
            plan,
            original=original,
            mutants=tuple(mutant for mutant in mutants if mutant and not _is_silly(original, mutant)),
            values=tuple(value for value in values if value),
        )

    def _ran(self, plan: Trial, program: Program, judged: bool) -> Program | None:
        """Run one program; None where it ends its process, or cannot be asked."""
        if time.monotonic() > self.until:
            return None
        try:
            session = self._begun()
            if session is None or session.run(program.source).trouble:
                return None
            check = plan.check
            check_input = session.check("", about(check))
            if not check_input.callable or check_input.shortcut in check.task.barred:
                return None
            results = 1 if program.name else len(check.task.returns)
            deadline = time.monotonic() + self.limits.answer_s
            # Each input twice: a function must not count its calls.
            answers = session.ask((*plan.cases, *plan.cases), results, (), _nothing_lent, deadline)
            outcomes = [_outcome(answer) for answer in answers]
            halves = zip(outcomes[: len(plan.cases)], outcomes[len(plan.cases) :], strict=True)
            both = tuple(a if a and b and a.agrees(b) else None for a, b in halves)
            checked = self._checked(session, check) if judged else None
            return replace(program, outcomes=both, checked=checked)
        except OutOfTime:
            return None
        except Dead:
            self._end()
            if not self.forks.lives():
                self.forks.renew()
            return None

    def _checked(self, session: SubmissionSession, check: ReleasedCheck) -> Checked | None:
        """What the check says of the program at hand."""
        questions = self.assignment.questions(check)
        student = Remote(session, check, dict, self.limits.answer_s, {check.task.id: check.variant})
        result = judge(check.variant, student, task_questions=questions, reveals=False, names=False)
        marks = [mark for _, mark in result.cases]
        if len(marks) != len(questions.cases) or "not reached" in marks:
            return None
        wrong = {case.part for case, mark in zip(questions.cases, marks, strict=True) if mark != "right"}
        return Checked(frozenset(CORE if part == SINGLE else part for part in wrong))

    def _begun(self) -> SubmissionSession | None:
        """The process, with all cells run in it; None where it has ended too often."""
        while self.session is None:
            if self.begun >= _ROUNDS or time.monotonic() > self.until:
                return None
            self.begun += 1
            self.session = self.forks.session(self.until)
            try:
                for cell in self.cells:
                    if cell.cell_type == "code" and not _is_check(cell):
                        self.session.run(cell.source)
            except Dead:
                self._end()
                return None
        return self.session

    def _end(self) -> None:
        if self.session is not None:
            self.session.close()
            self.session = None


def _is_check(cell: NotebookNode) -> bool:
    return is_graded(cell) and not is_solution(cell)


def _nothing_lent(*_: Any) -> Any:
    raise LookupError("nothing is lent here")


def _outcome(answer: Answer) -> Outcome | None:
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


def _right(plan: Trial, case: Case, arrays: Arrays) -> bool:
    return is_right(case, Answer(arrays), expected_results(plan.check.variant, case))


def _agreeing(first: Trial, second: Trial) -> Trial | None:
    """What two passes agree on; None where the student's own function gave something else."""
    original = _both(first.original, {second.original.source: second.original})
    if original is None or None in original.outcomes or original.checked is None:
        return None
    mutants, values = (
        {program.source: program for program in programs} for programs in (second.mutants, second.values)
    )
    return replace(
        first,
        original=original,
        mutants=tuple(both for program in first.mutants if (both := _both(program, mutants))),
        values=tuple(both for program in first.values if (both := _both(program, values))),
    )


def _both(program: Program, others: dict[str, Program]) -> Program | None:
    other = others.get(program.source)
    if other is None or len(other.outcomes) != len(program.outcomes):
        return None
    pairs = zip(program.outcomes, other.outcomes, strict=True)
    outcomes = tuple(a if a and b and a.agrees(b) else None for a, b in pairs)
    alike = program.checked is not None and other.checked is not None and program.checked.wrong == other.checked.wrong
    return replace(program, outcomes=outcomes, checked=program.checked if alike else None)
