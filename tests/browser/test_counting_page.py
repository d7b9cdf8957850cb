"""The batching and the memory explorer in their chapter: what they say in words."""

import pytest

from softlookup_course.widgets import memory_explorer as memory

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/12_counting.html"
CELLS = """one => Object.fromEntries([...one.querySelectorAll('td[data-cell]')]
  .map((cell) => [cell.dataset.cell, +cell.dataset.value]))"""


@pytest.fixture
def page(stands):
    return stands.page


def slide(figure, name, index):
    figure.locator(f"input[data-ask={name}]").evaluate(
        "(one, value) => { one.value = value; one.dispatchEvent(new Event('input', { bubbles: true })); }", str(index)
    )


def test_batching_explorer_says_in_words_what_moved_and_obeys_the_keyboard(page):
    figure = page.locator(".bat").first
    before = figure.evaluate(CELLS)
    slider = figure.locator("input[data-ask=batch]")
    slider.focus()
    page.keyboard.press("End")
    after = figure.evaluate(CELLS)
    assert after["attention-intensity"] == before["attention-intensity"]
    assert after["dense-intensity"] > 100 * before["dense-intensity"]
    assert "1,024 sequences" in figure.locator(".bat-words").inner_text()
    assert slider.get_attribute("aria-valuetext") == "1,024"
    assert "scores and mixing" in figure.locator("svg").get_attribute("aria-label")


def test_memory_explorer_says_where_a_model_has_no_positions(page):
    figure = page.locator(".mem").first
    slide(figure, "length", memory.LENGTHS.index(4096))
    for name, has_end in (("GPT-2 XL", True), ("Llama 2 7B", False)):
        figure.locator("select[data-ask=model]").select_option(label=name)
        assert ("positions for 1,024 tokens only" in figure.locator(".mem-verdict").inner_text()) == has_end
