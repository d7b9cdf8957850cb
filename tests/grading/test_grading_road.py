"""The whole road on real notebooks: a class is graded in the sandbox, or by nbgrader, and gets what is due."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sandbox_tools import NEEDS_SANDBOX
from small_class import NAME

from benchmarks.nbgrader_autograde import STOCK, StockAutograder, read_record
from softlookup_grader import Course
from softlookup_grader.feedback.pages import finish_page

BY_HAND = "04.uniform"


def keep_only(course: Course, *students: str) -> None:
    """Take all other students' folders and rows away."""
    for name in course.students():
        if name not in students:
            shutil.rmtree(course.root / "submitted" / name, ignore_errors=True)
            with course.gradebook() as book:
                book.remove_student(name)


@pytest.fixture(
    params=[pytest.param("graded", marks=NEEDS_SANDBOX), pytest.param("graded_by_stock", marks=pytest.mark.slow)]
)
def road(request: pytest.FixtureRequest) -> Course:
    """The small course, graded; with one worker in the sandbox, and by stock nbgrader."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def report(road: Course) -> dict:
    """The report of the small course, as it was written."""
    return json.loads((road.root / "report.json").read_text())


@pytest.fixture
def own_copy(graded_by_stock: Course, tmp_path: Path) -> Course:
    """A copy of the course that nbgrader graded, which a test may change."""
    return Course.at(Path(shutil.copytree(graded_by_stock.root, tmp_path / "course")))


def test_report_has_the_promised_shape(report: dict) -> None:
    assert report["assignment"] == NAME and report["seed"] == 11
    for submission in report["submissions"].values():
        assert submission["status"] in ("graded", "refused", "missing")
        assert submission["max"] == sum(t["max"] for t in submission["tasks"].values()) + 3
        for mark in submission["tasks"].values():
            assert set(mark) == {"points", "max", "verdict", "diagnosis"}


def test_right_answers_in_other_words_earn_all_points(report: dict) -> None:
    right = report["submissions"]["right-other-words"]
    assert {mark["verdict"] for mark in right["tasks"].values()} == {"pass"}
    assert right["score"] == right["max"] - 3, "all but the written answer, which waits"


def test_half_done_earns_the_first_half(report: dict) -> None:
    assert report["submissions"]["half-done"]["status"] == "graded", report["submissions"]["half-done"]
    marks = list(report["submissions"]["half-done"]["tasks"].values())
    middle = len(marks) // 2
    assert {m["verdict"] for m in marks[:middle]} == {"pass"} and {m["verdict"] for m in marks[middle:]} == {"blank"}
    assert report["submissions"]["half-done"]["score"] == sum(m["max"] for m in marks[:middle])


def test_planted_mistakes_are_named(road: Course, report: dict) -> None:
    planted = json.loads((road.root / "planted.json").read_text())["mistake-2"]
    tasks = report["submissions"]["mistake-2"]["tasks"]
    assert set(planted) == set(tasks)
    for name, slug in planted.items():
        assert slug in tasks[name]["diagnosis"], f"{name}: planted {slug}"
        assert tasks[name]["points"] < tasks[name]["max"]


@pytest.mark.parametrize("student", ["deep-traceback", "deleted-function"])
def test_one_broken_answer_costs_that_task_alone(report: dict, student: str) -> None:
    broken = {name: m for name, m in report["submissions"][student]["tasks"].items() if m["verdict"] != "pass"}
    assert [m["points"] for m in broken.values()] == [0.0]
    assert {m["verdict"] for m in broken.values()} <= {"error", "blank"}, "the sandbox puts a deleted cell back"


def test_printing_a_lot_costs_nothing(report: dict) -> None:
    assert report["submissions"]["prints-a-lot"]["score"] == report["submissions"]["right-other-words"]["score"]


@pytest.mark.parametrize(
    ("student", "status", "says"),
    [
        ("not-json", "refused", "is not a notebook"),
        ("empty-file", "refused", "is empty"),
        ("missing-notebook", "missing", "there is no file"),
    ],
)
def test_what_cannot_be_graded_says_why(report: dict, student: str, status: str, says: str) -> None:
    entry = report["submissions"][student]
    assert entry["status"] == status and says in entry["reason"] and entry["score"] == 0
    assert len(entry["reason"]) < 200 and "\n" not in entry["reason"]


def test_gradebook_holds_what_the_report_says(road: Course, report: dict) -> None:
    with road.gradebook() as book:
        scores = {submission.student.id: submission.score for submission in book.assignment_submissions(NAME)}
    for student in ("right-other-words", "half-done", "mistake-2"):
        assert scores[student] == report["submissions"][student]["score"]
    assert not scores.get("not-json"), "what is refused earns nothing, and needs no row"


def test_feedback_shows_the_panel(road: Course, report: dict) -> None:
    page = road.notebook("feedback", "mistake-2", NAME).with_suffix(".html").read_text()
    marks = report["submissions"]["mistake-2"]["tasks"]
    assert page.count("sl-check sl-wrong") >= sum(mark["verdict"] == "wrong" for mark in marks.values()) > 0
    assert page.count("Not yet") >= 1
    refused = road.notebook("feedback", "not-json", NAME).with_suffix(".html").read_text()
    assert "could not be graded" in refused


@pytest.mark.slow
def test_nbgraders_words_go_into_logs(own_copy: Course, capfd: pytest.CaptureFixture[str]) -> None:
    StockAutograder().grade(own_copy, NAME, "half-done")
    out, err = capfd.readouterr()
    assert out == "" and err == ""
    assert "Autograding" in own_copy.log(NAME, "half-done").read_text()


@pytest.mark.slow
def test_grade_by_hand_survives_regrading(own_copy: Course) -> None:
    keep_only(own_copy, "right-other-words")
    before = read_record(own_copy, NAME, "right-other-words")
    assert before.waiting == 1 and before.by_hand[BY_HAND].points is None
    with own_copy.gradebook() as book:
        grade = book.find_grade("04-uniform", NAME, NAME, "right-other-words")
        grade.manual_score, grade.needs_manual_grade = 2.5, False
        book.db.commit()
    after = StockAutograder(feedback=False).grade(own_copy, NAME, "right-other-words")
    assert after.by_hand[BY_HAND].points == 2.5 and after.waiting == 0
    assert after.score == before.score + 2.5


@pytest.mark.slow
def test_a_refused_hand_in_takes_the_place_of_one_that_nbgrader_graded(own_copy: Course) -> None:
    own_copy.notebook("submitted", "half-done", NAME).write_text("{")
    record = StockAutograder().grade(own_copy, NAME, "half-done")
    assert record.status == "refused" and record.score == 0
    assert not own_copy.notebook("autograded", "half-done", NAME).exists()
    with own_copy.gradebook() as book:
        assert book.find_submission(NAME, "half-done").score == 0


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same_points(own_copy: Course) -> None:
    """The plain command, in the course's folder, with nothing of ours around it."""
    before = read_record(own_copy, NAME, "mistake-2")
    with own_copy.gradebook() as book:
        for student in own_copy.students():
            book.remove_student(student)
    env = {**os.environ, "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])}
    command = [sys.executable, "-m", "nbgrader", "autograde", NAME, "--student", "mistake-2", "--force", STOCK]
    run = subprocess.run(command, cwd=own_copy.root, env=env, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr[-2000:]
    after = read_record(own_copy, NAME, "mistake-2")
    assert (after.score, after.tasks, after.by_hand) == (before.score, before.tasks, before.by_hand)


def test_feedback_pages_lead_into_the_book(road: Course) -> None:
    """A course inside a checkout: from its feedback page, the link to a section finds the built book."""
    page = road.notebook("feedback", "mistake-2", NAME).with_suffix(".html")
    course = Course.at(road.root)
    checkout = road.root.resolve().parent
    (checkout / "_build" / "html").mkdir(parents=True, exist_ok=True)
    (checkout / "_build" / "html" / "index.html").write_text("")
    finish_page(course, page)
    links = re.findall(r'href="([^"]*04_one_head\.html#[^"]*)"', page.read_text(encoding="utf-8"))
    assert links
    for link in links:
        target = (page.parent / link.split("#")[0]).resolve()
        assert target == checkout / "_build" / "html" / "book" / "04_one_head.html"
