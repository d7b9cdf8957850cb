"""What runs on a Dask worker: one examiner in each process, for as long as a run lasts."""

import contextlib
import hashlib
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from distributed import WorkerPlugin, get_worker

from softlookup_grader.data.errors import CourseError
from softlookup_grader.workers.making import Examiner
from softlookup_grader.workers.pool import encode
from softlookup_grader.workers.pool_worker import DONE, FAILED, HALT
from softlookup_inside.installed import homes, version_of

IDLE_S = 300.0
"""Seconds without work after which an examiner is closed: a grader that was killed tells nobody that it is over."""


def grade(run: str, student: str, submission: bytes) -> bytes:
    """Grade one submission on the worker that this is called on, by the examiner of a run: the one task of it.

    It gives DONE and what grading came to, FAILED or HALT and a sentence. Nothing is raised: an exception would travel
    as a pickle.
    """
    plugin = get_worker().plugins[run]
    assert isinstance(plugin, Examining)
    return plugin.grade(student, submission)


class Examining(WorkerPlugin):
    """Holds a run's examiner on each worker, those that join later included; it starts with the first submission."""

    def __init__(self, run: str, make: Callable[[], Examiner], library: str) -> None:
        """Prepare it where the run begins; it travels from there as a pickle.

        ``make`` makes the examiner; ``library`` is what library_version gives where the run begins.
        """
        self.name, self._make, self._library = run, make, library

    def setup(self, worker: Any) -> None:
        """Take a place on a worker."""
        self._where, self._over = worker.address, False
        # An examiner does one thing at a time, whatever the number of the worker's threads.
        self._lock = threading.Lock()
        self._open: contextlib.ExitStack | None = None
        self._leaving: threading.Timer | None = None

    def teardown(self, worker: Any) -> None:
        """End with the run or with the worker; a submission that is being graded closes the examiner afterwards."""
        self._over = True
        self._close_if_idle()

    def grade(self, student: str, submission: bytes) -> bytes:
        """Grade one submission, see grade above."""
        try:
            return self._graded(student, submission)
        finally:
            if self._over:  # the run may have ended after the last look at it, while the lock was still held
                self._close_if_idle()

    def _graded(self, student: str, submission: bytes) -> bytes:
        with self._lock:
            if self._leaving:
                self._leaving.cancel()
            try:
                return DONE + encode(self._begun().examine(student, submission))
            except CourseError as error:
                return HALT + f"the Dask worker {self._where} cannot grade: {error}".encode("utf-8", "replace")
            except Exception as error:
                traceback.print_exc()
                self._close()  # the next one finds a clean one
                says = f"grading it failed ({type(error).__name__}: {error})"
                return FAILED + says[:400].encode("utf-8", "replace")
            finally:
                if self._over:
                    self._close()
                else:
                    self._leaving = threading.Timer(IDLE_S, self._close_if_idle)
                    self._leaving.daemon = True
                    self._leaving.start()

    def _begun(self) -> Examiner:
        """The examiner, started if it is not there."""
        if self._over:
            raise CourseError("the run is over")
        if self._open is None:
            here = library_version()
            if here != self._library:
                raise CourseError(
                    f"it has softlookup {here}, and the grader has {self._library}: install the same on both"
                )
            with contextlib.ExitStack() as stack:
                self._examiner = stack.enter_context(self._make())
                self._open = stack.pop_all()
        return self._examiner

    def _close(self) -> None:
        if self._leaving:
            self._leaving.cancel()
        if self._open is not None:
            opened, self._open = self._open, None
            opened.close()

    def _close_if_idle(self) -> None:
        if self._lock.acquire(blocking=False):
            try:
                self._close()
            finally:
                self._lock.release()


def library_version(folders: Sequence[Path] | None = None) -> str:
    """Name the grader by its version and its sources: two that are called the same may yet grade differently.

    ``folders`` are those of the packages; None takes those that are installed.
    """
    content = hashlib.sha256()
    for home in homes().values() if folders is None else folders:
        for path in sorted(home.rglob("*.py")):
            content.update(f"{home.name}/{path.relative_to(home).as_posix()}\n".encode())
            content.update(path.read_bytes())
    return f"{version_of('softlookup-grader')} ({content.hexdigest()[:8]})"
