"""The tokenizer in the chapter: its pieces and ids are the library's, and what is said of a token."""

import pytest
from oracles_machines import learned_texts

from softlookup_course.widgets.tokenizer import CUTS, tokens_of

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


@pytest.mark.slow
@pytest.mark.one_in(6)
@pytest.mark.parametrize("body", [0, 1])
def test_pieces_and_ids_are_those_of_the_library(figure, body):
    learned = learned_texts()[body]
    most = len(learned.tokenizer.merges)
    choose(figure, body=body)
    for cut in CUTS:
        choose(figure, cut=cut)
        for text in TEXTS:
            for merges in (0, 7, most // 2, most) if cut == "byte pairs" else (most,):
                expected = tokens_of(learned, figure.evaluate(TYPED, [text, merges]), cut, merges)
                assert shown(figure) == expected, (text, cut, merges)


def test_field_keeps_what_was_typed_and_counts_it(figure):
    for part in (".slt-told", ".slt-count"):
        assert figure.locator(part).get_attribute("aria-live") == "polite"
    figure.locator("textarea").fill("orange")
    assert figure.locator(".slt-count").inner_text() == "6 characters, 1 token"
    choose(figure, cut="characters")
    assert figure.locator(".slt-count").inner_text() == "6 characters, 6 tokens"
    figure.locator("textarea").fill("")
    assert figure.locator(".slt-count").inner_text() == "0 characters, 0 tokens"
    assert "no token" in figure.locator(".slt-told").inner_text()


def test_a_token_tells_which_merge_made_it_and_from_what(figure):
    learned = learned_texts()[0]
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


@pytest.mark.slow
def test_slider_names_the_last_merge_in_use(figure):
    learned = learned_texts()[0]
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
