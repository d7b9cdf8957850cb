"""Workers side by side: order of events, deaths, failures, and the end."""

import contextlib
import functools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from fake_grader import _make

from softlookup_grader import CourseError
from softlookup_grader.data.work import Graded, Mark, RunSettings
from softlookup_grader.workers.pool import DIED_TWICE, LocalExecutor, WorkerPool, decode, encode, one_thread


@dataclass(frozen=True)
class Echo:
    """A worker that says who it is, and dies, fails or sleeps where its job's name says so."""

    folder: Path
    halts: str = ""
    dies_at_start: bool = False

    @contextlib.contextmanager
    def __call__(self) -> Iterator[Callable[[str, bytes], bytes]]:
        if self.dies_at_start:
            os._exit(3)
        if self.halts:
            raise CourseError(self.halts)
        yield self.do

    def do(self, name: str, payload: bytes) -> bytes:
        mark = self.folder / name
        first = not mark.exists()
        mark.touch()
        if name.startswith("kill") and (first or not name.startswith("kill-once")):
            os.kill(os.getpid(), signal.SIGKILL)
        if name.startswith("raise"):
            raise ValueError("no room")
        if name.startswith("sleep"):
            time.sleep(100)
        if name.startswith("where"):
            payload = str(sorted(os.sched_getaffinity(0))).encode()
        return f"{os.getpid()} {os.environ['OMP_NUM_THREADS']} ".encode() + payload


def pool(tmp_path: Path, workers: int = 2, patience_s: float = 60.0, **options: object) -> WorkerPool:
    return WorkerPool(Echo(tmp_path, **options), workers, log=tmp_path / "log", patience_s=patience_s)


def test_pool_answers_each_job_once_with_its_bytes(tmp_path: Path) -> None:
    jobs = [(f"job-{n}", os.urandom(200_000)) for n in range(7)]
    answers = {a.name: a.content for a in pool(tmp_path).run(jobs)}
    assert {name: content.split(b" ", 2)[2] for name, content in answers.items()} == dict(jobs)
    assert len({content.split()[0] for content in answers.values()}) <= 2
    assert {content.split()[1] for content in answers.values()} == {b"1"}, "one thread each"


@pytest.mark.parametrize("more", [0, 1])
def test_workers_keep_to_processors_of_their_own_where_there_are_just_as_many(tmp_path: Path, more: int) -> None:
    processors = sorted(os.sched_getaffinity(0))
    workers = WorkerPool(Echo(tmp_path), len(processors) + more, log=tmp_path / "log", own_processors=True)
    contents = [a.content.decode() for a in workers.run((f"where-{n}", b"") for n in range(4 * len(processors)))]
    affinities = {process: where for process, _, where in (content.split(" ", 2) for content in contents)}
    if more:
        assert set(affinities.values()) == {str(processors)}
    else:
        assert len(set(affinities.values())) == len(affinities)
        assert set(affinities.values()) <= {f"[{processor}]" for processor in processors}


def test_pool_takes_jobs_only_as_it_needs_them(tmp_path: Path) -> None:
    taken = []

    def jobs() -> Iterator[tuple[str, bytes]]:
        for n in range(50):
            taken.append(n)
            yield f"job-{n}", b""

    answers = pool(tmp_path, 1).run(jobs())
    for _ in range(3):
        next(answers)
    assert len(taken) <= 6
    answers.close()


def test_pool_costs_nobody_but_the_one_who_kills(tmp_path: Path) -> None:
    names = ["job-1", "kill-1", "job-2", "kill-once", "raise", "job-3", "job-4"]
    answers = {a.name: a for a in pool(tmp_path).run((n, b"x") for n in names)}
    assert set(answers) == set(names)
    assert {n: a.failure for n, a in answers.items() if a.failure} == {
        "kill-1": DIED_TWICE,
        "raise": "grading it failed (ValueError: no room)",
    }
    assert "no room" in (tmp_path / "log").read_text(), "the whole story is in the log"


@pytest.mark.slow
def test_pool_ends_a_worker_that_does_not_answer(tmp_path: Path) -> None:
    answers = {a.name: a for a in pool(tmp_path, 1, patience_s=1.0).run([("sleep", b""), ("job", b"x")])}
    assert "took more than 1 s, twice" in answers["sleep"].failure and answers["job"].content


def test_pool_passes_on_what_makes_all_work_impossible(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="bubblewrap is not here"):
        list(pool(tmp_path, halts="bubblewrap is not here").run([("job", b"")]))


@pytest.mark.slow
def test_pool_gives_up_on_workers_that_die_while_they_start(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="die before they have anything to do: see .*log"):
        list(pool(tmp_path, 1, dies_at_start=True).run([("job", b"")]))


def test_pool_closed_early_leaves_no_process(tmp_path: Path) -> None:
    answers = pool(tmp_path).run([("job", b""), ("sleep-1", b""), ("sleep-2", b"")])
    worker = int(next(answers).content.split()[0])
    begun = time.monotonic()
    answers.close()
    assert time.monotonic() - begun < 60, "nobody waits for jobs that sleep for 100 s"
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_worker_dies_with_its_parent(tmp_path: Path) -> None:
    """Killed with -9, a parent has no time to tell anybody."""
    script = tmp_path / "parent.py"
    script.write_text(
        "import sys, time\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from pathlib import Path\nfrom test_pool import pool\n"
        "if __name__ == '__main__':\n"
        "    for answer in pool(Path(sys.argv[1]), 1).run([('job', b''), ('sleep', b'')]):\n"
        "        print(answer.content.split()[0].decode(), flush=True)\n"
    )
    parent = subprocess.Popen([sys.executable, script, tmp_path], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    worker = int(parent.stdout.readline())
    while not (tmp_path / "sleep").exists():
        time.sleep(0.01)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    for _ in range(200):
        if not alive(worker):
            return
        time.sleep(0.01)
    raise AssertionError("the worker went on without its parent")


def alive(process: int) -> bool:
    """Whether a process runs; one that is dead and not yet waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_one_thread_is_for_the_children_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with one_thread():
        assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "7" and "MKL_NUM_THREADS" not in os.environ


def test_graded_travels_whole_even_with_broken_text() -> None:
    mark = Mark("04.scale", "04-scale-check", None, 2.0, "by hand", ("no-sqrt",), "half a sign: \ud800")
    graded = Graded(
        "ann", "graded", "ab", (mark,), remarks=("cut",), notebooks=(("a", '{"a": "\ud800"}'),), seconds=0.5
    )
    assert decode(encode(graded)) == graded


def test_local_executor_refuses_what_kills_and_grades_the_rest(tmp_path: Path) -> None:
    settings = RunSettings.single("04_one_head", nbformat.writes(nbformat.v4.new_notebook()), 1)
    make = functools.partial(_make, {"kills": ("bad",)}, settings)
    executor = LocalExecutor(make, 2, log=tmp_path / "log")
    graded = {g.student: g for g in executor.run((name, b'{"cells": []}') for name in ("ann", "bad", "cid"))}
    assert graded["ann"].status == graded["cid"].status == "graded"
    assert (graded["bad"].status, graded["bad"].reason) == ("refused", DIED_TWICE)
