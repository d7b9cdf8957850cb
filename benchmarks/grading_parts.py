"""Where the grader's time goes: clocks around its functions, put there from outside while a class is graded.

The class is graded in this process, one submission at a time, so that the parts add up to the whole. Each clock runs
while its function does and no inner one's: what a part took is its own.
"""

import contextlib
import functools
import importlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from softlookup_grader.course.folder import Course
from softlookup_grader.data.work import Graded, RunSettings
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.request import GradeRequest
from softlookup_grader.workers.making import make_examiner

INSIDE = "the student's code"
CLOCKS = {
    "reading the hand-in": (
        "softlookup_grader.course.hand_ins:read_submission",
        "softlookup_grader.judging.examine:rebuild",
    ),
    "starting and ending the sandbox": (
        "softlookup_grader.judging.forks:Sandbox.session",
        "softlookup_grader.sandbox.session:SubmissionSession.close",
    ),
    INSIDE: ("softlookup_inside.sandbox.frames:Channel.receive",),
    "calls over the channel": (
        "softlookup_grader.sandbox.session:SubmissionSession._asked",
        "softlookup_grader.sandbox.session:SubmissionSession.ask",
    ),
    "judging": ("softlookup_grader.judging.running:SubmissionRun._check",),
    "naming mistakes": ("softlookup_judge.checking.judge:diagnose",),
    "the graded notebook": ("softlookup_grader.judging.examine:graded_notebook",),
    "the ledger": (
        "softlookup_grader.run.keeping:Shelf.store",
        "softlookup_grader.run.ledger:Ledger.add",
        "softlookup_grader.run.ledger:Ledger.mark_entered",
    ),
    "the gradebook": (
        "softlookup_grader.run.writer:GradebookWriter.enter_all",
        "softlookup_grader.run.writer:GradebookWriter.refresh_penalties",
    ),
    "autograded/": ("softlookup_grader.course.autograded:Autograded.write",),
    "the report": ("softlookup_grader.run.keeping:Keeper.report",),
    "the start, once for a class": (
        "softlookup_grader.judging.examine:SandboxExaminer.__init__",
        "softlookup_grader.judging.running:Assignment.questions",
    ),
}
"""The parts, each with its functions: the module, and the name in it."""

AROUND = "around it in the sandbox"
REST = "the rest"


@dataclass
class _Clocks:
    """Seconds of each part; the part on top of the stack is the one whose clock runs."""

    took: dict[str, float] = field(default_factory=dict)
    stack: list[str] = field(default_factory=lambda: [REST])
    now: Callable[[], float] = time.perf_counter
    since: float = field(init=False)

    def __post_init__(self) -> None:
        self.since = self.now()

    def turn(self) -> None:
        now = self.now()
        self.took[self.stack[-1]] = self.took.get(self.stack[-1], 0.0) + now - self.since
        self.since = now

    def around(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*args: Any, **named: Any) -> Any:
            self.turn()
            self.stack.append(part)
            try:
                return function(*args, **named)
            finally:
                self.turn()
                self.stack.pop()

        return timed


@contextlib.contextmanager
def _clocks() -> Iterator[_Clocks]:
    clocks = _Clocks()
    with contextlib.ExitStack() as undo:
        for part, places in CLOCKS.items():
            for place in places:
                module, _, name = place.partition(":")
                *path, last = name.split(".")
                holder: Any = importlib.import_module(module)
                for attribute in path:
                    holder = getattr(holder, attribute)
                function = getattr(holder, last)
                setattr(holder, last, clocks.around(part, function))
                undo.callback(setattr, holder, last, function)
        yield clocks


class _Here:
    """Grades in this process, one after the other."""

    def __init__(self, settings: RunSettings) -> None:
        self._settings = settings

    def run(self, submissions: Iterable[tuple[str, bytes]]) -> Iterator[Graded]:
        with make_examiner(self._settings) as examiner:
            for student, submission in submissions:
                yield examiner.examine(student, submission)


def parts(course: Course, assignment: str, code_s: float) -> dict[str, float]:
    """Grade a class in this process, with clocks: seconds of each part, in the order of CLOCKS, and of the rest.

    ``code_s`` are seconds of the students' code alone, one after the other, which no clock outside of the sandbox tells
    from the shell, the gates and the copies around it.
    """
    with _clocks() as clocks:
        grade_assignment(course, GradeRequest(assignment, seed=1, feedback=False), executor=_Here)
        clocks.turn()
    seconds = {}
    for part in (*CLOCKS, REST):
        seconds[part] = clocks.took.get(part, 0.0)
        if part == INSIDE:
            seconds |= {INSIDE: code_s, AROUND: max(0.0, seconds[part] - code_s)}
    return seconds
