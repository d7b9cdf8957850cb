"""The list of the slides' statements: closed at first, it opens on what is wrong, or on a link's section."""

import pytest
from chromium_hands import Hands

from softlookup_course.slide_audit import items
from softlookup_course.slide_audit.listing import by_lecture, chapter_of

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/14_slides_recomputed.html"
ITEMS = by_lecture(items())
WRONG = [item.id for item in ITEMS if item.verdict == "wrong"]


def address_of_list(html):
    return f"{(html / PAGE).as_uri()}#slides-all"


def shown(page):
    return page.eval_on_selector_all(".slf-audit article:not([hidden])", "all => all.map((one) => one.id)")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("label", ["one-head-slide-2", "roofline-sheet"])
def test_a_sections_link_shows_its_statements_alone(html, visit, label):
    ids = [item.id for item in ITEMS if item.section.endswith(f"#{label}")]
    with visit(f"{(html / PAGE).as_uri()}?section={label}#slides-all") as seen:
        assert shown(seen.page) == ids
        assert f"{len(ids)} of {len(ITEMS)}" in seen.page.locator(".slf-audit [role=status]").inner_text()
        every = seen.page.get_by_role("button", name="Show all", exact=True)
        every.click()
        assert len(shown(seen.page)) == len(ITEMS)
        assert not every.is_visible()


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("address", ["", "#slides-all", "?section=nowhere#slides-all"])
def test_the_list_opens_on_what_is_wrong_and_folded(html, visit, address):
    with visit(f"{(html / PAGE).as_uri()}{address}") as seen:
        assert shown(seen.page) == WRONG
        whole = seen.page.locator(".slf-audit details.whole")
        if not address:
            assert not seen.page.locator(f"#{WRONG[0]}").is_visible()
            whole.locator("summary").first.click()
        assert whole.get_attribute("open") is not None
        assert seen.page.locator(".slf-audit article details[open]").count() == 0
        first = seen.page.locator(f"#{WRONG[0]}")
        first.locator("summary").click()
        assert first.get_by_text("Stated:").is_visible()


def test_a_link_in_a_chapter_leads_to_its_statements(html, visit):
    with visit((html / "book/04_one_head_practice.html").as_uri()) as seen:
        seen.page.locator(".lines-switch button").click()
        seen.page.locator(".on-the-slides a").first.click()
        seen.page.wait_for_url("**section=**")
        assert 0 < len(shown(seen.page)) < len(ITEMS)


@pytest.mark.slow
def test_a_link_to_one_statement_shows_it_whatever_was_narrowed(html, visit):
    with visit(f"{(html / PAGE).as_uri()}?section=roofline-sheet#E013") as seen:
        assert seen.page.locator("#E013").get_by_text("Stated:").is_visible()


PRESSED = ".slf-audit .pick [aria-pressed=true]"
"""The chip that is pressed in each row."""


def expected_ids(page):
    """The statements that the pressed chips leave, as the library sorts them."""
    verdict, lecture, chapter = page.eval_on_selector_all(PRESSED, "all => all.map((one) => one.dataset.value)")
    return [
        item.id
        for item in ITEMS
        if item.lecture == (lecture or item.lecture)
        and chapter_of(item) == (chapter or chapter_of(item))
        and item.verdict == (verdict or item.verdict)
    ]


@pytest.mark.slow
def test_the_chips_of_the_filter_are_reached_and_worked_by_keys(html, visit):
    with visit(address_of_list(html)) as seen:
        page = seen.page
        page.get_by_role("group", name="Verdict").get_by_role("button").first.click()
        for number in range(3):
            row = page.locator(".slf-audit .pick").nth(number)
            before = shown(page)
            row.get_by_role("button").first.focus()
            page.keyboard.press("Tab")
            page.keyboard.press("Space")
            assert row.locator("[aria-pressed=true]").get_attribute("data-value") != ""
            assert shown(page) == expected_ids(page) and set(shown(page)) < set(before)
            assert f"{len(shown(page))} of {len(ITEMS)}" in page.locator(".slf-audit [role=status]").inner_text()
            page.keyboard.press("Shift+Tab")
            page.keyboard.press("Enter")
            assert shown(page) == [item.id for item in ITEMS]


@pytest.mark.slow
def test_chips_of_several_rows_narrow_the_list_together(html, visit):
    with visit(address_of_list(html)) as seen:
        page = seen.page
        for name, chip in (("Verdict", "wrong"), ("Lecture", "004"), ("Chapter", "4")):
            row = page.get_by_role("group", name=name)
            row.locator("button", has_text=chip).first.click()
            assert row.locator("[aria-pressed=true]").count() == 1
        assert 0 < len(shown(page)) < len(ITEMS) and shown(page) == expected_ids(page)


def test_a_statement_names_the_section_that_explains_it(html, visit):
    with visit((html / PAGE).as_uri()) as seen:
        links = seen.page.locator(".slf-audit article p a:not([href^='bibliography'])")
        assert links.count() == len(ITEMS) and len(set(links.all_text_contents())) > 20


@pytest.mark.slow
def test_a_tap_widens_the_list_on_a_phone_and_a_swipe_scrolls_it(html, visit):
    address = f"{(html / PAGE).as_uri()}?section=roofline-sheet#slides-all"
    with visit(address, width=390, has_touch=True, is_mobile=True) as seen:
        page, engine = seen.page, Hands(seen.page, finger=True)
        page.get_by_role("button", name="Show all").tap()
        assert len(shown(page)) == len(ITEMS)
        page.locator(".slf-audit .pick").last.get_by_role("button").nth(2).tap()
        assert shown(page) == expected_ids(page) != [item.id for item in ITEMS]
        scrolled = page.evaluate("scrollY")
        engine.point(("move", 195, 700), ("down",), ("move", 195, 400), ("up",))
        page.wait_for_function(f"scrollY > {scrolled} + 60")
