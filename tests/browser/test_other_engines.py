"""Firefox and WebKit: pages, figures, models and Python in the page stand and give there what they give in Chromium."""

import json

import pytest
from book_browser import CHAPTER, NOT_BUILT
from figure_ways import ORACLES, WAYS
from page_state import CONTENT, LAYOUT, SEARCH, UNFOLD, only_findings
from test_in_page import EXERCISES, RIGHT
from working import drag_all, press_all, strike_all

from benchmarks.site.engines import Engine
from softlookup.live import rounded
from softlookup.model import load_translator, load_writer

pytestmark = [pytest.mark.browser, pytest.mark.book, pytest.mark.slow]

WIDTHS = (1280, 390)


def look(engine: Engine, address: str) -> dict[str, list[str]]:
    """Open a page as a desktop and as a phone would show it; give all that is wrong with it."""
    problems = {}
    engine.resize(WIDTHS[0])
    engine.visit(address)
    engine.run(UNFOLD)
    problems |= engine.run(CONTENT)
    for width in WIDTHS:
        engine.resize(width)
        problems |= {f"{name}, at {width} pixels": elements for name, elements in engine.run(LAYOUT).items()}
    problems["complaints"] = engine.complaints()
    return only_findings(problems)


@pytest.mark.parametrize("place", ["files", "served"])
def test_page_stands_in_the_other_engines(engine, any_page, place):
    assert any_page != NOT_BUILT
    assert look(engine, getattr(engine, place) + any_page) == {}


def test_theme_button_changes_the_theme_in_the_other_engines(engine):
    engine.resize(1280)
    engine.visit(engine.files + CHAPTER)
    seen = set()
    for _ in range(3):
        engine.click(".bd-header-article .theme-switch-button, .theme-switch-button")
        look = "() => [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]"
        seen.add(tuple(engine.run(look)))
    assert {theme for theme, _ in seen} == {"light", "dark"} and len(seen) == 2


def test_search_finds_the_chapter_in_the_other_engines(engine):
    engine.visit(engine.files + "search.html?q=softmax")
    assert any("04_one_head" in link for link in engine.run(SEARCH))


@pytest.mark.parametrize("figure", sorted(WAYS))
@pytest.mark.parametrize("works", [(press_all, drag_all), (strike_all,)], ids=["mouse", "keys"])
def test_figure_obeys_the_mouse_and_the_keys_in_the_other_engines(engine, figure, works):
    engine.resize(1280)
    engine.visit(engine.files + ORACLES[figure].page)
    for work in works:
        work(engine, figure)
    assert engine.complaints() == []


SENTENCE = "Two women in hats are reading newspapers on a bench."
BEGINNING = "ROMEO:\nWhat light is"
TOKENS = 20
PUT = """() => {
  for (const [css, value] of %s) {
    const field = document.querySelector(`[data-live] ${css}`);
    field.value = value;
    for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
  }
  return true;
}"""
READ = """async () => {
  let text;
  for (let tries = 0; tries < 900; tries += 1) {
    text = document.querySelector("[data-live] %s")?.textContent;
    if (text === %s) return text;
    await new Promise((done) => setTimeout(done, 100));
  }
  return text ?? document.querySelector("[data-live] [role=status]").textContent;
}"""


def answered(engine: Engine, fields: list[tuple[str, str | int]], place: str, expected: str) -> str:
    """Fill in the form of the page's live figure, press, and give what stands in a place in the end."""
    engine.run(PUT % json.dumps(fields))
    engine.click("[data-live] button[type=submit]")
    return engine.run(READ % (place, json.dumps(expected)))


@pytest.mark.parametrize("place", ["files", "served"])
@pytest.mark.parametrize("page", ["book/live.html", "book/04_one_head.html"])
def test_sentence_is_translated_in_the_other_engines(engine, page, place):
    expected = rounded(load_translator()).translate(SENTENCE, beams=1).text
    engine.resize(1280)
    engine.visit(getattr(engine, place) + page)
    assert answered(engine, [("form :is(input, textarea)", SENTENCE)], ".lvm-french", expected) == expected
    assert engine.complaints() == []


@pytest.mark.parametrize("place", ["files", "served"])
def test_sentence_plays_in_the_card_of_the_first_page_in_the_other_engines(engine, place):
    expected = rounded(load_translator()).translate(SENTENCE, beams=1).text
    engine.resize(1280)
    engine.visit(getattr(engine, place) + "book/index.html")
    hidden = answered(engine, [(".fse-form input", SENTENCE)], ".fse-hidden", f"{expected} ")
    assert hidden == f"{expected} " and engine.complaints() == []


def test_writer_writes_on_in_the_other_engines(engine):
    expected = rounded(load_writer()).write(BEGINNING, max_new_tokens=TOKENS)
    engine.resize(1280)
    engine.visit(engine.files + "book/live_writer.html")
    fields = [("textarea", BEGINNING), ("[id$=temperature]", 0), ("[id$=tokens]", TOKENS)]
    assert answered(engine, fields, ".lvm-written", expected) == expected
    assert engine.complaints() == []


APART = """() => {
  return [!document.getElementById("way-apart").hidden, document.querySelector("[data-page='%s']").innerText];
}"""


@pytest.mark.parametrize("place", ["files", "served"])
def test_page_your_way_says_when_it_does_not_see_what_others_have_stored(engine, place):
    address, name = getattr(engine, place), CHAPTER.split("/")[1]
    mark = json.dumps({name: {"total": 3, "seen": [0, 1]}})
    engine.resize(1280)
    engine.visit(address + CHAPTER)
    engine.run(f"() => {{ globalThis.softlookupKept.write('read', {mark}); return true; }}")
    engine.visit(address + "book/your_way.html")
    is_apart, line = engine.run(APART % name)
    assert is_apart == ((engine.name, place) == ("Firefox", "files"))
    assert ("2 of 3 sections read" in line) != is_apart
    assert engine.complaints() == []


WHEN = """async () => {
  for (let tries = 0; tries < 900; tries += 1) {
    const found = document.querySelector(%s);
    if (found && !document.querySelector(".slp-check[aria-disabled='true']")) return found.innerText;
    await new Promise((done) => setTimeout(done, 100));
  }
  return document.querySelector(".slp-box")?.innerText ?? "no box";
}"""
WRONG = "def scores(q, k):\n    return k @ np.swapaxes(q, -1, -2)"


def text(engine: Engine, css: str) -> str:
    """The text of something that the page will show."""
    return engine.run(WHEN % json.dumps(css))


def with_answer(engine: Engine, place: str, source: str) -> str:
    """Check an answer that the browser has kept."""
    record = json.dumps({"04.scores": {"source": source, "verdict": "unchecked"}})
    engine.visit(place + EXERCISES)
    engine.run(f"() => {{ globalThis.softlookupKept.write('in-page', {record}); return true; }}")
    engine.visit(place + EXERCISES)
    engine.click("section:has(> span#exercise-04-scores) .slp-open")
    text(engine, ".slp-box .slp-check")
    engine.click(".slp-box .slp-check")
    return text(engine, ".slp-out")


@pytest.mark.parametrize("place", ["files", "served"])
def test_task_is_checked_in_the_other_engines(engine, place):
    address = getattr(engine, place)
    assert "Not yet" in with_answer(engine, address, WRONG)
    assert "Right: Raw scores" in with_answer(engine, address, RIGHT)
    assert engine.complaints() == []


def test_cell_of_the_playground_runs_in_the_other_engines(engine):
    engine.visit(engine.files + "book/playground.html")
    engine.click(".slp-try .slp-open", 1)
    assert "price 3.04" in text(engine, ".slp-printed")
