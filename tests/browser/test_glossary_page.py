"""A word of the glossary says what it means: on pointing, on focus, on a tap; Escape sends it away."""

import pytest
from book_browser import CHAPTER, violations
from playwright.sync_api import Locator, Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.book]
WORDS = ".bd-article a:has(> .std-term)"


@pytest.fixture
def chapter(html):
    return (html / CHAPTER).as_uri()


def word(page: Page, name: str) -> Locator:
    return page.locator(WORDS).filter(has_text=name).first


def tip(page: Page) -> Locator:
    return page.get_by_role("tooltip")


def test_pointing_at_a_word_shows_what_the_glossary_says(visit, chapter, html):
    with visit(chapter, formulas=True) as seen:
        page = seen.page
        expect(tip(page)).to_be_hidden()
        word(page, "convex hull").hover()
        expect(tip(page)).to_be_visible()
        shown = tip(page).inner_text()
        expect(word(page, "convex hull")).to_have_attribute("aria-describedby", "glossary-tip")
        tip(page).hover()  # stays while the pointer is on it
        expect(tip(page)).to_be_visible()
        page.locator(".bd-article h1").hover()
        expect(tip(page)).to_be_hidden()
        assert word(page, "convex hull").get_attribute("aria-describedby") is None
        requests = [address for address in seen.requests if not address.startswith(("file:", "data:", "blob:"))]
        assert requests == [] and seen.complaints == []
        page.goto((html / "book/glossary.html").as_uri())
        definition = page.locator("#term-convex-hull + dd").inner_text()
    assert shown.split("\n", 1)[0] == "convex hull" and shown.split("\n", 1)[1].strip() == definition.strip()


@pytest.mark.slow
def test_formulas_of_a_definition_are_typeset(visit, chapter):
    with visit(chapter, formulas=True) as seen:
        word(seen.page, "saturated").scroll_into_view_if_needed()
        word(seen.page, "softmax").hover()
        expect(tip(seen.page).locator("mjx-container")).to_have_count(1)


@pytest.mark.slow
def test_a_word_that_has_the_focus_is_explained_until_escape(visit, chapter):
    with visit(chapter, formulas=True) as seen:
        page = seen.page
        target = word(page, "dot product")
        target.evaluate("one => one.scrollIntoView({ block: 'center' })")
        page.keyboard.press("Tab")  # from here on the keyboard is in use
        target.focus()
        expect(tip(page)).to_be_visible()
        expect(target).to_have_attribute("aria-describedby", "glossary-tip")
        page.keyboard.press("Escape")
        expect(tip(page)).to_be_hidden()
        expect(target).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("Shift+Tab")
        expect(tip(page)).to_be_visible()
        page.keyboard.press("Tab")
        expect(target).not_to_have_attribute("aria-describedby", "glossary-tip")


def test_a_tap_explains_and_a_second_tap_follows(visit, chapter):
    with visit(chapter, width=390, has_touch=True) as seen:
        page = seen.page
        for name in ("softmax", "attention weights", "convex hull"):
            word(page, name).tap()
            expect(tip(page)).to_be_visible()
            expect(tip(page)).to_contain_text(name)
            box = tip(page).bounding_box()
            assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390 and 0 <= box["y"]
            assert box["y"] + box["height"] <= 900 and page.evaluate("scrollX") == 0
        assert page.url == chapter
        word(page, "convex hull").tap()
        page.wait_for_url("**/glossary.html#term-convex-hull")


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_explained_word_is_accessible_and_is_not_printed(visit, chapter, theme):
    with visit(chapter, theme=theme, alone=True) as seen:
        page = seen.page
        word(page, "attention weights").hover()
        expect(tip(page)).to_be_visible()
        assert violations(page, ".slg-tip", ".bd-article p") == []
        page.emulate_media(media="print")
        expect(tip(page)).to_be_hidden()
