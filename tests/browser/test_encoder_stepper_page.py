"""The encoder stepper in its chapter: the order of its norms, and how a number came about."""

import pytest

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
