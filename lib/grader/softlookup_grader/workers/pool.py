"""Workers side by side: processes that each take one submission at a time, and are replaced when they die.

The way back holds no pickles, and a submission fails only if a second worker dies of it, too.
"""

import contextlib
import functools
import json
import multiprocessing
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

from softlookup_grader.data.disk import current_umask
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import REFUSED
from softlookup_grader.data.work import ONE_THREAD, Graded
from softlookup_grader.workers.making import Examiner
from softlookup_grader.workers.pool_worker import DONE, FAILED, HALT, READY, Doing, serve

_JUDGES = {**dict.fromkeys(ONE_THREAD, "1"), "CUDA_VISIBLE_DEVICES": ""}
"""What a judge's environment says. One that computes gradients where there is a GPU could not fork one that does."""
START_S, CLOSING_S = 300.0, 5.0
DIED_TWICE = "the process that graded it died twice"
JUDGING = "softlookup_grader.workers.preloaded"
JUDGING_TASKS = "softlookup_grader.workers.preloaded_torch"


@dataclass(frozen=True)
class JobResult:
    """What became of one job."""

    name: str  # the job's name
    content: bytes = b""  # what the worker answered; empty if it failed
    failure: str = ""  # why there is no answer, one sentence; empty if there is one


@dataclass
class _Job:
    name: str
    payload: bytes
    failures: int = 0


@dataclass
class _Worker:
    process: ForkServerProcess
    pipe: Connection
    processor: int | None = None
    job: _Job | None = None
    ready: bool = False
    since: float = 0.0


class WorkerPool:
    """A number of worker processes that do the same kind of job."""

    def __init__(
        self,
        make: Callable[..., AbstractContextManager[Doing]],
        workers: int,
        *,
        log: Path,
        patience_s: float = 600.0,
        lend: Callable[[], socket.socket] | None = None,
        modules: Sequence[str] = (),
        own_processors: bool = False,
    ) -> None:
        """Prepare a pool; processes start when there is work, with ``own_processors`` each on one of its own."""
        self._make, self._count, self._log, self._patience_s = make, workers, log, patience_s
        self._lend, self._modules = lend, modules
        self._processors = _mine() if own_processors and len(_mine()) == workers else []
        self._crew: list[_Worker] = []
        self._waiting: deque[_Job] = deque()
        self._false_starts = 0

    def run(self, jobs: Iterable[tuple[str, bytes]]) -> Iterator[JobResult]:
        """Do jobs, taken as they are needed; gives an answer for each as they come. Closing it ends the workers."""
        source = iter(jobs)
        try:
            while True:
                while len(self._waiting) < self._count and (job := next(source, None)) is not None:
                    self._waiting.append(_Job(*job))
                self._hand_out()
                if not self._waiting and not any(worker.job for worker in self._crew):
                    return
                answers = self._collect()
                # The next jobs are handed out before the answers: workers go on while an answer is dealt with.
                self._hand_out()
                yield from answers
        finally:
            self.close()

    def do(self, name: str, payload: bytes) -> JobResult:
        """Do one job; the workers stay until ``close``."""
        self._waiting.append(_Job(name, payload))
        while True:
            self._hand_out()
            for answer in self._collect():
                return answer

    def _hand_out(self) -> None:
        """Give waiting jobs to idle workers, and hire workers for those that are left over."""
        for worker in list(self._crew):
            if self._waiting and worker.ready and worker.job is None:
                job = self._waiting.popleft()
                try:
                    worker.pipe.send_bytes(os.fsencode(job.name))
                    worker.pipe.send_bytes(job.payload)
                except OSError:  # it died while it had nothing to do: nobody's fault
                    self._waiting.appendleft(job)
                    self._bury(worker)
                else:
                    worker.job, worker.since = job, time.monotonic()
        free = sum(worker.job is None for worker in self._crew)
        for _ in range(min(len(self._waiting) - free, self._count - len(self._crew))):
            self._crew.append(self._hire())

    def _hire(self) -> _Worker:
        context = _forking(self._modules)
        judge_end, worker_end = context.Pipe()
        used_processors = {worker.processor for worker in self._crew}
        processor = next((processor for processor in self._processors if processor not in used_processors), None)
        with one_thread(), contextlib.closing(self._lend()) if self._lend else contextlib.nullcontext() as zygote_link:
            make = functools.partial(self._make, zygote_link) if zygote_link else self._make
            process = context.Process(
                target=serve, args=(make, worker_end, self._log, current_umask(), processor), daemon=True
            )
            process.start()
        worker_end.close()
        return _Worker(process, judge_end, processor, since=time.monotonic())

    def _collect(self) -> list[JobResult]:
        """Wait until something happens; give what came of it."""
        handles: dict[Any, _Worker] = {}
        for worker in self._crew:
            handles[worker.pipe] = handles[worker.process.sentinel] = worker
        busy = [worker for worker in self._crew if worker.job or not worker.ready]
        now = time.monotonic()
        patience = max(0.0, min((self._deadline(worker) - now for worker in busy), default=60.0))
        happened = {id(handles[handle]): handles[handle] for handle in wait(list(handles), patience)}
        answers = [answer for worker in happened.values() if (answer := self._hear(worker))]
        for worker in busy:
            if worker in self._crew and time.monotonic() > self._deadline(worker):
                worker.process.kill()
                answer = self._lost(worker, f"grading it took more than {self._patience_s:g} s, twice")
                answers += [answer] if answer else []
        return answers

    def _deadline(self, worker: _Worker) -> float:
        return worker.since + (self._patience_s if worker.job else max(self._patience_s, START_S))

    def _hear(self, worker: _Worker) -> JobResult | None:
        """Take what a worker says, or find that it is dead."""
        try:
            message = worker.pipe.recv_bytes() if worker.pipe.poll() else b""
        except (EOFError, OSError):
            message = b""
        sign, content = message[:1], message[1:]
        if sign == HALT:
            raise CourseError(content.decode("utf-8", "replace"))
        if sign == READY:
            worker.ready = True
        elif sign == DONE and worker.job:
            answer = JobResult(worker.job.name, content)
            worker.job, self._false_starts = None, 0
            return answer
        elif sign == FAILED:
            return self._lost(worker, content.decode("utf-8", "replace"))
        else:
            return self._lost(worker, DIED_TWICE)
        return None

    def _lost(self, worker: _Worker, failure: str) -> JobResult | None:
        """A worker is gone: its job is tried once more in a fresh one, and is then given up."""
        job = worker.job
        self._bury(worker)
        if job is None:
            return None
        job.failures += 1
        if job.failures == 2:
            return JobResult(job.name, failure=failure)
        self._waiting.appendleft(job)
        return None

    def _bury(self, worker: _Worker) -> None:
        self._crew.remove(worker)
        worker.pipe.close()
        worker.process.join(CLOSING_S)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
        worker.process.close()
        if worker.job is None:
            self._false_starts += 1
            if self._false_starts > 2 + self._count:
                raise CourseError(f"grading processes die before they have anything to do: see {self._log}")

    def close(self) -> None:
        """End all workers: an idle one leaves when its pipe closes, a busy one is asked to."""
        self._waiting.clear()
        for worker in self._crew:
            worker.pipe.close()
            if worker.job or not worker.ready:
                worker.process.terminate()
        until = time.monotonic() + CLOSING_S
        for worker in self._crew:
            worker.process.join(max(0.0, until - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.process.close()
        self._crew.clear()


def _forking(modules: Sequence[str]) -> ForkServerContext:
    """What workers are forked from: a process without threads, since a fork of this one would copy threads' locks."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, *modules])
    return context


def begin_forking(module: str) -> None:
    """Have the process that workers are forked from import a module already, before there is work; nothing waits."""
    _forking((module,))
    with one_thread():
        forkserver.ensure_running()


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let processes that start in here use one thread each for their arithmetic, since several crowd, and no GPU."""
    before = {name: os.environ.get(name) for name in _JUDGES}
    os.environ.update(_JUDGES)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@dataclass(frozen=True)
class LocalExecutor:
    """Grades in processes of this machine, each with an examiner of its own."""

    make: Callable[..., Examiner]  # makes an examiner in a worker. It is pickled
    workers: int  # how many processes at most
    log: Path  # the file that takes what workers print
    patience_s: float = 600.0  # seconds after which a worker that does not answer is ended
    # a context for the whole of a run; it yields what is called here for each worker, to be make's argument
    # there. None: make has none
    lend: Callable[[], AbstractContextManager[Callable[[], socket.socket]]] | None = None
    module: str = JUDGING_TASKS  # what the process imports that workers are forked from

    def run(self, submissions: Iterable[tuple[str, bytes]]) -> Iterator[Graded]:
        """Grade submissions, and give what each came to, as they come; one that ends two processes is refused."""
        with self.lend() if self.lend else contextlib.nullcontext() as lend:
            pool = examining_pool(self.make, self.workers, self.log, self.patience_s, lend, (self.module,))
            with contextlib.closing(pool.run(submissions)) as answers:  # type: ignore[type-var]
                for answer in answers:
                    if answer.failure:
                        yield Graded(answer.name, REFUSED, reason=answer.failure)
                    else:
                        yield decode(answer.content)


def examining_pool(
    make: Callable[..., Examiner],
    workers: int,
    log: Path,
    patience_s: float,
    lend: Callable[[], socket.socket] | None = None,
    modules: Sequence[str] = (JUDGING_TASKS,),
) -> WorkerPool:
    """A pool whose workers judge submissions, each with an examiner of its own."""
    # Judge and submission take turns: on one processor each finds in the caches what it left there.
    examining = functools.partial(_examining, make)
    return WorkerPool(
        examining, workers, log=log, patience_s=patience_s, lend=lend, modules=modules, own_processors=True
    )


@contextlib.contextmanager
def _examining(make: Callable[..., Examiner], *links: socket.socket) -> Iterator[Doing]:
    """What a worker does with an examiner."""
    with make(*links) as examiner:
        yield lambda student, submission: encode(examiner.examine(student, submission))


def processors() -> int:
    """How many processors this process may use."""
    return len(_mine()) or os.cpu_count() or 1


def _mine() -> list[int]:
    """The numbers of the processors that this process may use; empty where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def encode(graded: Graded) -> bytes:
    """What grading came to, as bytes."""
    return json.dumps({**graded.as_json(), "notebooks": graded.notebooks}).encode()


def decode(content: bytes) -> Graded:
    """Read back what encode gave."""
    return Graded.from_json(json.loads(content))
