"""Makes the examiners that judge submissions, wherever they run."""

import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from softlookup_grader.data.work import Graded, RunSettings


class Examiner(AbstractContextManager["Examiner"], Protocol):
    """Runs and judges submissions; a context, since it holds a sandbox open."""

    def examine(self, student: str, submission: bytes) -> Graded:
        """Grade one submission. It never raises for anything that a student handed in."""
        ...


class Executor(Protocol):
    """Grades many submissions somewhere: in processes of this machine, or on a cluster."""

    def run(self, submissions: Iterable[tuple[str, bytes]]) -> Iterator[Graded]:
        """Grade each submission once, in any order; submissions are taken as they are needed."""
        ...


MakeExecutor = Callable[[RunSettings], Executor]


def patience_for(settings: RunSettings) -> float:
    """Seconds after which a process that does not answer is ended: an examiner ends a submission at its limit."""
    return 60.0 + 2 * settings.total_s


def make_examiner(settings: RunSettings, zygote: socket.socket | None = None) -> Examiner:
    """The examiner that runs submissions in the sandbox; everything that grades makes its examiners here."""
    from softlookup_grader.judging.examine import SandboxExaminer

    return SandboxExaminer(settings, zygote)
