"""The judge outside the sandbox gives what a submission's honest code deserves, and says what it did not count."""

import copy
import os
import signal
import threading
import time
from dataclasses import replace

import nbformat
import numpy as np
import pytest
from arriving import released
from sandbox_tools import NEEDS_SANDBOX, start_bare
from small_class import NAME, ROOT

from attacks import raw_answers
from attacks.handin import Bench
from softlookup_course.samples.handins import answers, filled
from softlookup_course.samples.sample_class import hand_ins
from softlookup_grader.course.notebooks import grade_id
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_grader.judging import running
from softlookup_grader.judging.examine import SandboxExaminer
from softlookup_grader.judging.lent import sound
from softlookup_grader.run.writer import GradebookWriter
from softlookup_judge.authoring import draw_variants, read_solution
from softlookup_judge.checking.catalogue import get_task
from softlookup_judge.data.result import MIME
from softlookup_judge.data.variant import variant_of

pytestmark = NEEDS_SANDBOX
LIMITS = Limits(cell_s=2, answer_s=2, total_s=60)


@pytest.fixture(scope="module")
def examiner(release):
    with SandboxExaminer(RunSettings.single(NAME, nbformat.writes(release), 20261120, limits=LIMITS)) as examiner:
        yield examiner


@pytest.fixture
def right(source):
    return answers(source)


def examined(examiner, release, texts, **options):
    return examiner.examine("somebody", nbformat.writes(filled(release, texts)).encode(), **options)


def cells_of(graded):
    return {grade_id(cell): cell for cell in nbformat.reads(graded.notebooks[0][1], as_version=4).cells}


def by_task(graded):
    return {mark.task: mark for mark in graded.marks}


def total(graded):
    return sum(mark.points or 0 for mark in graded.marks)


def test_examiner_gives_the_published_solution_all_points(examiner, release, right):
    graded = examined(examiner, release, right)
    assert graded.status == "graded" and graded.remarks == () and len(graded.digest) == 64
    for mark in graded.marks:
        assert mark.verdict == ("by hand" if mark.task == "04.uniform" else "pass")
        assert mark.points == (None if mark.verdict == "by hand" else mark.max)
    assert graded.slowest and 0 < graded.slowest_s < graded.seconds


def test_examiner_gives_a_blank_notebook_nothing(examiner, release):
    graded = examined(examiner, release, {})
    assert {mark.verdict for mark in graded.marks} == {"blank", "by hand"} and total(graded) == 0
    assert by_task(graded)["04.uniform"].points == 0 and by_task(graded)["04.uniform"].message == "No response."


def test_examiner_gives_the_same_each_time(examiner, release, source):
    text = next(handin.text for handin in hand_ins(source, release) if handin.student == "mistake-24").encode()
    first, second = examiner.examine("a", text), examiner.examine("a", text)
    assert first.marks == second.marks and first.notebooks == second.notebooks


def test_random_numbers_in_a_submission_say_nothing_of_the_runs_seed(release, right):
    """They are the same in every run of an assignment, so no number of a run can be found from them."""
    outputs = set()
    says = "import random, numpy\nprint(torch.initial_seed(), random.random(), numpy.random.get_state()[1].tolist())"
    for seed in (7, 2**127 + 1):
        with SandboxExaminer(RunSettings.single(NAME, nbformat.writes(release), seed, limits=LIMITS)) as examiner:
            graded = examined(examiner, release, {**right, "04-mix": f"{says}\n{right['04-mix']}"})
            assert total(graded) == 39
            outputs.add(cells_of(graded)["04-mix"].outputs[0].text)
    assert len(outputs) == 1 and len(outputs.pop()) > 1000


def test_the_graded_notebook_shows_panels_where_the_checks_stand_and_no_wanted_numbers(examiner, release, right):
    mix = "def mix(weights, v):\n    return weights @ v + 1"
    wrong = {**right, "04-scale": right["04-scale"].replace("math.sqrt(", "("), "04-mix": mix}
    seen = {}
    graded = examined(examiner, release, wrong, witness=lambda task, result: seen.update({task: result}))
    nbformat.validate(nbformat.reads(graded.notebooks[0][1], as_version=4))
    cells = cells_of(graded)
    (output,) = cells["04-scale-check"].outputs
    assert output.output_type == "execute_result" and output.data["text/plain"] == "0.0"
    assert "sl-check sl-wrong" in output.data["text/html"] and output.data[MIME]["verdict"] == "wrong"
    points = by_task(graded)["04.softmax"].points
    assert points and cells["04-softmax-check"].outputs[0].data["text/plain"] == repr(points)
    assert cells["04-scale"].source == wrong["04-scale"]
    assert set(seen) == set(by_task(graded)) - {"04.uniform"} and len(seen) == 14
    difference = seen["04.mix"].difference
    assert np.allclose(difference.got - 1, difference.expected) and seen["04.mix"].inputs
    panel = seen["04.mix"]._repr_mimebundle_()["text/html"]
    assert "got" in panel and "wanted" not in panel


def test_what_a_student_prints_or_raises_brings_no_markup(examiner, release, right):
    code = "def mix(w, v):\n    print('<script>print</script>')\n    raise ValueError('<script>raise</script>')"
    texts = {**right, "04-mix": code, "04-weights": "raise SystemExit('<img src=x>')"}
    graded = examined(examiner, release, texts)
    panel = cells_of(graded)["04-mix-check"].outputs[0].data["text/html"]
    assert "<script>" not in panel and "&lt;script&gt;raise" in panel
    cells = nbformat.reads(graded.notebooks[0][1], as_version=4).cells
    assert "<img" not in "".join(cell.source for cell in cells if cell.cell_type == "markdown")


@pytest.mark.parametrize(
    ("code", "verdict", "remark"),
    [
        ("import os; os._exit(0)", "error", "In the cell of 04.mix, it ended its own process"),
        ("def mix(w, v):\n    import os; os._exit(0)", "stopped", "While task 04.mix was judged"),
        ("def mix(w, v):\n    while True: pass", "timeout", None),
        ("while True: pass", "error", "ran longer than 2 s"),
        ("mix = 3", "wrong", None),
        ("raise ValueError", "error", None),
        ("def mix(:", "error", None),
    ],
    ids=["exit", "exit-in-answer", "loop-in-answer", "loop", "number", "raises", "syntax"],
)
def test_one_bad_answer_costs_no_other_its_points(examiner, release, right, code, verdict, remark):
    graded = examined(examiner, release, {**right, "04-mix": code})
    marks = by_task(graded)
    assert marks["04.mix"].verdict == verdict and marks["04.mix"].points == 0
    assert sum(mark.verdict == "pass" for mark in graded.marks) == 13
    assert any(remark in text for text in graded.remarks) if remark else graded.remarks == ()


def test_a_submission_that_ends_its_process_again_and_again_is_given_up(examiner, release, right):
    names = [name for name in right if name != "04-uniform"]
    graded = examined(examiner, release, {**right, **dict.fromkeys(names[3:], "import os; os._exit(0)")})
    assert [mark.verdict for mark in graded.marks[:3]] == ["pass"] * 3
    assert "The rest was not run: its process ended too often, or the time was over." in graded.remarks
    assert {mark.verdict for mark in graded.marks[8:-1]} <= {"stopped", "by hand"}


def test_extra_cells_are_left_out_and_it_says_so(examiner, release, right):
    notebook = filled(release, right)
    notebook.cells.insert(3, nbformat.v4.new_code_cell("import torch\ntorch.allclose = lambda *a, **k: True"))
    graded = examiner.examine("somebody", nbformat.writes(notebook).encode())
    assert total(graded) == 39 and "1 cell that is not in the released notebook" in graded.remarks[0]
    first = nbformat.reads(graded.notebooks[0][1], as_version=4).cells[0]
    assert first.source.startswith("**About this submission**") and "* 1 cell that is not" in first.source
    assert "* `04.mix` Right, 2 of 2 points\n" in first.source and "* `04.uniform` Read by a person\n" in first.source


def test_the_public_solution_is_named_where_another_variant_was_asked(source):
    chosen = draw_variants("a secret word")
    solution = read_solution(ROOT / "solutions" / f"{NAME}.py", chosen)
    handed = filled(solution, answers(source))
    from nbgrader.preprocessors import ClearSolutions

    release, _ = ClearSolutions().preprocess(copy.deepcopy(solution), {})
    with SandboxExaminer(RunSettings.single(NAME, nbformat.writes(release), 3, limits=LIMITS)) as examiner:
        marks = by_task(examiner.examine("copied", nbformat.writes(handed).encode()))
        chosen_marks = by_task(examiner.examine("own", nbformat.writes(filled(release, answers(solution))).encode()))
    changed = [task for task, number in chosen.items() if number != 0 and task in marks]
    assert changed and all(marks[task].diagnosis == ("other-variant",) for task in changed)
    assert all(chosen_marks[task].verdict == "pass" and chosen_marks[task].variant == chosen[task] for task in changed)


@pytest.mark.slow
def test_a_sandbox_that_is_killed_is_replaced_and_nobody_pays(release, right):
    limits = replace(LIMITS, cell_s=20)  # cells import what is imported beforehand else
    settings = RunSettings.single(NAME, nbformat.writes(release), 1, limits=limits)
    with SandboxExaminer(settings, start=start_bare) as examiner:
        for delay in (0.0, 0.15):
            killer = threading.Timer(delay, os.kill, (examiner.sandbox.zygote.process.pid, signal.SIGKILL))
            killer.start()
            graded = examined(examiner, release, right)
            killer.join()
            assert total(graded) == 39 and graded.remarks == ()


def test_a_release_that_is_no_notebook_is_refused():
    with pytest.raises(CourseError, match="the release x.ipynb is not a notebook"):
        SandboxExaminer(RunSettings.single("x", "{", 0))


def test_points_follow_the_release_and_a_cell_without_a_known_check_waits_for_a_person(release, right):
    changed = nbformat.reads(nbformat.writes(release), as_version=4)
    by_name = {grade_id(cell): cell for cell in changed.cells}
    by_name["04-mix-check"].metadata.nbgrader.points = 10
    by_name["04-scores-check"].source = 'check("04.nowhere", scores)'
    with SandboxExaminer(RunSettings.single(NAME, nbformat.writes(changed), 1, limits=LIMITS)) as examiner:
        graded = examined(examiner, changed, right)
    marks = by_task(graded)
    assert marks["04.mix"].points == 10.0
    assert marks["04.scores"].points is None and marks["04.scores"].verdict == "by hand"
    assert cells_of(graded)["04-mix-check"].outputs[0].data["text/plain"] == "10.0"


def test_sound_computes_results_and_gradients_of_a_task():
    scores = variant_of(get_task("04.scores"))
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(3, 4)), rng.normal(size=(5, 4))
    np.testing.assert_allclose(sound(scores, [q, k], {}), q @ k.T)
    up = rng.normal(size=(3, 5))
    dq, dk = sound(scores, [q], {"k": k}, [up])
    np.testing.assert_allclose(dq, up @ k)
    np.testing.assert_allclose(dk, up.T @ q)


def test_time_is_not_measured_by_what_a_submission_says(examiner, release, right):
    code = "import time\ntime.monotonic = time.perf_counter = lambda: 0.0\n" + right["04-mix"]
    begun = time.monotonic()
    graded = examined(examiner, release, {**right, "04-mix": code})
    assert total(graded) == 39 and graded.seconds <= time.monotonic() - begun


TEXTS = "03_tokens_and_embeddings"


def points(graded):
    return {mark.task: mark.points for mark in graded.marks if mark.verdict != "by hand"}


def test_raw_bytes_in_place_of_a_text_cost_their_own_task_alone():
    source, release = read_solution(ROOT / "solutions" / f"{TEXTS}.py"), released(TEXTS)
    limits = Limits(cell_s=8, answer_s=8, total_s=90)
    with SandboxExaminer(RunSettings.single(TEXTS, nbformat.writes(release), 20261121, limits=limits)) as examiner:
        handed = list(raw_answers.hand_ins(Bench(source, release)))
        assert len(handed) > 5
        for hand_in in handed:
            graded = examiner.examine(hand_in.student, hand_in.files[f"{TEXTS}.ipynb"])
            assert (graded.status, graded.remarks, points(graded)) == ("graded", (), hand_in.deserves), hand_in.student


def test_a_task_that_the_judge_fails_on_waits_for_a_person(examiner, release, right, monkeypatch, capfd, paper):
    sound_judge = running.judge

    def judge(variant, *args, **named):
        if variant.task.id == "04.mix":
            raise IndexError("a wanted number: 0.123")
        return sound_judge(variant, *args, **named)

    monkeypatch.setattr(running, "judge", judge)
    unjudged = examined(examiner, release, right)
    mix = {mark.task: mark for mark in unjudged.marks}["04.mix"]
    assert (mix.points, mix.verdict) == (None, "by hand")
    assert "The grader made a mistake" in mix.message and "IndexError" in mix.message
    assert sum(mark.verdict == "pass" for mark in unjudged.marks) == 13
    (remark,) = unjudged.remarks
    assert "04.mix (IndexError)" in remark and "a person has to give its points" in remark
    logged = capfd.readouterr().err
    assert "The judge failed on task 04.mix" in logged and "IndexError: a wanted number" in logged

    nbformat.validate(nbformat.reads(unjudged.notebooks[0][1], as_version=4))
    (output,) = cells_of(unjudged)["04-mix-check"].outputs
    assert "tell your instructor" in output.text and output.name == "stdout"
    text = unjudged.notebooks[0][1]
    assert "Traceback" not in text and "0.123" not in text, "students see neither"

    with GradebookWriter(paper, NAME) as writer:
        writer.enter_all([(unjudged, None)])
        standing = dict(writer.rows())["somebody"]
        assert writer.holds(unjudged, standing)
        record = writer.report_row(unjudged, standing)
    assert standing.points["04-mix-check"].waiting and standing.points["04-mix-check"].auto is None
    assert record.by_hand["04.mix"].waiting and "04.mix" not in record.tasks and len(record.tasks) == 13
