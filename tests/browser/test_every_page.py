"""Every page of the book, as a reader's browser meets it."""

import pytest
from book_browser import CHAPTER, FRONT_DOOR, NOT_BUILT, built_pages, shifted, violations
from page_state import CONTENT, LAYOUT, SCROLLED, UNFOLD, only_findings

from benchmarks.site.weights import LIMIT_SHIFT

pytestmark = [pytest.mark.browser, pytest.mark.book]

VIEWS = [("light", 1280), ("dark", 390), ("dark", 1280), ("light", 390)]
WIDTHS, QUICK = (360, 390, 1280), (390, 1280)
"""The layout is looked at in all of these, but in a quick run only in those of the views."""


def views():
    """Give every sixth page in one view, in the long run all pages in all views. Each run has all kinds of views."""
    for number, page in enumerate(built_pages()):
        seldom = number % 6
        for kind, (theme, width) in enumerate(VIEWS):
            later = (pytest.mark.slow,) if seldom or number // 6 % len(VIEWS) != kind else ()
            axe = bool(later) or number % 18 == 0  # as long as all else: in the quick run every third of its pages
            widths = (width, *(other for other in WIDTHS if other != width and (later or other in QUICK)))
            yield pytest.param(page, theme, widths, axe, marks=later, id=f"{page}-{theme}-{width}")


def served():
    """Give every thirtieth page, and in the long run all of them."""
    for number, page in enumerate(built_pages()):
        yield pytest.param(page, marks=(pytest.mark.slow,) if number % 30 else (), id=page)


def address(html, page):
    assert page != NOT_BUILT, "the book is not built: run `make book` first"
    return (html / page).as_uri()


def outside(seen, home):
    return [url for url in seen.requests if not url.startswith((home, "data:", "blob:"))]


def findings(seen, widths, home, *, axe):
    """Look at all of a page that stands open, in one visit; give what is wrong by the name of the check."""
    page = seen.page
    problems = {"asks for something outside": outside(seen, home)}
    page.evaluate(UNFOLD)
    problems |= page.evaluate(CONTENT)
    if axe:
        problems["axe"] = violations(page)
    for at in widths:
        page.set_viewport_size({"width": at, "height": 900})
        problems |= {f"{name}, at {at} pixels": elements for name, elements in page.evaluate(LAYOUT).items()}
    problems["does not fade at its other end"] = page.evaluate(SCROLLED)
    problems["complaints"] = seen.complaints
    return only_findings(problems)


@pytest.mark.parametrize(("page", "theme", "widths", "axe"), list(views()))
def test_page_stands_whole_in_this_view(html, visit, page, theme, widths, axe):
    with visit(address(html, page), theme, widths[0], formulas=True) as seen:
        assert seen.requests
        assert findings(seen, widths, html.as_uri(), axe=axe) == {}


@pytest.mark.parametrize("page", list(served()))
def test_page_from_a_server_asks_for_nothing_outside_and_complains_of_nothing(html, server, visit, page):
    assert page != NOT_BUILT
    with visit(server + page, formulas=True) as seen:
        problems = {"asks for something outside": outside(seen, server)}
        problems |= seen.page.evaluate(CONTENT)
        assert seen.requests and only_findings(problems | {"complaints": seen.complaints}) == {}


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1366])
@pytest.mark.parametrize("page", built_pages())
def test_page_does_not_move_while_it_opens(server, chromium, page, width):
    assert page != NOT_BUILT
    assert shifted(chromium, server + page, width) < LIMIT_SHIFT


def test_first_visitor_gets_a_theme_at_once_and_no_complaint(html, chromium):
    context = chromium.new_context(color_scheme="dark")
    page, messages = context.new_page(), []
    page.on("console", lambda message: message.type in {"error", "warning"} and messages.append(message.text))
    page.goto(address(html, CHAPTER), wait_until="load")
    assert page.evaluate("({...document.documentElement.dataset})")["theme"] == "dark"
    assert messages == []
    context.close()


def test_icons_come_from_the_small_font(html, visit):
    with visit(address(html, "book/index.html")) as seen:
        loaded = "[...document.fonts].filter((font) => font.status === 'loaded').map((font) => font.family)"
        assert "Font Awesome 6 Free" in [name.strip('"') for name in seen.page.evaluate(loaded)]
        names = [url.rsplit("/", 1)[1] for url in seen.requests if ".woff" in url and "MathJax" not in url]
        assert [name for name in names if not name.startswith("ibm-plex-")] == ["icons.woff"]


def test_front_door_leads_to_the_landing_page(html, fresh):
    fresh.goto(address(html, FRONT_DOOR), wait_until="commit")
    fresh.wait_for_url("**/book/index.html")
    assert fresh.locator("article h1").inner_text().startswith("Soft Lookup")


def test_figures_change_with_the_theme(html, visit):
    with visit(address(html, CHAPTER), theme="light") as seen:
        pairs = seen.page.locator("figure:has(img.only-light):has(img.only-dark)")
        assert pairs.count() > 0
        for theme in ("light", "dark"):
            seen.page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
            other = {"light": "dark", "dark": "light"}[theme]
            shown = pairs.evaluate_all(
                f"all => all.map((one) => [one.querySelector('.only-{theme}'), one.querySelector('.only-{other}')]"
                ".map((image) => getComputedStyle(image).display !== 'none'))"
            )
            assert all(pair == [True, False] for pair in shown)


def test_text_is_as_wide_before_the_list_at_its_right_has_come(html, visit):
    with visit(address(html, CHAPTER)) as seen:

        def widths():
            for width in (1280, 1600):
                seen.page.set_viewport_size({"width": width, "height": 900})
                yield seen.page.evaluate(
                    "document.querySelector('.bd-article-container').getBoundingClientRect().width"
                )

        whole = list(widths())
        seen.page.evaluate("document.querySelector('.bd-sidebar-secondary').remove()")
        assert list(widths()) == whole and min(whole) > 600
