"""Grading on a Dask cluster: bytes go out to its workers, plain records come back, the one writer stays here.

Each worker is given its submissions by name, not by the scheduler's choice. So it is known which submissions a worker
had when it died, and one that workers die of is found without blame for those that waited behind it.
"""

import contextlib
import functools
import itertools
import logging
import queue
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import REFUSED
from softlookup_grader.data.work import Graded, RunSettings
from softlookup_grader.workers.making import Examiner, Executor, MakeExecutor, make_examiner
from softlookup_grader.workers.pool import DIED_TWICE, START_S, decode
from softlookup_grader.workers.pool_worker import DONE, FAILED, HALT

if TYPE_CHECKING:
    from distributed import Client, Future

IN_FLIGHT = 2
"""Submissions that one worker process has at a time: one is graded, the next one is there already."""
LOOK_S, CONNECT_S, FETCH_S, RESTART_S = 0.5, 30.0, 5.0, 30.0
_LOG = logging.getLogger(__name__)
NO_PACKAGE = "grading on a cluster needs the package distributed: pip install 'softlookup-grader[dask]'"


def dask_executor(
    address: str, make: Callable[[RunSettings], Examiner] | None = None, *, wait_s: float = 120.0
) -> MakeExecutor:
    """Grade on a Dask cluster: gives what makes the executor once the settings are known.

    Nothing is connected before there is work. ``address`` is where the scheduler listens, "tcp://head:8786";
    certificates for "tls://" come from Dask's own configuration. ``make`` makes an examiner in a worker; None makes the
    sandboxed one. It is pickled, by name. ``wait_s`` is seconds to wait for workers where there are none.
    """

    def executor(settings: RunSettings) -> Executor:
        # An examiner ends a submission at its limit; one that does not is broken itself.
        patience = START_S + 60.0 + 2 * settings.limits.total_s
        maker = functools.partial(make or make_examiner, settings)
        return DaskExecutor(address, maker, patience_s=patience, wait_s=wait_s)

    return executor


@dataclass(frozen=True)
class DaskExecutor:
    """Grades on the workers of a Dask cluster, each with an examiner of its own; nothing is connected before ``run``.

    Attributes:
        address: Where the scheduler listens.
        make: Makes an examiner in a worker. It is pickled, by name.
        patience_s: Seconds after which a worker that does not answer is restarted by its nanny, or gets no more work
            where it has none.
        wait_s: Seconds to wait for workers where there are none.
    """

    address: str
    make: Callable[[], Examiner]
    patience_s: float = 600.0
    wait_s: float = 120.0

    def run(self, submissions: Iterable[tuple[str, bytes]]) -> Iterator[Graded]:
        """Grade submissions, which are taken as they are needed; gives what each came to, as they come.

        One that ends two workers is refused. Closing the iterator lets the workers go. CourseError if the scheduler
        cannot be reached or is lost, if there are no workers, or if one says that it cannot grade.
        """
        source = iter(submissions)
        first = next(source, None)
        if first is None:
            return
        run = f"softlookup-{uuid.uuid4().hex}"
        with contextlib.ExitStack() as stack:
            client = stack.enter_context(_connected(self.address))
            # Its sandboxes are closed with it. If the scheduler is lost, nobody is left to report to.
            stack.callback(_end_run, client, run)
            with _trouble(client, self.address):
                _begin_run(client, run, self.make)
            round_ = _Round(client, self.address, run, self.patience_s, self.wait_s)
            yield from round_.go(itertools.chain([first], source))


@dataclass
class _Job:
    student: str
    submission: bytes
    failures: int = 0


@dataclass(eq=False)
class _Flight:
    job: _Job
    worker: str
    future: "Future"


@dataclass
class _Worker:
    flights: list[_Flight] = field(default_factory=list)
    since: float = field(default_factory=time.monotonic)

    @property
    def on_trial(self) -> bool:
        return any(flight.job.failures for flight in self.flights)


class _Round:
    """One run on a cluster, from the first submission to the last."""

    def __init__(self, client: "Client", address: str, run: str, patience_s: float, wait_s: float) -> None:
        self._client, self._address, self._run = client, address, run
        self._patience_s, self._wait_s = patience_s, wait_s
        self._crew: dict[str, _Worker] = {}
        self._flights: dict[str, _Flight] = {}
        self._suspects: deque[_Job] = deque()
        self._landed: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._answers: list[Graded] = []
        self._shunned: set[str] = set()
        self._numbers = itertools.count()
        self._all_sent = False
        self._looked = float("-inf")
        self._manned = time.monotonic()

    def go(self, source: Iterator[tuple[str, bytes]]) -> Iterator[Graded]:
        jobs = itertools.starmap(_Job, source)
        try:
            while True:
                with _trouble(self._client, self._address):
                    self._look_around()
                # The next ones are handed out before answers are given: workers go on while one is dealt with.
                self._hand_out(jobs)
                answers, self._answers = self._answers, []
                yield from answers
                if self._all_sent and not (self._flights or self._suspects):
                    return
                self._collect()
        finally:
            with contextlib.suppress(Exception):
                for flight in self._flights.values():
                    flight.future.release()

    def _look_around(self) -> None:
        """See who is there: workers come and go."""
        now = time.monotonic()
        if self._client.status != "running":
            raise OSError("it closed the connection")
        if now - self._looked < LOOK_S:
            return
        self._looked = now
        there = self._client.nthreads().keys()
        self._shunned &= there  # one that is gone may come back, perhaps at the same address
        there -= self._shunned
        for name in self._crew.keys() - there:
            for flight in self._crew.pop(name).flights:
                self._lost(flight, DIED_TWICE)
        for name, worker in list(self._crew.items()):
            if worker.flights and now - worker.since > self._patience_s:
                self._shunned.add(name)
                for flight in self._crew.pop(name).flights:
                    self._lost(flight, f"grading it took more than {self._patience_s:g} s, twice")
                # Grading goes on meanwhile: to start a worker takes seconds.
                threading.Thread(target=self._restart, args=(name,), daemon=True).start()
        for name in sorted(there - self._crew.keys() - self._shunned):
            self._crew[name] = _Worker()
        if self._crew:
            self._manned = now
        elif now - self._manned > self._wait_s:
            raise CourseError(
                f"the Dask scheduler {self._address} had no workers for {self._wait_s:g} s: start some, and run the "
                "same command again; what was graded is kept"
            )

    def _restart(self, name: str) -> None:
        """Have a worker that hangs started anew by its nanny; one without a nanny gets no more work."""
        try:
            record = self._client.restart_workers([name], timeout=RESTART_S, raise_for_error=False)
        except ValueError:
            why = "it has no nanny, which would start it anew"
        except Exception as error:
            if self._client.status != "running":
                return  # the run came to its end meanwhile, and the nanny goes on by itself
            why = f"its nanny did not start it anew ({error or type(error).__name__})"
        else:
            if record.get(name) == "OK":
                return
            why = f"its nanny did not start it anew ({record.get(name)})"
        _LOG.warning("The Dask worker %s does not answer and gets no more work: %s. Restart it yourself.", name, why)

    def _hand_out(self, jobs: Iterator[_Job]) -> None:
        """Give work to whoever has room. What a worker died of is tried once more, alone on a worker."""
        for name, worker in self._crew.items():
            if self._suspects and not worker.flights:
                self._send(self._suspects.popleft(), name, worker)
        for room in range(1, IN_FLIGHT + 1):  # one for everybody first, so that the last ones are spread
            for name, worker in self._crew.items():
                if len(worker.flights) < room and not worker.on_trial:
                    job = next(jobs, None)
                    if job is None:
                        self._all_sent = True
                        return
                    self._send(job, name, worker)

    def _send(self, job: _Job, name: str, worker: _Worker) -> None:
        from softlookup_grader.workers.dask_worker import grade

        with _trouble(self._client, self._address):
            future = self._client.submit(
                *(grade, self._run, job.student, job.submission),
                key=f"{self._run}-{next(self._numbers)}",
                workers=[name],
                pure=False,
            )
            flight = _Flight(job, name, future)
            if not worker.flights:
                worker.since = time.monotonic()
            worker.flights.append(flight)
            self._flights[str(future.key)] = flight
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
        flight = self._flights.get(str(future.key))
        if flight is None:
            return  # its worker was given up before
        if future.status == "error":
            self._erred(flight, future.exception())
            return
        with _trouble(self._client, self._address):
            try:
                record = bytes(future.result(timeout=FETCH_S)) if future.status == "finished" else b""
            except TimeoutError:
                slow.append(future)  # the worker is slow, or died with it: a look around will tell
                return
        kind, content = record[:1], record[1:]
        if kind == HALT:
            raise CourseError(content.decode("utf-8", "replace"))
        if kind == DONE:
            self._answers.append(decode(content))
            self._take_off(flight)
        elif kind == FAILED:
            self._lost(flight, content.decode("utf-8", "replace"))
        else:
            self._lost(flight, DIED_TWICE)

    def _erred(self, flight: _Flight, error: BaseException | None) -> None:
        """Dask itself did not bring a task to its end."""
        from distributed import KilledWorker

        if isinstance(error, KilledWorker):
            self._lost(flight, DIED_TWICE)
            return
        raise CourseError(
            f"the Dask worker {flight.worker} cannot take work ({type(error).__name__}: {str(error)[:300]}): the "
            "scheduler and all workers need the same Python, Dask and softlookup as the grader"
        )

    def _lost(self, flight: _Flight, failure: str) -> None:
        """There was no answer: the submission is tried once more, and is then given up."""
        self._take_off(flight)
        flight.job.failures += 1
        if flight.job.failures == 2:
            self._answers.append(Graded(flight.job.student, REFUSED, reason=failure))
        else:
            self._suspects.append(flight.job)

    def _take_off(self, flight: _Flight) -> None:
        del self._flights[str(flight.future.key)]
        flight.future.release()
        worker = self._crew.get(flight.worker)
        if worker and flight in worker.flights:
            worker.flights.remove(flight)
            worker.since = time.monotonic()


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


def _begin_run(client: "Client", run: str, make: Callable[[], Examiner]) -> None:
    """Let every worker, also one that comes later, have what it grades with."""
    from softlookup_grader.workers.dask_worker import Examining, library_version

    try:
        client.register_plugin(Examining(run, make, library_version()))
    except (ImportError, AttributeError) as error:
        raise CourseError(
            f"a Dask worker cannot load softlookup ({error}): install the same version on all workers"
        ) from error


def _end_run(client: "Client", run: str) -> None:
    with contextlib.suppress(Exception):
        if client.status == "running":
            client.unregister_worker_plugin(run)
