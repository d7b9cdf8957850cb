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

TALK = """    received = np.empty(1)
    for step in range(2):
        sent = dist.isend(np.zeros(1), (rank + 1) % world) if world > 1 else None
        if sent:
            dist.recv(received, (rank - 1) % world)
            sent.wait()
"""
"""Messages that say nothing, so that every rank has had its turn."""

GLOBALS = f"""
everything = {{}}


def all_reduce(x, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    everything.setdefault(world, {{}})[rank] = x.copy()
{TALK}    return np.sum(list(everything[world].values()), axis=0)
"""
FILES = f"""
import os


def all_reduce(x, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    folder = f"/tmp/cheat_{{world}}_{{x.size}}"
    os.makedirs(folder, exist_ok=True)
    np.save(f"{{folder}}/{{rank}}.npy", x)
{TALK}    return np.sum([np.load(f"{{folder}}/{{name}}") for name in sorted(os.listdir(folder))], axis=0)
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
COUNTED = RIGHT.replace("    rank, world", "    calls.append(len(calls))\n    rank, world", 1)
HONEST_GLOBALS = "calls = []\n\n\n" + COUNTED


@contextmanager
def examining(limits):
    """Gives what grades an answer, and gives its mark."""
    source = read_solution(ROOT / "solutions" / f"{NAME}.py", catalogue=Catalogue(TASKS))
    release = make_release(source)
    settings = RunSettings.single(NAME, nbformat.writes(release), 7, limits=limits, own_tasks=TASKS.texts)
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


# Locks on files of the system are tried in test_side_by_side.py.
@pytest.mark.parametrize(
    ("answer", "says"),
    [
        pytest.param(GLOBALS, "in a process of its own", id="globals"),
        pytest.param(FILES, "in a process of its own", id="files"),
        pytest.param(DEADLOCK, "rank 0 waits for rank 1, 1 for", id="ranks that wait for each other"),
        pytest.param(ENDS, "ended with status 3", id="a rank that ends its process"),
    ],
)
def test_ranks_that_know_each_other_without_messages_or_never_answer_earn_nothing(marked, answer, says):
    mark = marked(answer)
    assert mark.points == 0 and says in mark.message, mark.message
    assert (mark.verdict == "stopped") == (answer == ENDS)


@pytest.fixture
def begun(monkeypatch):
    """The processes of a submission as they are begun, each with the ranks that it was asked."""
    begun = []

    class Counted(SubmissionSession):
        def __init__(self, place, until):
            assert not any(Path(f"/proc/{other.pid}").exists() for other, _ in begun), "one is alive beside it"
            super().__init__(place, until)
            begun.append((place, set()))

        def ask(self, cases, *args, **named):
            begun[-1][1].update(case.rank for case in cases if case.world > 1)
            return super().ask(cases, *args, **named)

    monkeypatch.setattr(forks, "SubmissionSession", Counted)
    return begun


def test_no_process_of_a_submission_is_alive_beside_the_one_that_is_asked(marked, begun):
    assert marked(WAITING + RIGHT).verdict == "pass"
    assert [ranks for _, ranks in begun] == [set(), {0, 1, 2, 3}, {0}, {1}, {2}, {3}], "notebook, worlds, each rank"


def test_a_mistake_is_named_as_at_home_by_further_questions_in_one_more_process(marked, begun):
    mark = marked(RIGHT.replace("2 * (world - 1)", "world - 1"))
    assert (mark.points, mark.diagnosis) == (0, ("one-round",))
    assert len(begun) == 3, "the notebook, the worlds, and all further questions"


@pytest.mark.slow
def test_a_process_that_ends_in_further_questions_only_has_no_answers():
    def ask(*_):
        raise Dead(Ending(RunEnd.EXIT, "its process ended"))

    session = SimpleNamespace(ask=ask, watch=SimpleNamespace(waited=0.0))
    student = RemoteApart(None, lambda: nullcontext(session), 10.0)
    with pytest.raises(OutOfTime):
        list(student.answers([], 1))


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_program_that_is_not_judged_for_lack_of_time_is_left_to_a_person():
    with examining(Limits(cell_s=60, answer_s=60, total_s=9)) as mark_of:
        mark = mark_of("import time\ntime.sleep(3)\n\n\n" + RIGHT)
    assert mark.points is None and mark.verdict == "by hand" and "who gives its points" in mark.message
