"""A slip in an earlier answer costs its own points, and hides neither the points nor the mistake of a later one."""

from pathlib import Path

import nbformat
import pytest
from sandbox_tools import NEEDS_SANDBOX

from softlookup_course.samples.handins import answers, filled
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_grader.judging.examine import SandboxExaminer
from softlookup_judge import get_task
from softlookup_judge.authoring import find_root, read_solution

pytestmark = NEEDS_SANDBOX
ROOT = find_root()
LIMITS = Limits(cell_s=10, answer_s=20, total_s=120)


def diagnoses(name, planted):
    """What the grader says of the published solution with these mistakes: verdict and names for each task."""
    release = nbformat.read(Path(ROOT) / "exercises" / name / f"{name}.ipynb", as_version=4)
    texts = answers(read_solution(ROOT / "solutions" / f"{name}.py"))
    for task_id, slug in planted.items():
        task = get_task(task_id)
        mistake = next(mistake for mistake in task.mistakes if mistake.slug == slug)
        texts[task.slug] = mistake.applied_to(texts[task.slug])
    with SandboxExaminer(RunSettings(name, nbformat.writes(release), 20261120, limits=LIMITS)) as examiner:
        graded = examiner.examine("somebody", nbformat.writes(filled(release, texts)).encode())
    return {mark.task: (mark.verdict, mark.diagnosis) for mark in graded.marks}


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("name", "planted"),
    [
        pytest.param(
            "06_positions",
            {"06.angles": "divided-upwards", "06.rotary": "sign", "06.cached": "keys-not-turned"},
            id="numbers that are no sizes, and the precision of what is lent",
        ),
        pytest.param(
            "08_decoder_and_masks",
            {
                "08.causal": "diagonal-hidden",
                "08.cross-attention": "keys-from-decoder",
                "08.decoder-layer": "cross-looks-at-itself",
                "08.transformer": "no-final-norms",
            },
            id="through a given class, and a class itself",
        ),
        pytest.param(
            "90_capstone",
            {
                "90.transformer": "embedding-not-scaled",
                "90.loss": "eps-fixed",
                "90.train": "steps-from-zero",
                "90.greedy": "never-stops",
            },
            id="a whole model, whose parameters depend on its depth, and steps down its gradients",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_every_planted_mistake_is_named(name, planted):
    verdicts = diagnoses(name, planted)
    for task_id, slug in planted.items():
        assert verdicts[task_id] == ("wrong", (slug,)), task_id
    others = {task_id: verdict for task_id, (verdict, _) in verdicts.items() if task_id not in planted}
    assert set(others.values()) <= {"pass", "by hand"}, others


def test_a_wrong_layer_costs_the_model_built_of_it_nothing():
    verdicts = diagnoses("08_decoder_and_masks", {"08.decoder-layer": "post-norm"})
    assert verdicts["08.decoder-layer"] == ("wrong", ("post-norm",))
    assert verdicts["08.transformer"] == ("pass", ())
