"""A class of real notebooks is graded in the sandbox, or by nbgrader: it gets what is due, however it is graded."""

import json
import re
import shutil
from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI
from sandbox_tools import NEEDS_SANDBOX
from small_class import NAME, ROOT, lay, write_course

from benchmarks.nbgrader_autograde import STOCK, read_record
from softlookup_grader import Course, GradeRequest, grade_assignment
from softlookup_grader.feedback.pages import finish_page


@pytest.fixture(
    params=[pytest.param("graded", marks=NEEDS_SANDBOX), pytest.param("graded_by_stock", marks=pytest.mark.slow)]
)
def road(request):
    """The small course, graded; with one worker in the sandbox, and by stock nbgrader."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def report(road):
    """The report of the small course, as it was written."""
    return json.loads((road.root / "report.json").read_text())


def test_right_answers_earn_all_points_and_blank_ones_none(report):
    right, half = report["submissions"]["right-other-words"], report["submissions"]["half-done"]
    assert {mark["verdict"] for mark in right["tasks"].values()} == {"pass"}
    assert right["score"] == right["max"] - 3, "all but the written answer, which waits"
    assert report["submissions"]["prints-a-lot"]["score"] == right["score"]
    marks = list(half["tasks"].values())
    middle = len(marks) // 2
    assert {m["verdict"] for m in marks[:middle]} == {"pass"} and {m["verdict"] for m in marks[middle:]} == {"blank"}
    assert half["status"] == "graded" and half["score"] == sum(m["max"] for m in marks[:middle])
    assert set(marks[0]) == {"points", "max", "verdict", "diagnosis"} and report["seed"] == 11


def test_planted_mistakes_are_named(road, report):
    planted = json.loads((road.root / "planted.json").read_text())["mistake-2"]
    tasks = report["submissions"]["mistake-2"]["tasks"]
    assert set(planted) == set(tasks)
    for name, slug in planted.items():
        assert slug in tasks[name]["diagnosis"], f"{name}: planted {slug}"
        assert tasks[name]["points"] < tasks[name]["max"]


@pytest.mark.parametrize(
    ("student", "status", "says"),
    [
        ("not-json", "refused", "is not a notebook"),
        ("empty-file", "refused", "is empty"),
        ("missing-notebook", "missing", "there is no file"),
    ],
)
def test_what_cannot_be_graded_says_why(report, student, status, says):
    entry = report["submissions"][student]
    assert entry["status"] == status and says in entry["reason"] and entry["score"] == 0
    assert len(entry["reason"]) < 200 and "\n" not in entry["reason"]


def test_feedback_shows_the_panel(road, report):
    page = road.notebook("feedback", "mistake-2", NAME).with_suffix(".html").read_text()
    marks = report["submissions"]["mistake-2"]["tasks"]
    assert page.count("sl-check sl-wrong") >= sum(mark["verdict"] == "wrong" for mark in marks.values()) > 0
    assert page.count("Not yet") >= 1
    refused = road.notebook("feedback", "not-json", NAME).with_suffix(".html").read_text()
    assert "could not be graded" in refused


@pytest.mark.slow
def test_the_plain_command_of_nbgrader_gives_the_same_points(graded_by_stock, nbgrader, tmp_path):
    """In the course's folder, with nothing of this library around it."""
    changed = Course.at(Path(shutil.copytree(graded_by_stock.root, tmp_path / "course")))
    before = read_record(changed, NAME, "mistake-2")
    with changed.gradebook() as book:
        for student in changed.students():
            book.remove_student(student)
    nbgrader(changed, "autograde", NAME, "--student", "mistake-2", "--force", STOCK)
    after = read_record(changed, NAME, "mistake-2")
    assert (after.score, after.tasks, after.by_hand) == (before.score, before.tasks, before.by_hand)


def test_feedback_pages_lead_into_the_book(road):
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


@pytest.fixture
def course(graded, tmp_path):
    """A copy of the small course, which one worker graded in the sandbox."""
    return Course.at(Path(shutil.copytree(graded.root, tmp_path / "course")))


@pytest.fixture
def first(graded):
    """What one worker says."""
    return json.loads((graded.root / "report.json").read_text())


@NEEDS_SANDBOX
@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 4])
def test_grades_are_the_same_at_any_number_of_workers(course, first, workers):
    request = GradeRequest(NAME, seed=11, workers=workers, again=True, feedback=False)
    assert grade_assignment(course, request).as_json() == first


@NEEDS_SANDBOX
def test_grades_are_the_same_with_another_seed(course, first):
    again = grade_assignment(course, GradeRequest(NAME, seed=12, workers=4, feedback=False)).as_json()
    assert again["seed"] == 12
    for student, entry in again["submissions"].items():
        assert entry["score"] == first["submissions"][student]["score"]
        assert entry["tasks"] == first["submissions"][student]["tasks"]


@pytest.mark.slow
@NEEDS_SANDBOX
def test_stock_nbgrader_gives_the_same_scores(first, graded_by_stock):
    stock = json.loads((graded_by_stock.root / "report.json").read_text())["submissions"]
    assert stock.keys() == first["submissions"].keys()
    for student, entry in first["submissions"].items():
        for part in ("score", "max", "status"):
            assert entry[part] == stock[student][part], student
        for task, mark in stock[student]["tasks"].items():
            assert entry["tasks"][task]["points"] == mark["points"], (student, task)


@NEEDS_SANDBOX
def test_a_grade_is_explained_as_it_was_given(first, run):
    done = run("explain", "mistake-2", NAME, "--task", "04.scale")
    assert done.exit_code == 0, done.output
    mark = first["submissions"]["mistake-2"]["tasks"]["04.scale"]
    assert "seed 11" in done.output and mark["diagnosis"][0] in done.output and "wanted" in done.output


@pytest.fixture(scope="module")
def ungraded(tmp_path_factory, short):
    made = write_course(tmp_path_factory.mktemp("buttons") / "course", short, ("half-done", "mistake-2"))
    for student in ("half-done", "mistake-2"):
        lay(made.notebook("feedback", student, NAME).with_suffix(".html"), f"{student}'s page")
    slips = made.folder("feedback", "half-done", NAME)
    (slips / "timestamp.txt").write_text("2026-12-01 17:00:00 UTC")
    (slips / "submission_secret.txt").write_text("abc")
    return made


def test_formgraders_autograde_refuses_before_it_touches_anything(ungraded):
    written = lay(ungraded.notebook("autograded", "half-done", NAME), "graded in the sandbox")
    result = NbGraderAPI(ungraded.directory, config=ungraded.config).autograde(NAME, "half-done")
    assert not result["success"]
    assert f"softlookup grade {NAME} --student half-done" in result["error"]
    assert written.read_text() == "graded in the sandbox"


def test_feedback_reaches_those_of_the_exchange_and_names_the_others(ungraded, nbgrader, tmp_path):
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    output = nbgrader(ungraded, "release_feedback", NAME, f"--Exchange.root={exchange}")
    assert "mistake-2 got no feedback through the exchange" in output
    assert [path.read_text() for path in exchange.rglob("*.html")] == ["half-done's page"]


@pytest.mark.slow
def test_a_course_can_go_back_to_stock_nbgrader(ungraded, nbgrader, tmp_path):
    lines = (ROOT / "nbgrader_config.py").read_text().splitlines()
    stock_lines = [line for line in lines if "Autograde.exporter_class" not in line]
    assert len(stock_lines) == len(lines) - 1
    copy = Course.at(Path(shutil.copytree(ungraded.root, tmp_path / "course")))
    (copy.root / "nbgrader_config.py").write_text("\n".join(stock_lines))
    nbgrader(copy, "autograde", NAME, "--student", "half-done", "--force")
