"""The first page: a translator to try, a figure with the library's numbers, and a verdict that is a real one."""

import re
from contextlib import contextmanager

import pytest
from book_browser import shifted, violations
from oracles import widget_state
from playwright.sync_api import expect

from benchmarks.site.weights import LIMIT_SHIFT
from benchmarks.site.weights import visit as visit_weighed
from softlookup.live import rounded
from softlookup.model import load_translator
from softlookup_course.browser import PATIENCE_MS

pytestmark = [pytest.mark.browser, pytest.mark.book]

PAGE = "book/index.html"
HURRY = """for (const name of ['setTimeout', 'setInterval']) {
  const timer = globalThis[name];
  globalThis[name] = (what, ms, ...more) => timer(what, ms / 20, ...more);
}"""
"""What a figure plays by itself takes a twentieth of the time."""
SHOWN = """root => ({
  asked: root.dataset.asked, tau: +root.dataset.tau,
  numbers: [...root.querySelectorAll('.fst-number')].map((one) => +one.textContent),
  bars: [...root.querySelectorAll('.fst-bar')].map((one) => parseFloat(one.style.inlineSize)),
})"""


@pytest.fixture
def figure(stands):
    yield stands.page.locator(".fst")
    assert stands.complaints == []


def test_figure_begins_with_a_word_that_the_dictionary_has_not(figure):
    assert figure.evaluate(SHOWN)["numbers"] == [0.1, 0.1, 0.8]
    assert "no orange: KeyError" in figure.locator(".fst-hard").inner_text()
    assert "0.80 citron + 0.10 pomme + 0.10 banane" in figure.locator(".fst-soft").inner_text()
    figure.get_by_role("button", name="lemon").click()
    assert figure.locator(".fst-hard").inner_text() == "A dictionary has lemon: citron."


DONE = "() => document.querySelector('.aln[data-playing=false]')?.dataset.written === '%d'"
WRITTEN = """(words) => words.filter((word) => getComputedStyle(word).visibility === 'visible')
  .map((word) => word.textContent)"""


@pytest.fixture(scope="module")
def translation():
    return widget_state(PAGE, "translation")["translation"]


@pytest.fixture
def opening(html, visit, translation):
    """Give what opens the page for a reader who wants no motion, so that the first figure rests at once."""

    @contextmanager
    def opened(**options):
        with visit((html / PAGE).as_uri(), reduced_motion="reduce", **options) as seen:
            seen.page.wait_for_function(DONE % len(translation["target"]))
            seen.figure = seen.page.locator(".aln")
            yield seen
            assert seen.complaints == []

    return opened


def lines(figure):
    """Places of the lines that are shown: [row of the translation, column of the source]."""
    return figure.locator("path").evaluate_all(
        "all => all.flatMap((path, i) => (path.matches('.aln-off, .aln-back') ? [] : [i]))"
    )


def test_first_figure_writes_the_models_translation_word_by_word_and_rests(html, visit, translation):
    model = rounded(load_translator())
    english = " ".join(translation["source"][:-2]) + "."
    expected = model.translate(english, beams=1)
    assert [word.removeprefix("\u2581") for word in expected.tokens[:-1]] == translation["target"][:-1]
    with visit((html / PAGE).as_uri()) as seen:
        seen.page.wait_for_function("() => document.querySelector('.aln').dataset.playing === 'true'")
        seen.page.wait_for_function(DONE % len(translation["target"]))
        figure = seen.page.locator(".aln")
        assert figure.locator(".aln-words:last-child .aln-word").evaluate_all(WRITTEN) == translation["target"]
        assert lines(figure) == [*range(len(translation["lines"]))]
        assert "layer 3, head 4" in figure.inner_text()
        seen.page.evaluate(
            """() => { globalThis.grown = [];
              new MutationObserver(() => grown.push(document.querySelector('.aln').dataset.written))
                .observe(document.querySelector('.aln'), { attributeFilter: ['data-written'] }); }"""
        )
        seen.page.evaluate(HURRY)
        figure.get_by_role("button", name="Play again").click()
        seen.page.wait_for_function(DONE % len(translation["target"]))
        assert [*dict.fromkeys(seen.page.evaluate("grown"))] == [str(n + 1) for n in range(len(translation["target"]))]


def test_word_shows_its_lines_by_mouse_and_keeps_them(opening, translation):
    with opening() as seen:
        noir = seen.figure.get_by_role("button", name="noir")
        noir.hover()
        alone = lines(seen.figure)
        row = translation["target"].index("noir")
        assert alone == [i for i, line in enumerate(translation["lines"]) if line["row"] == row]
        weight = translation["weights"][row][translation["source"].index("black")]
        assert f"black ({weight:.2f})" in seen.figure.locator(".aln-caption").inner_text()
        seen.page.mouse.move(5, 5)
        assert lines(seen.figure) == alone
        noir.click()
        seen.figure.get_by_role("button", name="sleeps").hover()
        assert lines(seen.figure) == alone and noir.get_attribute("aria-pressed") == "true"
        noir.click()
        assert lines(seen.figure) == [*range(len(translation["lines"]))]


@pytest.mark.slow
def test_word_shows_its_lines_by_keyboard_and_escape_lets_go(opening, translation):
    with opening() as seen:
        first = seen.figure.get_by_role("button", name="The")
        seen.page.locator(".hero a.sd-btn").nth(1).press("Tab")
        assert first.evaluate("one => one === document.activeElement")
        alone = lines(seen.figure)
        assert alone == [i for i, line in enumerate(translation["lines"]) if line["column"] == 0]
        first.press("Enter")
        seen.page.keyboard.press("Tab")
        assert lines(seen.figure) == alone
        seen.page.keyboard.press("Escape")
        assert lines(seen.figure) == [*range(len(translation["lines"]))]


def test_reader_who_wants_no_motion_sees_the_end_at_once(html, visit, translation):
    with visit((html / PAGE).as_uri(), reduced_motion="reduce") as seen:
        figure = seen.page.locator(".aln")
        assert figure.evaluate("one => [one.dataset.playing, one.dataset.written]") == [
            "false",
            str(len(translation["target"])),
        ]
        assert lines(figure) == [*range(len(translation["lines"]))]


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
def test_figure_and_doors_stand_on_the_first_screen(html, visit, width, height):
    with visit((html / PAGE).as_uri(), width=width) as seen:
        places = [".hero .sd-btn >> nth=0", ".hero .sd-btn >> nth=1", ".aln-board"]
        for place in [*places, ".lvm-open"] if width > 1000 else places:
            box = seen.page.locator(place).bounding_box()
            assert box["y"] + box["height"] < height, place


@pytest.mark.slow
def test_translator_is_loaded_on_a_press_and_answers_a_readers_own_sentence(html, visit):
    with visit((html / PAGE).as_uri()) as seen:
        assert not [url for url in seen.requests if re.search(r"live/(page|weights)\.js|live\.css", url)]
        seen.page.get_by_role("link", name="Try your own sentence").click()
        box = seen.page.locator(".lvm textarea")
        expect(box).to_be_focused()
        assert not [url for url in seen.requests if "weights.js" in url], "loaded when somebody translates"
        box.fill("A dog runs on the grass.")
        seen.page.get_by_role("button", name="Translate").click()
        expect(seen.page.locator(".lvm-french")).to_have_text(re.compile("Un chien court"), timeout=90_000)
        assert seen.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_first_screen_passes_axe_at_rest_with_a_word_and_with_a_translation(html, visit, translation, theme):
    with visit((html / PAGE).as_uri(), theme=theme, width=390) as seen:
        seen.page.wait_for_function(DONE % len(translation["target"]))
        assert violations(seen.page, ".hero") == []
        seen.page.locator(".aln").get_by_role("button", name="noir").click()
        seen.page.evaluate("Promise.allSettled(document.getAnimations().map((one) => one.finished))")
        assert violations(seen.page, ".hero") == []
        seen.page.get_by_role("link", name="Try your own sentence").click()
        seen.page.get_by_role("button", name="Translate").click()
        seen.page.wait_for_function("() => document.querySelector('.lvm').innerText.includes('French')")
        assert violations(seen.page, ".hero") == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1366])
def test_first_page_stays_where_it_is_while_it_opens_and_plays(server, chromium, width):
    rests = "() => document.querySelector('.aln').dataset.playing === 'false'"
    assert shifted(chromium, server + PAGE, width, rests) < LIMIT_SHIFT


def test_first_page_is_light(html, server, chromium):
    assert visit_weighed(chromium, server, html, PAGE, 1280).with_widgets < 312_000


@pytest.mark.slow
def test_task_of_the_first_page_opens_with_its_editor(html, visit):
    with visit((html / PAGE).as_uri()) as seen:
        seen.page.get_by_role("link", name="Try a task").click()
        expect(seen.page.locator(".slp-box, .cm-editor").first).to_be_visible(timeout=PATIENCE_MS)
        assert seen.page.url.endswith("#exercise-00-shapes")


def test_doors_lead_to_the_reader_the_student_and_the_lecturer(html, visit):
    with visit((html / PAGE).as_uri()) as seen:
        buttons = seen.page.locator(".hero a.sd-btn").evaluate_all("all => all.map((one) => one.href)")
        assert [link.rpartition("/")[2] for link in buttons] == [
            "01_motivation.html",
            "00_before_you_start.html?do=00.shapes#exercise-00-shapes",
            "live.html",
        ]
        teacher = seen.page.get_by_role("link", name="Grade a class").get_attribute("href")
        assert teacher == "#start-instructor"


@pytest.mark.slow
def test_reader_who_comes_back_goes_on_with_the_chapter_that_was_open(server, visit):
    with visit(f"{server}book/04_one_head.html") as seen:
        seen.page.goto(f"{server}{PAGE}")
        seen.page.get_by_role("link", name="Go on: 4. One head of self-attention").click()
        seen.page.wait_for_url("**/book/04_one_head.html")


def test_verdict_is_a_real_one_and_leads_to_its_section(html, visit):
    with visit((html / PAGE).as_uri()) as seen:
        panel = seen.page.locator(".sl-check")
        assert "transposed" in panel.inner_text() and "0 of 2 points" in panel.inner_text()
        with seen.page.context.expect_page() as coming:
            panel.get_by_role("link").first.click()
        coming.value.wait_for_url("**/book/04_one_head.html#one-head-mix")


def test_page_loads_no_formulas_and_no_other_heavy_script(html, visit):
    with visit((html / PAGE).as_uri()) as seen:
        assert not [url for url in seen.requests if "mathjax" in url.lower()]
