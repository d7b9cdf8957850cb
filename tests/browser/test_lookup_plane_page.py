"""The plane of chapter 2: how its query moves, what is said of it, and what colours its ground has."""

import numpy as np
import pytest
from chromium_hands import Hands
from figure_ways import ORACLES
from working import read

from softlookup_course.widgets.lookup_plane import GRAIN, TAUS

pytestmark = [pytest.mark.browser, pytest.mark.book]

PAGE = "book/02_soft_lookup.html"
# Read from a copy: a canvas that is read again and again makes the browser grumble.
PIXELS = """(() => {
  const copy = document.createElement('canvas');
  Object.assign(copy, { width: one.width, height: one.height });
  const context = copy.getContext('2d', { willReadFrequently: true });
  context.drawImage(one, 0, 0);
  return context.getImageData(0, 0, one.width, one.height).data;
})()"""


@pytest.fixture
def plane(stands):
    yield stands.page.locator(".slp")
    assert [line for line in stands.complaints if "mode" not in line] == []


def shown(plane):
    """What is shown, which the library gives at that setting."""
    seen = read(Hands(plane.page), "slp")
    ORACLES["slp"].agrees(seen)
    return seen


def set_place(plane, place):
    plane.locator("input[type=range]").fill(str(place))


def test_orange_gets_the_weights_of_the_lecture(plane):
    plane.get_by_role("button", name="orange").click()
    assert shown(plane)["written"] == ["0.10", "0.10", "0.80"]


def test_query_follows_the_mouse_and_the_numbers_follow_the_query(plane):
    handle, page = plane.locator(".slp-handle .slp-query"), plane.page
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    seen = []
    for dx, dy in ((-30, -20), (-110, 40), (20, 70)):
        page.mouse.move(x + dx, y + dy)
        seen.append(shown(plane)["query"])
    page.mouse.up()
    page.mouse.move(x, y)
    assert len({tuple(query) for query in seen}) == 3 and shown(plane)["query"] == seen[-1]
    np.testing.assert_allclose(np.array(seen) / GRAIN, np.round(np.array(seen) / GRAIN), atol=1e-6)


def test_query_cannot_leave_the_plane(plane):
    plane.locator(".slp-handle").focus()
    for _ in range(20):
        plane.page.keyboard.press("Shift+ArrowRight")
    assert shown(plane)["query"][0] == 3.5
    shown(plane)


@pytest.mark.slow
def test_query_obeys_the_arrow_keys_and_says_where_it_is(plane):
    plane.get_by_role("button", name="nothing").click()
    handle = plane.locator(".slp-handle")
    handle.focus()
    for key in ("ArrowRight", "ArrowUp", "Shift+ArrowUp", "ArrowLeft", "Shift+ArrowLeft", "ArrowDown"):
        plane.page.keyboard.press(key)
    assert shown(plane)["query"] == [-0.5, 0.5]
    assert handle.get_attribute("aria-valuetext") == "sour −0.5, sweet 0.5"
    plane.page.keyboard.press("Home")
    assert shown(plane)["query"] == [0, 0]


def test_words_are_announced_and_name_the_best_key(plane):
    words = plane.locator(".slp-words")
    assert words.get_attribute("aria-live") == "polite"
    plane.get_by_role("button", name="orange").click()
    text = words.inner_text()
    assert text.startswith("Orange at (2.00, 1.00): lemon fits best.") and text.endswith("= (0.40, 1.36).")
    set_place(plane, 0)
    assert "lemon takes all" in words.inner_text()
    plane.get_by_role("button", name="nothing").click()
    assert "no key fits better than another" in words.inner_text()


@pytest.mark.slow
def test_ground_shows_hard_borders_when_cold_and_one_colour_when_hot(plane):
    colours = f"one => {{ const all = {PIXELS}; return new Set(new Uint32Array(all.buffer)).size; }}"
    count = {}
    for place in (0, 21, len(TAUS) - 1):
        set_place(plane, place)
        count[place] = plane.locator("canvas").evaluate(colours)
    # A cell whose middle lies on a border has the colours of both.
    assert 3 <= count[0] <= 6 < count[len(TAUS) - 1] < count[21]
