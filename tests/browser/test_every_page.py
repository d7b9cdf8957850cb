"""Every page of the book, as a reader's browser meets it."""

import pytest
from book_browser import AXE, CHAPTER, FRONT_DOOR, NOT_BUILT, open_everything

pytestmark = [pytest.mark.browser, pytest.mark.book]


def address(html, page):
    assert page != NOT_BUILT, "the book is not built: run `make book` first"
    return (html / page).as_uri()


def test_page_by_file_asks_for_nothing_outside_and_complains_of_nothing(html, visit, any_page):
    with visit(address(html, any_page)) as seen:
        outside = [url for url in seen.requests if not url.startswith((html.as_uri(), "data:", "blob:"))]
        assert seen.requests and outside == []
        assert seen.complaints == []


def test_page_from_a_server_asks_for_nothing_outside_and_complains_of_nothing(html, server, visit, any_page):
    assert any_page != NOT_BUILT
    with visit(server + any_page) as seen:
        outside = [url for url in seen.requests if not url.startswith((server, "data:", "blob:"))]
        assert seen.requests and outside == []
        assert seen.complaints == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_page_passes_axe(html, visit, any_page, theme):
    with visit(address(html, any_page), theme=theme) as seen:
        open_everything(seen.page)
        seen.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = seen.page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        told = [f"{v['id']}: {v['help']}: {node['html'][:200]}" for v in found for node in v["nodes"]]
        assert told == []


def test_page_fits_a_small_phone(html, visit, any_page):
    with visit(address(html, any_page), width=360) as seen:
        open_everything(seen.page)
        wide = seen.page.evaluate(
            """() => document.documentElement.scrollWidth <= 360 ? [] : [...document.querySelectorAll('main *')]
                 .filter((one) => one.getBoundingClientRect().right > 361).map((one) => one.outerHTML.slice(0, 120))"""
        )
        assert wide == []
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_formulas_are_typeset_with_the_books_own_fonts(html, visit, any_page):
    with visit(address(html, any_page)) as seen:
        state = seen.page.evaluate(
            """() => ({
                 bare: [...document.querySelectorAll('.math')].filter((one) => !one.querySelector('mjx-container'))
                   .map((one) => one.textContent),
                 wrong: [...document.querySelectorAll('mjx-merror, [data-mjx-error]')].map((one) => one.textContent),
                 all: document.querySelectorAll('.math').length,
                 fonts: [...document.fonts].filter((font) => font.status === 'loaded' && font.family.startsWith('MJX'))
                   .length,
                 broken: [...document.fonts].filter((font) => font.status === 'error').map((font) => font.family),
               })"""
        )
        assert state["bare"] == [] and state["wrong"] == [] and state["broken"] == []
        assert state["fonts"] > 0 or state["all"] == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_only_what_scrolls_has_a_tab_stop_and_fades_where_there_is_more(html, visit, any_page, width):
    with visit(address(html, any_page), width=width) as seen:
        told = seen.page.evaluate(
            """() => ({
                 formulas: [...document.querySelectorAll('.math')].filter((one) => one.scrollWidth > one.clientWidth + 1
                   || one.tabIndex >= 0).map((one) => one.textContent.slice(0, 60)),
                 still: [...document.querySelectorAll('.bd-article .scrolls')].filter((one) => one.tabIndex < 0).length,
                 plain: [...document.querySelectorAll('.bd-article .scrolls:not(.more-right)')].length,
                 cut: [...document.querySelectorAll('.bd-article pre:not(.scrolls)')]
                   .filter((one) => one.scrollWidth > one.clientWidth + 1).length,
               })"""
        )
        assert told == {"formulas": [], "still": 0, "plain": 0, "cut": 0}
        part = seen.page.locator(".bd-article .scrolls:visible").first
        if part.count():
            part.evaluate("one => { one.scrollLeft = one.scrollWidth; }")
            seen.page.wait_for_function(
                "() => document.querySelector('.bd-article .scrolls.more-left:not(.more-right)') !== null"
            )


@pytest.mark.parametrize("width", [360, 390, 1280])
def test_no_sign_is_parted_from_its_formula_by_the_end_of_a_line(html, visit, any_page, width):
    with visit(address(html, any_page), width=width) as seen:
        parted = seen.page.evaluate(
            """() => [...document.querySelectorAll('.bd-article span.math')].flatMap((one) => {
                 const middle = (node, from, to) => {
                   const range = document.createRange();
                   range.setStart(node, from);
                   range.setEnd(node, to);
                   return range.getBoundingClientRect();
                 };
                 const box = one.getBoundingClientRect();
                 const [before, after] = [one.previousSibling, one.nextSibling];
                 const text = (node) => node?.nodeType === Node.TEXT_NODE ? node.data : '';
                 const open = /[([]$/.test(text(before)) && middle(before, before.length - 1, before.length);
                 const close = /^[).,;:?!]/.test(text(after)) && middle(after, 0, 1);
                 return (open && open.left > box.left) || (close && close.right < box.right - 3)
                   ? [one.parentElement.textContent.slice(0, 60)] : [];
               })"""
        )
        assert parted == []


def test_first_visitor_gets_a_theme_at_once_and_no_complaint(html, chromium):
    context = chromium.new_context(color_scheme="dark")
    page, said = context.new_page(), []
    page.on("console", lambda one: one.type in {"error", "warning"} and said.append(one.text))
    page.goto(address(html, CHAPTER), wait_until="load")
    assert page.evaluate("({...document.documentElement.dataset})")["theme"] == "dark"
    assert said == []
    context.close()


def test_icons_come_from_the_small_font(html, visit):
    with visit(address(html, "book/index.html")) as seen:
        loaded = "[...document.fonts].filter((font) => font.status === 'loaded').map((font) => font.family)"
        assert "Font Awesome 6 Free" in [name.strip('"') for name in seen.page.evaluate(loaded)]
        fonts = [url for url in seen.requests if ".woff" in url and "MathJax" not in url]
        assert [url.rsplit("/", 1)[1] for url in fonts] == ["icons.woff"]


def test_front_door_leads_to_the_landing_page(html, chromium):
    page = chromium.new_page()
    page.goto(address(html, FRONT_DOOR), wait_until="commit")
    page.wait_for_url("**/book/index.html")
    assert page.locator("article h1").inner_text().startswith("Soft Lookup")
    page.close()


def test_search_finds_the_chapter_without_a_server(html, visit):
    with visit(address(html, "search.html") + "?q=softmax") as seen:
        seen.page.wait_for_selector("#search-results li a")
        links = seen.page.locator("#search-results li a").evaluate_all("all => all.map((one) => one.href)")
        assert any("04_one_head" in link for link in links)


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


@pytest.mark.parametrize("width", [1280, 1600])
def test_text_is_as_wide_before_the_list_at_its_right_has_come(html, visit, width):
    with visit(address(html, CHAPTER), width=width) as seen:
        wide = "document.querySelector('.bd-article-container').getBoundingClientRect().width"
        whole = seen.page.evaluate(wide)
        seen.page.evaluate("document.querySelector('.bd-sidebar-secondary').remove()")
        assert seen.page.evaluate(wide) == whole > 600
