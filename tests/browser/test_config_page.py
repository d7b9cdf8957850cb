"""The figure that reads a config.json, on its page: its sentence, and its slider by keys."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/15_what_changed_more.html"


@pytest.fixture
def page(stands):
    return stands.page


def test_the_sentence_names_what_windows_save_and_the_slider_works_by_keys(page):
    figure = page.locator(".cfg")
    words = figure.locator(".cfg-words")
    assert "Gemma 3 1B has 1 billion parameters" in words.text_content()
    assert "times less than full heads without windows" in words.text_content()
    before = figure.get_attribute("data-length")
    figure.locator("input[data-ask=length]").press("ArrowRight")
    assert int(figure.get_attribute("data-length")) == 2 * int(before)
    figure.locator("select[data-ask=model]").select_option("DeepSeek-V3")
    assert "of which a token meets 37.6 billion" in words.text_content()
