"""Ranks of a submission are asked in the sandbox: what they know of each other comes by messages."""

import nbformat
import pytest
from sandbox_tools import NEEDS_SANDBOX
from small_class import ROOT

from softlookup.authoring import make_release, read_solution
from softlookup.checking.catalogue import Catalogue
from softlookup.grading.data.work import Limits, RunSettings
from softlookup.grading.judging.examine import SandboxExaminer
from softlookup.grading.samples.handins import filled
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
DEADLOCK = RIGHT.replace("sent = dist.isend(", "dist.send(").replace("        sent.wait()\n", "")
HONEST_GLOBALS = "calls = []\n\n\n" + RIGHT.replace(
    "    rank, world", "    calls.append(len(calls))\n    rank, world", 1
)


@pytest.fixture(scope="module")
def marked():
    """Grades an answer, and gives its mark."""
    source = read_solution(ROOT / "solutions" / f"{NAME}.py", catalogue=Catalogue(TASKS))
    release = make_release(source)
    limits = Limits(cell_s=60, answer_s=60, total_s=200)
    settings = RunSettings(NAME, nbformat.writes(release), 7, limits=limits, own_tasks=TASKS.texts)
    with SandboxExaminer(settings) as examiner:

        def mark_of(answer):
            notebook = nbformat.writes(filled(release, {"99-all-reduce": answer}))
            (mark,) = examiner.examine("somebody", notebook.encode()).marks
            return mark

        yield mark_of


@pytest.mark.parametrize("answer", [RIGHT, HONEST_GLOBALS], ids=["right", "honest-globals"])
def test_a_right_program_earns_all_points(marked, answer):
    mark = marked(answer)
    assert (mark.verdict, mark.points) == ("pass", mark.max), mark.message


@pytest.mark.parametrize("answer", [GLOBALS, FILES], ids=["globals", "files"])
def test_ranks_that_know_of_each_other_without_messages_earn_nothing(marked, answer):
    mark = marked(answer)
    assert mark.points == 0 and "in a process of its own" in mark.message, mark.message


def test_ranks_that_wait_for_each_other_are_named(marked):
    mark = marked(DEADLOCK)
    assert mark.points == 0 and "rank 0 waits for rank 1, 1 for" in mark.message


def test_a_mistake_is_named_as_at_home(marked):
    mark = marked(RIGHT.replace("2 * (world - 1)", "world - 1"))
    assert (mark.points, mark.diagnosis) == (0, ("one-round",))
