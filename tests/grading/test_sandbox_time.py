"""What a time limit counts, the time for which a submission had a processor or did not want one; and that it holds."""

import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import nbformat
import pytest
from sandbox_tools import LIMITS, NEEDS_SANDBOX, printed
from small_class import NAME

from softlookup_course.samples.handins import answers, filled
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_grader.judging.examine import SandboxExaminer
from softlookup_grader.sandbox import cgroups, watching
from softlookup_grader.sandbox.processes import ProcessTimes
from softlookup_grader.sandbox.watching import MOST, Watch, _Request


def looks(*times: tuple[float, float, float]) -> tuple[float, bool]:
    """Look at a request of 10 s at given times, with what its processes used and waited for until then."""
    rung: list[float] = []
    group = object()  # any but None: it is a sandbox
    nobody = SimpleNamespace(watch=lambda look: None, leave=lambda look: None)
    there = (ProcessTimes(used, {7: 5.0 + waited}, {7: used}) for _, used, waited in times)
    watch = Watch(1, LIMITS, 1e9, group, lambda why: None, lambda: rung.append(lasted), lambda *_: next(there), nobody)
    request = _Request(0.0, 10.0, ProcessTimes(0.0, {7: 5.0}))
    for lasted, _, _ in times:
        watch._look_at_request(lasted, request)
    watch.close()
    return (rung[0] if rung else 0.0), watch.crowded


def test_one_thread_looks_at_all_until_each_is_closed():
    looked = {"first": threading.Event(), "second": threading.Event()}

    def watch(name: str) -> Watch:
        def kill(why: str) -> None:
            looked[name].set()
            if name == "first":
                raise OSError("it cannot be ended")

        return Watch(1, LIMITS, 0.0, None, kill, lambda: None)

    first = watch("first")
    before = threading.active_count()
    second = watch("second")
    assert threading.active_count() == before
    assert all(event.wait(20) for event in looked.values()), "and what goes wrong with one hinders no other"
    first.close()
    for event in looked.values():
        event.clear()
    assert looked["second"].wait(20) and not looked["first"].is_set()
    second.close()


@pytest.mark.parametrize(
    ("before", "after", "ended"),
    [
        pytest.param((9.9, 9.9, 0.0), (10.0, 10.0, 0.0), (10.0, False), id="an endless loop"),
        pytest.param((9.9, 0.1, 0.1), (10.1, 0.1, 0.1), (10.1, False), id="sleep"),
        pytest.param((29.9, 3.0, 26.9), (MOST * 10.0, 3.0, 27.0), (30.0, True), id="a machine without a processor"),
        pytest.param((9.9, 18.0, 9.5), (10.0, 18.2, 9.6), (10.0, False), id="a wait for its own children"),
    ],
)
def test_a_submission_gets_its_time_and_no_longer(before, after, ended):
    assert looks(before, after) == ended


def test_a_wait_for_a_processor_is_not_counted():
    assert looks((10.0, 4.0, 6.0), (24.0, 9.5, 14.5)) == (0.0, False)
    assert looks((10.0, 4.0, 6.0), (25.0, 10.0, 15.0)) == (25.0, False), "it had its ten seconds"


@contextmanager
def busy_on(processor: int, count: int):
    """Keep a processor busy with so many processes, each in a session of its own."""
    code = f"import os; os.sched_setaffinity(0, {{{processor}}})\nwhile True: pass"
    crowd = [subprocess.Popen([sys.executable, "-c", code], start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for process in crowd:
            process.kill()
            process.wait()


@pytest.mark.slow
@NEEDS_SANDBOX
def test_a_cell_on_a_busy_machine_has_the_processor_time_that_it_needs(begin):
    session = begin(Limits(**{**vars(LIMITS), "cell_s": 1.4}))
    session.run("import time")
    processor = min(os.sched_getaffinity(0))
    os.sched_setaffinity(session.process.pid, {processor})
    with busy_on(processor, 4):
        ran = session.run("begun = time.process_time()\nwhile time.process_time() - begun < 0.5: pass\nprint('done')")
    assert ran.seconds > 1.4, "it would have been stopped by the clock"
    assert ran.trouble == "" and ran.outputs[0]["text"] == "done\n" and not session.watch.crowded


@NEEDS_SANDBOX
@pytest.mark.skipif(cgroups.places().cpu is None, reason="no control group can be made here")
def test_busy_children_of_one_submission_leave_the_others_their_share(begin):
    crowd, neighbour = begin(Limits(**{**vars(LIMITS), "processes": 64, "cell_s": 20.0})), begin()
    crowd.run(
        "import os, time\nr, w = os.pipe()\nfor _ in range(58):\n    if os.fork() == 0:\n"
        "        os.close(w), os.setsid(), os.read(r, 1)\n        begun = time.monotonic()\n"
        "        while time.monotonic() - begun < 15: pass\n        os._exit(0)"
    )
    neighbour.run("import time")
    crowd.run("os.close(w)")
    source = "begun, used = time.monotonic(), time.process_time()\nwhile time.monotonic() - begun < 1.5: pass\n"
    share = float(printed(neighbour, f"{source}print((time.process_time() - used) / 1.5)"))
    # Among 60 processes on n processors each would have n / 60. Others on this machine take their share too.
    assert share > 3 * min(len(os.sched_getaffinity(0)), 8) / 60


@NEEDS_SANDBOX
def test_examiner_tells_of_a_submission_that_was_stopped_while_it_waited(source, release, monkeypatch):
    notebook = filled(release, {**answers(source), "04-scale": "import time\ntime.sleep(60)"})
    # As if it had waited for a processor all the time.
    monkeypatch.setattr(ProcessTimes, "waited_since", lambda self, before: 1e9)
    monkeypatch.setattr(watching, "MOST", 1.5)
    settings = RunSettings.single(NAME, nbformat.writes(release), 3, limits=Limits(cell_s=1, total_s=60))
    with SandboxExaminer(settings) as examiner:
        assert examiner.examine("ann", nbformat.writes(notebook).encode()).crowded
        assert not examiner.examine("bob", nbformat.writes(release).encode()).crowded


TIGHT = Limits(cell_s=2, answer_s=2, total_s=2.5, memory_mb=500, disk_mb=8, processes=16)
"""Each task alone may take most of the time of the whole: without a limit on that, these would take minutes."""

DEAF = """
import signal
def never(*args):
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))
    while True:
        pass
"""
ENDLESS = {
    "each cell never ends": lambda name: "while True: pass",
    "each answer never comes": lambda name: f"def {name}(*args):\n    while True: pass",
    "each answer waits": lambda name: f"import time\ndef {name}(*args):\n    time.sleep(1000)",
    "each cell hears no signal": lambda name: DEAF + "never()",
    "each answer hears no signal": lambda name: f"{DEAF}{name} = never",
    "each answer takes its time, and then ends the process": lambda name: (
        f"import os, time\ndef {name}(*args):\n    time.sleep(1.7)\n    os._exit(1)"
    ),
}


@pytest.mark.slow
@NEEDS_SANDBOX
@pytest.mark.one_in(6)
@pytest.mark.parametrize("does", ENDLESS)
def test_a_submission_that_uses_up_every_limit_takes_no_longer_than_they_say(source, release, does):
    with SandboxExaminer(RunSettings.single(NAME, nbformat.writes(release), 3, limits=TIGHT)) as examiner:
        names = {
            check.task.slug: check.task.name
            for check in examiner.assignment.notebooks[0].checks.values()
            if check is not None
        }
        spoiled = {slug: ENDLESS[does](name) for slug, name in names.items()}
        notebook = filled(release, {**answers(source), **spoiled})
        graded = examiner.examine("ann", nbformat.writes(notebook).encode())
    assert len(names) * TIGHT.cell_s > 2 * TIGHT.once_s, "enough tasks to go beyond the limit"
    assert TIGHT.total_s - 0.5 < graded.seconds < TIGHT.once_s
    assert sum(mark.points or 0 for mark in graded.marks) == 0
