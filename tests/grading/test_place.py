"""Places of submissions are made ahead, each by itself, and none is left behind."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from softlookup_grader.data.errors import CourseError
from softlookup_grader.sandbox.bubble import Zygote
from softlookup_grader.sandbox.place import Ahead, Place
from softlookup_grader.sandbox.session import SubmissionSession
from tests.grading.sandbox_tools import LIMITS, NEEDS_SANDBOX, printed

pytestmark = NEEDS_SANDBOX


@pytest.fixture
def ahead(zygote: Zygote) -> Iterator[Ahead]:
    ahead = Ahead(zygote, LIMITS, 3)
    yield ahead
    ahead.close()


def waiting(ahead: Ahead) -> Place:
    """The place that is made for the next submission; waits until it is."""
    assert ahead._next is not None
    return ahead._next.result(timeout=30)


def gone(pid: int) -> bool:
    until = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.02)
    return not Path(f"/proc/{pid}").exists()


def test_next_place_stands_ready_and_shares_nothing_with_the_present(ahead: Ahead) -> None:
    first = SubmissionSession(ahead.take(), time.monotonic() + 20)
    second = waiting(ahead)
    assert printed(first, "open('mark', 'w').write('x')\nimport os; print(os.listdir('.'))") == "['mark']"
    first.close()
    assert ahead.take() is second
    session = SubmissionSession(second, time.monotonic() + 20)
    assert printed(session, "import os; print(os.listdir('.'))") == "[]"
    session.close()


def test_a_submission_keeps_to_the_processors_of_its_judge(zygote: Zygote) -> None:
    processors = os.sched_getaffinity(0)
    for few in ({max(processors)}, processors):
        try:
            os.sched_setaffinity(0, few)
            session = SubmissionSession(Place(zygote, LIMITS, 3), time.monotonic() + 20)
        finally:
            os.sched_setaffinity(0, processors)
        assert printed(session, "import os; print(sorted(os.sched_getaffinity(0)))") == str(sorted(few))
        session.close()


def test_place_whose_process_died_is_not_given_out(ahead: Ahead) -> None:
    first, dead = ahead.take(), waiting(ahead)
    os.kill(dead.pid, signal.SIGKILL)
    assert gone(dead.pid) and not dead.lives()
    second = ahead.take()
    assert second is not dead
    session = SubmissionSession(second, time.monotonic() + 20)
    assert printed(session, "print('on')") == "on"
    session.close()
    first.close()


def test_place_that_nobody_took_ends(zygote: Zygote) -> None:
    places = Ahead(zygote, LIMITS, 3)
    places.take().close()
    left = waiting(places)
    places.close()
    assert gone(left.pid)
    assert left.group is None or not left.group.folders


def test_zygote_that_is_gone_is_told() -> None:
    zygote = Zygote("bubblewrap", [])
    zygote.wait()
    places = Ahead(zygote, LIMITS, 0)
    place = places.take()
    ahead = waiting(places)
    os.kill(zygote.process.pid, signal.SIGKILL)
    zygote.process.wait()
    assert gone(place.pid) and gone(ahead.pid)
    with pytest.raises(CourseError):
        places.take()
    place.close()
    places.close()
    zygote.close()
