"""A link to an interactive figure carries its settings: who opens it sees what was shown where it was copied."""

import re
from typing import Any

import pytest
from book_browser import HTML
from chromium_hands import Hands
from figure_ways import ORACLES, WAYS
from playwright.sync_api import expect
from working import read, root, strike, where

pytestmark = [pytest.mark.browser, pytest.mark.book]

NUMBERED = sorted(set(WAYS) - {"aln", "fst"})
"""Figures with a caption; the others stand on the first page, which offers no link to them."""
ADDRESS = "figure => softlookupSettings(figure.parentElement) + '#' + figure.parentElement.previousElementSibling.id"
ASIDE = {"said", "words", "about", "drawn", "times"}
"""What a figure says of the cell that was pointed at last, or has drawn: no control's setting."""


def settled(engine: Hands, name: str) -> dict[str, Any]:
    return {key: value for key, value in read(engine, name).items() if key not in ASIDE}


@pytest.mark.one_in(14)
@pytest.mark.parametrize("name", NUMBERED)
def test_link_sets_the_figure_as_it_was(visit, name):
    page = (HTML / ORACLES[name].page).as_uri()
    with visit(page) as seen:
        engine = Hands(seen.page)
        for css, keys in WAYS[name].keys:
            strike(engine, name, css, keys)
        for place in WAYS[name].press:
            engine.point(("move", *where(engine, name, place)), ("down",), ("up",))
        shown = settled(engine, name)
        address = seen.page.locator(root(name)).first.evaluate(ADDRESS)
    assert len(address) < 180 and address.startswith("?set="), address
    with visit(page + address) as seen:
        assert settled(Hands(seen.page), name) == shown, address
        ORACLES[name].agrees(read(Hands(seen.page), name))
        assert seen.page.locator(root(name)).first.evaluate(ADDRESS) == address
        assert seen.complaints == []


def test_link_is_copied_with_settings_and_what_it_cannot_set_is_passed_over(visit):
    page = (HTML / ORACLES["svt"].page).as_uri()
    permissions = ["clipboard-read", "clipboard-write"]
    with visit(f"{page}?set=way:unknown,slots:2,budget:7,nothing:1#figure-16-1", permissions=permissions) as seen:
        figure = seen.page.locator(root("svt"))
        assert figure.locator("button[data-way=static]").get_attribute("aria-pressed") == "true"
        expect(figure.locator("[data-ask=slots]")).to_have_value("2")
        figure.locator("button[data-way=continuous]").click()
        seen.page.get_by_role("button", name="Share Figure 16.1").click()
        seen.page.get_by_role("button", name="Copy link").click()
        expect(seen.page.locator(".shr-state")).to_have_text("Link copied")
        copied = seen.page.evaluate("navigator.clipboard.readText()")
        assert re.sub(r".*\.html", "", copied) == "?set=way:continuous,slots:2#figure-16-1"
        assert seen.complaints == []
