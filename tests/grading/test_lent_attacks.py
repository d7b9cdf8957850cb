"""A submission that asks a lent function for too much costs itself its points, and the grader seconds."""

import resource

import nbformat
import pytest
from sandbox_tools import NEEDS_SANDBOX
from small_class import ROOT

from softlookup_course.samples.handins import answers, filled
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_grader.judging.examine import SandboxExaminer
from softlookup_judge.authoring import read_solution

pytestmark = NEEDS_SANDBOX
LIMITS = Limits(cell_s=8, answer_s=4, total_s=60)
WRONG = "def {name}(*given):\n    return 0.0"
BEAM = """def extend_cache(*given):
    beam_search(torch.full((5, 5), -1.6, dtype=torch.float64), 0, 1, 4, {limit}, 1.0)
    return given[:2]"""
ALIBI = "def turn(x, angle):\n    alibi(16, {side}, {side}, 0)\n    return x"
LAYERS = "def token_flops(*given):\n    return count_model(10, 4, 2, 1, 2, 6, {layers}, True)"


@pytest.mark.one_in(6)
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
    release = nbformat.read(ROOT / "exercises" / name / f"{name}.ipynb", as_version=4)
    texts = answers(read_solution(ROOT / "solutions" / f"{name}.py"))
    function_name = texts[lent].partition("def ")[2].partition("(")[0]
    texts |= {lent: WRONG.format(name=function_name), attacked: f"import torch\n\n\n{code}"}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with SandboxExaminer(RunSettings(name, nbformat.writes(release), 5, limits=LIMITS)) as examiner:
        graded = examiner.examine("somebody", nbformat.writes(filled(release, texts)).encode())
    marks = {mark.task.replace(".", "-"): mark for mark in graded.marks}
    assert marks[lent].verdict == "wrong" and marks[attacked].verdict in verdicts and marks[attacked].points == 0
    others = {mark.verdict for slug, mark in marks.items() if slug not in (lent, attacked)}
    assert others <= {"pass", "by hand"}
    assert graded.seconds < 45 and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500 * 1024
    print(f"{graded.seconds:.1f} s", marks[attacked].verdict, marks[attacked].message)
