"""Points in the sandbox: hidden shortcuts earn none, and a slip costs its own and hides nothing of later answers."""

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
from softlookup_judge.authoring import read_solution

pytestmark = NEEDS_SANDBOX
LIMITS = Limits(cell_s=10, answer_s=20, total_s=120)


@pytest.fixture(scope="module")
def bench(source, release):
    return Bench(source, release)


@pytest.fixture(scope="module")
def examiner(bench):
    with SandboxExaminer(RunSettings.single(NAME, nbformat.writes(bench.release), 20261120, limits=LIMITS)) as examiner:
        yield examiner


@pytest.mark.one_in(8)
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


@pytest.mark.one_in(8)
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


def diagnoses(name, planted):
    """What the grader says of the published solution with these mistakes: verdict and names for each task."""
    release = nbformat.read(ROOT / "exercises" / name / f"{name}.ipynb", as_version=4)
    texts = answers(read_solution(ROOT / "solutions" / f"{name}.py"))
    for task_id, slug in planted.items():
        task = get_task(task_id)
        texts[task.slug] = task.mistake(slug).applied_to(texts[task.slug])
    with SandboxExaminer(RunSettings.single(name, nbformat.writes(release), 20261120, limits=LIMITS)) as examiner:
        graded = examiner.examine("somebody", nbformat.writes(filled(release, texts)).encode())
    return {mark.task: (mark.verdict, mark.diagnosis) for mark in graded.marks}


PLANTED = {
    # Numbers that are no sizes, and the precision of what is lent.
    "06_positions": "06.angles:divided-upwards 06.rotary:sign 06.cached:keys-not-turned",
    # Through a given class, and a class itself.
    "08_decoder_and_masks": "08.causal:diagonal-hidden 08.cross-attention:keys-from-decoder "
    "08.decoder-layer:cross-looks-at-itself 08.transformer:no-final-norms",
    # A whole model, whose parameters depend on its depth, and steps down its gradients.
    "90_capstone": "90.transformer:embedding-not-scaled 90.loss:eps-fixed 90.train:steps-from-zero "
    "90.greedy:never-stops",
}


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", PLANTED)
def test_every_planted_mistake_is_named(name):
    planted = dict(mistake.split(":") for mistake in PLANTED[name].split())
    verdicts = diagnoses(name, planted)
    assert {task_id: verdicts.pop(task_id) for task_id in planted} == {
        task_id: ("wrong", (slug,)) for task_id, slug in planted.items()
    }
    assert {verdict for verdict, _ in verdicts.values()} <= {"pass", "by hand"}, verdicts


def test_a_wrong_layer_costs_the_model_built_of_it_nothing():
    verdicts = diagnoses("08_decoder_and_masks", {"08.decoder-layer": "post-norm"})
    assert verdicts["08.decoder-layer"] == ("wrong", ("post-norm",))
    assert verdicts["08.transformer"] == ("pass", ())
