"""Kernels of a submission are recorded in the sandbox; values and bytes are computed outside."""

import nbformat
import pytest
from sandbox_tools import NEEDS_SANDBOX
from small_class import ROOT

from softlookup_course.samples.handins import answers, filled
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_grader.judging.examine import SandboxExaminer
from softlookup_judge import get_task
from softlookup_judge.authoring import make_release, read_solution

pytestmark = NEEDS_SANDBOX
NAME = "18_kernels"
SOURCE = read_solution(ROOT / "solutions" / f"{NAME}.py")
RELEASE = make_release(SOURCE)
RIGHT = answers(SOURCE)

FORGED_RECORD = """
@jit
def scaled_add(x, y, out, a, n, BLOCK: tl.constexpr):
    import gc
    from softlookup_inside.tiles.recording import Recorder

    for recorder in gc.get_objects():
        if isinstance(recorder, Recorder):
            recorder.rows = [(0, 99, 7, 7, 7, 0, 0, 0, 0)]


scaled_add.__wrapped__.__code__ = scaled_add.__wrapped__.__code__.replace(co_filename="nowhere")
"""

LITERAL_BEFORE_LOOP = """
@jit
def softmax_rows(x, y, n, BLOCK: tl.constexpr):
    total = 0
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total = total + tl.sum(tl.load(x + tl.program_id(0) * n + cols, mask=cols < n, other=0.0), 0)
    tl.store(y + tl.program_id(0) * n, total)
"""


@pytest.fixture(scope="module")
def examiner():
    settings = RunSettings.single(
        NAME, nbformat.writes(RELEASE), 7, limits=Limits(cell_s=120, answer_s=120, total_s=500)
    )
    with SandboxExaminer(settings) as examiner:
        yield examiner


def marks(examiner, cells):
    notebook = filled(RELEASE, RIGHT | cells)
    return {mark.task: mark for mark in examiner.examine("somebody", nbformat.writes(notebook).encode()).marks}


def with_mistake(task_id, slug):
    """The published answer with a known mistake in it."""
    task = get_task(task_id)
    return next(m for m in task.mistakes if m.slug == slug).applied_to(RIGHT[task.slug])


def test_wrong_values_too_much_traffic_and_places_outside_are_named(examiner):
    cells = {
        "18-online": with_mistake("18.online", "sum-not-rescaled"),
        "18-product": with_mistake("18.product", "b-loaded-twice"),
        "18-softmax": with_mistake("18.softmax", "mask-missing"),
        "18-linear": "@jit\ndef linear_activated(x, w, bias, y, m, n, k, BM, BN, BK):\n    y += tl.exp",
        "18-add": FORGED_RECORD,
    }
    got = marks(examiner, cells)
    assert (got["18.online"].points, got["18.online"].diagnosis) == (0, ("sum-not-rescaled",))
    product = got["18.product"]
    assert (product.verdict, product.diagnosis) == ("partial", ("b-loaded-twice",))
    assert product.points == pytest.approx(0.7 * product.max) and "bytes from main memory" in product.message
    assert (got["18.softmax"].points, got["18.softmax"].diagnosis) == (0, ("mask-missing",))
    assert got["18.linear"].points == 0 and "a pointer moves by whole numbers" in got["18.linear"].message
    assert got["18.add"].points == 0 and "no record of a kernel" in got["18.add"].message
    assert got["18.attention"].points == got["18.attention"].max


def test_what_triton_would_not_compile_is_refused_in_the_sandbox(examiner):
    mark = marks(examiner, {"18-softmax": LITERAL_BEFORE_LOOP})["18.softmax"]
    assert mark.points == 0
    assert "KernelError: `total` is a tl.int32 scalar before a loop and a tl.float32 scalar" in mark.message
    assert "begin with a float, as in `total = 0.0`" in mark.message
