"""What follows a run in a page: each case with its mark, the mistake, hints, the next task; and a pass that stays."""

import json

import pytest
from book_browser import axe_findings, violations
from playwright.sync_api import expect
from test_in_page import EXERCISES, PATIENCE_MS, RIGHT, check, hold_what_is_kept, opened

pytestmark = [pytest.mark.browser, pytest.mark.book]

SWAPPED = "def scores(q, k):\n    return k @ np.swapaxes(q, -1, -2)"
NO_FIT = "def scores(q, k):\n    return 2 * (q @ k)"


@pytest.fixture
def visited(html, visit):
    with visit(f"{html.as_uri()}/{EXERCISES}", alone=True) as seen:
        yield seen


@pytest.fixture(scope="module")
def ready(html, visit):
    """A page whose Python is there and whose editor is open, for tests that look at what follows one answer."""
    with visit(f"{html.as_uri()}/{EXERCISES}") as seen:
        seen.box = opened(seen.page, "04.scores")
        yield seen


def record(page):
    return page.evaluate("softlookupKept.read('in-page')['04.scores']")


def test_wrong_answer_shows_its_cases_the_mistake_hints_and_the_next_task(visited):
    page = visited.page
    box = opened(page, "04.scores")
    output = check(page, box, SWAPPED)
    assert output.index("Mistake: swapped") < output.index("✗ 8 wrong")
    box.get_by_text("✗ 8 wrong").click()
    expect(box.get_by_text("three queries, five keys · two sequences")).to_be_visible()
    hints = box.locator(".slp-hint")
    expect(hints).to_have_count(2)
    hints.nth(0).locator("summary").click()
    assert "`" not in hints.nth(0).inner_text()
    hints.nth(1).locator("summary").click()
    expect(hints.nth(1).locator("pre")).to_contain_text("scores[..., t, s] = ")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    box.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Copy as text").click()
    expect(page.locator(".shr-state")).to_have_text("Text copied")
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.startswith("Not yet: Raw scores") and text.endswith(f"{EXERCISES}#exercise-04-scores")
    link = box.get_by_role("link", name="Next task")
    expect(link).not_to_have_class("slp-next slp-first")
    link.click()
    following = page.locator("section:has(> span#exercise-04-scale)")
    code = following.locator(".slp-box .cm-content")
    expect(code).to_be_focused(timeout=PATIENCE_MS)
    expect(following.get_by_role("heading")).to_be_in_viewport()
    page.keyboard.type("1 / 2")  # key by key: "/" is the page's key for its search
    expect(code).to_contain_text("1 / 2")


def test_verdict_comes_into_view_and_its_headline_is_shown_once(ready):
    page, box = ready.page, ready.box
    page.set_viewport_size({"width": 1280, "height": 420})
    box.evaluate("one => one.querySelector('.slp-bar').scrollIntoView({ block: 'end' })")
    check(page, box, SWAPPED)
    expect(box.get_by_text("Not yet").nth(1)).to_be_in_viewport()
    state = box.locator(".slp-state")
    expect(state).to_contain_text("Not yet")  # for who hears the page
    assert state.evaluate("one => one.offsetWidth * one.offsetHeight") <= 1
    expect(box.locator(".cm-content")).to_be_focused()


def test_shapes_that_do_not_fit_are_said_with_the_names_of_the_line(ready):
    page, box = ready.page, ready.box
    named = check(page, box, "def scores(q, k):\n    return q @ k")
    assert "Mistake: no-transpose" in named and "Did you mean q @ np.swapaxes(k, -1, -2)?" in named
    output = check(page, box, NO_FIT)
    assert "`q` has shape" not in output, "code is set as code"
    assert "q has shape (3, 4) and k (5, 4): for @ the second needs 4 rows, and it has 5." in output
    assert "Did you mean q @ np.swapaxes(k, -1, -2)?" in output
    assert "! 6 raised an exception" in output


@pytest.mark.slow
def test_right_answer_shows_another_way_and_stays_while_the_reader_goes_on(visited):
    page = visited.page
    box = opened(page, "04.scores")
    output = check(page, box, RIGHT.replace("    return", "    print('seen', q.shape)\n    return"))
    assert "✓ 8 right" in output and "seen (3, 4)" in output
    box.get_by_text("other ways to write it").click()
    expect(box.locator(".slp-out")).to_contain_text("torch.einsum")
    expect(box.get_by_role("link", name="Next task")).to_have_class("slp-next slp-first")
    passed = record(page)["passed"]
    assert "Not yet" in check(page, box, SWAPPED)
    assert record(page)["verdict"] == "pass" and record(page)["passed"] == passed and record(page)["source"] == SWAPPED
    expect(box.locator(".slp-note")).to_have_text("Your answer that passed is kept.")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save your answers as a notebook").click()
    cells = json.loads(download.value.path().read_text())["cells"]
    assert any("print('seen', q.shape)" in "".join(cell["source"]) for cell in cells)
    hold_what_is_kept(page)
    page.goto(page.url.partition("?")[0])
    door = page.locator("section:has(> span#exercise-04-scores) .slp-open")
    expect(door).to_have_text("✓ Done here", timeout=PATIENCE_MS)
    box = opened(page, "04.scores")
    expect(box.locator(".cm-content")).to_contain_text("swapaxes(q")
    box.get_by_role("button", name="Restore the answer that passed").click()
    expect(box.locator(".cm-content")).to_contain_text("swapaxes(k")
    expect(box.get_by_role("button", name="Restore the answer that passed")).to_be_hidden()


@pytest.mark.slow
def test_a_right_answer_is_asked_about_and_a_wrong_choice_may_be_mended(visited):
    page = visited.page
    box = opened(page, "04.scores")
    assert "Not yet" in check(page, box, SWAPPED)
    expect(box.get_by_text("Do you know why it works?")).to_have_count(0)
    assert "Right" in check(page, box, RIGHT)
    fold = box.locator(".slp-why")
    expect(fold.get_by_role("group")).to_have_count(0)  # nothing is made before somebody opens it
    fold.locator("summary").press("Enter")
    question = fold.get_by_role("group").first
    options = question.get_by_role("button")
    expect(options).to_have_count(4, timeout=PATIENCE_MS)
    expect(question).to_contain_text("In your scores, line ")
    expect(question.locator("pre")).to_contain_text("+ ")
    status = question.get_by_role("status")
    answers = []
    for number in range(4):
        options.nth(number).press("Enter")
        expect(options.nth(number)).to_have_attribute("aria-pressed", "true")
        expect(status).not_to_be_empty()
        answers.append(status.inner_text())
    right = [answer for answer in answers if answer.startswith("✓ Right: ")]
    assert len(right) == 1 and "Before: shape (" in right[0] and "Changed: " in right[0]
    assert all(answer.startswith("✗ No. Think of ") for answer in answers if answer not in right)
    marks = options.get_by_role("img")
    assert sorted(marks.evaluate_all("all => all.map((one) => one.ariaLabel)")) == ["right", *3 * ["wrong"]]
    rows = question.locator("pre > span")
    assert rows.count() > 2 and rows.first.evaluate("one => parseFloat(getComputedStyle(one).textIndent)") < 0
    assert visited.complaints == []
    assert axe_findings(page, ".slp-why") == []  # last, since it takes the editor out of the page


@pytest.mark.slow
@pytest.mark.parametrize("way", ["pointer", "focus"])
def test_python_begins_to_load_when_a_reader_comes_near_an_editor(visited, way):
    page = visited.page
    assert not [address for address in visited.requests if "engine" in address]
    door = page.locator("section:has(> span#exercise-04-scores) .slp-open")
    if way == "pointer":
        door.hover()
    else:
        door.focus()
    page.wait_for_function("() => globalThis.softlookupPieces && globalThis.softlookupTasks")
    expect(opened(page, "04.scores").locator(".slp-loading")).to_be_hidden(timeout=PATIENCE_MS)
    assert visited.complaints == []


@pytest.mark.slow
def test_bar_says_how_far_python_from_a_server_has_come_and_goes_when_it_is_there(server, visit):
    with visit(f"{server}{EXERCISES}", alone=True) as seen:
        page, waiting = seen.page, []
        page.route("**/python/engine_1.js", lambda route: waiting.append(route))
        box = opened(page, "04.scores")
        bar = box.get_by_role("progressbar", name="Python is loading")
        expect(bar).to_be_visible()
        page.wait_for_function("() => document.querySelector('.slp-loading progress').value > 0.5", timeout=PATIENCE_MS)
        assert bar.evaluate("one => one.value") < 0.9
        assert violations(page, ".slp-box") == []
        waiting[0].continue_()
        expect(bar).to_be_hidden(timeout=PATIENCE_MS)
        assert "Right" in check(page, box, RIGHT)
        assert seen.complaints == []


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hints_and_marks_pass_axe_at_phone_width(ready, scheme):
    page, box = ready.page, ready.box
    page.set_viewport_size({"width": 390, "height": 800})
    page.evaluate("scheme => { document.documentElement.dataset.theme = scheme; }", scheme)
    check(page, box, RIGHT)
    check(page, box, NO_FIT)
    page.evaluate("document.querySelectorAll('.slp-box details').forEach((one) => { one.open = true; })")
    assert violations(page, ".slp-box") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
