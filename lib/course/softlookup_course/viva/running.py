"""Runs a student's functions and small edits of them in the sandbox, twice, and keeps what came out both times.

Nothing of a submission, and no edit of it, runs anywhere else. What comes back are arrays and failures that
``sandbox/outside/session.py`` has checked; only what two runs in two processes agree on is kept.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from nbformat import NotebookNode

from softlookup_course.viva.trials import (
    MOST_SLOW,
    Program,
    Trial,
    agreed,
    checks_by_task,
    is_check,
    outcome_of,
    plans_of,
    tried,
    verdict_of,
)
from softlookup_grader.course.notebooks import BadNotebook, grade_id
from softlookup_grader.judging.examine import AssignmentSandbox
from softlookup_grader.judging.rebuild import ReleasedCheck, rebuild
from softlookup_grader.judging.remote import Remote, about
from softlookup_grader.sandbox.session import Dead, OutOfTime, SubmissionSession
from softlookup_judge.checking.judge import judge
from softlookup_judge.data.published import solution

_ROUNDS = 8
"""How often a process is begun for one pass over a submission: anew after each program that ended it."""

_PROGRAM = "the answer, or a copy of it with one line changed,"
_LATE = f"{_PROGRAM} did not come to an end in time"


class VivaExaminer(AssignmentSandbox):
    """Runs submissions of one assignment and their edits."""

    def trials(
        self,
        student: str,
        submission: bytes,
        most: int,
        published: bool = False,
        say: Callable[[str], None] = lambda sentence: None,
    ) -> list[Trial]:
        """Run one submission.

        Args:
            student: The student's id; with the seed, it draws inputs and edits.
            submission: The submitted file; with the student's own release where the settings say so.
            most: How many tasks are wanted.
            published: Run the published answers in place of the submitted ones.
            say: Called with a sentence on each task that is left out since its programs did not come to an end.

        Returns:
            The tasks that the submission has right and that can be asked about, in the order of the notebook; none
            where the file is no notebook. Nothing that a student handed in makes it raise.
        """
        settings = self.assignment.settings
        release, checks, submission, _ = self.unpacked(submission)
        try:
            cells = rebuild(release, submission, f"{settings.assignment}.ipynb").notebook.cells
        except BadNotebook:
            if not published:
                return []
            cells = [NotebookNode(cell) for cell in release.cells]
        task_checks = checks_by_task(checks)
        if published:
            for cell in cells:
                if grade_id(cell) in task_checks:
                    cell.source = solution(task_checks[grade_id(cell)].variant)
        plans = plans_of(cells, task_checks, settings, student, published)
        passes = _Passes(self, cells, plans, most)
        trials = passes.trials()
        for why in dict.fromkeys(passes.left_out.values()):
            tasks = [task for task, reason in passes.left_out.items() if reason == why]
            say(f"{', '.join(tasks)} {'is' if len(tasks) == 1 else 'are'} left out: {why}.")
        return trials


class _Passes:
    """Two passes over a submission, each in a process of its own; only what agrees is left."""

    def __init__(
        self, examiner: VivaExaminer, cells: Sequence[NotebookNode], plans: Iterator[Trial], most: int
    ) -> None:
        self.assignment, self.forks, self.cells = examiner.assignment, examiner.forks, cells
        self.limits, self.plans, self.most = examiner.assignment.settings.limits, plans, most
        self.begun_s, self.until = time.monotonic(), 0.0
        self.session: SubmissionSession | None = None
        self.begun = 0
        self.left_out: dict[str, str] = {}
        self.trouble, self.late = "", 0

    def trials(self) -> list[Trial]:
        # The second pass runs what the first has run, and takes as long.
        first = list(self._pass(self.plans, self.most, self.limits.total_s / 2))
        second = {id(trial.check): trial for trial in self._pass(first, len(first), self.limits.total_s)}
        both = [_agreeing(trial, second[id(trial.check)]) for trial in first if id(trial.check) in second]
        at = {grade_id(cell): number for number, cell in enumerate(self.cells)}
        return sorted(
            (trial for trial in both if trial is not None), key=lambda trial: at.get(trial.check.task.slug, -1)
        )

    def _pass(self, plans: Iterable[Trial], most: int, until_s: float) -> Iterator[Trial]:
        self.begun, count, self.until = 0, 0, self.begun_s + until_s
        try:
            for plan in plans:
                self.trouble, self.late = "", 0
                trial = tried(plan, self)
                if trial is not None:
                    count += 1
                    yield trial
                elif self.trouble:
                    self.left_out[plan.check.task.id] = self.trouble
                if count == most:
                    return
        finally:
            self._end()

    def ran(self, plan: Trial, program: Program, judged: bool) -> Program | None:
        """Run one program; None where it ends its process, or cannot be asked."""
        if time.monotonic() > self.until:
            self.trouble = self._over
            return None
        if self.late >= MOST_SLOW and program is not plan.original:
            return None
        try:
            session = self._begun()
            trouble = "" if session is None else session.run(program.source).trouble
            if session is None or trouble:
                if trouble == "time":
                    self.trouble, self.late = _LATE, self.late + 1
                return None
            check = plan.check
            check_input = session.check("", about(check))
            if not check_input.callable or check_input.shortcut in check.task.barred:
                return None
            results = 1 if program.name else len(check.task.returns)
            deadline = time.monotonic() + self.limits.answer_s
            # Each input twice: a function must not count its calls.
            answers = session.ask((*plan.cases, *plan.cases), results, (), _nothing_lent, deadline)
            outcomes = [outcome_of(answer) for answer in answers]
            both = agreed(outcomes[: len(plan.cases)], outcomes[len(plan.cases) :])
            return replace(program, outcomes=both, wrong=self._wrong(session, check) if judged else None)
        except OutOfTime:
            self.trouble, self.late = _LATE, self.late + 1
            return None
        except Dead as death:
            self.trouble, self.late = f"{_PROGRAM} ended its process ({death})", self.late + 1
            self._end()
            if not self.forks.lives():
                self.forks.renew()
            return None

    @property
    def _over(self) -> str:
        return f"the time for one student, {self.limits.total_s:g} s for two runs of each program, was over"

    def _wrong(self, session: SubmissionSession, check: ReleasedCheck) -> frozenset[str] | None:
        """What the check finds in the program at hand."""
        questions = self.assignment.questions(check)
        student = Remote(session, check, dict, self.limits.answer_s, {check.task.id: check.variant})
        result = judge(check.variant, student, task_questions=questions, reveals=False, names=False)
        return verdict_of(result, questions.cases)

    def _begun(self) -> SubmissionSession | None:
        """The process, with all cells run in it; None where it has ended too often."""
        while self.session is None:
            if self.begun >= _ROUNDS or time.monotonic() > self.until:
                ended = f"the notebook had to be begun anew {self.begun} times"
                self.trouble = ended if self.begun >= _ROUNDS else self._over
                return None
            self.begun += 1
            self.session = self.forks.session(self.until)
            try:
                for cell in self.cells:
                    if cell.cell_type == "code" and not is_check(cell):
                        self.session.run(cell.source)
            except Dead as death:
                self.trouble = f"a cell of the notebook ended its process ({death})"
                self._end()
                return None
        return self.session

    def _end(self) -> None:
        if self.session is not None:
            self.session.close()
            self.session = None


def _nothing_lent(*_: Any) -> Any:
    raise LookupError("nothing is lent here")


def _agreeing(first: Trial, second: Trial) -> Trial | None:
    """What two passes agree on; None where the student's own function gave something else."""
    original = _both(first.original, {second.original.source: second.original})
    if original is None or None in original.outcomes or original.wrong is None:
        return None
    mutants, values, versions = (
        {program.source: program for program in programs}
        for programs in (second.mutants, second.values, second.versions)
    )
    return replace(
        first,
        original=original,
        mutants=tuple(both for program in first.mutants if (both := _both(program, mutants))),
        values=tuple(both for program in first.values if (both := _both(program, values))),
        versions=tuple(
            both
            for program in first.versions
            if (both := _both(program, versions)) and None not in both.outcomes and both.wrong is not None
        ),
    )


def _both(program: Program, others: dict[str, Program]) -> Program | None:
    other = others.get(program.source)
    if other is None or len(other.outcomes) != len(program.outcomes):
        return None
    wrong = program.wrong if program.wrong == other.wrong else None
    return replace(program, outcomes=agreed(program.outcomes, other.outcomes), wrong=wrong)
