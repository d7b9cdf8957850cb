"""What the tests of the sandbox share: limits, and words to speak to a submission with."""

import os
import textwrap
import time

import pytest

from softlookup_grader.data.work import Limits
from softlookup_grader.sandbox.bubble import Zygote, trouble
from softlookup_inside.asking.case import Case


def needs_sandbox(why_not, environment):
    """The mark of tests that need a sandbox: skipped where there is none, unless the environment requires one."""
    return pytest.mark.skipif(bool(why_not) and REQUIRED not in environment, reason=why_not)


REQUIRED = "SOFTLOOKUP_SANDBOX_REQUIRED"
"""A variable of the environment: where it is set, tests that find no sandbox fail."""
NEEDS_SANDBOX = needs_sandbox(trouble(), os.environ)
LIMITS = Limits(cell_s=3, answer_s=3, total_s=30, cpu_s=10, memory_mb=300, disk_mb=8, processes=16, output_kb=4)
SOUND = {"lent": ("04.a",), "frame": "torch"}
ABOUT = {"expression": "f", "name": "f", "forbids": [], "stop": [], "earlier": {}, "layers": {}}


def printed(session, source):
    ran = session.run(textwrap.dedent(source))
    return "".join(output.get("text", "") or output.get("evalue", "") for output in ran.outputs).strip()


def hold(session, source):
    """Define a function and hand it to the check."""
    session.run(textwrap.dedent(source))
    return session.check("", ABOUT)


def ask(session, *args, results=1, lent=(), sound=None, seconds=3.0, **case):
    question = Case("", args, **{"frame": "numpy", **case})
    return session.ask([question], results, lent, sound, time.monotonic() + seconds)[0]


def start_bare(sandbox, modules, forbidden, hidden):
    """Start a zygote that imports nothing beforehand, for a test that ends it: it is there at once."""
    return Zygote.start(sandbox, hidden=hidden)
