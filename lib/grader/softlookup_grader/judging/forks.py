"""The processes that submissions of one assignment run in, each forked from the examiner's zygote."""

import socket
import zlib

from nbformat import NotebookNode

from softlookup_grader.data.work import RunSettings
from softlookup_grader.judging.zygotes import begin_zygote
from softlookup_grader.sandbox.bubble import Forking, SandboxError
from softlookup_grader.sandbox.place import Ahead
from softlookup_grader.sandbox.session import SubmissionSession
from softlookup_judge.checking.catalogue import Catalogue


class Forks:
    """An examiner's zygote, and the processes that are forked from it.

    ``zygote`` is the connection to a copy of one that others use, too; None starts one. ``release`` is the notebook
    that students got, ``catalogue`` has the tasks that it may ask. SandboxError if the sandbox does not start.
    """

    def __init__(
        self, settings: RunSettings, release: NotebookNode, catalogue: Catalogue, zygote: socket.socket | None = None
    ) -> None:
        self._begins_with = settings, [release], catalogue
        self._limits = settings.limits
        # A submission can read the seed, so nothing of the run's is in it: that draws the questions.
        self._seed = zlib.crc32(settings.assignment.encode())
        self._fork_from(begin_zygote(*self._begins_with) if zygote is None else Forking(zygote))
        try:
            self.zygote.wait()
        except SandboxError:
            if zygote is None:
                raise
            self.renew()  # the zygote that was to be copied is gone

    def _fork_from(self, zygote: Forking) -> None:
        self.zygote, self._places = zygote, Ahead(zygote, self._limits, self._seed)

    def session(self, until: float) -> SubmissionSession:
        """Begin a submission's process, which has until then."""
        try:
            return SubmissionSession(self._places.take(), until)
        except SandboxError:
            self.renew()  # somebody killed it: one that starts at all may be tried once more
            return SubmissionSession(self._places.take(), until)

    def lives(self) -> bool:
        """Whether the zygote is still there."""
        return self.zygote.lives()

    def renew(self) -> None:
        """Put a new zygote in place of one that is gone."""
        for last in (False, True):  # one that starts at all may be tried once more
            self.close()
            self._fork_from(begin_zygote(*self._begins_with))
            try:
                self.zygote.wait()
                return
            except SandboxError:
                if last:
                    raise

    def close(self) -> None:
        """End all of it."""
        self._places.close()
        self.zygote.close()
