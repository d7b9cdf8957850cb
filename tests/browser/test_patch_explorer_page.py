"""The patch explorer in its chapter: what it shows is what the library worked out, by mouse, keyboard and touch."""

import json

import pytest
from book_browser import axe_findings

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/13_beyond_text.html"


@pytest.fixture
def explorer(stands):
    return stands.page.locator(".pat").first


def pictures_of(explorer):
    """The pictures that the page was built with, as it keeps them."""
    states = explorer.page.locator("script[type='application/vnd.jupyter.widget-state+json']").first.text_content()
    for state in json.loads(states)["state"].values():
        if "pictures" in state["state"]:
            return state["state"]["pictures"]
    raise AssertionError("the page keeps no pictures")


def values(explorer):
    return explorer.evaluate("one => [...one.querySelectorAll('.pat-map td')].map((td) => +td.dataset.value)")


def test_every_map_of_every_picture_shows_the_librarys_numbers(explorer):
    pictures = pictures_of(explorer)
    assert len(pictures) >= 3
    for index, picture in enumerate(pictures):
        explorer.get_by_label("Picture").select_option(index=index)
        for number, view in enumerate(picture["views"]):
            explorer.get_by_label("Shown").select_option(index=number)
            assert values(explorer) == pytest.approx(view["values"])
            assert f"Read as {picture['best']}" in explorer.locator(".pat-about").inner_text()


def test_a_patch_tells_its_ink_and_its_number_and_is_marked_in_both_tables(explorer):
    picture = pictures_of(explorer)[0]
    explorer.locator("td[data-grid=picture][data-row='1'][data-column='2']").click()
    words = explorer.locator(".pat-words").inner_text()
    assert words.startswith("Patch 6 ") and "ink " + " ".join(map(str, picture["patches"][6])) in words
    assert explorer.locator("td.pat-marked").count() == 2


def test_patch_explorer_obeys_the_keyboard(explorer):
    explorer.locator("td[data-grid=map][data-row='0'][data-column='0']").focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown"):
        explorer.page.keyboard.press(key)
    assert explorer.locator(".pat-words").inner_text().startswith("Patch 9 ")


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_patch_explorer_passes_axe_with_a_patch_asked(html, visit, theme):
    with visit((html / PAGE).as_uri(), theme=theme) as seen:
        seen.page.locator(".pat td[data-grid=map]").nth(5).click()
        assert axe_findings(seen.page, ".pat") == []


@pytest.mark.slow
def test_a_tap_asks_a_patch_on_a_narrow_phone_without_scrolling_sideways(html, visit):
    with visit((html / PAGE).as_uri(), width=360, has_touch=True, is_mobile=True) as seen:
        explorer = seen.page.locator(".pat").first
        explorer.locator("td[data-grid=picture]").nth(3).tap()
        assert explorer.locator(".pat-words").inner_text().startswith("Patch 3 ")
        assert explorer.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
