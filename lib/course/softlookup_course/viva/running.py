"""Runs a student's functions and small edits of them in the sandbox, twice, and keeps what came out both times.

Nothing of a submission, and no edit of it, runs anywhere else. What comes back are arrays and failures that
``softlookup_grader.sandbox.session`` has checked; only what two runs in two processes agree on is kept.
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
)
from softlookup_grader.course.notebooks import BadNotebook
from softlookup_grader.judging.examine import AssignmentSandbox
from softlookup_grader.judging.rebuild import rebuild
from softlookup_grader.judging.remote import Remote, about
from softlookup_grader.sandbox.ends import RunEnd
from softlookup_grader.sandbox.session import Dead, OutOfTime, SubmissionSession
from softlookup_inside.asking.case import Arrays
from softlookup_judge.checking.judge import judge

_ROUNDS = 8
"""How often a process is begun for one pass over a submission: anew after each program that ended it."""

_PROGRAM = "the answer, or a copy of it with one line changed,"
_LATE = f"{_PROGRAM} did not come to an end in time"


class VivaExaminer(AssignmentSandbox):
    """Runs submissions of one assignment and their edits."""

    def trials(
        self, student: str, submission: bytes, most: int, say: Callable[[str], None] = lambda sentence: None
    ) -> list[Trial]:
        """Run one submission in two processes: at most so many tasks that it has right and that can be asked about."""
        settings, begun_s = self.assignment.settings, time.monotonic()
        parts = self.parts(submission)
        released = parts.released[0]
        raw = parts.notebooks[released.name]
        try:
            cells = rebuild(released.release, raw, f"{released.name}.ipynb").notebook.cells
        except BadNotebook:
            return []
        plans = plans_of(cells, checks_by_task(released.checks), settings, student)
        left_out: dict[str, str] = {}
        # The second pass runs what the first has run, and takes as long.
        first = list(_Pass(self, cells, begun_s + settings.limits.total_s / 2, left_out).trials(plans, most))
        second = _Pass(self, cells, begun_s + settings.limits.total_s, left_out).trials(first, most)
        programs = {
            (trial.check.task.id, program.source): program.outcomes
            for trial in second
            for program in (trial.original, *trial.mutants, *trial.values)
        }
        for task, why in left_out.items():
            say(f"{task} is left out: {why}.")
        both = (_agreeing(trial, programs) for trial in first)
        return [trial for trial in both if None not in trial.original.outcomes]


class _Pass:
    """One pass over a submission, in a process of its own."""

    def __init__(
        self, examiner: VivaExaminer, cells: Sequence[NotebookNode], until_s: float, left_out: dict[str, str]
    ) -> None:
        self.assignment, self.sandbox, self.cells = examiner.assignment, examiner.sandbox, cells
        self.limits, self.until_s, self.left_out = examiner.assignment.settings.limits, until_s, left_out
        self.session: SubmissionSession | None = None
        self.begun, self.late, self.trouble = 0, 0, ""

    def trials(self, plans: Iterable[Trial], most: int) -> Iterator[Trial]:
        count = 0
        try:
            for plan in plans:
                self.trouble, self.late = "", 0
                trial = tried(plan, self.ran)
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
        if self.late >= MOST_SLOW and program is not plan.original:
            return None
        try:
            session = self._begun()
            ran = None if session is None else session.run(program.source)
            if ran is not None and ran.end is RunEnd.TIME:
                raise OutOfTime
            if session is None or ran is None or ran.end is not RunEnd.FINISHED:
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
            passes = False
            if judged:
                student = Remote(session, check, dict, self.limits.answer_s, {check.task.id: check.variant})
                questions = self.assignment.questions(check)
                result = judge(check.variant, student, task_questions=questions, reveals=False, names=False)
                passes = result.verdict == "pass"
            both = agreed(outcomes[: len(plan.cases)], outcomes[len(plan.cases) :])
            return replace(program, outcomes=both, passes=passes)
        except OutOfTime:
            self.trouble, self.late = _LATE, self.late + 1
        except Dead as death:
            self.trouble, self.late = f"{_PROGRAM} ended its process ({death})", self.late + 1
            self._end()
            if not self.sandbox.lives():
                self.sandbox.renew()
        return None

    def _begun(self) -> SubmissionSession | None:
        """The process, with all cells run in it; None where it has ended too often, or time is over."""
        if time.monotonic() > self.until_s:
            total_s = self.limits.total_s
            self.trouble = f"the time for one student, {total_s:g} s for two runs of each program, was over"
            return None
        if self.session is None and self.begun >= _ROUNDS:
            self.trouble = f"the notebook had to be begun anew {self.begun} times"
        elif self.session is None:
            self.begun += 1
            self.session = self.sandbox.session(self.until_s)
            try:
                for cell in self.cells:
                    if cell.cell_type == "code" and not is_check(cell):
                        self.session.run(cell.source)
            except Dead as death:
                self.trouble = f"a cell of the notebook ended its process ({death})"
                self._end()
        return self.session

    def _end(self) -> None:
        if self.session is not None:
            self.session.close()
            self.session = None


def _nothing_lent(*_: Any) -> Any:
    raise LookupError("nothing is lent here")


def _agreeing(trial: Trial, others: dict[tuple[str, str], tuple[Arrays | None, ...]]) -> Trial:
    """What two passes agree on."""

    def both(program: Program) -> Program:
        outcomes = others.get((trial.check.task.id, program.source), (None,) * len(program.outcomes))
        return replace(program, outcomes=agreed(program.outcomes, outcomes))

    mutants, values = (tuple(map(both, programs)) for programs in (trial.mutants, trial.values))
    return replace(trial, original=both(trial.original), mutants=mutants, values=values)
