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
from softlookup_judge.checking.catalogue import catalogue_with, find_own_tasks
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
    """What the process is asked to do: how many tasks at most, or one ``task``, ``without`` those that are done."""

    path: Path
    tasks: int
    seed: int
    task: str = ""
    without: frozenset[str] = frozenset()


def home_questions(
    path: Path, count: int, seed: int, task: str = "", say: Callable[[str], None] = lambda sentence: None
) -> list[VivaQuestion]:
    """Draw questions on the answers of a notebook that pass, each on another task as long as there are so many."""
    notebook = _prepared(path, seed)
    if notebook is None:
        return []
    search = _Search(Job(path, count + SPARE, seed, task), say, notebook)
    while search.left_out < _MOST_LEFT_OUT and _in_a_process(search):
        pass
    rng = generator(notebook.settings, "", 1)
    return choose([question for trial in search.trials for question in questions_on(trial, rng)], count)


def keep_answer(path: Path, question: VivaQuestion, is_right: bool) -> str:
    """Keep beside a notebook how a question was answered; one sentence where that could not be written."""
    # Known again by what is shown, whatever letters its options have.
    question_text = "\n".join([question.code, question.after, *question.call, *sorted(question.options)])
    key = hashlib.sha256(question_text.encode()).hexdigest()[:10]
    folder = path.resolve().parent
    before = read_kept(folder).tasks.get(question.task, TaskKept()).questions
    return keep(folder, {question.task: {"questions": {**before, key: is_right}}})


class _Work(NamedTuple):
    """A notebook as it is graded, its checks by grade ids of the answers, and what questions are drawn by."""

    cells: list[NotebookNode]
    checks: dict[str, ReleasedCheck]
    settings: RunSettings


def _prepared(path: Path, seed: int) -> _Work | None:
    """Put a notebook into its release; None where it checks no known task."""
    raw, catalogue = read_file(path), catalogue_with(find_own_tasks(path.resolve().parent))
    release = as_released(cells_in(raw, path.name), path, catalogue)
    if release is None:
        return None
    checks = checks_by_task(asked_by(release, catalogue))
    settings = RunSettings.single(path.stem, nbformat.writes(release), seed)
    return _Work(rebuild(release, raw, path.name).notebook.cells, checks, settings)


@dataclass
class _Search:
    """A search for questions, which several processes may go on with until a time of ``time.monotonic``."""

    request: Job
    say: Callable[[str], None]
    notebook: _Work
    trials: list[Trial] = field(default_factory=list)
    left_out: int = 0
    slow: int = 0
    until: float = field(default_factory=lambda: time.monotonic() + _TOTAL_S)

    def take(self, task: str, trial: Trial | None, slow: int) -> bool:
        """Take what came of a task, of whose edits so many were slow; say whether to try another one."""
        self.slow += slow
        self.without(task)
        if trial is not None:
            check = self.notebook.checks[task.replace(".", "-", 1)]
            self.trials.append(replace(trial, check=check))
            self.request = replace(self.request, tasks=self.request.tasks - 1)
        elif slow:
            self._leave_out(task, "did not come to an end")
        return (
            not (self.trials and self.slow >= _ENOUGH_SLOW)
            and self.request.tasks > 0
            and self.left_out < _MOST_LEFT_OUT
        )

    def without(self, part: str) -> None:
        """Have no later process begin a part again."""
        self.request = replace(self.request, without=self.request.without | {part})

    def ended(self, part: str, why: str) -> bool:
        """Go on after a part with which the process ended; say whether that is worth another one."""
        self.without(part)
        self._leave_out(part, why)
        return bool(part)

    def is_over(self, part: str) -> bool:
        """Whether there is no time for another part; it is said where there are fewer tasks than questions."""
        if time.monotonic() <= self.until:
            return False
        if self.request.tasks > SPARE:
            self.say(f"Running the notebook took more than {_TOTAL_S:.0f} s: {part} and what follows are left out.")
        return True

    def _leave_out(self, part: str, why: str) -> None:
        self.left_out += 1
        if "." in part:
            self.say(f"{part} is left out: your answer, or a copy of it with one line changed, {why}.")
        else:
            self.say(f"{f'The cell {part}' if part else 'The notebook'} is left out: it {why}.")


def _in_a_process(search: _Search) -> bool:
    """Try a notebook's tasks in another process; say whether it was ended, and another one should go on."""
    here, there = multiprocessing.Pipe(duplex=False)
    # A new interpreter, not a fork: torch's threads do not survive a fork, and not every system has one.
    process = multiprocessing.get_context("spawn").Process(target=_run, args=(there, search.request))
    process.start()
    there.close()
    part, seconds = "", None  # until the first part begins, it is our own code that runs
    try:
        while here.poll(seconds):
            message_type, *values = here.recv()
            if message_type == "begin":
                part, seconds = values
                if search.is_over(part):
                    return False
            elif message_type == "stopped":
                search.without(part)
                search.say(f"The cell {part} was stopped: it was still running after {values[0]:.0f} s.")
            elif message_type == "failed":
                raise RuntimeError(values[0])
            elif message_type == "end" or not search.take(part, *values):
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


def _run(pipe: Connection, request: Job) -> None:
    """The other process: it says what it begins, and hands back each task that it has tried."""
    if hasattr(os, "setsid"):
        os.setsid()
    with contextlib.suppress(OSError):  # Linux ends this process first where memory runs out
        Path("/proc/self/oom_score_adj").write_text("1000")
    with open(os.devnull, "r+b", buffering=0) as nothing:  # the code there neither reads, nor prints, nor warns
        for descriptor in range(3):
            os.dup2(nothing.fileno(), descriptor)
    warnings.simplefilter("ignore")
    pid = os.getpid()

    def say(*message: Any) -> None:
        if os.getpid() != pid:  # a fork that the learner's code has made
            os._exit(0)
        pipe.send(message)

    try:
        _try_tasks(say, request)
        say("end")
    except Exception:
        say("failed", traceback.format_exc())


def _try_tasks(say: Callable[..., None], request: Job) -> None:
    notebook = _prepared(request.path, request.seed)
    if notebook is None:
        return
    os.chdir(request.path.resolve().parent)

    def announce(name: str, seconds: float) -> None:
        # Should the other side be gone: this ends the process whatever its code does, which the clock does not.
        faulthandler.dump_traceback_later(seconds + 2 * _GRACE_S, exit=True)
        say("begin", name, seconds + _GRACE_S)

    runner = HomeRunner(announce)
    for index, cell in enumerate(notebook.cells, 1):
        name = grade_id(cell) or f"number {index}"
        if cell.cell_type == "code" and not is_check(cell) and name not in request.without:
            seconds = _OWN_CELL_S if is_solution(cell) else _CELL_S
            clock = Clock(seconds)
            runner.announce(name, seconds)
            if not runner.execute(cell.source, clock) and (clock.left or 0.0) <= 0:
                say("stopped", seconds)
    for plan in plans_of(notebook.cells, notebook.checks, notebook.settings, ""):
        name = plan.check.task.id
        if name not in request.without and request.task in ("", name):
            runner.slow = 0
            trial = tried(plan, runner.ran)
            # The check holds functions, which do not travel: the other side has it.
            say("tried", trial and replace(trial, check=cast(ReleasedCheck, None)), runner.slow)


class HomeRunner:
    """Runs programs in this process, after ``announce`` was told the task and the seconds that each may take."""

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
                task_questions = questions_at_home(variant)
                student = LocalStudent(variant, function, {task.id: variant}, clock)
                passes = judge(variant, student, task_questions=task_questions, names=False).verdict == "pass"
        except TimeIsUp:
            return None
        finally:
            self.slow += (clock.left or 0.0) <= 0
        return replace(program, outcomes=both, passes=passes)
