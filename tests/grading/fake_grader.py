"""Graders that run nothing, in a module of its own: grading processes import it, so it must be light."""

import functools
import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat

from softlookup_grader import Course, CourseError
from softlookup_grader.course.notebooks import grade_id, is_graded, is_solution, task_id
from softlookup_grader.data.work import Graded, Mark, RunSettings, digest_of
from softlookup_grader.run.engine import local_executor
from softlookup_grader.run.request import GradeRequest, Watcher
from softlookup_grader.workers.making import MakeExecutor

if TYPE_CHECKING:
    from softlookup_grader.judging.examine import SandboxExaminer
    from softlookup_judge.data.result import CheckResult


@dataclass(frozen=True)
class FakeExaminer:
    """Gives each task a share of its points that name and seed decide; what it does is written down."""

    settings: RunSettings  # as for the real one
    calls: Path | None = None  # a file that gets a line at the end of each call
    sleep_s: float = 0.0  # how long a call takes
    kills: tuple[str, ...] = ()  # students whose grading always kills the process
    kills_once: tuple[str, ...] = ()  # students whose grading kills the first process that tries
    fails: tuple[str, ...] = ()  # students for whom it raises
    kills_worker: tuple[str, ...] = ()  # students whose grading kills the process that began this one, too
    hangs: tuple[str, ...] = ()  # students for whom it never comes back
    crowded: tuple[str, ...] = ()  # students whose submissions always wait for a processor until their time is over
    refuses: str = ""  # a sentence with which it refuses to start
    _once: dict[str, bool] = field(default_factory=dict)

    def __enter__(self) -> "FakeExaminer":
        if self.refuses:
            raise CourseError(self.refuses)
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def examine(self, student: str, submission: bytes) -> Graded:
        self._note(f"{os.getpid()}:{student}", "begun")
        self._misbehave(student)
        time.sleep(self.sleep_s)
        graded = self._graded(student, submission)
        self._note(student)
        return graded

    def _note(self, what: str, beside: str = "") -> None:
        if self.calls:
            with open(self.calls.with_name(beside) if beside else self.calls, "a", encoding="utf-8") as file:
                file.write(f"{what}\n")

    def _misbehave(self, student: str) -> None:
        if student in self.kills_worker:
            parent = multiprocessing.parent_process()
            assert parent is not None and parent.pid is not None
            os.kill(parent.pid, signal.SIGKILL)
        if student in self.kills:
            os.kill(os.getpid(), signal.SIGKILL)
        if student in self.kills_once:
            assert self.calls
            mark = self.calls.with_name(f"killed-{student}")
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        if student in self.fails:
            raise RuntimeError("the disk is full")
        if student in self.hangs:
            time.sleep(1000)

    def _graded(self, student: str, submission: bytes) -> Graded:
        digest = digest_of(submission)
        try:
            answers = {c["metadata"]["nbgrader"]["grade_id"]: c for c in json.loads(submission)["cells"] if _named(c)}
        except (ValueError, KeyError, TypeError):
            return Graded(student, "refused", digest, reason="it is not a notebook")
        (released,) = self.settings.notebooks
        notebook = nbformat.reads(released.text, as_version=4)
        marks = []
        for cell in notebook.cells:
            if is_solution(cell) and grade_id(cell) in answers:
                cell.source = "".join(answers[grade_id(cell)]["source"])
            if is_graded(cell):
                best = float(cell.metadata.nbgrader.points)
                name = grade_id(cell)
                share = (sum(f"{student}{name}".encode()) + self.settings.seed) % 5 / 4
                by_hand = is_solution(cell)
                points = None if by_hand else best * share
                verdict = "by hand" if by_hand else "pass" if share == 1 else "wrong"
                named = () if by_hand or share == 1 else ("no-sqrt",)
                marks.append(Mark(task_id(name), name, points, best, verdict, named))
        remarks = ("A cell was added.",) if "remark" in student else ()
        text = nbformat.writes(notebook)
        more = {"slowest": "04-scale", "crowded": student in self.crowded}
        return Graded(
            student, "graded", digest, tuple(marks), remarks=remarks, notebooks=((released.name, text),), **more
        )


def _named(cell: dict) -> bool:
    return "grade_id" in cell.get("metadata", {}).get("nbgrader", {})


def _make(options: dict, settings: RunSettings) -> FakeExaminer:
    return FakeExaminer(settings, **options)


def faked(course: Course, order: GradeRequest, **options: object) -> MakeExecutor:
    """An executor of this machine with fake examiners in processes of their own."""
    return local_executor(course, order, functools.partial(_make, options))


@dataclass(frozen=True)
class Here:
    """An executor that grades in this process, one after the other."""

    examiner: "FakeExaminer | SandboxExaminer"

    def run(self, submissions: Iterable[tuple[str, bytes]]) -> Iterator[Graded]:
        with self.examiner:
            for student, submission in submissions:
                yield self.examiner.examine(student, submission)


def judged_here(settings: RunSettings) -> Here:
    """An executor that judges in this process: a worker of its own takes seconds to start."""
    from softlookup_grader.judging.examine import SandboxExaminer

    return Here(SandboxExaminer(settings))


def here(**options: object) -> MakeExecutor:
    """An executor with one fake examiner in this process."""
    return lambda settings: Here(_make(options, settings))


@dataclass
class SecondExaminer:
    """An examiner that gives the marks that it is made with, and remembers what it was asked."""

    marks: tuple[Mark, ...]
    results: "tuple[CheckResult, ...]" = ()
    status: str = "graded"
    calls: list[tuple[RunSettings, str, bytes]] = field(default_factory=list)
    closed: bool = False

    def __call__(self, settings: RunSettings) -> "SecondExaminer":
        self.settings = settings
        return self

    def __enter__(self) -> "SecondExaminer":
        return self

    def __exit__(self, *_: object) -> None:
        self.closed = True

    def examine(self, student: str, submission: bytes, witness: "Callable[[str, CheckResult], None]") -> Graded:
        self.calls.append((self.settings, student, submission))
        for result in self.results:
            witness(result.task_id, result)
        if self.status != "graded":
            return Graded(student, self.status, reason="bubblewrap is gone")
        return Graded(student, "graded", digest_of(submission), self.marks, remarks=("a cell was doubled",))


class Seen(Watcher):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, int, int]] = []
        self.steps: list[str] = []
        self.sentences: list[str] = []

    def begin(self, what: str, total: int, done: int = 0) -> None:
        self.begun.append((what, total, done))

    def step(self, name: str, graded: Graded | None = None) -> None:
        self.steps.append(name)

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)
