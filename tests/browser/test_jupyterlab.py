"""JupyterLab as ``make lab`` opens it, in a real browser: welcome, panels, figure, book, Validate; light and dark."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from book_browser import violations
from lab_server import SHOWN, SLOW_MS, Visit, running_lab, visiting
from playwright.sync_api import Browser, expect

from softlookup_course.progress.workplace import WORK, give_out
from softlookup_course.samples.handins import answers, filled
from softlookup_judge import get_task, tasks
from softlookup_judge.authoring import find_root, read_solution

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = find_root()
NAME = "00_before_you_start"
BOOK_PAGE = """<!DOCTYPE html><title>A page of the book</title><h1 id="one-head-mix">Mixing</h1>
<script src="../_static/own.js"></script>"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with the welcome notebook, one chapter's, the same solved, and two pages of a book."""
    root = tmp_path_factory.mktemp("checkout")
    (root / "_config.yml").write_text("title: x\n")
    (root / "solutions").mkdir()
    for name in (NAME, "welcome"):
        shutil.copytree(ROOT / "exercises" / name, root / "exercises" / name)
    give_out(root)
    release = nbformat.read(root / WORK / NAME / f"{NAME}.ipynb", as_version=4)
    solved = filled(release, answers(read_solution(ROOT / "solutions" / f"{NAME}.py")))
    (root / WORK / "solved").mkdir()
    nbformat.write(solved, root / WORK / "solved" / "solved.ipynb")
    html = root / "_build" / "html"
    for file, text in (("book/04_one_head.html", BOOK_PAGE), ("_static/own.js", "document.title = 'It runs';")):
        (html / file).parent.mkdir(parents=True)
        (html / file).write_text(text)
    return root


@pytest.fixture(scope="module", params=["JupyterLab Light", "JupyterLab Dark"], ids=["light", "dark"])
def welcome(
    request: pytest.FixtureRequest, checkout: Path, chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visit]:
    """The welcome notebook, which JupyterLab opened by itself, with all its cells run."""
    home = tmp_path_factory.mktemp("jupyter")
    with running_lab(checkout, home, request.param) as address, visiting(chromium, address) as seen:
        seen.open()
        seen.run_all()
        seen.page.locator(f"{SHOWN} .slf").wait_for(state="attached", timeout=SLOW_MS)
        expect(seen.page.locator(f"{SHOWN} .jp-OutputArea").last).to_contain_text("Begin with", timeout=SLOW_MS)
        yield seen


def test_it_opens_on_the_welcome_notebook_beside_the_students_own_folders(welcome: Visit) -> None:
    assert "/lab/tree/my_work/welcome/welcome.ipynb" in welcome.page.url
    listed = welcome.page.locator(".jp-DirListing-itemText").all_inner_texts()
    assert {NAME, "welcome"} <= set(listed)
    assert welcome.page.locator(".Toastify__toast").count() == 0, "nobody asks for news"


def test_panels_show_verdict_mistake_and_heat_maps_that_can_be_read(welcome: Visit) -> None:
    page = welcome.page
    expect(page.locator(f"{SHOWN} .sl-check.sl-pass")).to_contain_text("Right: Mixing the values")
    wrong = page.locator(f"{SHOWN} .sl-check.sl-wrong")
    wrong.scroll_into_view_if_needed()
    named = next(mistake for mistake in get_task("04.mix").mistakes if mistake.says in wrong.inner_text())
    assert named.slug
    maps = wrong.locator("table.sl-map")
    assert [text.split("\n")[0] for text in maps.all_inner_texts()] == ["got", "wanted", "difference"]
    assert maps.first.locator("td.sl-off").count() == 16
    paper = wrong.evaluate("one => getComputedStyle(one).backgroundColor")
    light = page.evaluate("document.body.dataset.jpThemeLight") == "true"
    assert (paper == "rgb(255, 255, 255)") == light
    assert violations(page, ".sl-check", runOnly=["wcag2a", "wcag2aa"]) == []


def test_figure_answers_to_mouse_and_keyboard(welcome: Visit) -> None:
    figure = welcome.page.locator(f"{SHOWN} .slp")
    figure.scroll_into_view_if_needed()
    words = figure.locator(".slp-words")
    before = words.inner_text()
    handle = figure.locator(".slp-handle")
    handle.press("Shift+ArrowUp")
    expect(words).not_to_have_text(before)
    by_key = words.inner_text()
    box = figure.locator(".slp-frame svg").first.bounding_box()
    figure.locator(".slp-frame svg").first.click(position={"x": box["width"] * 0.2, "y": box["height"] * 0.3})
    expect(words).not_to_have_text(by_key)
    figure.locator("input[type=range]").fill("0")
    expect(words).to_contain_text("takes all")


def test_a_link_into_the_book_opens_the_book_as_it_is(welcome: Visit) -> None:
    link = welcome.page.locator(f"{SHOWN} .sl-check.sl-wrong a").first
    link.scroll_into_view_if_needed()
    with welcome.page.context.expect_page() as opening:
        link.click()
    book = opening.value
    book.wait_for_function("() => document.title === 'It runs'")
    assert book.url.endswith("/softlookup-book/book/04_one_head.html#one-head-mix")
    book.close()


def test_the_book_is_shown_to_nobody_without_the_token(welcome: Visit, chromium: Browser) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{welcome.address}softlookup-book/book/04_one_head.html")
    assert "/login" in page.url and "Mixing" not in page.content()
    for path in ("../../_config.yml", "%2e%2e/%2e%2e/_config.yml"):
        response = welcome.page.request.get(f"{welcome.address}softlookup-book/{path}")
        assert response.status in (403, 404)
    context.close()


def test_a_link_into_a_book_that_is_not_built_says_how_to_build_it(welcome: Visit, checkout: Path) -> None:
    html = checkout / "_build" / "html"
    assert not (html / "index.html").exists()
    response = welcome.page.request.get(f"{welcome.address}softlookup-book/book/05_many_heads.html")
    assert response.status == 404 and "make book" in response.text() and str(checkout) in response.text()


def test_notebooks_do_not_look_changed_when_they_are_opened(welcome: Visit) -> None:
    for name in (NAME, "solved"):
        welcome.open(f"{WORK}/{name}/{name}.ipynb")
        tab = welcome.page.locator(".lm-TabBar-tab.lm-mod-current", has_text=f"{name}.ipynb")
        assert "jp-mod-dirty" not in tab.get_attribute("class")


def test_validate_gives_the_verdicts_of_the_course(welcome: Visit) -> None:
    welcome.open(f"{WORK}/{NAME}/{NAME}.ipynb")
    best = sum(task.points for task in tasks(0))
    message = welcome.validate()
    assert f"0 of {len(tasks(0))} tasks are right: 0 of {best:g} points." in message
    assert f"{len(tasks(0))} still blank." in message and "artial" not in message
    welcome.open(f"{WORK}/solved/solved.ipynb")
    assert f"{len(tasks(0))} of {len(tasks(0))} tasks are right" in welcome.validate()


def test_hint_puts_its_steps_beneath_the_task_that_is_selected(welcome: Visit) -> None:
    page = welcome.page
    welcome.open(f"{WORK}/{NAME}/{NAME}.ipynb")
    task = tasks(0)[2]
    page.locator(f"{SHOWN} .jp-MarkdownCell", has_text=f"Task {task.id} ·").click()
    for title in ("The formula", "A worked example", "One more step", "One solution"):
        welcome.press("softlookup-hint")
        step = page.locator(f"{SHOWN} .sl-help")
        expect(step).to_contain_text(title, timeout=SLOW_MS)
        assert step.count() == 1
    cell = page.locator(f"{SHOWN} .jp-CodeCell", has=page.locator(".sl-help"))
    expect(cell).to_contain_text(f'hint("{task.id}")')


def test_the_table_of_tasks_leads_to_the_tasks(welcome: Visit) -> None:
    page = welcome.page
    welcome.open(f"{WORK}/{NAME}/{NAME}.ipynb")
    last = tasks(0)[-1]
    heading = page.locator(f"{SHOWN} h3", has_text=f"Task {last.id} ·")
    expect(heading).not_to_be_in_viewport()
    page.locator(f"{SHOWN} td a", has_text=last.id).first.click()
    expect(heading).to_be_in_viewport(timeout=20_000)


def test_students_see_nothing_that_is_for_instructors(welcome: Visit) -> None:
    page = welcome.page
    assert page.locator(".lm-MenuBar-item", has_text="Nbgrader").count() == 0
    assert page.locator(".lm-TabBar-tab[title*='ssignment']").count() == 0
    page.locator(".lm-MenuBar-item", has_text="View").click()
    assert page.get_by_role("menuitem", name="Create Assignment").count() == 0
    page.keyboard.press("Escape")
