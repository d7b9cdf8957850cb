"""Answers of a page taken along as the assignment's notebook: handed in they earn what the page gave; and back."""

import json
import sys

import nbformat
import pytest
from playwright.sync_api import expect
from test_in_page import EXERCISES, PATIENCE_MS, check, opened

from softlookup_course.browser import settle
from softlookup_judge import check as check_at_home
from softlookup_judge import get_task
from softlookup_judge.authoring import find_root, read_solution

sys.path.insert(0, str(find_root() / "tests" / "grading"))
from small_class import NAME, regrade, write_course  # noqa: E402

pytestmark = [pytest.mark.browser, pytest.mark.book]

ANSWERS = {
    "04.project": "def project(x, w_q, w_k, w_v):\n    return x @ w_q, x @ w_k, x @ w_v",
    "04.scale": "def scale(scores, head_width):\n    return scores / head_width",
    "04.mix": "def mix(weights, v):\n    return weights @ v",
}


@pytest.fixture
def visited(html, visit):
    with visit(f"{html.as_uri()}/{EXERCISES}", accept_downloads=True) as seen:
        yield seen


@pytest.fixture
def saved(visited, tmp_path):
    """Do some tasks in the page, and save them as a notebook."""
    page = visited.page
    for task, source in ANSWERS.items():
        check(page, opened(page, task), source)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save your answers as a notebook").click()
    expect(page.locator(".slp-shelf .slp-state")).to_have_text(f"{NAME}.ipynb with {len(ANSWERS)} answers")
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    return path


@pytest.mark.slow
def test_saved_notebook_handed_in_earns_what_the_page_gave(visited, saved, tmp_path):
    answers = visited.page.evaluate("softlookupKept.read('in-page')")
    assert {task: answers[task]["verdict"] for task in ANSWERS} == dict.fromkeys(ANSWERS, "pass") | {
        "04.scale": "wrong"
    }
    course = write_course(tmp_path / "course", read_solution(find_root() / "solutions" / f"{NAME}.py"), ())
    place = course.notebook("submitted", "from-the-page", NAME)
    place.parent.mkdir(parents=True)
    place.write_bytes(saved.read_bytes())
    nbformat.validate(nbformat.read(place, as_version=4))
    regrade(course).write(course.root / "report.json")
    graded = json.loads((course.root / "report.json").read_text())["submissions"]["from-the-page"]["tasks"]
    for task in ANSWERS:
        assert graded[task]["points"] == answers[task]["points"], graded[task]
    assert graded["04.scale"]["diagnosis"], "the mistake has its name there, too"


@pytest.mark.slow
def test_saved_notebook_is_checked_at_home_and_opened_again(visited, saved, html):
    book = nbformat.read(saved, as_version=4)
    world = {"__name__": "__main__"}
    for cell in book.cells:
        if cell.cell_type == "code" and not cell.source.startswith("check("):
            exec(cell.source, world)
    for task in ("04.project", "04.mix"):
        assert check_at_home(task, world[get_task(task).name]).verdict == "pass", task
    page = visited.page
    page.evaluate("softlookupKept.write('in-page', {})")
    page.goto(page.url.partition("?")[0])
    settle(page)
    page.locator(".slp-shelf input[type=file]").set_input_files(saved)
    state = page.locator(".slp-shelf .slp-state")
    expect(state).to_have_text(f"Answers taken over: {len(ANSWERS)}. Check them one by one.")
    box = opened(page, "04.mix")
    expect(box.locator(".cm-content")).to_contain_text("weights @ v", timeout=PATIENCE_MS)
    expect(box.locator(".cm-content")).not_to_contain_text("in_numpy")
    page.locator(".slp-shelf input[type=file]").set_input_files(
        {"name": "other.ipynb", "mimeType": "application/json", "buffer": b"{}"}
    )
    expect(state).to_have_text("other.ipynb is not a notebook.")
