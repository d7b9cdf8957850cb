"""Tasks done on a page of exercises: wrongly, rightly, without end; from the disk and from a server."""

import json

import pytest
from book_browser import violations
from playwright.sync_api import Page, expect

from softlookup_course.browser import settle

pytestmark = [pytest.mark.browser, pytest.mark.book]
EXERCISES = "exercises/04_one_head/04_one_head.html"
RIGHT = "def scores(q, k):\n    return q @ np.swapaxes(k, -1, -2)"
PATIENCE_MS = 90_000
IMPATIENT = """() => {
  globalThis.patient = setTimeout;
  globalThis.setTimeout = (what, ms, ...more) => globalThis.patient(what, ms === 10_000 ? 1000 : ms, ...more);
}"""
"""The ten seconds after which a page stops an answer are one."""


@pytest.fixture
def visited(html, server, visit, request):
    place = server if request.param == "server" else html.as_uri()
    with visit(f"{place.rstrip('/')}/{EXERCISES}", alone=True) as seen:
        yield seen


def opened(page: Page, task: str):
    """Open a task's editor, and give back its box."""
    section = page.locator(f"section:has(> span#exercise-{task.replace('.', '-')})")
    section.locator(".slp-open").click()
    box = section.locator(".slp-box")
    expect(box.locator(".cm-content")).to_be_focused(timeout=PATIENCE_MS)
    return box


def check(page: Page, box, source: str) -> str:
    """Write an answer, check it by the keyboard, and give back what is said."""
    box.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(source)
    box.evaluate("one => one.querySelector('.slp-out')?.remove()")
    page.keyboard.press("Control+Enter")
    expect(box.locator(".slp-out")).to_be_visible(timeout=PATIENCE_MS)
    expect(box.locator(".slp-check")).to_have_attribute("aria-disabled", "false")
    return box.locator(".slp-out").inner_text()


def hold_what_is_kept(page: Page) -> None:
    """A private window keeps its storage in memory, which a browser that runs short gives up: it is put back."""
    page.wait_for_function("() => softlookupKept.read('in-page')['04.scores']?.verdict === 'pass'")
    key = json.dumps(page.evaluate("softlookupKept.key('in-page')"))
    written = page.evaluate(f"localStorage[{key}]")
    page.add_init_script(f"localStorage[{key}] ??= {json.dumps(written)}")


@pytest.mark.parametrize("visited", ["disk", pytest.param("server", marks=pytest.mark.slow)], indirect=True)
def test_task_is_done_in_the_page_wrongly_first(visited):
    page = visited.page
    before = [address for address in visited.requests if "engine.js" in address or "editor.js" in address]
    assert before == [], "nothing is loaded before somebody asks"
    box = opened(page, "04.scores")
    assert "Not yet" in check(page, box, "def scores(q, k):\n    return k @ np.swapaxes(q, -1, -2)")
    assert box.locator("table.sl-map").count() >= 2
    assert "line 2" in check(page, box, "def scores(q, k)\n  return\n") or "line 1" in box.inner_text()
    output = check(page, box, "print('how far')\n" + RIGHT)
    assert "Right: Raw scores" in output and "how far" in output
    hold_what_is_kept(page)
    page.reload()  # the task that was open opens again
    settle(page)
    expect(page.locator(".slp-box .cm-content")).to_contain_text("swapaxes", timeout=PATIENCE_MS)
    expect(page.locator("section:has(> span#exercise-04-scores) .slp-open")).to_have_text("✓ Done here")
    assert visited.complaints == []


@pytest.mark.parametrize("visited", ["disk"], indirect=True)
def test_endless_loop_is_stopped_and_other_answers_are_there(visited):
    page = visited.page
    first = opened(page, "04.scores")
    assert "Right" in check(page, first, RIGHT)
    second = opened(page, "04.mix")
    page.evaluate(IMPATIENT)
    assert "stopped" in check(page, second, "def mix(weights, v):\n    while True:\n        pass")
    page.evaluate("() => { globalThis.setTimeout = globalThis.patient; }")
    assert "Right" in check(page, second, "def mix(weights, v):\n    return weights @ v")
    expect(first.locator(".cm-content")).to_contain_text("swapaxes")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(second.locator(".cm-content")).not_to_be_focused()


SPOILERS = {
    "numpy for the next answer": "np.matmul = np.abs = np.allclose = lambda *a, **k: np.zeros(1)\n",
    "the judge's page": "import softlookup_course.in_page.session as s\n"
    "s.panel = lambda r: '<img src=x onerror=spoilt=1>'\n",
    "its process": "import os\nos._exit(3)\n",
    "what is printed": "import sys\nsys.stdout.close()\n",
    "all memory": "def scores(q, k):\n    return scores(q, k)\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("visited", ["disk"], indirect=True)
def test_answers_spoil_nothing_for_the_next_one(visited):
    page = visited.page
    box = opened(page, "04.scores")
    for name, source in SPOILERS.items():
        check(page, box, source + "def scores(q, k):\n    return q - q\n" * (name != "all memory"))
        assert "Not yet" in check(page, box, "def scores(q, k):\n    return q @ k.T * 0"), name
        assert "Right: Raw scores" in check(page, box, RIGHT), name
    assert page.evaluate("globalThis.spoilt") is None


@pytest.mark.slow
@pytest.mark.parametrize("visited", ["disk"], indirect=True)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_editor_and_verdict_pass_axe_at_phone_width(visited, scheme):
    page = visited.page
    page.set_viewport_size({"width": 390, "height": 800})
    page.evaluate("scheme => { document.documentElement.dataset.theme = scheme; }", scheme)
    box = opened(page, "04.scores")
    check(page, box, "def scores(q, k):\n    return k @ np.swapaxes(q, -1, -2)")
    assert violations(page, ".slp-box") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
@pytest.mark.parametrize("visited", ["disk"], indirect=True)
def test_your_way_shows_what_was_done_in_a_page(visited, html):
    page = visited.page
    box = opened(page, "04.scores")
    check(page, box, RIGHT)
    hold_what_is_kept(page)
    page.goto((html / "book/your_way.html").as_uri())
    expect(page.locator("[data-task='04.scores']")).to_have_attribute("data-state", "pass")
    expect(page.locator("#way-sum")).to_contain_text("1 of ")


@pytest.mark.parametrize("visited", ["disk"], indirect=True)
def test_task_that_needs_torch_says_so(visited, html):
    page = visited.page
    page.goto((html / "exercises/05_many_heads/05_many_heads.html").as_uri())
    line = page.locator("section:has(> span#exercise-05-multi-head) .slp-doors")
    expect(line).to_have_text("This task is for the notebook: it asks for a layer of torch.")
