"""Grading on a Dask cluster: bytes go out to its workers, plain records come back, the one writer stays here.

A pool of one process judges on each worker; what was with a worker that died is graded once more, alone.
"""

import contextlib
import functools
import itertools
import queue
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import REFUSED
from softlookup_grader.data.work import Graded, RunSettings
from softlookup_grader.workers.making import Examiner, Executor, MakeExecutor, make_examiner, patience_for
from softlookup_grader.workers.pool import DIED_TWICE, JUDGING_TASKS, decode
from softlookup_grader.workers.pool_worker import DONE, FAILED, HALT

if TYPE_CHECKING:
    from distributed import Client, Future

IN_FLIGHT = 2  # submissions for one worker process: one is graded, the next one is there already
LOOK_S, CONNECT_S, FETCH_S = 0.5, 30.0, 5.0
NO_PACKAGE = "grading on a cluster needs the package distributed: pip install 'softlookup-grader[dask]'"


def dask_executor(
    address: str, make: Callable[[RunSettings], Examiner] | None = None, *, wait_s: float = 120.0
) -> MakeExecutor:
    """Grade on a Dask cluster: gives what makes the executor for some settings. ``make`` is pickled, by name."""

    def executor(settings: RunSettings) -> Executor:
        maker = functools.partial(make or make_examiner, settings)
        return DaskExecutor(address, maker, () if make else (JUDGING_TASKS,), patience_for(settings), wait_s)

    return executor


@dataclass(frozen=True)
class DaskExecutor:
    """Grades on the workers of a Dask cluster; nothing is connected before ``run``."""

    address: str  # where the scheduler listens, "tcp://head:8786"
    make: Callable[[], Examiner]  # makes an examiner; it is pickled, by name
    modules: tuple[str, ...] = ()  # what is imported once for all processes of a worker
    patience_s: float = 600.0  # seconds after which a process that does not answer is ended
    wait_s: float = 120.0  # seconds to wait for workers where there are none

    def run(self, submissions: Iterable[tuple[str, bytes]]) -> Iterator[Graded]:
        """Grade submissions, which are taken as they are needed; gives what each came to, as they come."""
        source = iter(submissions)
        first = next(source, None)
        if first is None:
            return
        run = f"softlookup-{uuid.uuid4().hex}"
        with contextlib.ExitStack() as stack:
            client = stack.enter_context(_connected(self.address))
            from softlookup_grader.workers.dask_worker import Examining, library_version

            # Its sandboxes are closed with it. If the scheduler is lost, nobody is left to report to.
            stack.callback(_end_run, client, run)
            with _trouble(client, self.address):
                try:
                    client.register_plugin(Examining(run, self.make, self.modules, self.patience_s, library_version()))
                except (ImportError, AttributeError) as error:
                    raise CourseError(
                        f"a Dask worker cannot load softlookup ({error}): install the same version on all workers"
                    ) from error
            yield from _Round(client, self.address, run, self.wait_s).go(itertools.chain([first], source))


@dataclass(eq=False)
class _Flight:
    student: str
    submission: bytes
    future: "Future"
    alone: bool = False


class _Round:
    """One run on a cluster, from the first submission to the last."""

    def __init__(self, client: "Client", address: str, run: str, wait_s: float) -> None:
        self._client, self._address, self._run, self._wait_s = client, address, run, wait_s
        self._flights: dict[str, _Flight] = {}
        self._suspects: deque[_Flight] = deque()
        self._landed: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._answers: list[Graded] = []
        self._numbers = itertools.count()
        self._workers = 0
        self._looked, self._manned = float("-inf"), time.monotonic()

    def go(self, source: Iterator[tuple[str, bytes]]) -> Iterator[Graded]:
        """Send submissions, and give what comes back."""
        all_sent = False
        try:
            while True:
                with _trouble(self._client, self._address):
                    self._look_around()
                # The next ones are sent before answers are given: workers go on while one is dealt with.
                while not all_sent and len(self._flights) < IN_FLIGHT * self._workers:
                    if (submission := next(source, None)) is None:
                        all_sent = True
                    else:
                        self._send(*submission)
                if all_sent and self._suspects and not self._flights:
                    suspect = self._suspects.popleft()
                    self._send(suspect.student, suspect.submission, alone=True)
                answers, self._answers = self._answers, []
                yield from answers
                if all_sent and not self._flights:
                    return
                self._collect()
        finally:
            with contextlib.suppress(Exception):
                for flight in self._flights.values():
                    flight.future.release()

    def _look_around(self) -> None:
        """See how many workers there are: they come and go."""
        now = time.monotonic()
        if self._client.status != "running":
            raise OSError("it closed the connection")
        if now - self._looked < LOOK_S:
            return
        self._looked, self._workers = now, len(self._client.nthreads())
        if self._workers:
            self._manned = now
        elif now - self._manned > self._wait_s:
            raise CourseError(
                f"the Dask scheduler {self._address} had no workers for {self._wait_s:g} s: start some, and run the "
                "same command again; what was graded is kept"
            )

    def _send(self, student: str, submission: bytes, alone: bool = False) -> None:
        from softlookup_grader.workers.dask_worker import grade

        key = f"{self._run}-{next(self._numbers)}"
        with _trouble(self._client, self._address):
            future = self._client.submit(grade, self._run, student, submission, key=key, pure=False)
        self._flights[key] = _Flight(student, submission, future, alone)
        future.add_done_callback(self._landed.put)

    def _collect(self) -> None:
        """Wait a moment for answers, and take all that are there."""
        slow: list[Future] = []
        with contextlib.suppress(queue.Empty):
            self._hear(self._landed.get(timeout=LOOK_S), slow)
            # One worker that does not deliver must not keep the others waiting for work.
            while not slow:
                self._hear(self._landed.get_nowait(), slow)
        for future in slow:
            self._landed.put(future)

    def _hear(self, future: "Future", slow: "list[Future]") -> None:
        """Take what a worker says; what cannot be fetched yet is added to the slow ones."""
        message = b""
        with _trouble(self._client, self._address):
            if future.status == "error":
                self._require_death(future.exception())
            elif future.status == "finished":
                try:
                    message = bytes(future.result(timeout=FETCH_S))
                except TimeoutError:
                    slow.append(future)  # the worker is slow, or died with it: Dask will tell
                    return
        flight = self._flights.pop(str(future.key))
        future.release()
        sign, content = message[:1], message[1:]
        if sign == HALT:
            raise CourseError(content.decode("utf-8", "replace"))
        if sign == DONE:
            self._answers.append(decode(content))
        elif sign == FAILED or flight.alone:
            reason = content.decode("utf-8", "replace") or DIED_TWICE
            self._answers.append(Graded(flight.student, REFUSED, reason=reason))
        else:
            self._suspects.append(flight)

    def _require_death(self, error: BaseException | None) -> None:
        """Hold that Dask gave a submission up because workers died with it, and for no other reason."""
        from distributed import KilledWorker

        if not isinstance(error, KilledWorker):
            raise CourseError(
                f"a Dask worker cannot take work ({type(error).__name__}: {str(error)[:300]}): the scheduler and all "
                "workers need the same Python, Dask and softlookup as the grader"
            )


@contextlib.contextmanager
def _connected(address: str) -> Iterator["Client"]:
    """A connection to a scheduler."""
    try:
        import dask
        from distributed import Client
    except ImportError:
        raise CourseError(NO_PACKAGE) from None
    # A large submission is no mistake that Dask would have to warn of.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        try:
            # What comes back are bytes: no pickle of a worker's is read for them.
            plain = {"deserializers": ["dask", "msgpack"]}
            client = Client(address, timeout=CONNECT_S, set_as_default=False, **plain)
        except (OSError, ValueError, TypeError) as error:
            says = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
            raise CourseError(f"there is no Dask scheduler at {address!r} ({says})") from None
        try:
            yield client
        finally:
            with contextlib.suppress(Exception):
                client.close(timeout=FETCH_S)


@contextlib.contextmanager
def _trouble(client: Any, address: str) -> Iterator[None]:
    """Turn the loss of a scheduler into one sentence."""
    try:
        yield
    except CourseError:
        raise
    except Exception as error:
        if client.status == "running" and not isinstance(error, OSError):
            raise
        reason = " ".join(str(error).split())  # some of Dask's reasons have several lines
        raise CourseError(
            f"the Dask scheduler {address} was lost ({type(error).__name__}: {reason}): run the same command again "
            "when it is back; what was graded is kept"
        ) from error


def _end_run(client: "Client", run: str) -> None:
    with contextlib.suppress(Exception):
        if client.status == "running":
            client.unregister_worker_plugin(run)
