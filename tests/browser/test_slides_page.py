"""The list of the slides' statements: narrowed to one section by the link that stands there, and widened again."""

import pytest
from chromium_hands import Hands

from softlookup.slide_audit import items
from softlookup.slide_audit.listing import chapter_of

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/14_slides_recomputed.html"
ITEMS = items()


def shown(page):
    return page.eval_on_selector_all(".slf-audit article:not([hidden])", "all => all.map((one) => one.id)")


@pytest.mark.parametrize("label", ["one-head-slide-2", "roofline-sheet"])
def test_a_sections_link_shows_its_statements_alone(html, visit, label):
    own = [one.id for one in ITEMS if one.section.endswith(f"#{label}")]
    with visit(f"{(html / PAGE).as_uri()}?section={label}#slides-all") as seen:
        assert shown(seen.page) == own
        assert f"{len(own)} of {len(ITEMS)}" in seen.page.locator(".slf-audit [role=status]").inner_text()
        seen.page.get_by_role("button", name="Show all").click()
        assert len(shown(seen.page)) == len(ITEMS)
        assert not seen.page.get_by_role("button", name="Show all").is_visible()


def test_a_section_that_nobody_knows_hides_nothing(html, visit):
    with visit(f"{(html / PAGE).as_uri()}?section=nowhere#slides-all") as seen:
        assert len(shown(seen.page)) == len(ITEMS)


def test_a_link_in_a_chapter_leads_to_its_statements(html, visit):
    with visit((html / "book/04_one_head_practice.html").as_uri()) as seen:
        seen.page.locator(".on-the-slides a").first.click()
        seen.page.wait_for_url("**section=**")
        assert 0 < len(shown(seen.page)) < len(ITEMS)


def test_a_link_to_one_statement_shows_it_whatever_was_narrowed(html, visit):
    with visit(f"{(html / PAGE).as_uri()}?section=roofline-sheet#E013") as seen:
        assert seen.page.locator("#E013").is_visible()


def wanted(page):
    """The statements that the three lists leave, as the library sorts them."""
    lecture, chapter, verdict = page.eval_on_selector_all(".slf-audit select", "all => all.map((one) => one.value)")
    return [
        one.id
        for one in ITEMS
        if one.lecture in (lecture or one.lecture)
        and chapter_of(one) in (chapter or chapter_of(one))
        and one.verdict in (verdict or one.verdict)
    ]


def test_the_lists_of_the_filter_are_reached_and_worked_by_keys(html, visit):
    with visit((html / PAGE).as_uri()) as seen:
        page = seen.page
        page.locator(".slf-audit select").first.focus()
        for number in range(3):
            before = shown(page)
            assert (
                page.evaluate("[...document.querySelectorAll('.slf-audit select')].indexOf(document.activeElement)")
                == number
            )
            page.keyboard.press("ArrowDown")
            assert shown(page) == wanted(page) and set(shown(page)) < set(before)
            assert f"{len(shown(page))} of {len(ITEMS)}" in page.locator(".slf-audit [role=status]").inner_text()
            if number < 2:
                page.keyboard.press("Home")
                assert shown(page) == [one.id for one in ITEMS]
            page.keyboard.press("Tab")


def test_a_tap_widens_the_list_on_a_phone_and_a_swipe_scrolls_it(html, visit):
    address = f"{(html / PAGE).as_uri()}?section=roofline-sheet#slides-all"
    with visit(address, width=390, has_touch=True, is_mobile=True) as seen:
        page, engine = seen.page, Hands(seen.page, finger=True)
        page.get_by_role("button", name="Show all").tap()
        assert len(shown(page)) == len(ITEMS)
        page.locator(".slf-audit select").last.select_option(index=2)
        assert shown(page) == wanted(page) != [one.id for one in ITEMS]
        scrolled = page.evaluate("scrollY")
        engine.point(("move", 195, 700), ("down",), ("move", 195, 400), ("up",))
        page.wait_for_function(f"scrollY > {scrolled} + 60")
