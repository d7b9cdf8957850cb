"""Processes of submissions are made ahead, each by itself, and none is left behind."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from nbformat.v4 import new_notebook

from softlookup_grader.data.work import RunSettings
from softlookup_grader.judging.forks import Sandbox
from softlookup_grader.sandbox.bubble import Zygote
from softlookup_grader.sandbox.place import SubmissionProcess
from softlookup_grader.sandbox.session import SubmissionSession
from softlookup_judge.checking.catalogue import Catalogue
from tests.grading.sandbox_tools import LIMITS, NEEDS_SANDBOX, printed, start_bare

pytestmark = NEEDS_SANDBOX


EMPTY = new_notebook()


@pytest.fixture
def sandbox(zygote: Zygote) -> Iterator[Sandbox]:
    with closing(Sandbox(RunSettings("x", "", 3, limits=LIMITS), EMPTY, Catalogue(), zygote.copy())) as sandbox:
        yield sandbox


def begin(sandbox: Sandbox) -> SubmissionSession:
    return sandbox.session(time.monotonic() + 20)


def waiting(sandbox: Sandbox) -> SubmissionProcess:
    """The process that is made for the next submission; waits until it is."""
    assert sandbox._next is not None
    return sandbox._next.result(timeout=30)


def gone(pid: int) -> bool:
    until = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.02)
    return not Path(f"/proc/{pid}").exists()


def test_next_process_stands_ready_and_shares_nothing_with_the_present(sandbox: Sandbox) -> None:
    first = begin(sandbox)
    second = waiting(sandbox)
    assert printed(first, "open('mark', 'w').write('x')\nimport os; print(os.listdir('.'))") == "['mark']"
    first.close()
    session = begin(sandbox)
    assert session.process is second
    assert printed(session, "import os; print(os.listdir('.'))") == "[]"
    session.close()


def test_a_submission_keeps_to_the_processors_of_its_judge(zygote: Zygote) -> None:
    processors = os.sched_getaffinity(0)
    for few in ({max(processors)}, processors):
        try:
            os.sched_setaffinity(0, few)
            session = SubmissionSession(SubmissionProcess(zygote, LIMITS, 3), time.monotonic() + 20)
        finally:
            os.sched_setaffinity(0, processors)
        assert printed(session, "import os; print(sorted(os.sched_getaffinity(0)))") == str(sorted(few))
        session.close()


def test_process_that_died_while_it_waited_is_not_given_out(sandbox: Sandbox) -> None:
    first, dead = begin(sandbox), waiting(sandbox)
    os.kill(dead.pid, signal.SIGKILL)
    assert gone(dead.pid) and not dead.lives()
    second = begin(sandbox)
    assert second.process is not dead
    assert printed(second, "print('on')") == "on"
    for session in (first, second):
        session.close()


def test_process_that_nobody_took_ends(sandbox: Sandbox) -> None:
    begin(sandbox).close()
    left = waiting(sandbox)
    sandbox.close()
    assert gone(left.pid)
    assert left.group is None or not left.group.folders


def test_zygote_that_is_gone_takes_its_processes_along_and_is_replaced() -> None:
    settings = RunSettings("x", "", 3, limits=LIMITS)
    with closing(Sandbox(settings, EMPTY, Catalogue(), start=start_bare)) as sandbox:
        first, zygote = begin(sandbox), sandbox.zygote
        ahead = waiting(sandbox)
        assert zygote.process is not None
        os.kill(zygote.process.pid, signal.SIGKILL)
        zygote.process.wait()
        assert gone(first.process.pid) and gone(ahead.pid) and not sandbox.lives()
        second = begin(sandbox)
        assert printed(second, "print('on')") == "on" and sandbox.zygote is not zygote
        for session in (first, second):
            session.close()
