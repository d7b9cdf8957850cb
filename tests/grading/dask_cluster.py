"""A real Dask cluster on this machine: a scheduler and workers, each a process of its own."""

import functools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import distributed
from fake_grader import FakeExaminer, _make

from softlookup_grader.data.work import RunSettings
from softlookup_grader.workers.making import MakeExecutor
from softlookup_grader.workers.on_dask import dask_executor

HERE = Path(__file__).parent
LONG_S = 90.0


class Noted(FakeExaminer):
    """Writes down when it is opened and closed."""

    def __enter__(self) -> "Noted":
        self._note("opened")
        return self

    def __exit__(self, *_: object) -> None:
        self._note("closed")


def noting_examiner(log: Path, settings: RunSettings) -> Noted:
    return Noted(settings, calls=log)


class Cluster:
    """A scheduler, and workers that come and go; with a certificate they speak over TLS alone."""

    def __init__(self, folder: Path, certificate: Path | None = None) -> None:
        self.folder = folder
        pem = str(certificate)
        self.tls = ["--tls-ca-file", pem, "--tls-cert", pem, "--tls-key", pem] if certificate else []
        scheduler_file = folder / "scheduler.json"
        self._log = open(folder / "log", "ab")
        protocol = ["--protocol", "tls"] if certificate else []
        options = ("--port", "0", "--scheduler-file", str(scheduler_file), *protocol)
        # What a worker died with is sent to no other one by Dask, which takes long.
        self.scheduler = self._start("scheduler", *options, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
        wait_for(lambda: scheduler_file.exists() and scheduler_file.read_text().endswith("}"))
        self.address: str = json.loads(scheduler_file.read_text())["address"]
        self.workers: dict[str, subprocess.Popen] = {}

    def _start(self, what: str, *options: str, **environment: str) -> subprocess.Popen:
        plain = ["--host", "127.0.0.1", "--no-dashboard", *self.tls, *options]
        path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{what}", *plain],
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **environment},
            cwd=self.folder,
            stdout=self._log,
            stderr=self._log,
        )

    def hire(self, count: int, *, threads: int = 1, nanny: bool = False, **environment: str) -> None:
        """Start workers, and wait until they are known to the scheduler."""
        names = [f"worker-{len(self.workers) + n}" for n in range(count)]
        for name in names:
            place = ["--name", name, "--local-directory", str(self.folder / name), "--death-timeout", "30"]
            options = ["--nthreads", str(threads), "--nanny" if nanny else "--no-nanny", *place]
            self.workers[name] = self._start("worker", self.address, *options, **environment)
        with distributed.Client(self.address, set_as_default=False) as client:
            known = client.scheduler_info
            wait_for(lambda: set(names) <= {worker["name"] for worker in known()["workers"].values()})

    def staff(self, count: int) -> None:
        """See that there are so many workers."""
        missing = count - sum(self.lives(name) for name in self.workers)
        if missing > 0:
            self.hire(missing)

    def lives(self, name: str) -> bool:
        return self.workers[name].poll() is None

    def kill(self, name: str) -> None:
        """End a worker with SIGKILL."""
        self.workers[name].kill()
        self.workers[name].wait()

    def dismiss(self) -> None:
        """End all workers."""
        for name in self.workers:
            self.kill(name)

    def close(self) -> None:
        self.dismiss()
        self.scheduler.kill()
        self.scheduler.wait()
        self._log.close()

    def faked(self, wait_s: float = LONG_S, **options: object) -> MakeExecutor:
        """An executor on this cluster with fake examiners."""
        return dask_executor(self.address, functools.partial(_make, options), wait_s=wait_s)


@contextmanager
def cluster(folder: Path, certificate: Path | None = None) -> Iterator[Cluster]:
    folder.mkdir()
    begun = Cluster(folder, certificate)
    try:
        yield begun
    finally:
        begun.close()


def wait_for(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + LONG_S
    while not happened():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)
