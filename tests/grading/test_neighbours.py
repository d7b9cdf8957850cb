"""What one submission does to itself does not reach the zygote, or the submissions beside it and after it."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_notebook
from sandbox_tools import LIMITS, NEEDS_SANDBOX, printed, start_bare
from small_class import NAME, ROOT

from softlookup_course.samples.handins import answers, filled
from softlookup_grader.data.records import GRADED
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_grader.judging.examine import SandboxExaminer
from softlookup_grader.judging.forks import Sandbox
from softlookup_grader.judging.zygotes import ZygotePool
from softlookup_grader.sandbox.bubble import Zygote
from softlookup_grader.sandbox.place import SubmissionProcess
from softlookup_grader.sandbox.processes import family
from softlookup_grader.sandbox.session import SubmissionSession
from softlookup_judge.checking.catalogue import Catalogue

pytestmark = NEEDS_SANDBOX


def _setting(name: str) -> RunSettings:
    release = ROOT / "exercises" / name / f"{name}.ipynb"
    return RunSettings.single(name, release.read_text(encoding="utf-8"), 3, limits=Limits(total_s=60))


SETTING = _setting(NAME)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_signal_to_ones_process_group_reaches_nobody_else(begin, zygote, number):
    sender, neighbour = begin(), begin()
    sent = printed(sender, f"import os; os.kill(0, {int(number)}); print('on')")
    assert sent == "on", "the first process of a namespace stays"
    assert printed(neighbour, "print('on')") == "on"
    assert zygote.lives() and printed(begin(), "print('on')") == "on"


def test_slowing_ones_process_group_slows_nobody_else(begin):
    slow, neighbour = begin(), begin()
    nice = "import os; print(os.getpriority(os.PRIO_PROCESS, 0))"
    slow.run("import os\nfor kind in (os.PRIO_PGRP, os.PRIO_USER): os.setpriority(kind, 0, 19)")
    priority = str(os.getpriority(os.PRIO_PROCESS, 0))
    assert [printed(session, nice) for session in (slow, neighbour, begin())] == ["19", priority, priority]


def _only(pool):
    """The one zygote that a pool keeps."""
    (zygote,) = pool.zygotes.values()
    return zygote


def _in_copy(control, code="print('on')") -> str:
    """What a submission says that is forked by a copy of a zygote."""
    copy = Zygote(control)
    copy.wait()
    session = SubmissionSession(SubmissionProcess(copy, LIMITS, 0), time.monotonic() + 20)
    try:
        return printed(session, code)
    finally:
        session.close()
        copy.close()


@pytest.mark.slow
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP])
def test_zygote_that_was_killed_or_halted_is_replaced(blow):
    pool = ZygotePool(start=start_bare)
    with pool.lend(SETTING) as copy:
        assert _in_copy(copy()) == "on"
        first = _only(pool).process.pid
        _only(pool).answer_s = 0.5
        for process in family(first).keys() - {first}:
            with contextlib.suppress(ProcessLookupError):  # one that is killed takes those in it along
                os.kill(process, blow)
        assert _in_copy(copy()) == "on"
        assert _only(pool).process.pid != first
        assert not Path(f"/proc/{first}").exists(), "a halted zygote is ended"


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "between"])
def test_examiner_goes_on_when_the_copy_that_it_was_given_is_gone(source, release, when):
    right = nbformat.writes(filled(release, answers(source))).encode()
    pool = ZygotePool(start=start_bare)
    with pool.lend(SETTING) as copy:
        control = copy()
        if when == "before":
            _only(pool).close()
        with SandboxExaminer(SETTING, control, start_bare) as examiner:
            _only(pool).close()
            graded = examiner.examine("ann", right)
    assert graded.status == GRADED
    assert {mark.verdict for mark in graded.marks if mark.points is not None} == {"pass"}


def test_assignments_share_a_zygote_but_for_one_that_needs_the_library(tmp_path):
    settings = [SETTING, _setting("02_soft_lookup"), _setting("14_find_the_error")]
    named = "import softlookup_course.slide_audit\n"
    named += "try: import softlookup.reference\nexcept ImportError: print('hidden')"
    with ZygotePool([setting.notebooks[0].text for setting in settings], tmp_path, start_bare) as pool:
        outputs, pids = [], []
        for setting in settings:
            with pool.lend(setting) as copy:
                outputs.append(_in_copy(copy(), named))
            pids.append(_only(pool).process.pid)
        assert outputs == ["hidden", "hidden", ""] and len({*pids}) == 1
    assert not Path(f"/proc/{pids[0]}").exists()


def test_answers_get_the_same_verdicts_from_a_shared_zygote(source, release, tmp_path):
    right = answers(source)
    wrong = {**right, next(iter(right)): "def scale(*a, **k):\n    import softlookup.reference\n"}
    releases = [setting.notebooks[0].text for setting in (_setting("02_soft_lookup"), SETTING)]
    with ZygotePool(releases, tmp_path) as pool, pool.lend(SETTING) as copy:
        with SandboxExaminer(SETTING, copy()) as shared, SandboxExaminer(SETTING) as alone:
            for handed_in in (right, wrong):
                submission = nbformat.writes(filled(release, handed_in)).encode()
                marks = [examiner.examine("ann", submission).marks for examiner in (shared, alone)]
                assert marks[0] == marks[1]


AHEAD = RunSettings.single("x", "", 3, limits=LIMITS)


@pytest.fixture
def sandbox(zygote: Zygote) -> Iterator[Sandbox]:
    with contextlib.closing(Sandbox(AHEAD, [new_notebook()], Catalogue(), zygote.copy())) as sandbox:
        yield sandbox


def begun_in(sandbox: Sandbox) -> SubmissionSession:
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
    first = begun_in(sandbox)
    second = waiting(sandbox)
    assert printed(first, "open('mark', 'w').write('x')\nimport os; print(os.listdir('.'))") == "['mark']"
    first.close()
    session = begun_in(sandbox)
    assert session.process is second
    assert printed(session, "import os; print(os.listdir('.'))") == "[]"
    session.close()


def test_a_submission_keeps_to_the_processors_of_its_judge(begin):
    processors = os.sched_getaffinity(0)
    for few in ({max(processors)}, processors):
        try:
            os.sched_setaffinity(0, few)
            session = begin()
        finally:
            os.sched_setaffinity(0, processors)
        assert printed(session, "import os; print(sorted(os.sched_getaffinity(0)))") == str(sorted(few))


def test_process_that_died_while_it_waited_is_not_given_out(sandbox: Sandbox) -> None:
    first, dead = begun_in(sandbox), waiting(sandbox)
    os.kill(dead.pid, signal.SIGKILL)
    assert gone(dead.pid) and not dead.lives()
    second = begun_in(sandbox)
    assert second.process is not dead
    assert printed(second, "print('on')") == "on"
    for session in (first, second):
        session.close()


def test_process_that_nobody_took_ends(sandbox: Sandbox) -> None:
    begun_in(sandbox).close()
    left = waiting(sandbox)
    sandbox.close()
    assert gone(left.pid)
    assert left.group is None or not left.group.folders


def test_zygote_that_is_gone_takes_its_processes_along_and_is_replaced() -> None:
    with contextlib.closing(Sandbox(AHEAD, [new_notebook()], Catalogue(), start=start_bare)) as sandbox:
        first, zygote = begun_in(sandbox), sandbox.zygote
        ahead = waiting(sandbox)
        assert zygote.process is not None
        os.kill(zygote.process.pid, signal.SIGKILL)
        zygote.process.wait()
        assert gone(first.process.pid) and gone(ahead.pid) and not sandbox.lives()
        second = begun_in(sandbox)
        assert printed(second, "print('on')") == "on" and sandbox.zygote is not zygote
        for session in (first, second):
            session.close()
