"""Hidden shortcuts, and answers that see that they are lent to, earn in the sandbox what they deserve."""

import nbformat
import pytest
from sandbox_tools import NEEDS_SANDBOX
from small_class import NAME, ROOT

from attacks.handin import Bench
from attacks.shortcuts import HIDDEN, SEEN, hand_ins
from softlookup_course.samples.handins import answers, filled
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_grader.judging.examine import SandboxExaminer
from softlookup_judge import get_task

pytestmark = NEEDS_SANDBOX
LIMITS = Limits(cell_s=10, answer_s=20, total_s=120)


@pytest.fixture(scope="module")
def bench(source):
    release = nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)
    return Bench(source, release)


@pytest.fixture(scope="module")
def examiner(bench):
    with SandboxExaminer(RunSettings(NAME, nbformat.writes(bench.release), 20261120, limits=LIMITS)) as examiner:
        yield examiner


@pytest.mark.parametrize(
    "name", [*(f"hidden-{way}" for way in HIDDEN), *(f"lent-{way}" for way in (*SEEN, "on-purpose"))]
)
def test_a_way_to_points_that_are_not_deserved_is_closed(bench, examiner, name):
    hand_in = next(attack for attack in hand_ins(bench) if attack.student == f"attack-00-{name}")
    graded = examiner.examine(hand_in.student, hand_in.files[bench.file])
    assert {mark.task: mark.points for mark in graded.marks if mark.points is not None} == hand_in.deserves
    if name.startswith("hidden"):
        softmax_mark = next(mark for mark in graded.marks if mark.task == "04.softmax")
        assert (softmax_mark.verdict, softmax_mark.diagnosis) == ("wrong", ("forbidden-shortcut",))
        assert softmax_mark.message.startswith("This task asks you to write it yourself: `torch.")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("slug", [mistake.slug for mistake in get_task("04.scores").mistakes])
def test_a_wrong_earlier_function_costs_a_right_answer_nothing(bench, examiner, slug):
    weights = "def attention_weights(q, k, mask=None):\n    s = scores(q, k) / math.sqrt(q.shape[-1])\n"
    weights += "    s = s if mask is None else s.masked_fill(~mask, float('-inf'))\n    a = torch.softmax(s, dim=-1)\n"
    weights += "    return a if mask is None else a.masked_fill(~mask, 0.0)\n"
    wrong = get_task("04.scores").mistake(slug).applied_to(bench.right["04-scores"])
    notebook = filled(bench.release, {**answers(bench.source), "04-scores": wrong, "04-weights": weights})
    marks = {m.task: m for m in examiner.examine("somebody", nbformat.writes(notebook).encode()).marks}
    assert marks["04.scores"].points < 2
    assert (marks["04.weights"].points, marks["04.weights"].verdict) == (4, "pass")
