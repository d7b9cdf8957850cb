"""The list of the slides' statements: narrowed to one section by the link that stands there, and widened again."""

import pytest

from softlookup.audit import items

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
