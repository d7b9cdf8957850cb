"""What a Dask worker holds for a run is closed when the run ends, whenever that is."""

import threading
from types import SimpleNamespace

from softlookup_grader.workers import dask_worker
from softlookup_grader.workers.dask_worker import Examining, library_version
from softlookup_grader.workers.pool import JobResult


class Pool:
    """Says what is done with it."""

    events: list[str] = []

    def __init__(self, *_: object, **__: object) -> None:
        self.events.append("opened")

    def do(self, student: str, submission: bytes) -> JobResult:
        self.events.append(student)
        return JobResult(student)

    def close(self) -> None:
        self.events.append("closed")


def test_a_run_that_ends_while_the_last_submission_is_put_away_leaves_nothing_open(monkeypatch, tmp_path):
    plugin = Examining("run", SimpleNamespace, (), 60.0, library_version())
    plugin.setup(SimpleNamespace(address="here", local_directory=str(tmp_path)))

    class EndsTheRun(threading.Timer):
        """The run ends in the moment in which the pool would be left waiting for the next submission."""

        def start(self) -> None:
            ending = threading.Thread(target=plugin.teardown, args=(None,))
            ending.start()
            ending.join()

    monkeypatch.setattr(dask_worker.threading, "Timer", EndsTheRun)
    monkeypatch.setattr(dask_worker, "examining_pool", Pool)
    Pool.events.clear()
    assert plugin.grade("ada", b"") == dask_worker.DONE
    assert Pool.events == ["opened", "ada", "closed"]
