"""What a submission can tell, reach and count inside the sandbox, with the real one around it."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_tools import NEEDS_SANDBOX, printed

from softlookup_grader.data.work import Limits
from softlookup_grader.sandbox import bubble, cgroups
from softlookup_grader.sandbox.bubble import SandboxError
from softlookup_grader.sandbox.processes import ProcessTimes
from softlookup_grader.sandbox.session import SubmissionSession

Begin = Callable[..., SubmissionSession]
PATIENT = Limits(cell_s=10.0)

# Children whose end nobody wants to hear of compute, and another process waits for their processor.
WAITING = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
cpu = {min(os.sched_getaffinity(0))}
def spins(seconds, nice):
    if os.fork() == 0:
        os.sched_setaffinity(0, cpu)
        os.nice(nice)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            pass
        os._exit(0)
spins(30, 10)
while True:
    spins(0.2, 0)
    time.sleep(0.19)
"""


@NEEDS_SANDBOX
def test_sandbox_has_terminals_of_its_own_for_each_submission(begin: Begin) -> None:
    first, second = begin(PATIENT), begin(PATIENT)
    assert "/dev/pts/0" in printed(first, "import os\nours, theirs = os.openpty()\nprint(os.ttyname(theirs))")
    assert printed(second, "import os\nprint(os.listdir('/dev/pts'))") == "['ptmx']"
    many = "kept = []\ntry:\n    while len(kept) < 100:\n        kept.append(os.openpty())\nexcept OSError:\n    pass\n"
    assert int(printed(second, many + "print(len(kept))")) <= 16
    assert "heard" in printed(second, "kept.clear()\n!echo heard") or "heard" in printed(first, "!echo heard")


@NEEDS_SANDBOX
def test_sandbox_writes_no_core_even_where_cores_are_piped(begin: Begin) -> None:
    lowered = "import resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))"
    assert begin(PATIENT).run(lowered).trouble == "ValueError"
    # What one may do with other limits stays.
    other = "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))"
    assert begin(PATIENT).run(other).trouble == ""


@NEEDS_SANDBOX
def test_filter_refuses_pages_of_the_machines_own_pool(begin: Begin) -> None:
    asks = "import mmap\nmmap.mmap(-1, 2 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | FLAG)"
    assert begin(PATIENT).run(asks.replace("FLAG", "0x40000")).trouble == "PermissionError"
    assert begin(PATIENT).run(asks.replace("FLAG", "0")).trouble == ""


@NEEDS_SANDBOX
def test_sandbox_does_not_tell_the_machines_name(begin: Begin) -> None:
    assert printed(begin(PATIENT), "import os\nprint(os.uname().nodename)") == "sandbox"


@NEEDS_SANDBOX
def test_watch_does_not_count_a_wait_that_a_submission_makes_itself(begin: Begin) -> None:
    if cgroups.places().counts is None:
        pytest.skip("no control group counts processor time here")
    student_session = begin(Limits(cell_s=2.0))
    ran = student_session.run(WAITING)
    assert ran.trouble == "time"
    assert ran.seconds < 4.0  # with such a wait left out, three times the limit
    assert not student_session.watch.crowded


def test_standing_counts_no_wait_for_the_submissions_own_processes() -> None:
    before = ProcessTimes(1.0, {1: 0.0}, {1: 1.0})
    assert ProcessTimes(2.0, {1: 5.0}, {1: 2.0}).waited_since(before) == 5.0
    assert ProcessTimes(5.0, {1: 5.0}, {1: 2.0}).waited_since(before) == 2.0
    assert ProcessTimes(9.0, {1: 5.0, 2: 7.0}, {1: 2.0, 2: 7.0}).waited_since(before) == 6.0
    assert ProcessTimes(9.0).waited_since(before) == 0.0


@NEEDS_SANDBOX
def test_bubblewrap_refuses_a_python_around_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    around = bubble.homes()["softlookup"].parents[2]
    monkeypatch.setattr(sys, "prefix", str(around))
    with pytest.raises(SandboxError, match="submissions could read"):
        bubble._bubblewrap()


def test_bubblewrap_says_where_a_folder_could_be_read() -> None:
    assert "/usr" in bubble.readable(Path("/usr/src/app"))
    assert bubble.readable(Path("/nowhere/course")) == ""
