"""The position explorer in its chapter: what it shows at many settings is what the library computes."""

import numpy as np
import pytest
from book_browser import axe_findings

from softlookup_course.widgets import PositionExplorer
from softlookup_course.widgets.position_explorer import describe_rotary, describe_sinusoids

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/06_positions.html"
NUMBERS = """one => Object.fromEntries([...one.querySelectorAll('td[data-number]')]
  .map((c) => [c.dataset.number, [+c.dataset.value, c.textContent]]))"""
ROWS = "one => [...one.querySelectorAll('.pse-cells')].map((c) => c.dataset.row.split(',').map(Number))"
SETTINGS = [(0, 0), (5, 8), (40, 0), (12, 31)]


@pytest.fixture
def explorer(stands):
    yield stands.page.locator(".pse").first
    assert stands.complaints == []


def set_sliders(explorer, first, second):
    for name, value in (("query", first), ("key", second)):
        explorer.locator(f"input[data-slider={name}]").evaluate(
            "(box, value) => { box.value = value; box.dispatchEvent(new Event('input', {bubbles: true})); }", value
        )


def shown(text):
    return float(text.replace("−", "-"))


@pytest.mark.parametrize("width", [2, 16, 64])
def test_sinusoids_shown_are_the_librarys(explorer, width):
    explorer.get_by_label("width D").select_option(str(width))
    for first, second in SETTINGS:
        set_sliders(explorer, first, second)
        expected, numbers = describe_sinusoids(first, second, width), explorer.evaluate(NUMBERS)
        np.testing.assert_allclose(explorer.evaluate(ROWS), expected["rows"], atol=1e-9)
        assert numbers["dot"][0] == pytest.approx(expected["dot"], abs=1e-9)
        assert numbers["length"][0] == pytest.approx(expected["length"])
        assert shown(numbers["dot"][1]) == pytest.approx(expected["dot"], abs=0.00501)
        assert numbers["distance"][1] == str(abs(first - second))


def test_turned_vectors_shown_are_the_librarys(explorer):
    explorer.get_by_label("rotary").check()
    figure = PositionExplorer()
    for first, second in SETTINGS:
        set_sliders(explorer, first, second)
        expected = describe_rotary(figure.query, figure.key, first, second, figure.base)
        numbers = explorer.evaluate(NUMBERS)
        turned = explorer.locator(".pse-stage").get_attribute("data-turned")
        np.testing.assert_allclose(
            [float(x) for x in turned.split(",")], expected["query"] + expected["key"], atol=1e-9
        )
        assert numbers["score"][0] == pytest.approx(expected["score"], abs=1e-9)
        assert [numbers["part0"][0], numbers["part1"][0]] == pytest.approx(expected["parts"], abs=1e-9)


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


def test_position_explorer_obeys_the_keyboard(explorer):
    page = explorer.page
    explorer.locator("input[data-slider=query]").focus()
    before = int(explorer.locator("input[data-slider=query]").input_value())
    page.keyboard.press("ArrowRight")
    assert f"Positions {before + 1} and" in explorer.locator(".pse-words").inner_text()
    explorer.get_by_label("sinusoids").focus()
    page.keyboard.press("ArrowRight")
    assert explorer.locator(".pse-words").inner_text().startswith("The query at")


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("mode", ["sinusoids", "rotary"])
def test_position_explorer_passes_axe(html, visit, theme, mode):
    with visit((html / PAGE).as_uri(), theme=theme) as seen:
        seen.page.locator(".pse").get_by_label(mode).check()
        assert axe_findings(seen.page, ".pse") == []


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["sinusoids", "rotary"])
def test_position_explorer_fits_a_narrow_phone(html, visit, mode):
    with visit((html / PAGE).as_uri(), width=360, has_touch=True, is_mobile=True) as seen:
        explorer = seen.page.locator(".pse").first
        explorer.get_by_label(mode).check()
        explorer.get_by_label("move both by 1", exact=True).tap()
        assert "Both moved by 1" in explorer.locator(".pse-words").inner_text()
        wide = explorer.evaluate("one => one.scrollWidth - one.clientWidth")
        outside = seen.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 1 and outside <= 1


def test_readers_without_scripts_get_the_first_rows(html, visit):
    with visit((html / PAGE).as_uri(), java_script_enabled=False) as seen:
        rows = seen.page.locator(".widget-fallback tbody tr")
        assert rows.count() == 8
        assert rows.nth(4).locator("td").all_inner_texts() == ["-0.76", "-0.65", "0.04", "1.00"]
