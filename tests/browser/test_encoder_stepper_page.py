"""The encoder stepper in its chapter: every box shows the library's numbers, by mouse, touch and keyboard."""

import json

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from book_browser import axe_findings

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/07_encoder.html"
STATE = """one => ({
  box: one.querySelector('.ens-box[aria-selected=true]').dataset.box,
  boxes: [...one.querySelectorAll('.ens-box')].map((b) => b.dataset.box),
  tables: Object.fromEntries(
    [...new Set([...one.querySelectorAll('td[data-grid]')].map((c) => c.dataset.grid))].map((id) => [id,
      [...one.querySelectorAll(`td[data-grid='${id}']`)]
        .map((c) => [+c.dataset.row, +c.dataset.column, +c.dataset.value, c.textContent])])),
})"""


@pytest.fixture
def stepper(stands):
    return stands.page.locator(".ens").first


def matrix(cells):
    shape = max(c[0] for c in cells) + 1, max(c[1] for c in cells) + 1
    values = np.full(shape, np.nan)
    for r, c, value, _ in cells:
        values[r, c] = value
    assert not np.isnan(values).any()
    return values


def shown(stepper):
    """Everything that the figure shows in this example and order: press one box after the other."""
    tables = {}
    for box in stepper.evaluate(STATE)["boxes"]:
        stepper.locator(f".ens-box[data-box={box}]").click()
        state = stepper.evaluate(STATE)
        assert state["box"] == box
        for name, cells in state["tables"].items():
            tables[name] = matrix(cells)
            for _, _, value, text in cells:
                assert abs(float(text.replace("\N{MINUS SIGN}", "-")) - value) <= 0.00501
    return tables


def tensor(*arrays):
    return [torch.from_numpy(array) for array in arrays]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("example", [0, 1])
@pytest.mark.parametrize("pre_norm", [False, True])
def test_every_box_shows_what_the_library_and_torch_compute(stepper, example, pre_norm):
    stepper.locator("select").select_option(index=example)
    stepper.locator("input[type=radio]").nth(int(pre_norm)).check()
    at = shown(stepper)
    n_heads = sum(name.startswith("a") for name in at)
    inside = at["n1"] if pre_norm else at["x"]
    q, k, v = (torch.stack(tensor(*(at[f"{kind}{i}"] for i in range(n_heads)))) for kind in "qkv")
    a = torch.stack(tensor(*(at[f"a{i}"] for i in range(n_heads))))
    seen = (a > 0).any(dim=1, keepdim=True).expand(a.shape)
    z = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
    np.testing.assert_allclose(at["z"], z.transpose(0, 1).flatten(1).numpy(), atol=1e-9)
    np.testing.assert_allclose((a @ v).numpy(), z.numpy(), atol=1e-9)
    assert np.linalg.lstsq(inside, np.hstack([at[f"q{i}"] for i in range(n_heads)]), rcond=None)[0].shape[0] == 4
    np.testing.assert_allclose(at["s1"], at["x"] + at["o"], atol=1e-9)
    middle = at["s1"] if pre_norm else at["n1"]
    np.testing.assert_allclose(at["s2"], middle + at["f"], atol=1e-9)
    np.testing.assert_allclose(at["h"], np.maximum(at["u"], 0), atol=1e-12)
    for i, before in ((1, at["x"] if pre_norm else at["s1"]), (2, at["s1"] if pre_norm else at["s2"])):
        x, gain, shift = tensor(before, *at[f"g{i}"])
        np.testing.assert_allclose(at[f"n{i}"], F.layer_norm(x, gain.shape, gain, shift).numpy(), atol=1e-9)
    np.testing.assert_allclose(at["y"], at["s2"] if pre_norm else at["n2"], atol=1e-12)
    if example == 0:
        assert at["x"].shape == (8, 4) and at["h"].shape == (8, 16) and (at["a0"][:, 7] == 0).all()


def test_switching_the_order_keeps_the_box_and_moves_the_norms(stepper):
    stepper.locator(".ens-box[data-box=n2]").click()
    before = stepper.evaluate(STATE)["boxes"]
    assert "ens-road" in stepper.locator(".ens-box[data-box=n2]").get_attribute("class")
    stepper.locator("input[type=radio]").nth(1).check()
    after = stepper.evaluate(STATE)
    assert after["box"] == "n2" and sorted(after["boxes"]) == sorted(before) and after["boxes"] != before
    assert "ens-branch" in stepper.locator(".ens-box[data-box=n2]").get_attribute("class")
    assert "on the branch" in stepper.locator(".ens-name").inner_text()


def test_a_number_says_how_it_came_about(stepper):
    stepper.locator(".ens-box[data-box=s1]").click()
    cell = stepper.locator("td[data-grid=s1]").nth(5)
    cell.click()
    words = stepper.locator(".ens-words").inner_text()
    assert "+" in words and words.endswith(f"= {cell.inner_text()}")
    stepper.locator(".ens-box[data-box=n1]").click()
    cell = stepper.locator("td[data-grid=n1]").nth(2)
    cell.click()
    words = stepper.locator(".ens-words").inner_text()
    assert f"= {cell.inner_text()};" in words and "√(" in words
    assert stepper.locator("td.ens-marked").count() >= 5  # the four numbers of the row, and the one asked for


def test_stepper_obeys_the_keyboard(stepper):
    page = stepper.page
    stepper.locator(".ens-box[data-box=x]").focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    state = stepper.evaluate(STATE)
    assert state["box"] == state["boxes"][3]
    assert page.evaluate("document.activeElement.dataset.box") == state["box"]
    page.keyboard.press("End")
    assert stepper.evaluate(STATE)["box"] == "y"
    stepper.get_by_role("button", name="From the start").click()
    assert stepper.evaluate(STATE)["box"] == "x"
    stepper.locator("td[data-grid=x]").first.focus()
    page.keyboard.press("ArrowRight")
    assert json.loads(page.evaluate("JSON.stringify(document.activeElement.dataset)"))["column"] == "1"


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("box", ["n1", "a"])
def test_stepper_passes_axe(html, visit, theme, box):
    with visit((html / PAGE).as_uri(), theme=theme) as seen:
        seen.page.locator(f".ens-box[data-box={box}]").click()
        assert axe_findings(seen.page, ".ens") == []


@pytest.mark.slow
def test_a_tap_on_a_phone_shows_the_box_and_the_page_does_not_scroll_sideways(html, visit):
    with visit((html / PAGE).as_uri(), width=360, has_touch=True, is_mobile=True) as seen:
        stepper = seen.page.locator(".ens").first
        stepper.locator(".ens-box[data-box=h]").tap()
        assert stepper.locator(".ens-name").inner_text().startswith("W₁, ReLU")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360
        outside = stepper.evaluate("one => one.scrollWidth - one.clientWidth")
        assert outside <= 1


def test_readers_without_scripts_get_input_and_output(html, visit):
    with visit((html / PAGE).as_uri(), java_script_enabled=False) as seen:
        captions = seen.page.locator(".widget-fallback caption").all_inner_texts()
        assert captions[:2] == ["x", "y"]
