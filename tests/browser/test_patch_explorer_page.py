"""The patch explorer in its chapter: what is said of a patch."""

import pytest
from oracles import widget_state

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/13_beyond_text.html"


@pytest.fixture
def explorer(stands):
    return stands.page.locator(".pat").first


def test_a_patch_tells_its_ink_and_its_number_and_is_marked_in_both_tables(explorer):
    picture = widget_state(PAGE, "pictures")["pictures"][0]
    explorer.locator("td[data-grid=picture][data-row='1'][data-column='2']").click()
    words = explorer.locator(".pat-words").inner_text()
    assert words.startswith("Patch 6 ") and "ink " + " ".join(map(str, picture["patches"][6])) in words
    assert explorer.locator("td.pat-marked").count() == 2
