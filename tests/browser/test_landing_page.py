"""The first page: a translator to try, a figure with the library's numbers, and a verdict that is a real one."""

import json
import re
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import torch
from book_browser import shifted, violations
from playwright.sync_api import expect

from benchmarks.site.weights import LIMIT_SHIFT
from benchmarks.site.weights import visit as visit_weighed
from softlookup.live import rounded
from softlookup.model import load_translator
from softlookup_course.browser import PATIENCE_MS

pytestmark = [pytest.mark.browser, pytest.mark.book]

PAGE = "book/index.html"
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


RESTS = "() => document.querySelector('.fse-board')?.dataset.playing === 'false'"
LONG = "A young man in a red shirt and a black hat is jumping over a wooden fence while two children watch him."
HEAD = (2, 3)
"""The layer and head whose lines the card draws, from 0."""
LINES = """(board) => [...board.querySelectorAll('path')].filter((path) => !path.matches('.fse-back')).length"""
WORDS = """(board) => [...board.querySelectorAll('.fse-words')].map((row) =>
  [...row.children].map((word) => word.textContent))"""
TEXT = """(row) => [...row.children].map((word) =>
  (word.matches('.fse-near') ? '' : ' ') + word.textContent).join('').trim()"""
APART = """(board) => {
  const boxes = [...board.querySelectorAll('.fse-words')].map((row) => row.getBoundingClientRect());
  const inside = board.getBoundingClientRect();
  const ends = [...board.querySelectorAll('button')].map((word) => word.getBoundingClientRect().right);
  return {
    between: boxes[1].top - boxes[0].bottom, below: inside.bottom - boxes[1].bottom,
    beside: Math.max(...ends) - inside.right,
    letters: parseFloat(getComputedStyle(board.querySelector('.fse-words button')).fontSize),
  };
}"""


@pytest.fixture(scope="module")
def translator():
    return rounded(load_translator())


@pytest.fixture(scope="module")
def record(html):
    text = (html / PAGE).read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json">({"source".*?)</script>', text, re.S)[1])


@pytest.fixture
def opening(html, visit):
    """Give what opens the page for a reader who wants no motion, so that the card rests at once."""

    @contextmanager
    def opened(**options):
        with visit((html / PAGE).as_uri(), **{"reduced_motion": "reduce"} | options) as seen:
            seen.page.wait_for_function(RESTS)
            seen.board, seen.box = seen.page.locator(".fse-board"), seen.page.get_by_label("Your English sentence")
            yield seen
            assert seen.complaints == []

    return opened


def joined(tokens):
    return "".join(tokens).replace("\u2581", " ").strip()


def translated(seen, sentence):
    """Type a sentence, press Enter, and wait until its translation stands there."""
    seen.box.fill(sentence)
    seen.box.press("Enter")
    expect(seen.page.locator(".fse-form [role=status]")).to_contain_text("Translated in this page", timeout=90_000)
    seen.page.wait_for_function(RESTS)


def aligned(translator, sentence):
    """The greedy translation, and the weights of the head whose lines are drawn, (T, S)."""
    answer = translator.translate(sentence, beams=1).text
    return answer, translator.alignment(sentence, answer).weights[HEAD]


def test_recorded_sentence_plays_word_by_word_without_a_model_and_rests(html, visit, record, translator):
    answer, _ = aligned(translator, joined(record["source"][:-1]))
    assert answer == joined(record["target"])
    with visit((html / PAGE).as_uri()) as seen:
        board = seen.page.locator(".fse-board")
        seen.page.wait_for_function("() => document.querySelector('.fse-board').dataset.playing === 'true'")
        seen.page.evaluate(
            """() => { globalThis.grown = [];
              new MutationObserver(() => grown.push(document.querySelector('.fse-board').dataset.written))
                .observe(document.querySelector('.fse-board'), { attributeFilter: ['data-written'] }); }"""
        )
        seen.page.wait_for_function(RESTS)
        words = [[token.removeprefix("\u2581") for token in side] for side in (record["source"][:-1], record["target"])]
        assert board.evaluate(WORDS) == words
        drawn = [weight for row in record["weights"] for weight in row[:-1] if weight >= 0.05]
        assert board.evaluate(LINES) == len(drawn)
        grown = [int(count) for count in dict.fromkeys(seen.page.evaluate("grown"))]
        assert grown == [*range(grown[0], len(words[1]) + 1)] and grown[0] < 3
        assert not [url for url in seen.requests if "weights.js" in url]
        first = seen.page.locator(".lvm-first").inner_text()
        assert re.search(r"loads the model \(\d\.\d MB, once\)", first)
        assert not re.search(r"layer|head\b|decoder|cross", first), "words that nobody has explained"
        assert seen.complaints == []


def test_word_shows_its_lines_by_mouse_and_names_the_head_after_a_click(opening, record):
    with opening() as seen:
        whole, caption = seen.board.evaluate(LINES), seen.page.locator(".fse-caption")
        noir = seen.board.get_by_role("button", name="noir")
        noir.hover()
        row = record["weights"][record["target"].index("\u2581noir")]
        assert seen.board.evaluate(LINES) == sum(weight >= 0.05 for weight in row[:-1])
        weight = row[record["source"].index("\u2581black")]
        assert f"attended to black ({weight:.2f})" in caption.inner_text() and "layer" not in caption.inner_text()
        seen.page.mouse.move(5, 5)
        assert seen.board.evaluate(LINES) == whole
        noir.click()
        assert f"head {record['head']} of layer {record['layer']} in the decoder" in caption.inner_text()
        seen.board.get_by_role("button", name="sleeps").hover()
        assert seen.board.evaluate(LINES) < whole and noir.get_attribute("aria-pressed") == "true"
        seen.board.get_by_role("button", name="The").click()
        assert "attended to The while the translator wrote Le" in caption.inner_text()
        seen.board.get_by_role("button", name="The").click()
        seen.page.mouse.move(5, 5)
        assert seen.board.evaluate(LINES) == whole


@pytest.mark.slow
def test_card_works_by_keyboard(opening):
    with opening() as seen:
        whole = seen.board.evaluate(LINES)
        active = "() => document.activeElement.textContent || document.activeElement.id"
        seen.page.locator(".hero a.sd-btn").nth(1).press("Tab")
        stops = []
        for _ in range(5):
            stops.append(seen.page.evaluate(active))
            seen.page.keyboard.press("Tab")
        assert stops[0].startswith("fse-") and stops[1:] == ["Translate", "The", "Le", "Look inside the model ▸"]
        first = seen.board.get_by_role("button", name="The")
        first.focus()
        seen.page.keyboard.press("ArrowRight")
        assert seen.page.evaluate(active) == "black" and seen.board.evaluate(LINES) < whole
        seen.page.keyboard.press("End")
        assert seen.page.evaluate(active) == "."
        seen.page.keyboard.press("Enter")
        assert seen.board.get_by_role("button", pressed=True).count() == 1
        seen.page.keyboard.press("Escape")
        assert seen.board.evaluate(LINES) == whole and seen.board.get_by_role("button", pressed=True).count() == 0


def test_reader_who_wants_no_motion_sees_the_end_at_once(html, visit, record):
    with visit((html / PAGE).as_uri(), reduced_motion="reduce") as seen:
        board = seen.page.locator(".fse-board")
        state = board.evaluate("one => [one.dataset.playing, one.dataset.written, document.getAnimations().length]")
        assert state == ["false", str(len(record["target"])), 0]


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
def test_card_and_doors_stand_on_the_first_screen(html, visit, width, height):
    with visit((html / PAGE).as_uri(), width=width) as seen:
        places = [".hero .sd-btn >> nth=0", ".hero .sd-btn >> nth=1", ".fse-form"]
        for place in [*places, ".lvm-first"] if width > 1000 else [*places, ".fse-words[lang=fr]"]:
            box = seen.page.locator(place).bounding_box()
            assert box["y"] + box["height"] < height, place


@pytest.mark.slow
@torch.no_grad()
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_readers_own_sentence_plays_in_the_card_with_the_librarys_weights(opening, translator, motion):
    sentence = "Two dogs run on the green grass."
    answer, weights = aligned(translator, sentence)
    with opening(reduced_motion=motion) as seen:
        assert not [url for url in seen.requests if "weights.js" in url], "loaded when somebody translates"
        translated(seen, sentence)
        english, french = (row.evaluate(TEXT) for row in seen.board.locator(".fse-words").all())
        assert (english, french) == (sentence, answer)
        words = seen.board.locator(".fse-words[lang=en] button")
        for place, word in enumerate(seen.board.locator(".fse-words[lang=fr] button").all()):
            word.click()
            shown = words.evaluate_all("all => all.map((one) => Number(one.style.getPropertyValue('--w')))")
            np.testing.assert_allclose(shown, weights[place, :-1], atol=1e-3)
            word.click()
        seen.page.mouse.move(5, 5)
        assert seen.board.evaluate(LINES) == int((weights[:-1, :-1] >= 0.05).sum())
        seen.page.get_by_role("link", name="Look inside the model").click()
        seen.page.wait_for_url("**/live.html?*")
        assert parse_qs(urlsplit(seen.page.url).query) == {"text": [sentence]}


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1366])
def test_long_sentence_stays_readable_in_a_card_of_the_same_height(opening, translator, width):
    with opening(width=width) as seen:
        card = seen.page.locator(".lvm-first")
        before = card.bounding_box()["height"]
        translated(seen, LONG)
        assert seen.board.locator(".fse-words[lang=fr]").evaluate(TEXT) == aligned(translator, LONG)[0]
        assert abs(card.bounding_box()["height"] - before) < 1
        apart = seen.board.evaluate(APART)
        assert apart["between"] >= 40 and apart["below"] > -1 and apart["beside"] < 1 and apart["letters"] >= 15
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1366])
def test_card_says_what_the_model_does_not_know(opening, width):
    with opening(width=width) as seen:
        caption, state = seen.page.locator(".fse-caption"), seen.page.locator(".fse-form [role=status]")
        before = seen.page.locator(".lvm-first").bounding_box()["height"]
        seen.box.fill("  ")
        seen.box.press("Enter")
        expect(state).to_contain_text("There is no word in the box")
        assert not [url for url in seen.requests if "weights.js" in url]
        translated(seen, "Der schnelle Hund springt über 漢字 Zäune")
        assert (
            "The model has never seen ü, 漢, 字, ä." in caption.inner_text()
            and "Is this English?" in caption.inner_text()
        )
        assert abs(seen.page.locator(".lvm-first").bounding_box()["height"] - before) < 1


@pytest.mark.slow
def test_press_during_the_work_counts_alone(opening, translator):
    with opening() as seen:
        seen.box.fill(LONG)
        seen.box.press("Enter")
        translated(seen, "A girl reads a red book.")
        assert (
            seen.board.locator(".fse-words[lang=fr]").evaluate(TEXT)
            == aligned(translator, "A girl reads a red book.")[0]
        )


def test_reader_without_scripts_sees_the_recorded_picture(visit, html, record):
    with visit((html / PAGE).as_uri(), java_script_enabled=False) as seen:
        still = seen.page.locator(".fse-still")
        assert still.is_visible() and still.locator("path").count() > 8
        assert still.locator("li").count() == len(record["source"]) - 1 + len(record["target"])
        assert "JavaScript" in seen.page.locator(".lvm-first").inner_text()


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_first_screen_passes_axe_at_rest_with_a_word_and_with_a_translation(opening, theme):
    with opening(theme=theme, width=390) as seen:
        assert violations(seen.page, ".hero") == []
        seen.board.get_by_role("button", name="noir").click()
        assert violations(seen.page, ".hero") == []
        translated(seen, LONG)
        seen.board.locator(".fse-words[lang=en] button").nth(5).click()
        assert violations(seen.page, ".hero") == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1366])
def test_first_page_stays_where_it_is_while_it_opens_and_plays(server, chromium, width):
    assert shifted(chromium, server + PAGE, width, RESTS) < LIMIT_SHIFT


def test_first_page_is_light(html, server, chromium):
    weighed = visit_weighed(chromium, server, html, PAGE, 1280)
    assert weighed.before_widgets < 237_000 and weighed.with_widgets < 247_000


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
