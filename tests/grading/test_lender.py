"""Lent functions are computed in a process that can be killed: no call costs the judge time, memory or its life."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sandbox_tools import ABOUT, LIMITS, NEEDS_SANDBOX, SOUND, ask

from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.work import Limits
from softlookup_grader.judging.lent import owns, sound
from softlookup_grader.sandbox.lender import MEMORY_MB, MOST, Lender
from softlookup_grader.sandbox.lending import TOO_MUCH, no_own, sound_answer
from softlookup_grader.sandbox.session import OutOfTime
from softlookup_inside.asking.case import Case
from softlookup_inside.sandbox import frames
from softlookup_judge.checking.catalogue import STANDARD

TABLE = np.log(np.full((5, 5), 0.2))


def call(name, *args):
    """A call as a submission writes it."""
    arrays: list[np.ndarray] = []
    header = {"call": name, "args": frames.plain(list(args), arrays), "named": {"dict": {}}, "upstream": None}
    return header, arrays


def owns_of(name):
    return owns(STANDARD.variant(name))


def lent(name, *args, most=4096):
    """What a submission is answered that calls a task's function."""
    header, arrays = call(name, *args)
    lender = Lender(lambda name, *arguments: sound(STANDARD.variant(name), *arguments), 10)
    try:
        return sound_answer(
            lambda *arguments: lender.answer(*arguments, time.monotonic() + 60), header, arrays, most, owns_of
        )
    finally:
        lender.close()


def refused(name, *args, most=4096):
    """The same where nothing may be computed."""

    def compute(header, arrays):
        raise AssertionError("it was computed")

    header, arrays = call(name, *args)
    return sound_answer(compute, header, arrays, most, owns_of)[0]["raised"]


@pytest.fixture
def lender():
    begun = []

    def start(compute, cpu_s=10):
        begun.append(Lender(compute, cpu_s))
        return begun[-1]

    yield start
    for lender in begun:
        lender.close()


def answered(lender, *args, seconds=60.0):
    header, arrays = call("04.a", *args)
    return lender.answer(header, arrays, time.monotonic() + seconds)


@pytest.mark.parametrize(
    ("name", "args", "most", "says"),
    [
        ("10.beam", (TABLE, 0, 1, 4, -1, 1.0), 4096, "negative"),
        ("10.beam", (TABLE, 0, 1, 4, float("nan"), 1.0), 4096, "larger than those of the question"),
        ("10.beam", (TABLE, 0, 1, 4, float("-inf"), 1.0), 4096, "larger than those of the question"),
        ("06.alibi", (16, 4096, 4096, 0), 4096, TOO_MUCH),
        ("06.sinusoids", (4096, 10**300), 4096, "larger than those of the question"),
        ("12.parameters", (10, 4, 2, 1, 2, 6, 10**9, True), 2 * 10**10, "larger than those of the question"),
    ],
)
def test_calls_of_which_none_is_honest_are_not_computed(name, args, most, says):
    assert says in refused(name, *args, most=most)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("10.beam", (TABLE, 0, 1, 4, 6, 1.0)),
        ("08.padding", (np.array([[3, 1]]), -1)),
        ("12.parameters", (128_256, 4096, 32, 8, 128, 14_336, 32, False)),
        ("12.product", (64 * 1000, 4096, 128_256, 2)),
        ("09.warmup", (100_000, 512, 4000)),
    ],
)
def test_calls_of_honest_sizes_are_computed(name, args):
    assert "result" in lent(name, *args)[0]


def test_function_in_torch_gives_arrays_of_numbers_alone():
    header, arrays = lent("06.alibi", 4, 3, 5, 2)
    assert header == {"result": {"array": 0}} and arrays[0].shape == (4, 3, 5)


def test_many_keys_that_collide_cost_no_time():
    # Tuples of whole numbers have the same hash in every process, and equal ones can be computed.
    keys = [[{"tuple": [n * (2**61 - 1)]}, 0] for n in range(60_000)]
    header, _ = call("04.a")
    begun = time.monotonic()
    answer, _ = sound_answer(None, {**header, "args": {"list": [{"map": keys}]}}, [], 4096, no_own)
    assert "larger than those of the question" in answer["raised"] and time.monotonic() - begun < 20


@pytest.mark.parametrize("opening", ["[", '{"list":[', '{"dict":{"a":'])
def test_deep_nesting_is_a_broken_frame_and_no_exception_of_another_kind(opening):
    closing = {"[": "]", '{"list":[': "]}", '{"dict":{"a":': "}}"}[opening]
    for depth in (9, 100, 300, 450, 900, 100_000):
        text = '{"arrays":[],"call":"04.a","named":{"dict":{}},"args":' + opening * depth + "1" + closing * depth + "}"
        with pytest.raises(frames.FrameError):
            header, arrays = frames.unpack(text.encode(), b"")
            sound_answer(None, header, arrays, 10**9, no_own)


@NEEDS_SANDBOX
def test_call_that_never_ends_is_killed_at_its_deadline_and_the_next_one_is_answered(begin):
    session = begin(Limits(**{**vars(LIMITS), "answer_s": 20, "total_s": 60, "call_s": 1}))
    session.run("def square(x): pass")
    session.run(
        "def f(a):\n    try: square(0)\n    except RuntimeError as error: said = str(error)\n    return square(a), said"
    )
    session.check("", {**ABOUT, "earlier": {"square": "04.a"}})

    def endless(name, args, named, upstream):
        while isinstance(args[0], int):
            pass
        return 3

    question = Case("", ("x",), frame="text")
    begun = time.monotonic()
    answer = session.ask([question], 1, ("04.a",), endless, begun + 20)[0]
    assert json.loads(bytes(answer.arrays[0])) == [3, TOO_MUCH]
    assert 1 <= time.monotonic() - begun < 20


@NEEDS_SANDBOX
def test_calls_have_the_answers_time_together_and_cost_the_next_answer_nothing(begin):
    session = begin()
    session.run("def square(x): pass")
    source = (
        "def f(a):\n    while True:\n        try: square(a)\n        except RuntimeError: pass\ndef g(a): return a + 1"
    )
    session.run(source)
    session.check("", {**ABOUT, "earlier": {"square": "04.a"}})

    def slow(name, args, named, upstream):
        time.sleep(0.3)
        return 1

    begun = time.monotonic()
    with pytest.raises(OutOfTime):
        ask(session, np.ones(2), sound=slow, seconds=1.0, **SOUND)
    assert time.monotonic() - begun < 20
    assert session.check("", {**ABOUT, "expression": "g"}).there
    np.testing.assert_array_equal(ask(session, np.ones(2)).arrays[0], [2, 2])


@NEEDS_SANDBOX
def test_call_that_outlasts_the_answers_time_costs_the_next_answer_nothing(begin):
    session = begin()
    session.run("def square(x): pass")
    session.run("def f(a): return square(a)\ndef g(a): return a + 1")
    session.check("", {**ABOUT, "earlier": {"square": "04.a"}})
    with pytest.raises(OutOfTime):
        ask(session, np.ones(2), sound=lambda *_: time.sleep(60), seconds=0.5, **SOUND)
    assert session.check("", {**ABOUT, "expression": "g"}).there
    np.testing.assert_array_equal(ask(session, np.ones(2)).arrays[0], [2, 2])


@pytest.mark.parametrize(
    "hoard",
    [
        "lambda: np.ones(200_000_000)",
        "lambda: __import__('torch').ones(200_000_000)",
        "lambda: [bytearray(1 << 20) for _ in range(1 << 12)]",
    ],
)
def test_memory_of_a_call_is_limited(lender, hoard):
    take = eval(hoard)
    hoarder = lender(lambda name, args, named, upstream: take())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = answered(hoarder)
    assert answer is None or answer[0] == {"raised": TOO_MUCH}
    grown_mb = (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss - before) / 1024
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024 and grown_mb < MEMORY_MB + 100


def test_processor_time_is_limited(lender):
    def busy(name, args, named, upstream):
        while True:
            pass

    begun = time.monotonic()
    assert answered(lender(busy, cpu_s=1)) is None and time.monotonic() - begun < MOST * LIMITS.call_s


@pytest.mark.parametrize("ends", [lambda: os._exit(1), lambda: os.kill(os.getpid(), signal.SIGSEGV)])
def test_process_that_dies_is_a_call_that_took_too_much(lender, ends):
    assert answered(lender(lambda *_: ends())) is None


def test_recursion_without_end_is_an_exception(lender):
    def deeper(name, args, named, upstream):
        return deeper(name, args, named, upstream)

    assert "recursion" in answered(lender(deeper))[0]["raised"]


def test_result_that_no_frame_holds_is_told_as_too_much(lender):
    assert answered(lender(lambda *_: np.zeros(10_000_000)))[0] == {"raised": TOO_MUCH}


def test_process_holds_no_descriptor_but_its_own(lender, tmp_path):
    with open(tmp_path / "gradebook", "w"), socket.socket():
        answer = answered(
            lender(lambda *_: [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")[:-1]])
        )
    places = answer[0]["result"]["list"]
    assert sorted(places)[:3] == ["/dev/null"] * 3 and len(places) == 4 and places[-1].startswith("socket:")


def test_judge_that_used_a_gpu_is_told_and_no_submission(lender):
    def refuses(name, args, named, upstream):
        raise RuntimeError("Unable to handle autograd's threading in combination with fork-based multiprocessing.")

    with pytest.raises(CourseError, match="start the worker with the environment variable CUDA_VISIBLE_DEVICES"):
        answered(lender(refuses))


def test_process_dies_with_the_judge(tmp_path):
    script = tmp_path / "judge.py"
    script.write_text(
        "import os, time\n"
        "from softlookup_grader.sandbox.lender import Lender\n"
        "print(Lender(lambda *given: 1, 10).pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    judge = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    pid = int(judge.stdout.readline())
    fd = os.pidfd_open(pid)
    judge.kill()
    judge.wait()
    judge.stdout.close()
    until = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and _state(pid) not in "ZX":
        assert time.monotonic() < until
        time.sleep(0.02)
    os.close(fd)


def _state(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


@NEEDS_SANDBOX
def test_nothing_is_forked_where_nothing_is_lent(begin):
    session = begin()
    session.run("def f(a): return a + 1")
    session.check("", ABOUT)
    ask(session, np.ones(2), sound=lambda *_: 1, **SOUND)
    assert session._lender is None
