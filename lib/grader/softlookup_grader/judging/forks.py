"""Where the submissions of one assignment run: a zygote, and a process forked from it for each."""

import contextlib
import socket
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from nbformat import NotebookNode

from softlookup_grader.data.work import RunSettings
from softlookup_grader.judging.zygotes import begin_zygote
from softlookup_grader.sandbox.bubble import SandboxError, Zygote
from softlookup_grader.sandbox.place import SubmissionProcess
from softlookup_grader.sandbox.session import SubmissionSession
from softlookup_judge.checking.catalogue import Catalogue


class Sandbox:
    """An examiner's zygote, and the processes forked from it; the next one is made while the present one is graded."""

    def __init__(
        self,
        settings: RunSettings,
        releases: Sequence[NotebookNode],
        catalogue: Catalogue,
        zygote: socket.socket | None = None,
        start: Callable[..., Zygote] | None = None,
    ) -> None:
        self._begin = partial(begin_zygote, settings, releases, catalogue, start)
        self._limits = settings.limits
        # A submission can read the seed, so nothing of the run's is in it: that draws the questions.
        self._seed = zlib.crc32(settings.assignment.encode())
        self._fork_from(self._begin() if zygote is None else Zygote(zygote))
        try:
            self.zygote.wait()
        except SandboxError:
            if zygote is None:
                raise
            self.renew()  # the zygote that was to be copied is gone

    def _fork_from(self, zygote: Zygote) -> None:
        self.zygote, self._thread = zygote, ThreadPoolExecutor(1, "ahead")
        self._make = partial(SubmissionProcess, zygote, self._limits, self._seed)
        self._next: Future[SubmissionProcess] | None = None

    def session(self, until: float) -> SubmissionSession:
        """Begin a submission's process, which has until then."""
        try:
            return SubmissionSession(self._process(), until)
        except SandboxError:
            self.renew()  # somebody killed it: one that starts at all may be tried once more
            return SubmissionSession(self._process(), until)

    def _process(self) -> SubmissionProcess:
        """The process that stands ready, or a new one; the next one is begun."""
        process = self._ready() or self._make()
        self._next = self._thread.submit(self._make)
        return process

    def _ready(self) -> SubmissionProcess | None:
        """The process that was made ahead, if it still lives."""
        ahead, self._next = self._next, None
        if ahead is None:
            return None
        with contextlib.suppress(SandboxError, OSError):
            process = ahead.result()
            if process.lives():
                return process
            process.close()
        return None

    def lives(self) -> bool:
        """Whether the zygote is still there."""
        return self.zygote.lives()

    def renew(self) -> None:
        """Begin a new zygote in place of one that is gone."""
        for last in (False, True):  # one that starts at all may be tried once more
            self.close()
            self._fork_from(self._begin())
            try:
                self.zygote.wait()
                return
            except SandboxError:
                if last:
                    raise

    def close(self) -> None:
        """End all of it; this does not wait for the process that nobody took."""
        if self._next is not None:
            self._next.add_done_callback(_end)
            self._next = None
        self._thread.shutdown(wait=False)
        self.zygote.close()


def _end(ahead: Future[SubmissionProcess]) -> None:
    if ahead.exception() is None:
        ahead.result().close()
