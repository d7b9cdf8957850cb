"""What a submission's process sends costs its own answer alone; where the judge fails, a person gives the points."""

import nbformat
import pytest
from paper_class import paper_course
from sandbox_tools import NEEDS_SANDBOX
from small_class import NAME, ROOT

from attacks import raw_answers
from attacks.handin import Bench
from softlookup_course.samples.handins import answers, filled
from softlookup_grader.course.notebooks import grade_id
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_grader.judging import running
from softlookup_grader.judging.examine import SandboxExaminer
from softlookup_grader.run.writer import GradebookWriter
from softlookup_judge.authoring import read_solution

pytestmark = NEEDS_SANDBOX
LIMITS = Limits(cell_s=8, answer_s=8, total_s=90)
TEXTS = "03_tokens_and_embeddings"


def released(name):
    return nbformat.read(ROOT / "exercises" / name / f"{name}.ipynb", as_version=4)


@pytest.fixture(scope="module")
def release():
    return released(NAME)


@pytest.fixture(scope="module")
def examiner(release):
    with SandboxExaminer(RunSettings(NAME, nbformat.writes(release), 20261121, limits=LIMITS)) as examiner:
        yield examiner


def points(graded):
    return {mark.task: mark.points for mark in graded.marks if mark.verdict != "by hand"}


def test_raw_bytes_in_place_of_a_text_cost_their_own_task_alone():
    source, release = read_solution(ROOT / "solutions" / f"{TEXTS}.py"), released(TEXTS)
    with SandboxExaminer(RunSettings(TEXTS, nbformat.writes(release), 20261121, limits=LIMITS)) as examiner:
        handed = list(raw_answers.hand_ins(Bench(source, release)))
        assert len(handed) > 5
        for hand_in in handed:
            graded = examiner.examine(hand_in.student, hand_in.files[f"{TEXTS}.ipynb"])
            assert (graded.status, graded.remarks, points(graded)) == ("graded", (), hand_in.deserves), hand_in.student


@pytest.fixture
def failing(monkeypatch):
    """Let the judge itself fail on one task."""
    sound = running.judge

    def judge(variant, *args, **named):
        if variant.task.id == "04.mix":
            raise IndexError("a wanted number: 0.123")
        return sound(variant, *args, **named)

    monkeypatch.setattr(running, "judge", judge)


@pytest.fixture
def unjudged(examiner, release, source, failing):
    return examiner.examine("somebody", nbformat.writes(filled(release, answers(source))).encode())


def test_a_task_that_the_judge_fails_on_waits_for_a_person(unjudged):
    marks = {mark.task: mark for mark in unjudged.marks}
    mix = marks["04.mix"]
    assert (mix.points, mix.verdict) == (None, "by hand")
    assert "The grader made a mistake" in mix.message and "IndexError" in mix.message
    assert sum(mark.verdict == "pass" for mark in unjudged.marks) == 13
    (remark,) = unjudged.remarks
    assert "04.mix (IndexError)" in remark and "a person has to give its points" in remark


def test_a_student_is_told_of_the_judges_failure_without_its_traceback(unjudged):
    notebook = nbformat.reads(unjudged.notebook, as_version=4)
    nbformat.validate(notebook)
    (output,) = next(cell for cell in notebook.cells if grade_id(cell) == "04-mix-check").outputs
    assert "tell your instructor" in output.text and output.name == "stdout"
    assert "Traceback" not in unjudged.notebook and "0.123" not in unjudged.notebook


def test_the_workers_log_holds_the_traceback_of_the_judges_failure(examiner, release, source, failing, capfd):
    examiner.examine("somebody", nbformat.writes(filled(release, answers(source))).encode())
    logged = capfd.readouterr().err
    assert "The judge failed on task 04.mix" in logged and "IndexError: a wanted number" in logged


def test_the_gradebook_holds_no_points_where_the_judge_failed(unjudged, tmp_path_factory, source):
    with GradebookWriter(paper_course(tmp_path_factory, source), NAME) as writer:
        writer.enter_all([(unjudged, None)])
        standing = dict(writer.rows())["somebody"]
        assert writer.holds(unjudged, standing)
        record = writer.report_row(unjudged, standing)
    assert standing.points["04-mix-check"].waiting and standing.points["04-mix-check"].auto is None
    assert record.by_hand["04.mix"].waiting and "04.mix" not in record.tasks and len(record.tasks) == 13
