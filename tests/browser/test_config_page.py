"""The figure that reads a config.json, on its page: whatever is chosen, its numbers are the library's."""

import pytest

from softlookup.roofline.config_json import QUOTED, cached_positions
from softlookup_course.widgets import config_reader

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/15_what_changed_more.html"


@pytest.fixture
def page(stands):
    return stands.page


def slide(figure, index):
    figure.locator("input[data-ask=length]").evaluate(
        "(one, value) => { one.value = value; one.dispatchEvent(new Event('input', { bubbles: true })); }", str(index)
    )


def test_every_model_has_the_librarys_numbers_at_three_lengths(page):
    figure = page.locator(".cfg")
    figure.wait_for()
    for name, config in QUOTED.items():
        figure.locator("select[data-ask=model]").select_option(name)
        for index, each in ((0, 2), (5, 1), (len(config_reader.LENGTHS) - 1, 2)):
            slide(figure, index)
            figure.locator("select[data-ask=each]").select_option(str(each))
            expected = config_reader.describe(config, config_reader.LENGTHS[index], each)
            data = figure.evaluate("one => ({...one.dataset})")
            assert {key: int(data[key]) for key in expected} == expected, (name, index)
            layers = figure.locator("[data-held]").evaluate_all("all => all.map((one) => +one.dataset.held)")
            assert layers == cached_positions(config, config_reader.LENGTHS[index])


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
