"""What one submission does to itself does not reach the zygote, or the submissions beside it."""

import contextlib
import os
import signal
import time
from pathlib import Path

import nbformat
import pytest
from sandbox_tools import LIMITS, NEEDS_SANDBOX, printed, start_bare
from small_class import NAME, ROOT

from softlookup_course.samples.handins import answers, filled
from softlookup_grader.data.records import GRADED
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_grader.judging.examine import SandboxExaminer
from softlookup_grader.judging.zygotes import ZygotePool
from softlookup_grader.sandbox.bubble import Zygote
from softlookup_grader.sandbox.place import SubmissionProcess
from softlookup_grader.sandbox.session import SubmissionSession

pytestmark = NEEDS_SANDBOX


def _setting(name: str) -> RunSettings:
    release = ROOT / "exercises" / name / f"{name}.ipynb"
    return RunSettings(name, release.read_text(encoding="utf-8"), 3, limits=Limits(total_s=60))


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


def _inner(of: int) -> list[int]:
    """The processes below one."""
    children = Path(f"/proc/{of}/task/{of}/children").read_text().split()
    return [int(pid) for child in children for pid in (child, *_inner(int(child)))]


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


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP])
def test_zygote_that_was_killed_or_halted_is_replaced(blow):
    pool = ZygotePool(start=start_bare)
    with pool.lend(SETTING) as copy:
        assert _in_copy(copy()) == "on"
        first = _only(pool).process.pid
        _only(pool).answer_s = 0.5
        for process in _inner(first):
            with contextlib.suppress(ProcessLookupError):  # one that is killed takes those in it along
                os.kill(process, blow)
        assert _in_copy(copy()) == "on"
        assert _only(pool).process.pid != first
        assert not Path(f"/proc/{first}").exists(), "a halted zygote is ended"


@pytest.mark.parametrize("when", ["before", "between"])
def test_examiner_goes_on_when_the_copy_that_it_was_given_is_gone(source, when):
    release = nbformat.reads(SETTING.release, as_version=4)
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
    named = (
        "import softlookup_course.slide_audit\ntry: import softlookup.reference\nexcept ImportError: print('hidden')"
    )
    with ZygotePool([setting.release for setting in settings], tmp_path, start_bare) as pool:
        outputs, pids = [], []
        for setting in settings:
            with pool.lend(setting) as copy:
                outputs.append(_in_copy(copy(), named))
            pids.append(_only(pool).process.pid)
        assert outputs == ["hidden", "hidden", ""] and len({*pids}) == 1
    assert not Path(f"/proc/{pids[0]}").exists()


def test_answers_get_the_same_verdicts_from_a_shared_zygote(source, tmp_path):
    release = nbformat.reads(SETTING.release, as_version=4)
    right = answers(source)
    wrong = {**right, next(iter(right)): "def scale(*a, **k):\n    import softlookup.reference\n"}
    with (
        ZygotePool([_setting("02_soft_lookup").release, SETTING.release], tmp_path) as pool,
        pool.lend(SETTING) as copy,
    ):
        with SandboxExaminer(SETTING, copy()) as shared, SandboxExaminer(SETTING) as alone:
            for handed_in in (right, wrong):
                submission = nbformat.writes(filled(release, handed_in)).encode()
                marks = [examiner.examine("ann", submission).marks for examiner in (shared, alone)]
                assert marks[0] == marks[1]
