"""Searching in the book: on the search page and in the dialog, from the disk and from a server, by keyboard too."""

import re

import pytest
from book_browser import CHAPTER, violations
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.book]
SEARCH = "search.html?q=sqrt+dk"
VIEWS = [("light", 1280), ("dark", 390)]


def place(origin, html, server, page):
    return f"{html.as_uri()}/{page}" if origin == "disk" else server + page


def first(page: Page):
    return page.locator(".sls-list a").first


def open_dialog(page: Page, query: str) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type(query)
    expect(first(page)).to_be_visible()


@pytest.mark.one_in(8)
@pytest.mark.parametrize("origin", ["disk", "server"])
@pytest.mark.parametrize(("theme", "width"), VIEWS)
def test_search_page_shows_the_section_first(html, server, visit, origin, theme, width):
    with visit(place(origin, html, server, SEARCH), theme=theme, width=width) as seen:
        page = seen.page
        expect(first(page)).to_have_text("Why divide by the square root of H?")
        assert first(page).get_attribute("href").endswith("book/04_one_head.html#one-head-scale")
        expect(page.get_by_role("status")).to_have_text(re.compile(r"^\d+ sections for “sqrt dk”\."))
        shown = page.locator(".sls-text").all_inner_texts()
        assert "√H" in page.locator(".sls-text mark").first.inner_text() and len(shown) > 3
        assert not [text for text in shown if re.search(r"\\[a-z]|\$", text)]
        high = page.locator(".sls-text").evaluate_all("all => Math.max(...all.map((one) => one.offsetHeight))")
        assert high < 50  # two lines
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(page) == [] and seen.complaints == []
        page.locator(".bd-search-container input").fill("kv cache")
        expect(first(page)).to_contain_text("KV cache")


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("origin", ["disk", "server"])
def test_nothing_of_the_search_is_loaded_before_somebody_searches(html, server, visit, origin):
    with visit(place(origin, html, server, CHAPTER)) as seen:
        loaded = [
            address for address in seen.requests if re.search(r"_static/search/|searchindex|searchtools", address)
        ]
        assert loaded == []
        open_dialog(seen.page, "gqa")
        names = [address.rpartition("/")[2] for address in seen.requests if "_static/search/" in address]
        assert names == ["search.js", "sections.js"] and seen.complaints == []


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize(("theme", "width"), VIEWS)
def test_dialog_shows_sections_while_one_types_and_keys_lead_to_them(html, visit, theme, width):
    with visit((html / CHAPTER).as_uri(), theme=theme, width=width) as seen:
        page = seen.page
        open_dialog(page, "why divide by square root")
        expect(first(page)).to_have_text("Why divide by the square root of H?")
        box = page.locator("#pst-search-dialog").bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width
        assert violations(page, "#pst-search-dialog") == []
        page.keyboard.press("ArrowDown")
        expect(first(page)).to_be_focused()
        page.keyboard.press("ArrowUp")
        expect(page.locator("#pst-search-dialog input")).to_be_focused()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url("**/04_one_head.html#one-head-scale")
        expect(page.locator("#pst-search-dialog")).to_be_hidden()


@pytest.mark.slow
def test_enter_in_the_dialog_lists_more_on_the_search_page(html, visit):
    with visit((html / CHAPTER).as_uri()) as seen:
        open_dialog(seen.page, "softmax")
        few = seen.page.locator(".sls-list li").count()
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_url("**/search.html?q=softmax")
        expect(first(seen.page)).to_be_visible()
        assert seen.page.locator(".sls-list li").count() > few


def test_nothing_found_is_said(html, visit):
    with visit((html / "search.html").as_uri() + "?q=qqqqzzzz") as seen:
        expect(seen.page.get_by_role("status")).to_contain_text("Nothing found for “qqqqzzzz”")


def test_magnifier_stands_beside_the_first_letter(html, visit):
    with visit((html / SEARCH.partition("?")[0]).as_uri()) as seen:
        icon = seen.page.locator(".bd-search-container .fa-magnifying-glass").bounding_box()
        field = seen.page.locator(".bd-search-container input").bounding_box()
        assert icon and field and icon["x"] + icon["width"] <= field["x"]


def test_without_scripts_the_page_says_where_else_to_look(html, visit):
    with visit((html / "search.html").as_uri(), java_script_enabled=False) as seen:
        expect(seen.page.locator(".bd-search-container a")).to_have_attribute("href", "book/glossary.html")
