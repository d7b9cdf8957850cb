"""The figure on a bare page of its own: masks, large scores, wide heads, and JupyterLab's dark theme."""

import json
from pathlib import Path

import numpy as np
import pytest
from ipywidgets.embed import embed_data

from softlookup_course.widgets import AttentionSteps, Example

pytestmark = pytest.mark.browser

RUNNER = Path(__file__).resolve().parents[2] / "book" / "_ext" / "widgets.js"
BARE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>t</title></head><body {attributes}>
<div class="widget-fallback">stands in</div><script type="application/vnd.jupyter.widget-view+json">{view}</script>
<script type="application/vnd.jupyter.widget-state+json">{state}</script><script src="{runner}"></script>
</body></html>"""


@pytest.fixture
def show(chromium, tmp_path):
    page = chromium.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def shown(*examples, attributes=""):
        data = embed_data([AttentionSteps(list(examples))], drop_defaults=False)
        view, state = json.dumps(data["view_specs"][0]), json.dumps(data["manager_state"]).replace("</", "<\\/")
        html = BARE.format(attributes=attributes, view=view, state=state, runner=RUNNER.as_uri())
        (tmp_path / "bare.html").write_text(html, encoding="utf-8")
        page.goto((tmp_path / "bare.html").as_uri())
        page.wait_for_selector(".slw")
        return page.locator(".slw")

    yield shown
    page.close()
    assert complaints == []


def drawn(tokens=3, width=2, mask=None, size=1.0):
    rng = np.random.default_rng(8)
    q, k, v = rng.normal(size=(3, tokens, width)) * size
    return Example("drawn", [f"word{i}" for i in range(tokens)], q, k, v, mask)


def ask(figure, grid, row, column):
    figure.locator(f"td[data-grid={grid}][data-row='{row}'][data-column='{column}']").click()
    return figure.locator(".slw-words").inner_text(), figure.locator(".slw-sum").inner_text()


def test_stand_in_goes_when_the_figure_stands(show):
    figure = show(drawn())
    assert figure.page.locator(".widget-fallback").count() == 0


def test_masked_cells_are_hatched_and_say_why_they_get_no_weight(show):
    figure = show(drawn(mask=np.tri(3, dtype=bool)))
    figure.locator("[role=tab]").nth(1).click()
    assert figure.locator("td.slw-masked").count() == 3
    assert set(figure.locator("td.slw-masked").all_inner_texts()) == {"−∞"}
    words, numbers = ask(figure, "scaled", 0, 1)
    assert words.startswith("Masked") and numbers.endswith("replaced by −∞")
    figure.locator("[role=tab]").nth(2).click()
    assert set(figure.locator("td.slw-masked[data-grid=weights]").all_inner_texts()) == {"0.00"}
    assert "a masked token gets no weight" in ask(figure, "weights", 0, 1)[0]
    words, numbers = ask(figure, "weights", 1, 0)
    assert "the sum over the 2 tokens that it may attend to" in words
    assert numbers.split("(")[2].count("+") == 1


def test_row_with_nothing_to_see_says_so(show):
    mask = np.ones((3, 3), dtype=bool)
    mask[1] = False
    figure = show(drawn(mask=mask))
    figure.locator("[role=tab]").nth(2).click()
    assert "this row is fully masked" in ask(figure, "weights", 1, 1)[0]
    figure.locator("[role=tab]").nth(3).click()
    assert figure.locator("td[data-grid=output][data-row='1']").all_inner_texts() == ["0.00", "0.00"]


def test_large_scores_show_what_is_subtracted(show):
    figure = show(drawn(size=30.0))
    figure.locator("[role=tab]").nth(2).click()
    figures = figure.locator("td[data-grid=scaled][data-row='0']").all_inner_texts()
    largest = max(float(text.replace("−", "-")) for text in figures)
    numbers = ask(figure, "weights", 0, 0)[1]
    assert f"{largest:.2f}" in numbers and "−" in numbers and "Infinity" not in numbers and "NaN" not in numbers


def test_sum_of_a_wide_head_leaves_out_its_middle(show):
    figure = show(drawn(width=64))
    words, numbers = ask(figure, "scores", 0, 1)
    assert "…" in numbers and numbers.count("×") == 7 and len(numbers) < 200


def test_changing_the_example_shows_its_own_numbers(show):
    figure = show(drawn(), drawn(tokens=4))
    assert figure.locator("td[data-grid=scores]").count() == 9
    figure.locator("select").select_option(index=1)
    assert figure.locator("td[data-grid=scores]").count() == 16


def test_dark_jupyterlab_gets_the_dark_colours(show):
    background = "one => getComputedStyle(one).backgroundColor"
    light = show(drawn(), attributes='data-jp-theme-light="true"').evaluate(background)
    dark = show(drawn(), attributes='data-jp-theme-light="false"').evaluate(background)
    assert light == "rgb(255, 255, 255)" and dark != light


def test_widget_that_is_no_anywidget_leaves_its_stand_in(chromium, tmp_path):
    state = {"version_major": 2, "version_minor": 0, "state": {"m": {"model_name": "IntSliderModel", "state": {}}}}
    html = BARE.format(attributes="", view='{"model_id": "m"}', state=json.dumps(state), runner=RUNNER.as_uri())
    (tmp_path / "slider.html").write_text(html, encoding="utf-8")
    page = chromium.new_page()
    with page.expect_console_message() as console_message:
        page.goto((tmp_path / "slider.html").as_uri())
    assert "is not an anywidget" in console_message.value.text
    assert page.locator(".widget-fallback").is_visible()
    page.close()
