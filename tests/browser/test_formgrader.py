"""nbgrader's formgrader in a real browser, on a class that our grader graded: grades, panels, and points by hand."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import nbformat
import pytest
from own_jupyter import running_formgrader, watched
from playwright.sync_api import Browser, Page, expect

from softlookup_course.samples.sample_class import hand_ins
from softlookup_grader import Course, Report, new_course
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.request import GradeRequest
from softlookup_judge import tasks
from softlookup_judge.authoring import find_root, read_solution

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]

NAME = "04_one_head"
STUDENTS = ("mistake-2", "half-done", "not-json")
TOKEN = "formgrader-in-a-test"
BY_HAND = "04-uniform"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Three students: a known mistake with a written answer, one who stopped half way, and no notebook."""
    root = find_root()
    source = read_solution(root / "solutions" / f"{NAME}.py")
    made = new_course(tmp_path_factory.mktemp("formgrader") / "course", root / "nbgrader_config.py")
    made.release({NAME: source})
    release = nbformat.read(made.notebook("release", ".", NAME), as_version=4)
    for hand_in in hand_ins(source, release):
        if hand_in.student in STUDENTS:
            path = made.notebook("submitted", hand_in.student, NAME)
            path.parent.mkdir(parents=True)
            path.write_text(str(hand_in.text), encoding="utf-8")
    return made


def grade(course: Course, **options: object) -> Report:
    return grade_assignment(course, GradeRequest(NAME, seed=5, workers=1, **options))


@pytest.fixture(scope="module")
def report(course: Course) -> Report:
    return grade(course)


@pytest.fixture(scope="module")
def server(course: Course, report: Report, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Jupyter server in the course's folder, with settings of its own and nobody else's; gives its address."""
    with running_formgrader(course.root, tmp_path_factory.mktemp("jupyter"), TOKEN) as address:
        yield address


@contextmanager
def visit(chromium: Browser, *addresses: str, within: str) -> Iterator[Page]:
    """Open pages, one after the other; the last asks another machine for nothing, and no script of it fails."""
    with watched(chromium, *addresses, within=within) as (page, seen):
        yield page
        assert (seen.requests, seen.errors) == ([], [])


@contextmanager
def formgrader(chromium: Browser, server: str, page: str) -> Iterator[Page]:
    login = f"{server}login?token={TOKEN}&next=/api"
    with visit(chromium, login, f"{server}formgrader/{page}", within=server) as opened:
        yield opened


def submission_of(course: Course, student: str) -> str:
    """The address of one submission in the formgrader."""
    with course.gradebook() as book:
        return f"submissions/{book.find_submission_notebook(NAME, NAME, student).id}/"


def scores(course: Course) -> dict[str, float]:
    with course.gradebook() as book:
        return {submission.student.id: submission.score for submission in book.assignment_submissions(NAME)}


@pytest.mark.slow
def test_class_is_listed_with_the_scores_of_the_report(
    chromium: Browser, server: str, course: Course, report: Report
) -> None:
    records = {record.student: record for record in report.records}
    with formgrader(chromium, server, f"manage_submissions/{NAME}") as page:
        page.wait_for_selector("td.student-id:has-text('mistake-2')")
        shown = {}
        for student in STUDENTS:
            row = page.locator("tr", has=page.locator(f"td.student-id:has-text('{student}')"))
            shown[student] = (row.locator("td.score").inner_text(), row.locator("td.status").inner_text())
        # One that cannot be graded has no notebook in autograded/; to nbgrader it waits for that.
        expected = {"not-json": ("", "needs autograding")}
        for student in ("mistake-2", "half-done"):
            status = "needs manual grading" if records[student].waiting else "graded"
            expected[student] = (f"{round(records[student].score, 2):g} / {records[student].max:g}", status)
        assert shown == expected


@pytest.mark.slow
def test_gradebook_leads_to_each_submission(chromium: Browser, server: str, report: Report) -> None:
    with formgrader(chromium, server, f"gradebook/{NAME}/{NAME}") as page:
        page.wait_for_selector("td.score")
        links = page.locator("td.name a.name-hidden")
        graded = [record for record in report.records if record.status == "graded"]
        assert links.count() == len(graded)
        shown = {cell.split()[0] for cell in page.locator("td.score").all_inner_texts()}
        assert shown == {f"{record.score:g}" for record in graded}
        links.first.click()
        page.wait_for_selector("input.score")


@pytest.mark.slow
def test_submission_shows_the_panels_and_the_points(
    chromium: Browser, server: str, course: Course, report: Report
) -> None:
    record = next(record for record in report.records if record.student == "mistake-2")
    with formgrader(chromium, server, submission_of(course, "mistake-2")) as page:
        page.wait_for_function("() => document.querySelector('input.score[placeholder]') !== null")
        assert page.locator(".sl-check").count() == len(tasks(4))
        for name, mark in record.tasks.items():
            box = page.locator(f"input[id='{name.replace('.', '-')}-check']")
            assert float(box.get_attribute("placeholder")) == mark.points
        wrong = page.locator(".sl-check:not(.sl-pass)").first
        assert wrong.is_visible() and wrong.locator(".sl-head").inner_text()
        assert wrong.evaluate("one => getComputedStyle(one).borderLeftWidth") == "5px"
        assert page.locator(f"input[id='{BY_HAND}']").get_attribute("class").find("needs_manual_grade") > 0


@pytest.mark.slow
def test_points_and_a_comment_given_in_the_browser_stay_when_all_is_graded_again(
    chromium: Browser, server: str, course: Course, report: Report
) -> None:
    before = scores(course)["mistake-2"]
    with formgrader(chromium, server, submission_of(course, "mistake-2")) as page:
        box, words = page.locator(f"input[id='{BY_HAND}']"), page.locator(f"textarea[id='{BY_HAND}-comment']")
        page.wait_for_function(f"() => document.getElementById('{BY_HAND}').classList.contains('needs_manual_grade')")
        for field, content, kind in ((box, "1.5", "grade"), (words, "Say why, too.", "comment")):
            with page.expect_response(re.compile(f"/api/{kind}/")) as answered:
                field.fill(content)
                field.blur()
            assert answered.value.ok
    assert scores(course)["mistake-2"] == before + 1.5
    again = grade(course, again=True)
    record = next(record for record in again.records if record.student == "mistake-2")
    assert record.by_hand["04.uniform"].points == 1.5 and record.score == before + 1.5
    assert scores(course)["mistake-2"] == before + 1.5
    with formgrader(chromium, server, submission_of(course, "mistake-2")) as page:
        page.wait_for_function(f"() => document.getElementById('{BY_HAND}').value === '1.5'")
        # The page asks for grades and for comments one after the other.
        expect(page.locator(f"textarea[id='{BY_HAND}-comment']")).to_have_value("Say why, too.")
    feedback = course.notebook("feedback", "mistake-2", NAME).with_suffix(".html")
    assert "Say why, too." in feedback.read_text(encoding="utf-8")


@pytest.mark.slow
def test_feedback_page_shows_points_and_panels(chromium: Browser, course: Course, report: Report) -> None:
    feedback = course.notebook("feedback", "mistake-2", NAME).with_suffix(".html")
    with visit(chromium, feedback.as_uri(), within=course.root.as_uri()) as page:
        assert page.locator(".sl-check").count() == len(tasks(4))
        total = re.search(r"Score: ([\d.]+) / ([\d.]+)", page.locator("body").inner_text())
        assert total and (float(total[1]), float(total[2])) == (scores(course)["mistake-2"], report.records[0].max)
    refused = course.notebook("feedback", "not-json", NAME).with_suffix(".html")
    with visit(chromium, refused.as_uri(), within=course.root.as_uri()) as page:
        assert "could not be graded" in page.locator("body").inner_text()
