"""Ranks of a submission are asked in the sandbox: what they know of each other comes by messages."""

from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from sandbox_tools import NEEDS_SANDBOX
from small_class import ROOT

from softlookup_course.samples.handins import filled
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_grader.judging import forks
from softlookup_grader.judging.examine import SandboxExaminer
from softlookup_grader.judging.remote import RemoteApart
from softlookup_grader.sandbox.ends import Ending, RunEnd
from softlookup_grader.sandbox.session import Dead, OutOfTime, SubmissionSession
from softlookup_judge.authoring import make_release, read_solution
from softlookup_judge.checking.catalogue import Catalogue
from tests.checking.rank_tasks import NAME, RIGHT, TASKS

pytestmark = NEEDS_SANDBOX

GLOBALS = """
everything = {}


def all_reduce(x, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    everything.setdefault(world, {})[rank] = x.copy()
    received = np.empty(1)
    for step in range(2):
        sent = dist.isend(np.zeros(1), (rank + 1) % world) if world > 1 else None
        if sent:
            dist.recv(received, (rank - 1) % world)
            sent.wait()
    return np.sum(list(everything[world].values()), axis=0)
"""
FILES = """
import os


def all_reduce(x, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    folder = f"/tmp/cheat_{world}_{x.size}"
    os.makedirs(folder, exist_ok=True)
    np.save(f"{folder}/{rank}.npy", x)
    received = np.empty(1)
    for step in range(2):
        sent = dist.isend(np.zeros(1), (rank + 1) % world) if world > 1 else None
        if sent:
            dist.recv(received, (rank - 1) % world)
            sent.wait()
    return np.sum([np.load(f"{folder}/{name}") for name in sorted(os.listdir(folder))], axis=0)
"""
LOCKS = """
import fcntl
import os
import struct


def all_reduce(x, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    file = os.open(np.__file__, os.O_RDONLY)
    for at, bit in enumerate(np.unpackbits(x.view(np.uint8))):
        if bit:
            fcntl.lockf(file, fcntl.LOCK_SH, 1, (world * 1000 + x.size) * 100_000 + rank * 10_000 + at)
    received = np.empty(1)
    for step in range(2):
        sent = dist.isend(np.zeros(1), (rank + 1) % world) if world > 1 else None
        if sent:
            dist.recv(received, (rank - 1) % world)
            sent.wait()
    if os.fork() == 0:  # a process's locks are not in its own way
        total = np.zeros_like(x)
        for other in range(world):
            bits = np.zeros(x.nbytes * 8, np.uint8)
            for at in range(len(bits)):
                place = (world * 1000 + x.size) * 100_000 + other * 10_000 + at
                asks = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, place, 1, 0)
                bits[at] = struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, asks))[0] != fcntl.F_UNLCK
            total = total + np.packbits(bits).view(x.dtype)
        np.save("/tmp/total.npy", total)
        os._exit(0)
    os.wait()
    return np.load("/tmp/total.npy")
"""
WAITING = """
import threading
import time

threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
"""
ENDS = """
import os


def all_reduce(x, dist):
    os._exit(3)
"""
DEADLOCK = RIGHT.replace("sent = dist.isend(", "dist.send(").replace("        sent.wait()\n", "")
HONEST_GLOBALS = "calls = []\n\n\n" + RIGHT.replace(
    "    rank, world", "    calls.append(len(calls))\n    rank, world", 1
)


@contextmanager
def examining(limits):
    """Gives what grades an answer, and gives its mark."""
    source = read_solution(ROOT / "solutions" / f"{NAME}.py", catalogue=Catalogue(TASKS))
    release = make_release(source)
    settings = RunSettings(NAME, nbformat.writes(release), 7, limits=limits, own_tasks=TASKS.texts)
    with SandboxExaminer(settings) as examiner:

        def mark_of(answer):
            notebook = nbformat.writes(filled(release, {"99-all-reduce": answer}))
            (mark,) = examiner.examine("somebody", notebook.encode()).marks
            return mark

        yield mark_of


@pytest.fixture(scope="module")
def marked():
    with examining(Limits(cell_s=60, answer_s=60, total_s=200)) as mark_of:
        yield mark_of


@pytest.mark.parametrize("answer", [RIGHT, HONEST_GLOBALS], ids=["right", "honest-globals"])
def test_a_right_program_earns_all_points(marked, answer):
    mark = marked(answer)
    assert (mark.verdict, mark.points) == ("pass", mark.max), mark.message


@pytest.mark.parametrize("answer", [GLOBALS, FILES], ids=["globals", "files"])
def test_ranks_that_know_of_each_other_without_messages_earn_nothing(marked, answer):
    mark = marked(answer)
    assert mark.points == 0 and "in a process of its own" in mark.message, mark.message


def test_ranks_that_talk_through_locks_earn_nothing(marked):
    assert marked(LOCKS).points == 0


def test_no_process_of_a_submission_is_alive_beside_the_one_that_is_asked(marked, monkeypatch):
    begun, questions = [], []

    class Counted(SubmissionSession):
        def __init__(self, place, until):
            assert not any(_is_alive(other) for other in begun)
            super().__init__(place, until)
            begun.append(place)

        def ask(self, cases, *args, **named):
            questions.append((len(begun), {case.rank for case in cases if case.world > 1}))
            return super().ask(cases, *args, **named)

    monkeypatch.setattr(forks, "SubmissionSession", Counted)
    assert marked(WAITING + RIGHT).verdict == "pass"
    assert len(begun) == 1 + 1 + 4, "the notebook, the worlds, and each rank"
    ranks = {process: set().union(*(each for at, each in questions if at == process)) for process in range(1, 7)}
    assert ranks == {1: set(), 2: {0, 1, 2, 3}, 3: {0}, 4: {1}, 5: {2}, 6: {3}}


def _is_alive(place):
    return Path(f"/proc/{place.pid}").exists()


def test_a_program_that_ends_its_process_costs_its_own_points(marked):
    mark = marked(ENDS)
    assert (mark.verdict, mark.points) == ("stopped", 0) and "ended with status 3" in mark.message


def test_ranks_that_wait_for_each_other_are_named(marked):
    mark = marked(DEADLOCK)
    assert mark.points == 0 and "rank 0 waits for rank 1, 1 for" in mark.message


def test_a_mistake_is_named_as_at_home(marked):
    mark = marked(RIGHT.replace("2 * (world - 1)", "world - 1"))
    assert (mark.points, mark.diagnosis) == (0, ("one-round",))


def test_further_questions_are_asked_in_one_more_process(marked, monkeypatch):
    begun = []

    class Counted(SubmissionSession):
        def __init__(self, place, until):
            assert not any(_is_alive(other) for other in begun)
            super().__init__(place, until)
            begun.append(place)

    monkeypatch.setattr(forks, "SubmissionSession", Counted)
    assert marked(RIGHT.replace("2 * (world - 1)", "world - 1")).diagnosis == ("one-round",)
    assert len(begun) == 3, "the notebook, the worlds, and all further questions"


@pytest.mark.slow
def test_a_process_that_ends_in_further_questions_only_has_no_answers():
    def ask(*_):
        raise Dead(Ending(RunEnd.EXIT, "its process ended"))

    session = SimpleNamespace(ask=ask, watch=SimpleNamespace(waited=0.0))
    student = RemoteApart(None, lambda: nullcontext(session), 10.0)
    with pytest.raises(OutOfTime):
        list(student.answers([], 1))


def test_a_cell_that_was_stopped_is_stopped_sooner_where_it_is_run_again(monkeypatch):
    times, run = [], SubmissionSession.run

    def timed(session, source, seconds=None):
        if "time.sleep" in source:
            times.append(seconds)
        return run(session, source, seconds)

    monkeypatch.setattr(SubmissionSession, "run", timed)
    with examining(Limits(cell_s=2, answer_s=60, total_s=200)) as mark_of:
        mark = mark_of(RIGHT + "\n\nimport time\ntime.sleep(60)\n")
    assert (mark.verdict, mark.points) == ("pass", mark.max), mark.message
    assert times == [None] + [1.0] * 5


def test_a_program_that_is_not_judged_for_lack_of_time_is_left_to_a_person():
    with examining(Limits(cell_s=60, answer_s=60, total_s=9)) as mark_of:
        mark = mark_of("import time\ntime.sleep(3)\n\n\n" + RIGHT)
    assert mark.points is None and mark.verdict == "by hand" and "who gives its points" in mark.message
