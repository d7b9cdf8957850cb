"""Every page in Firefox and in WebKit: what stands in one browser has to stand in the others."""

import pytest
from book_browser import CHAPTER, NOT_BUILT
from page_state import CONTENT, LAYOUT, SEARCH, UNFOLD, only_findings

from benchmarks.site.engines import Engine

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


def test_page_by_file_stands_in_the_other_engines(engine, any_page):
    assert any_page != NOT_BUILT
    assert look(engine, engine.files + any_page) == {}


def test_page_from_a_server_stands_in_the_other_engines(engine, any_page):
    assert any_page != NOT_BUILT
    assert look(engine, engine.served + any_page) == {}


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
