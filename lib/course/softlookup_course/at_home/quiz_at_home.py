"""Questions on a learner's own answers, at home: the code runs on the learner's own machine, without a sandbox.

It runs in a process of its own, because an answer of which a line is changed may never end, or end its process. Each
part of the work has a time, after which the process is ended and another one goes on without that part. The process
leads a session of its own: what it starts ends with it, and a signal to its group does not reach the terminal's.
"""

import contextlib
import faulthandler
import hashlib
import multiprocessing
import os
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple, cast

import nbformat
from nbformat import NotebookNode

from softlookup_course.at_home.as_released import as_released
from softlookup_course.at_home.kept_at_home import keep
from softlookup_course.viva.questions import VivaQuestion, questions_on
from softlookup_course.viva.trials import (
    MOST_SLOW,
    SPARE,
    Program,
    Trial,
    agreed,
    checks_by_task,
    generator,
    is_check,
    outcome_of,
    plans_of,
    tried,
)
from softlookup_course.viva.vivas import choose
from softlookup_grader.course.notebooks import cells_in, grade_id, is_solution, read_file
from softlookup_grader.data.work import RunSettings
from softlookup_grader.judging.rebuild import ReleasedCheck, rebuild
from softlookup_grader.judging.zygotes import asked_by
from softlookup_inside.asking.probe import Clock, TimeIsUp, run
from softlookup_judge.checking.catalogue import catalogue_with, look
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.helping.kept import TaskKept, read_kept
from softlookup_judge.judging.questions import questions_at_home

_CELL_S, _OWN_CELL_S = 60.0, 10.0
"""How long a given cell of the notebook may run, and how long that of an answer."""

_ANSWER_S = 3.0
"""How long an answer may run, and how long each edit of it."""

_GRACE_S = 15.0
"""So much longer may code take that does not listen to its clock, and the judge beside it, before its process is ended.
"""

_ENOUGH_SLOW = 6
"""Once a task gave questions, no further one is tried after so many edits that did not come to an end."""

_MOST_LEFT_OUT = 3
"""After so many parts that did not come to an end, no further one is tried."""

_TOTAL_S = 120.0
"""No part of the work begins after so long; the questions are then on what was tried."""


@dataclass(frozen=True)
class Job:
    """What the process is asked to do.

    Attributes:
        path: The notebook.
        tasks: So many tasks are tried at most.
        seed: Draws the questions.
        task: The one task to ask about; empty for any.
        without: Cells and tasks that did not come to an end before, or are done.
    """

    path: Path
    tasks: int
    seed: int
    task: str = ""
    without: frozenset[str] = frozenset()


def home_questions(
    path: Path, count: int, seed: int, task: str = "", say: Callable[[str], None] = lambda sentence: None
) -> list[VivaQuestion]:
    """Draw questions on the answers of a notebook that pass.

    Args:
        path: The notebook; what of it is graded is run, in a process of its own.
        count: How many questions, each on another task as long as there are so many.
        seed: Draws them.
        task: Only on this task; empty for any.
        say: Called with a sentence on what is left out since it does not come to an end.

    Returns:
        So many questions, or fewer; none where no answer is right, or there are no questions on its tasks.

    Raises:
        BadNotebook: If the file is no notebook.
    """
    work = _prepared(path, seed)
    if work is None:
        return []
    search = _Search(Job(path, count + SPARE, seed, task), say, work)
    while search.left_out < _MOST_LEFT_OUT and _in_a_process(search):
        pass
    rng = generator(work.settings, "", 1)
    return choose([question for trial in search.trials for question in questions_on(trial, rng)], count)


def keep_answer(path: Path, question: VivaQuestion, right: bool) -> str:
    """Keep beside a notebook how a question was answered; the same question again takes the place of its first answer.

    Returns:
        One sentence where that could not be written, else nothing.
    """
    # Known again by what is shown, whatever letters its options have.
    shown = "\n".join([question.code, question.after, *question.call, *sorted(question.options)])
    key = hashlib.sha256(shown.encode()).hexdigest()[:10]
    folder = path.resolve().parent
    before = read_kept(folder).tasks.get(question.task, TaskKept()).questions
    return keep(folder, {question.task: {"questions": {**before, key: right}}})


class _Work(NamedTuple):
    """A notebook as it is graded.

    Attributes:
        cells: Its cells.
        checks: What they ask for, by the grade ids of the answers.
        settings: The seed, and what else questions are drawn by.
    """

    cells: list[NotebookNode]
    checks: dict[str, ReleasedCheck]
    settings: RunSettings


def _prepared(path: Path, seed: int) -> _Work | None:
    """Put a notebook into its release; None where it checks no known task."""
    raw, catalogue = read_file(path), catalogue_with(look(path.resolve().parent))
    release = as_released(cells_in(raw, path.name), path, catalogue)
    if release is None:
        return None
    checks = checks_by_task(asked_by(release, catalogue))
    settings = RunSettings(path.stem, nbformat.writes(release), seed)
    return _Work(rebuild(release, raw, path.name).notebook.cells, checks, settings)


@dataclass
class _Search:
    """A search for questions, which several processes may go on with.

    Attributes:
        job: What is to be done.
        say: Called with a sentence on what is left out.
        work: The notebook.
        trials: The tasks that were run, with their edits.
        left_out: How many parts did not come to an end.
        slow: How many edits of answers did not come to an end.
        until: When no further part begins, by time.monotonic.
    """

    job: Job
    say: Callable[[str], None]
    work: _Work
    trials: list[Trial] = field(default_factory=list)
    left_out: int = 0
    slow: int = 0
    until: float = field(default_factory=lambda: time.monotonic() + _TOTAL_S)

    def take(self, task: str, trial: Trial | None, slow: int) -> bool:
        """Take what came of a task, of whose edits so many were slow; say whether to try another one."""
        self.slow += slow
        self.without(task)
        if trial is not None:
            check = self.work.checks[task.replace(".", "-", 1)]
            self.trials.append(replace(trial, check=check))
            self.job = replace(self.job, tasks=self.job.tasks - 1)
        elif slow:
            self._leave_out(task, "did not come to an end")
        return not (self.trials and self.slow >= _ENOUGH_SLOW) and self.job.tasks > 0 and self.left_out < _MOST_LEFT_OUT

    def without(self, part: str) -> None:
        """Have no later process begin a part again."""
        self.job = replace(self.job, without=self.job.without | {part})

    def ended(self, part: str, why: str) -> bool:
        """Go on after a part with which the process ended; say whether that is worth another one."""
        self.without(part)
        self._leave_out(part, why)
        return bool(part)

    def is_over(self, part: str) -> bool:
        """Whether there is no time for another part; it is said where there are fewer tasks than questions."""
        if time.monotonic() <= self.until:
            return False
        if self.job.tasks > SPARE:
            self.say(f"Running the notebook took more than {_TOTAL_S:.0f} s: {part} and what follows are left out.")
        return True

    def _leave_out(self, part: str, why: str) -> None:
        self.left_out += 1
        if "." in part:
            self.say(f"{part} is left out: your answer, or a copy of it with one line changed, {why}.")
        else:
            self.say(f"{f'The cell {part}' if part else 'The notebook'} is left out: it {why}.")


def _in_a_process(search: _Search) -> bool:
    """Run a notebook and try its tasks in another process, as long as each part keeps to its time.

    Returns:
        Whether the process was ended, or ended itself, and another one should go on.
    """
    here, there = multiprocessing.Pipe(duplex=False)
    # A new interpreter, not a fork: torch's threads do not survive a fork, and not every system has one.
    process = multiprocessing.get_context("spawn").Process(target=_run, args=(there, search.job))
    process.start()
    there.close()
    part, seconds = "", None  # until the first part begins, it is our own code that runs
    try:
        while here.poll(seconds):
            kind, *values = here.recv()
            if kind == "begin":
                part, seconds = values
                if search.is_over(part):
                    return False
            elif kind == "stopped":
                search.without(part)
                search.say(f"The cell {part} was stopped: it was still running after {values[0]:.0f} s.")
            elif kind == "failed":
                raise RuntimeError(values[0])
            elif kind == "end" or not search.take(part, *values):
                return False
        return search.ended(part, f"was still running after {seconds:.0f} s")
    except EOFError:
        return search.ended(part, "ended the process that ran it")
    finally:
        _end(process)
        here.close()


def _end(process: BaseProcess) -> None:
    """End a process, and those that it has started."""
    if hasattr(os, "killpg") and process.pid is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # it has not come to lead a group
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()


def _run(pipe: Connection, job: Job) -> None:
    """The other process: it says what it begins, and hands back each task that it has tried."""
    if hasattr(os, "setsid"):
        os.setsid()
    with contextlib.suppress(OSError):  # Linux ends this process first where memory runs out
        Path("/proc/self/oom_score_adj").write_text("1000")
    with open(os.devnull, "r+b", buffering=0) as nothing:  # the code there neither reads, nor prints, nor warns
        for number in range(3):
            os.dup2(nothing.fileno(), number)
    warnings.simplefilter("ignore")
    pid = os.getpid()

    def say(*message: Any) -> None:
        if os.getpid() != pid:  # a fork that the learner's code has made
            os._exit(0)
        pipe.send(message)

    try:
        _try_tasks(say, job)
        say("end")
    except Exception:
        say("failed", traceback.format_exc())


def _try_tasks(say: Callable[..., None], job: Job) -> None:
    work = _prepared(job.path, job.seed)
    if work is None:
        return
    os.chdir(job.path.resolve().parent)

    def announce(name: str, seconds: float) -> None:
        # Should the other side be gone: this ends the process whatever its code does, which the clock does not.
        faulthandler.dump_traceback_later(seconds + 2 * _GRACE_S, exit=True)
        say("begin", name, seconds + _GRACE_S)

    runner = HomeRunner(announce)
    for number, cell in enumerate(work.cells, 1):
        name = grade_id(cell) or f"number {number}"
        if cell.cell_type == "code" and not is_check(cell) and name not in job.without:
            seconds = _OWN_CELL_S if is_solution(cell) else _CELL_S
            clock = Clock(seconds)
            runner.announce(name, seconds)
            if not runner.execute(cell.source, clock) and (clock.left or 0.0) <= 0:
                say("stopped", seconds)
    for plan in plans_of(work.cells, work.checks, work.settings, ""):
        name = plan.check.task.id
        if name not in job.without and job.task in ("", name):
            runner.slow = 0
            trial = tried(plan, runner.ran)
            # The check holds functions, which do not travel: the other side has it.
            say("tried", trial and replace(trial, check=cast(ReleasedCheck, None)), runner.slow)


class HomeRunner:
    """Runs programs in this process: for a learner's own code on the learner's own machine, and for nothing else.

    Args:
        announce: Is told of each program the task that it belongs to, and the seconds that it may run, before it does.

    Attributes:
        names: The names that the notebook's cells have defined.
        slow: How many programs of a task did not come to an end in their time.
    """

    def __init__(self, announce: Callable[[str, float], None]) -> None:
        self.announce = announce
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.slow = 0

    def execute(self, source: str, clock: Clock) -> bool:
        """Run a cell; say whether it came to its end."""
        try:
            with clock.running():
                exec(compile(source, "<cell>", "exec"), self.names)
        except KeyboardInterrupt:
            raise
        except BaseException:  # whatever the code does: such a cell has no answer
            return False
        return True

    def ran(self, plan: Trial, program: Program, judged: bool) -> Program | None:
        """Run one program, each input twice; None where it does not come to its end."""
        task, variant = plan.check.task, plan.check.variant
        if self.slow >= MOST_SLOW and program is not plan.original:
            return None
        clock = Clock(_ANSWER_S)
        self.announce(task.id, _ANSWER_S)
        try:
            if not self.execute(program.source, clock):
                return None
            function = self.names.get(task.name)
            if not callable(function):
                return None
            results = 1 if program.name else len(task.returns)
            with clock.running():
                answers = [run(function, case, results, task.barred) for case in (*plan.cases, *plan.cases)]
            outcomes = [outcome_of(answer) for answer in answers]
            both = agreed(outcomes[: len(plan.cases)], outcomes[len(plan.cases) :])
            passes = False
            if judged:
                drawn = questions_at_home(variant)
                student = LocalStudent(variant, function, {task.id: variant}, clock)
                passes = judge(variant, student, task_questions=drawn, names=False).verdict == "pass"
        except TimeIsUp:
            return None
        finally:
            self.slow += (clock.left or 0.0) <= 0
        return replace(program, outcomes=both, passes=passes)
