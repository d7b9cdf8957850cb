"""The mask builder in its chapter: whatever mask is clicked together, its numbers are the library's."""

import numpy as np
import pytest
from chromium_hands import Hands
from figure_ways import ORACLES
from oracles import widget_state
from working import read

from softlookup_course.widgets import Look
from softlookup_course.widgets.mask_builder import preset

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/08_decoder_and_masks.html"


@pytest.fixture
def builder(stands):
    return stands.page.locator(".msk").first


def computed(builder):
    """What is shown, which the library gives for the mask that is shown."""
    state = read(Hands(builder.page), "msk")
    ORACLES["msk"].agrees(state)
    return state


def cell(builder, t, s, grid="mask"):
    return builder.locator(f"td[data-grid={grid}][data-row='{t}'][data-column='{s}']")


def test_clicked_cells_change_weights_and_outputs_and_say_so(builder):
    cell(builder, 1, 3).click()
    state = computed(builder)
    assert state["mask"][1][3] and state["future"] == 1
    assert "may attend to" in state["words"]
    for s in range(3):
        if computed(builder)["mask"][2][s]:
            cell(builder, 2, s).click()
    state = computed(builder)
    assert state["blind"] == [2] and "fully masked" in state["words"]
    assert "Fully masked" in builder.locator(".msk-warnings").inner_text()
    assert builder.locator("button[aria-pressed=true]").count() == 0


def test_dragging_paints_a_row_of_cells(builder):
    mouse = builder.page.mouse
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
    state = computed(builder)
    assert state["mask"][1][2:5] == [True] * 3 and not any(state["mask"][2][3:])


def test_other_conventions_write_the_same_mask_in_other_words(builder):
    before = computed(builder)
    for choice, (may, hidden) in {"may": ("1", "0"), "not": ("0", "1"), "add": ("0", "−∞")}.items():
        builder.get_by_label("Written as").select_option(choice)
        state = computed(builder)
        assert state["mask"] == before["mask"] and state["weights"] == before["weights"]
        expected = [[may if allowed else hidden for allowed in row] for row in before["mask"]]
        assert state["written"] == expected


def test_window_and_prefix_grow_by_their_buttons(builder):
    look = Look(**widget_state(PAGE, "looks")["looks"][0])
    for name, label in (("window", "width"), ("prefix", "prefix")):
        builder.locator(f"button[data-mask={name}]").click()
        builder.get_by_label(f"{name}: one more").click()
        state = computed(builder)
        assert np.array_equal(state["mask"], preset(name, look.real, **{label: 4}))
