"""The tokenizer in the chapter: its pieces and ids are the library's, and every way to operate it works."""

import json
import re

import pytest
from book_browser import axe_findings

from softlookup.text import BytePairTokenizer, CharacterTokenizer, Vocabulary, WordTokenizer
from softlookup_course.widgets import Learned
from softlookup_course.widgets.tokenizer import CUTS, pieces

pytestmark = [pytest.mark.browser, pytest.mark.book]

PAGE = "book/03_tokens_and_embeddings.html"
TEXTS = [
    "",
    "   ",
    "Zoë didn't see l’été, nor 'quotes'…",
    "cafe\u0301 naı\u0308ve Å",  # letters and accents apart: they are joined first
    "two\t\ttabs \n and\u00a0lines\u2003",
    "a_b 42nd ½ Ⅳ x²",
    "😀👩‍🚀 日本語 नमस्ते",
    "▁marker ▁ inside",
    "The small child eats the oranges. " * 3,
    "\x1cparted\x85by\ufefforders",
    "don''t l'' 'x' o'o'o",
]
TYPED = """(figure, [text, merges]) => {
  const type = (css, value) => {
    const field = figure.querySelector(css);
    field.value = value;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  };
  type('textarea', text);
  type('input[type=range]', merges);
  return figure.querySelector('textarea').value;
}"""
SHOWN = "all => all.map((one) => [one.dataset.piece, one.dataset.id === undefined ? null : Number(one.dataset.id)])"


@pytest.fixture
def figure(stands):
    assert stands.page.locator(".slt").count() == 1
    yield stands.page.locator(".slt")
    assert stands.complaints == []


@pytest.fixture(scope="module")
def bodies():
    from book_browser import HTML

    page = (HTML / PAGE).read_text(encoding="utf-8")
    state = re.search(r'<script type="application/vnd.jupyter.widget-state\+json">(.*?)</script>', page, re.S)
    models = json.loads(state[1])["state"].values()
    records = next(model["state"]["learned"] for model in models if "learned" in model["state"])

    def learned(record):
        tokenizer = BytePairTokenizer(record["alphabet"], [tuple(pair) for pair in record["merges"]])
        words = record["words"] and WordTokenizer(Vocabulary(record["words"]))
        characters = record["characters"] and CharacterTokenizer(Vocabulary(record["characters"]))
        return Learned(record["title"], record["about"], tokenizer, record["times"], words or None, characters or None)

    return [learned(record) for record in records]


def choose(figure, cut=None, body=None, merges=None, text=None):
    if body is not None:
        figure.locator("select").nth(1).select_option(index=body)
    if cut is not None:
        figure.locator("input[type=radio]").nth(CUTS.index(cut)).check()
    if merges is not None:
        figure.locator("input[type=range]").evaluate(
            "(one, n) => { one.value = n; one.dispatchEvent(new Event('input', {bubbles: true})); }", merges
        )
    if text is not None:
        figure.locator("textarea").evaluate(
            "(one, t) => { one.value = t; one.dispatchEvent(new Event('input', {bubbles: true})); }", text
        )


def shown(figure):
    return [tuple(pair) for pair in figure.locator(".slt-token").evaluate_all(SHOWN)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("body", [0, 1])
def test_pieces_and_ids_are_those_of_the_library(figure, bodies, body):
    learned = bodies[body]
    most = len(learned.tokenizer.merges)
    choose(figure, body=body)
    for cut in CUTS:
        choose(figure, cut=cut)
        for text in TEXTS:
            for merges in (0, 7, most // 2, most) if cut == "byte pairs" else (most,):
                expected = pieces(learned, figure.evaluate(TYPED, [text, merges]), cut, merges)
                assert shown(figure) == expected, (text, cut, merges)


def test_field_keeps_what_was_typed_and_counts_it(figure):
    figure.locator("textarea").fill("orange")
    assert figure.locator(".slt-count").inner_text() == "6 characters, 1 token"
    choose(figure, cut="characters")
    assert figure.locator(".slt-count").inner_text() == "6 characters, 6 tokens"
    figure.locator("textarea").fill("")
    assert figure.locator(".slt-count").inner_text() == "0 characters, 0 tokens"
    assert "no token" in figure.locator(".slt-told").inner_text()


def test_a_token_tells_which_merge_made_it_and_from_what(figure, bodies):
    learned = bodies[0]
    choose(figure, text="small", merges=len(learned.tokenizer.merges))
    figure.locator(".slt-token").first.click()
    piece = shown(figure)[0][0]
    rank = next(i for i, pair in enumerate(learned.tokenizer.merges) if "".join(pair) == piece)
    words = figure.locator(".slt-words").inner_text()
    left, right = learned.tokenizer.merges[rank]
    assert f"made by merge {rank + 1}: “{left}” + “{right}”" in words
    assert f"side by side {learned.times[rank]} time" in words
    assert figure.locator(".slt-road").inner_text().split("  →  ") == [
        " ".join(step) for step in learned.tokenizer.steps("small")
    ]


def test_slider_names_the_last_merge_in_use(figure, bodies):
    learned = bodies[0]
    choose(figure, merges=25)
    left, right = learned.tokenizer.merges[24]
    words = figure.locator(".slt-last").inner_text()
    assert f"“{left}” + “{right}” → “{left + right}”, seen {learned.times[24]} times" in words
    choose(figure, merges=0)
    assert "No merge" in figure.locator(".slt-last").inner_text()


def test_unknown_words_and_characters_are_said_to_be_lost(figure):
    choose(figure, text="The zebra 😀", cut="words")
    assert "2 of them unknown" in figure.locator(".slt-count").inner_text()
    figure.locator(".slt-unknown").first.click()
    assert "becomes <unk>" in figure.locator(".slt-words").inner_text()
    choose(figure, cut="byte pairs")
    assert figure.locator(".slt-unknown").last.get_attribute("data-piece") == "😀"


def test_keyboard_reaches_text_cut_slider_and_tokens(figure):
    page = figure.page
    figure.locator("textarea").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("the oranges")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "radio"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "range"
    before = figure.locator(".slt-merges output").inner_text()
    page.keyboard.press("Home")
    assert figure.locator(".slt-merges output").inner_text() != before
    assert len(shown(figure)) == len("▁the▁oranges")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.place") == "1"
    assert figure.locator(".slt-words").inner_text().startswith("“t”")
    page.keyboard.press("End")
    assert figure.locator(".slt-words").inner_text().startswith("“s”")


@pytest.mark.slow
def test_a_tap_explains_a_token_on_a_small_phone(html, visit):
    with visit((html / PAGE).as_uri(), width=360, has_touch=True, is_mobile=True) as seen:
        figure = seen.page.locator(".slt")
        figure.locator(".slt-token").first.tap()
        assert "merge" in figure.locator(".slt-words").inner_text()
        for box in (token.bounding_box() for token in figure.locator(".slt-token").all()):
            assert box["x"] >= 0 and box["x"] + box["width"] <= 360
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_cut_passes_axe_while_a_token_explains_itself(html, visit, theme):
    with visit((html / PAGE).as_uri(), theme=theme) as seen:
        figure = seen.page.locator(".slt")
        for cut in CUTS:
            choose(figure, cut=cut, text="The zebra's orange 😀")
            figure.locator(".slt-token").last.click()
            assert axe_findings(seen.page, ".slt") == []


def test_what_is_said_about_a_token_is_announced(figure):
    assert figure.locator(".slt-told").get_attribute("aria-live") == "polite"
    assert figure.locator(".slt-count").get_attribute("aria-live") == "polite"


def test_readers_without_scripts_get_the_three_cuts(html, visit, bodies):
    with visit((html / PAGE).as_uri(), java_script_enabled=False) as seen:
        table = seen.page.locator(".widget-fallback table").first
        assert table.is_visible()
        counts = [int(text) for text in table.locator("tbody td:nth-child(2)").all_inner_texts()]
        sample = "The small child eats the oranges."
        assert counts == [len(pieces(bodies[0], sample, cut, 10_000)) for cut in CUTS]
