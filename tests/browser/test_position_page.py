"""The position explorer in its chapter: both positions move on together."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/06_positions.html"
NUMBERS = """one => Object.fromEntries([...one.querySelectorAll('td[data-number]')]
  .map((c) => [c.dataset.number, [+c.dataset.value, c.textContent]]))"""


@pytest.fixture
def explorer(stands):
    yield stands.page.locator(".pse").first
    assert stands.complaints == []


def set_sliders(explorer, first, second):
    for name, value in (("query", first), ("key", second)):
        explorer.locator(f"input[data-slider={name}]").evaluate(
            "(box, value) => { box.value = value; box.dispatchEvent(new Event('input', {bubbles: true})); }", value
        )


@pytest.mark.parametrize("mode", ["sinusoids", "rotary"])
def test_moving_both_on_leaves_the_product_and_says_so(explorer, mode):
    explorer.get_by_label(mode).check()
    name = "score" if mode == "rotary" else "dot"
    set_sliders(explorer, 20, 23)
    before = explorer.evaluate(NUMBERS)[name]
    explorer.get_by_label("move both by 10").click()
    after = explorer.evaluate(NUMBERS)[name]
    assert after[0] == pytest.approx(before[0], abs=1e-9) and after[1] == before[1]
    words = explorer.locator(".pse-words").inner_text()
    assert words.startswith("Both moved by 10") and "30" in words and "33" in words


def test_both_stay_where_one_would_leave_the_scale(explorer):
    set_sliders(explorer, 35, 3)
    explorer.get_by_label("move both by 10").click()
    assert explorer.locator(".pse-words").inner_text().startswith("Both cannot move by 10")
    assert explorer.locator("input[data-slider=query]").input_value() == "35"
