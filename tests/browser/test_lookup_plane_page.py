"""The plane of chapter 2: what it shows at many settings is the library's, and every way to operate it works."""

import itertools

import numpy as np
import pytest
from book_browser import axe_findings

from softlookup_course.widgets.lookup_plane import GRAIN, TAUS, look_up

pytestmark = [pytest.mark.browser, pytest.mark.book]

PAGE = "book/02_soft_lookup.html"
K, V = [[1, 1], [0.5, 2], [3, -0.9]], [[-2, -1], [2, -1.5], [0.5, 2]]
SHOWN = """root => ({
  query: [+root.dataset.x, +root.dataset.y], tau: +root.dataset.tau,
  scores: [...root.querySelectorAll('tbody tr')].map((row) => +row.dataset.score),
  weights: [...root.querySelectorAll('tbody tr')].map((row) => +row.dataset.weight),
  written: [...root.querySelectorAll('.slp-weight')].map((cell) => cell.textContent),
  answer: (({x, y}) => [+x, +y])(root.querySelector('.slp-answer').dataset),
  cosine: root.querySelectorAll('input[type=radio]')[1].checked,
})"""
# Read from a copy: a canvas that is read again and again makes the browser grumble.
PIXELS = """(() => {
  const copy = document.createElement('canvas');
  Object.assign(copy, { width: one.width, height: one.height });
  const context = copy.getContext('2d', { willReadFrequently: true });
  context.drawImage(one, 0, 0);
  return context.getImageData(0, 0, one.width, one.height).data;
})()"""
PLACES = [0, 1, 5, 15, 21, 30, len(TAUS) - 1]


@pytest.fixture
def plane(stands):
    yield stands.page.locator(".slp")
    assert [line for line in stands.complaints if "mode" not in line] == []


def shown(plane):
    return plane.evaluate(SHOWN)


def set_place(plane, place):
    plane.locator("input[type=range]").fill(str(place))


def same_as_library(plane):
    """What is shown, compared with the library at the setting that is shown."""
    seen = shown(plane)
    expected = look_up(K, V, seen["query"], seen["tau"], seen["cosine"])
    for name in ("scores", "weights", "answer"):
        np.testing.assert_allclose(seen[name], expected[name], rtol=1e-12, atol=1e-14, err_msg=str(seen))
    for text, weight in zip(seen["written"], expected["weights"], strict=True):
        assert abs(float(text) - weight) <= 0.005 + 1e-9
    return seen


@pytest.mark.slow
def test_every_query_temperature_and_measure_is_the_librarys(plane):
    names = plane.locator(".slp-preset")
    settings = set()
    for query, place, cosine in itertools.product(range(names.count()), PLACES, (False, True)):
        names.nth(query).click()
        set_place(plane, place)
        plane.locator("input[type=radio]").nth(int(cosine)).check()
        seen = same_as_library(plane)
        assert seen["tau"] == TAUS[place] and seen["cosine"] == cosine
        settings.add((*seen["query"], seen["tau"], seen["cosine"]))
    assert len(settings) == names.count() * len(PLACES) * 2


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
        seen.append(same_as_library(plane)["query"])
    page.mouse.up()
    page.mouse.move(x, y)
    assert len({tuple(query) for query in seen}) == 3 and shown(plane)["query"] == seen[-1]
    np.testing.assert_allclose(np.array(seen) / GRAIN, np.round(np.array(seen) / GRAIN), atol=1e-6)


def test_press_in_the_plane_brings_the_query_there(plane):
    box = plane.locator(".slp-frame svg").first.bounding_box()
    plane.locator(".slp-frame svg").first.click(position={"x": box["width"] * 0.25, "y": box["height"] * 0.25})
    x, y = same_as_library(plane)["query"]
    assert x < 0 < y and abs(x + y) <= GRAIN + 1e-9


def test_query_cannot_leave_the_plane(plane):
    plane.locator(".slp-handle").focus()
    for _ in range(20):
        plane.page.keyboard.press("Shift+ArrowRight")
    assert shown(plane)["query"][0] == 3.5
    same_as_library(plane)


def test_query_obeys_the_arrow_keys_and_says_where_it_is(plane):
    plane.get_by_role("button", name="nothing").click()
    handle = plane.locator(".slp-handle")
    handle.focus()
    for key in ("ArrowRight", "ArrowUp", "Shift+ArrowUp", "ArrowLeft", "Shift+ArrowLeft", "ArrowDown"):
        plane.page.keyboard.press(key)
    assert same_as_library(plane)["query"] == [-0.5, 0.5]
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
def test_answer_never_leaves_the_triangle_of_the_values(plane):
    corners = np.column_stack([np.array(V, dtype=float), np.ones(3)]).T
    for query, place in itertools.product(range(4), PLACES):
        plane.locator(".slp-preset").nth(query).click()
        set_place(plane, place)
        assert (np.linalg.solve(corners, [*shown(plane)["answer"], 1]) >= -1e-12).all()


def test_ground_shows_hard_borders_when_cold_and_one_colour_when_hot(plane):
    colours = f"one => {{ const all = {PIXELS}; return new Set(new Uint32Array(all.buffer)).size; }}"
    count = {}
    for place in (0, 21, len(TAUS) - 1):
        set_place(plane, place)
        count[place] = plane.locator("canvas").evaluate(colours)
    # A cell whose middle lies on a border has the colours of both.
    assert 3 <= count[0] <= 6 < count[len(TAUS) - 1] < count[21]


def test_finger_drags_the_query_and_taps_the_plane(html, visit):
    with visit((html / PAGE).as_uri(), width=360, has_touch=True, is_mobile=True) as seen:
        plane = seen.page.locator(".slp")
        before = shown(plane)["query"]
        box = plane.locator(".slp-frame svg").first.bounding_box()
        plane.locator(".slp-frame svg").first.tap(position={"x": box["width"] * 0.2, "y": box["height"] * 0.8})
        after = same_as_library(plane)["query"]
        assert after != before and after[0] < 0 and after[1] < 0
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_plane_passes_axe_and_has_coloured_ground(html, visit, theme):
    with visit((html / PAGE).as_uri(), theme=theme) as seen:
        assert axe_findings(seen.page, ".slp") == []
        first = seen.page.locator(".slp canvas").evaluate(f"one => [...{PIXELS}.slice(0, 3)]")
        assert sum(first) > 60


def test_readers_without_scripts_get_the_weights_in_a_table(html, visit):
    with visit((html / PAGE).as_uri(), java_script_enabled=False) as seen:
        table = seen.page.locator(".widget-fallback table", has_text="Dot products and weights").first
        assert table.is_visible()
        numbers = [float(text) for text in table.locator("td").all_inner_texts() if text]
        assert numbers == [3.0, 0.1, 3.0, 0.1, 5.1, 0.8]
