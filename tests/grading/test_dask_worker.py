"""What a Dask worker holds for a run is closed when the run ends, whenever that is."""

import threading
from types import SimpleNamespace

import pytest

from softlookup_grader.workers import dask_worker
from softlookup_grader.workers.dask_worker import Examining, library_version


class Examiner:
    """Says what is done with it."""

    events: list[str] = []

    def __enter__(self) -> "Examiner":
        self.events.append("opened")
        return self

    def __exit__(self, *_: object) -> None:
        self.events.append("closed")

    def examine(self, student: str, submission: bytes) -> None:
        self.events.append(student)


def test_a_run_that_ends_while_the_last_submission_is_put_away_leaves_nothing_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugin = Examining("run", Examiner, library_version())
    plugin.setup(SimpleNamespace(address="here"))

    class EndsTheRun(threading.Timer):
        """The run ends in the moment in which the examiner would be left waiting for the next submission."""

        def start(self) -> None:
            ending = threading.Thread(target=plugin.teardown, args=(None,))
            ending.start()
            ending.join()

    monkeypatch.setattr(dask_worker.threading, "Timer", EndsTheRun)
    monkeypatch.setattr(dask_worker, "encode", lambda graded: b"")
    Examiner.events.clear()
    assert plugin.grade("ada", b"") == dask_worker.DONE
    assert Examiner.events == ["opened", "ada", "closed"]
