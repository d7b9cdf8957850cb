"""Chapters: the boxes "Now you" open their tasks, and cells that need numpy alone run, changed or not."""

import json

import pytest
from book_browser import violations
from playwright.sync_api import expect
from test_in_page import PATIENCE_MS, check

pytestmark = [pytest.mark.browser, pytest.mark.book]


@pytest.fixture
def visited(html, visit, request):
    with visit(f"{html.as_uri()}/book/{request.param}.html") as seen:
        yield seen


def run(page):
    """Press the first button that is left, and give back the cell's box when it has run."""
    box = page.locator(".slp-box").nth(page.locator(".slp-box").count())
    page.get_by_role("button", name="Try it", exact=True).first.click()
    expect(box.locator(".slp-check")).to_have_attribute("aria-disabled", "false", timeout=PATIENCE_MS)
    expect(box.locator(".slp-out")).to_be_attached(timeout=PATIENCE_MS)
    return box


@pytest.mark.parametrize("visited", ["04_one_head"], indirect=True)
def test_task_is_done_in_the_box_of_its_chapter(visited):
    page = visited.page
    assert not [url for url in visited.requests if "notebook_" in url or "cells_" in url or "engine.js" in url]
    page.get_by_role("button", name="Do it here: 04.scores").click()
    task = page.locator("section.slp-task")
    expect(task.locator(".cm-content")).to_be_focused(timeout=PATIENCE_MS)
    expect(task.locator(".slp-title")).to_contain_text("Raw scores")
    expect(task.locator(".slp-text")).to_contain_text("How well does each query match each key?")
    box = task.locator(".slp-box")
    assert "Not yet" in check(page, box, "def scores(q, k):\n    return k @ np.swapaxes(q, -1, -2)")
    assert "Right: Raw scores" in check(page, box, "def scores(q, k):\n    return q @ np.swapaxes(k, -1, -2)")
    for link in task.locator(".slp-text a[href]").all():
        assert "exercises/../" not in link.get_attribute("href")
    assert visited.complaints == []
    assert violations(page, "section.slp-task") == []
    task.get_by_role("button", name="Close").click()
    expect(page.get_by_role("button", name="✓ Done here: 04.scores")).to_be_focused()


@pytest.mark.slow
@pytest.mark.parametrize("visited", ["playground"], indirect=True)
def test_every_cell_of_the_playground_runs_and_can_be_changed(visited):
    page = visited.page
    count = page.get_by_role("button", name="Try it").count()
    assert count >= 7
    for _ in range(count):
        box = run(page)
        assert box.locator(".slp-error").count() == 0, box.inner_text()
        assert box.locator(".slp-printed").count() == 1
    assert page.locator(".cell:has(.slp-box) > .cell_output:visible").count() == 0, (
        "what was printed stands there twice"
    )
    assert page.locator(".slp-note").count() == 0
    box = page.locator(".slp-box").first
    output = check(page, box, "from softlookup import reference\nreference.softmax(np.zeros(4))")
    assert "array([0.25, 0.25, 0.25, 0.25])" in output
    expect(box.locator(".slp-note")).to_have_text(
        "Cells and figures further down are the book’s: they do not use your change."
    )
    assert "line 1" in check(page, box, "1 / 0")
    assert "torch is not in the page" in check(page, box, "import torch")
    assert visited.complaints == []


def names(html):
    return sorted(path.stem.removeprefix("cells_") for path in (html / "_static/python").glob("cells_*.js"))


def test_fifty_cells_of_the_chapters_can_be_run(html):
    chapters = [name for name in names(html) if name[:2].isdigit()]
    pages = [(html / "book" / f"{name}.html").read_text(encoding="utf-8") for name in chapters]
    records = [page.partition("globalThis.softlookupCells=")[2].partition(";</script>")[0] for page in pages]
    assert sum(len(json.loads(record)["at"]) for record in records) >= 50


@pytest.mark.slow
def test_every_cell_of_every_page_that_has_a_button_runs(html, visit):
    failed = []
    for name in names(html):
        with visit(f"{html.as_uri()}/book/{name}.html") as seen:
            page = seen.page
            for _ in range(page.get_by_role("button", name="Try it", exact=True).count()):
                box = run(page)
                if box.locator(".slp-error").count():
                    failed.append((name, box.locator(".slp-error").inner_text()))
            failed += [(name, complaint) for complaint in seen.complaints]
    assert failed == []
