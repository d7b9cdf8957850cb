"""The figure of chapter 20 on a bare page: by hand, on a phone, for axe."""

import pytest
from bare_page import BarePages
from book_browser import axe_findings
from chromium_hands import Hands
from ipywidgets.embed import embed_data
from working import drag_all, press_all, strike_all

from softlookup_course.widgets import AnswerShift

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 360, "height": 800}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def show(chromium, tmp_path):
    pages = BarePages(chromium, tmp_path)
    yield lambda **options: pages.show(embed_data([AnswerShift()], drop_defaults=False), ".ans", **options)
    pages.close()


def test_figure_obeys_mouse_and_keys_and_shows_the_librarys_numbers(show):
    hands = Hands(show())
    press_all(hands, "ans")
    drag_all(hands, "ans")
    strike_all(Hands(show()), "ans")


def test_figure_obeys_a_finger_on_a_narrow_phone(show):
    page = show(**PHONE)
    hands = Hands(page, finger=True)
    press_all(hands, "ans")
    drag_all(hands, "ans")
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.one_in(2)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figure_passes_axe(show, theme):
    page = show(theme=theme)
    assert axe_findings(page, ".ans") == []
