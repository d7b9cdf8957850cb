"""The mask builder in its chapter: whatever mask is clicked together, its numbers are the library's."""

import json

import numpy as np
import pytest
from book_browser import axe_findings

from softlookup_course.widgets import Look
from softlookup_course.widgets.mask_builder import PRESETS, describe, preset

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/08_decoder_and_masks.html"
STATE = """one => {
  const table = (grid, read) => [...one.querySelectorAll(`.msk-${grid} tbody tr`)]
    .map((row) => [...row.querySelectorAll('td')].map(read));
  const told = one.querySelector('.msk-warnings').dataset;
  return {
    mask: table('mask', (c) => c.dataset.may === 'true'), written: table('mask', (c) => c.textContent),
    weights: table('weights', (c) => +c.dataset.value), output: table('output', (c) => +c.dataset.value),
    allowed: +told.allowed, future: +told.future, blind: told.blind.split(',').filter(Boolean).map(Number),
    words: one.querySelector('.msk-words').textContent,
  };
}"""


@pytest.fixture
def builder(stands):
    return stands.page.locator(".msk").first


def looks_of(builder):
    """The sentences that the page was built with, as it keeps them."""
    states = builder.page.locator("script[type='application/vnd.jupyter.widget-state+json']").first.text_content()
    for state in json.loads(states)["state"].values():
        if "looks" in state["state"]:
            return [Look(**look) for look in state["state"]["looks"]]
    raise AssertionError("the page keeps no sentences")


def cell(builder, t, s, grid="mask"):
    return builder.locator(f"td[data-grid={grid}][data-row='{t}'][data-column='{s}']")


def assert_as_computed(builder, look):
    state = builder.evaluate(STATE)
    expected = describe(look, np.array(state["mask"]))
    np.testing.assert_allclose(state["weights"], expected["weights"], atol=1e-12)
    np.testing.assert_allclose(state["output"], expected["outputs"], atol=1e-12)
    assert {name: state[name] for name in ("allowed", "future", "blind")} == {
        name: expected[name] for name in ("allowed", "future", "blind")
    }
    return state


def test_every_mask_of_every_sentence_shows_the_librarys_numbers(builder):
    looks = looks_of(builder)
    assert len(looks) >= 2
    for index, look in enumerate(looks):
        builder.locator("select").first.select_option(index=index)
        for name in PRESETS:
            builder.locator(f"button[data-mask={name}]").click()
            state = assert_as_computed(builder, look)
            assert np.array_equal(state["mask"], preset(name, look.real))


def test_clicked_cells_change_weights_and_outputs_and_say_so(builder):
    look = looks_of(builder)[0]
    cell(builder, 1, 3).click()
    state = assert_as_computed(builder, look)
    assert state["mask"][1][3] and state["future"] == 1
    assert "may attend to" in state["words"]
    for s in range(3):
        if builder.evaluate(STATE)["mask"][2][s]:
            cell(builder, 2, s).click()
    state = assert_as_computed(builder, look)
    assert state["blind"] == [2] and "fully masked" in state["words"]
    assert "Fully masked" in builder.locator(".msk-warnings").inner_text()
    assert builder.locator("button[aria-pressed=true]").count() == 0


def test_dragging_paints_a_row_of_cells(builder):
    look, mouse = looks_of(builder)[0], builder.page.mouse
    builder.locator("button[data-mask=causal]").click()
    boxes = []
    for s in (2, 3, 4):
        cell(builder, 1, s).scroll_into_view_if_needed()
        boxes.append(cell(builder, 1, s).bounding_box())
    mouse.move(boxes[0]["x"] + 5, boxes[0]["y"] + 5)
    mouse.down()
    for box in boxes[1:]:
        mouse.move(box["x"] + 5, box["y"] + 5, steps=3)
    mouse.up()
    mouse.move(boxes[0]["x"] + 5, boxes[0]["y"] + 60)
    state = assert_as_computed(builder, look)
    assert state["mask"][1][2:5] == [True] * 3 and not any(state["mask"][2][3:])


def test_mask_builder_obeys_the_keyboard(builder):
    look, page = looks_of(builder)[0], builder.page
    cell(builder, 0, 0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    assert assert_as_computed(builder, look)["mask"][1][2]
    page.keyboard.press("Enter")
    state = assert_as_computed(builder, look)
    assert not state["mask"][1][2] and "may no longer attend" in state["words"]


def test_other_conventions_write_the_same_mask_in_other_words(builder):
    before = builder.evaluate(STATE)
    for choice, (may, hidden) in {"may": ("1", "0"), "not": ("0", "1"), "add": ("0", "−∞")}.items():
        builder.get_by_label("Written as").select_option(choice)
        state = builder.evaluate(STATE)
        assert state["mask"] == before["mask"] and state["weights"] == before["weights"]
        expected = [[may if allowed else hidden for allowed in row] for row in before["mask"]]
        assert state["written"] == expected


def test_window_and_prefix_grow_by_their_buttons(builder):
    look = looks_of(builder)[0]
    for name, label in (("window", "width"), ("prefix", "prefix")):
        builder.locator(f"button[data-mask={name}]").click()
        builder.get_by_label(f"{name}: one more").click()
        state = assert_as_computed(builder, look)
        assert np.array_equal(state["mask"], preset(name, look.real, **{label: 4}))


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_mask_builder_passes_axe_with_a_cell_asked(html, visit, theme):
    with visit((html / PAGE).as_uri(), theme=theme) as seen:
        cell(seen.page.locator(".msk").first, 2, 1, "weights").click()
        assert axe_findings(seen.page, ".msk") == []


@pytest.mark.slow
def test_a_tap_changes_a_cell_on_a_narrow_phone_without_scrolling_sideways(html, visit):
    with visit((html / PAGE).as_uri(), width=360, has_touch=True, is_mobile=True) as seen:
        builder = seen.page.locator(".msk").first
        cell(builder, 0, 2).tap()
        assert assert_as_computed(builder, looks_of(builder)[0])["mask"][0][2]
        assert builder.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
        assert 0 <= builder.locator(".msk-words").bounding_box()["y"] < 900
