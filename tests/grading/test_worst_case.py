"""What one submission can cost a class: whatever limit it uses to the full, the limit on the whole of it holds."""

import nbformat
import pytest
from sandbox_tools import NEEDS_SANDBOX
from small_class import NAME, ROOT

from softlookup_course.samples.handins import answers, filled
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_grader.judging.examine import SandboxExaminer

LIMITS = Limits(cell_s=2, answer_s=2, total_s=2.5, memory_mb=500, disk_mb=8, processes=16)
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


@NEEDS_SANDBOX
@pytest.mark.one_in(3)
@pytest.mark.parametrize("does", ENDLESS)
def test_a_submission_that_uses_up_every_limit_takes_no_longer_than_they_say(source, does):
    release = (ROOT / "exercises" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    with SandboxExaminer(RunSettings(NAME, release, 3, limits=LIMITS)) as examiner:
        names = {check.task.slug: check.task.name for check in examiner.assignment.checks.values() if check is not None}
        spoiled = {slug: ENDLESS[does](name) for slug, name in names.items()}
        notebook = filled(nbformat.reads(release, as_version=4), {**answers(source), **spoiled})
        graded = examiner.examine("ann", nbformat.writes(notebook).encode())
    assert len(names) * LIMITS.cell_s > 2 * LIMITS.once_s, "enough tasks to go beyond the limit"
    assert LIMITS.total_s - 0.5 < graded.seconds < LIMITS.once_s
    assert sum(mark.points or 0 for mark in graded.marks) == 0
