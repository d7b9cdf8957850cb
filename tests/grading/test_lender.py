"""Lent functions are computed in a process that can be killed: who asks for too much loses points, and nobody else."""

import itertools
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
import types
from functools import wraps

import nbformat
import numpy as np
import pytest
from arriving import released
from sandbox_tools import ABOUT, LIMITS, NEEDS_SANDBOX, SOUND, ask
from small_class import ROOT

from softlookup_course.samples.handins import answers, filled
from softlookup_grader.course.notebooks import is_solution
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_grader.judging.examine import SandboxExaminer
from softlookup_grader.judging.lent import owns, sound
from softlookup_grader.sandbox.lender import MEMORY_MB, MOST, Lender
from softlookup_grader.sandbox.lending import TOO_MUCH, largest, no_own, reason, sound_answer
from softlookup_grader.sandbox.session import OutOfTime
from softlookup_inside.asking.calm import calm_torch
from softlookup_inside.asking.case import Case
from softlookup_inside.sandbox import frames
from softlookup_judge.authoring import read_solution
from softlookup_judge.checking import local
from softlookup_judge.checking.catalogue import STANDARD, tasks
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import draw

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
        return sound_answer(lambda *call: lender.answer(*call, time.monotonic() + 60), header, arrays, most, owns_of)
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
        ("06.alibi", (4, 3, 5, 2)),
    ],
)
def test_calls_of_honest_sizes_are_computed(name, args):
    header, arrays = lent(name, *args)
    assert "result" in header
    if name == "06.alibi":  # computed in torch
        assert header == {"result": {"array": 0}} and arrays[0].shape == (4, 3, 5)


def test_many_keys_that_collide_cost_no_time():
    # Tuples of whole numbers have the same hash in every process, and equal ones can be computed.
    keys = [[{"tuple": [n * (2**61 - 1)]}, 0] for n in range(60_000)]
    header, _ = call("04.a")
    begun = time.monotonic()
    answer, _ = sound_answer(None, {**header, "args": {"list": [{"map": keys}]}}, [], 4096, no_own)
    assert "larger than those of the question" in answer["raised"] and time.monotonic() - begun < 20


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"list":[', "]}"), ('{"dict":{"a":', "}}")])
def test_deep_nesting_is_a_broken_frame_and_no_exception_of_another_kind(opening, closing):
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
@pytest.mark.parametrize(
    ("body", "call_s", "seconds"),
    [
        ("\n    while True:\n        try: square(a)\n        except RuntimeError: pass", 0.3, 1.0),
        (" return square(a)", 60, 0.5),
    ],
    ids=["calls together", "one call"],
)
def test_calls_have_the_answers_time_and_cost_the_next_answer_nothing(begin, body, call_s, seconds):
    session = begin()
    session.run("def square(x): pass")
    session.run(f"def f(a):{body}\ndef g(a): return a + 1")
    session.check("", {**ABOUT, "earlier": {"square": "04.a"}})
    begun = time.monotonic()
    with pytest.raises(OutOfTime):
        ask(session, np.ones(2), sound=lambda *_: time.sleep(call_s), seconds=seconds, **SOUND)
    assert time.monotonic() - begun < 20
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


def busy():
    while True:
        pass


@pytest.mark.parametrize("ends", [lambda: os._exit(1), lambda: os.kill(os.getpid(), signal.SIGSEGV), busy])
def test_process_that_dies_or_uses_up_its_processor_time_is_a_call_that_took_too_much(lender, ends):
    begun = time.monotonic()
    assert answered(lender(lambda *_: ends(), cpu_s=1)) is None and time.monotonic() - begun < MOST * LIMITS.call_s


def test_recursion_without_end_is_an_exception_and_what_no_frame_holds_is_too_much(lender):
    def deeper(name, args, named, upstream):
        return deeper(name, args, named, upstream)

    assert "recursion" in answered(lender(deeper))[0]["raised"]
    assert answered(lender(lambda *_: np.zeros(10_000_000)))[0] == {"raised": TOO_MUCH}


def test_process_holds_no_descriptor_but_its_own(lender, tmp_path):
    with open(tmp_path / "gradebook", "w"), socket.socket():
        links = lender(lambda *_: [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")[:-1]])
        places = answered(links)[0]["result"]["list"]
    assert sorted(places)[:3] == ["/dev/null"] * 3 and len(places) == 4 and places[-1].startswith("socket:")


def test_judge_that_used_a_gpu_is_told_and_no_submission(lender):
    def refuses(name, args, named, upstream):
        raise RuntimeError("Unable to handle autograd's threading in combination with fork-based multiprocessing.")

    with pytest.raises(CourseError, match="start the worker with the environment variable CUDA_VISIBLE_DEVICES"):
        answered(lender(refuses))


def test_process_dies_with_the_judge():
    script = (
        "import time\nfrom softlookup_grader.sandbox.lender import Lender\n"
        "print(Lender(lambda *given: 1, 10).pid, flush=True)\ntime.sleep(600)\n"
    )
    judge = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    pid = int(judge.stdout.readline())
    ended = os.pidfd_open(pid)
    judge.kill()
    judge.wait()
    judge.stdout.close()
    assert select.select([ended], [], [], 30)[0], "readable once the process has ended"
    os.close(ended)


@NEEDS_SANDBOX
def test_nothing_is_forked_where_nothing_is_lent(begin):
    session = begin()
    session.run("def f(a): return a + 1")
    session.check("", ABOUT)
    ask(session, np.ones(2), sound=lambda *_: 1, **SOUND)
    assert session._lender is None


NOTEBOOKS = sorted(path.stem for path in (ROOT / "solutions").glob("[0-9]*.py"))


def defined(name):
    """What the cells of a solution define, without its checks."""
    source = read_solution(ROOT / "solutions" / f"{name}.py")
    module = types.ModuleType(f"solution_{name}")
    sys.modules[module.__name__] = module
    vars(module)["__name__"] = "__main__"  # whose classes are a student's own
    right = answers(source)
    for at, cell in enumerate(source.cells):
        if cell.cell_type == "code" and not cell.source.lstrip().startswith("check("):
            text = right[cell.metadata.nbgrader.grade_id] if is_solution(cell) else cell.source
            exec(compile(text, f"cell-{name}-{at}", "exec"), vars(module))
    return vars(module)


def plain(value):
    return value.detach().numpy() if hasattr(value, "detach") else value


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_calls_of_published_solutions_pass_the_checks(name, capsys):
    calls = []

    class Noting(local.LocalStudent):
        def reference_function(self, variant, case):
            computed = super().reference_function(variant, case)

            @wraps(computed)
            def call(*args, **named):
                plainly = {key: plain(value) for key, value in named.items()}
                calls.append((variant.task.id, [plain(arg) for arg in args], plainly))
                return computed(*args, **named)

            return call

    world = defined(name)
    for task in tasks(int(name.split("_")[0])):
        student = Noting(variant_of(task), world[task.name])
        # One by one: where several are lent, the last of them computes what the others would be asked for.
        for lent, case in itertools.product(student.lendable(sound_too=True), draw(variant_of(task), 20261120)):
            calls.clear()
            with calm_torch():
                student.ask(case, len(task.returns), (lent,))
            most = reason(case.args, in_text=case.frame == "text")
            for task_id, args, named in calls:
                arrays: list[np.ndarray] = []
                header = {"call": task_id, "args": frames.plain(args, arrays), "named": frames.plain(named, arrays)}
                passed = sound_answer(lambda *_: ({"result": None}, []), header, arrays, most, owns_of)
                assert passed == ({"result": None}, []), (task.id, task_id, case.label, most, largest(args, arrays))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_questions_of_every_task_pass_the_checks_of_its_numbers(seed):
    for task in tasks():
        for case in draw(variant_of(task), seed) if task.lends else ():
            if case.is_recorded:
                continue  # nothing is lent to kernels and ranks, and they are lent to nobody
            arrays: list[np.ndarray] = []
            header = {"call": task.id, "args": frames.plain(list(case.args), arrays), "named": {"dict": {}}}
            most = reason(case.args, in_text=case.frame == "text")
            passed = sound_answer(lambda *_: ({"result": None}, []), header, arrays, most, owns_of)
            assert passed == ({"result": None}, []), (task.id, case.label)


WRONG = "def {name}(*given):\n    return 0.0"
BEAM = """def extend_cache(*given):
    beam_search(torch.full((5, 5), -1.6, dtype=torch.float64), 0, 1, 4, {limit}, 1.0)
    return given[:2]"""
ALIBI = "def turn(x, angle):\n    alibi(16, {side}, {side}, 0)\n    return x"
LAYERS = "def token_flops(*given):\n    return count_model(10, 4, 2, 1, 2, 6, {layers}, True)"


@pytest.mark.slow
@NEEDS_SANDBOX
@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    ("name", "lent", "attacked", "code", "verdicts"),
    [
        ("10_inference", "10-beam", "10-append", BEAM.format(limit=-1), ("wrong", "error")),
        ("10_inference", "10-beam", "10-append", BEAM.format(limit=0), ("wrong", "error", "timeout")),
        ("06_positions", "06-alibi", "06-turn", ALIBI.format(side=4096), ("wrong", "error")),
        ("06_positions", "06-alibi", "06-turn", ALIBI.format(side=1000), ("wrong", "error", "timeout")),
        ("12_counting", "12-parameters", "12-token", LAYERS.format(layers=10**9), ("wrong", "error")),
        ("12_counting", "12-parameters", "12-token", LAYERS.format(layers=10**6), ("wrong", "error", "timeout")),
    ],
    ids=["no limit", "limit that is never met", "product", "large product", "layers", "many layers"],
)
def test_lent_function_is_not_asked_for_too_much(name, lent, attacked, code, verdicts):
    release = released(name)
    texts = answers(read_solution(ROOT / "solutions" / f"{name}.py"))
    function_name = texts[lent].partition("def ")[2].partition("(")[0]
    texts |= {lent: WRONG.format(name=function_name), attacked: f"import torch\n\n\n{code}"}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    limits = Limits(cell_s=8, answer_s=4, total_s=60)
    with SandboxExaminer(RunSettings.single(name, nbformat.writes(release), 5, limits=limits)) as examiner:
        graded = examiner.examine("somebody", nbformat.writes(filled(release, texts)).encode())
    marks = {mark.task.replace(".", "-"): mark for mark in graded.marks}
    assert marks[lent].verdict == "wrong" and marks[attacked].verdict in verdicts and marks[attacked].points == 0
    others = {mark.verdict for slug, mark in marks.items() if slug not in (lent, attacked)}
    assert others <= {"pass", "by hand"}
    assert graded.seconds < 45 and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500 * 1024
