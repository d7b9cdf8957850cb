"""What runs on a Dask worker: a pool of one process that judges submissions, for as long as a run lasts."""

import hashlib
import multiprocessing
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from distributed import WorkerPlugin, get_worker

from softlookup_grader.data.errors import CourseError
from softlookup_grader.workers.making import Examiner
from softlookup_grader.workers.pool import WorkerPool, examining_pool
from softlookup_grader.workers.pool_worker import DONE, FAILED, HALT
from softlookup_inside.installed import homes, version_of

IDLE_S = 300.0
"""Seconds without work after which the pool is closed: a grader that was killed tells nobody that it is over."""


def grade(run: str, student: str, submission: bytes) -> bytes:
    """Grade one submission on the worker that this is called on; an exception would travel as a pickle: none does."""
    plugin = get_worker().plugins[run]
    assert isinstance(plugin, Examining)
    return plugin.grade(student, submission)


class Examining(WorkerPlugin):
    """Holds a run's pool on each worker, those that join later included; it starts with the first submission."""

    def __init__(
        self, run: str, make: Callable[[], Examiner], modules: Sequence[str], patience_s: float, library: str
    ) -> None:
        """Prepare it where the run begins; it travels from there as a pickle."""
        self.name, self._make, self._modules, self._patience_s, self._library = run, make, modules, patience_s, library

    def setup(self, worker: Any) -> None:
        """Come to a worker."""
        # A nanny's worker is a daemon, which may start no processes; a pool's end by themselves when it is gone.
        multiprocessing.current_process().daemon = False
        self._where, self._over = worker.address, False
        self._log = Path(worker.local_directory, "grading.log")
        self._lock = threading.Lock()  # one submission at a time, whatever the number of the worker's threads
        self._pool: WorkerPool | None = None
        self._leaving: threading.Timer | None = None

    def teardown(self, worker: Any) -> None:
        """End with the run or with the worker; a submission that is being graded closes the pool afterwards."""
        self._over = True
        self._close_if_idle()

    def grade(self, student: str, submission: bytes) -> bytes:
        """Grade one submission: DONE and what it came to, FAILED or HALT and a sentence."""
        try:
            with self._lock:
                return self._graded(student, submission)
        finally:
            if self._over:  # the run may have ended after the last look at it, while the lock was still held
                self._close_if_idle()

    def _graded(self, student: str, submission: bytes) -> bytes:
        if self._leaving:
            self._leaving.cancel()
        try:
            if self._pool is None:
                self._pool = self._started()
            answer = self._pool.do(student, submission)
            return FAILED + answer.failure.encode("utf-8", "replace") if answer.failure else DONE + answer.content
        except Exception as error:
            self._close()
            says = error if isinstance(error, CourseError) else f"{type(error).__name__}: {error}"
            return HALT + f"the Dask worker {self._where} cannot grade: {says}".encode("utf-8", "replace")
        finally:
            self._leaving = threading.Timer(IDLE_S, self._close_if_idle)
            self._leaving.daemon = True
            self._leaving.start()

    def _started(self) -> WorkerPool:
        if self._over:
            raise CourseError("the run is over")
        here = library_version()
        if here != self._library:
            raise CourseError(f"it has softlookup {here}, and the grader has {self._library}: install the same on both")
        return examining_pool(self._make, 1, self._log, self._patience_s, modules=self._modules)

    def _close(self) -> None:
        if self._leaving:
            self._leaving.cancel()
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _close_if_idle(self) -> None:
        if self._lock.acquire(blocking=False):
            try:
                self._close()
            finally:
                self._lock.release()


def library_version(folders: Sequence[Path] | None = None) -> str:
    """Name the grader by its version and its sources: two that are called the same may yet grade differently."""
    content = hashlib.sha256()
    for home in homes().values() if folders is None else folders:
        for path in sorted(home.rglob("*.py")):
            content.update(f"{home.name}/{path.relative_to(home).as_posix()}\n".encode())
            content.update(path.read_bytes())
    return f"{version_of('softlookup-grader')} ({content.hexdigest()[:8]})"
