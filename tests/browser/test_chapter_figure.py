"""The figure in the chapter: its explanations, its layout, and links to it; its numbers: test_figures_by_hand."""

import numpy as np
import pytest
from book_browser import CHAPTER as PAGE
from oracles import widget_state
from playwright.sync_api import expect

from softlookup_course.widgets.attention_steps import STAGES

pytestmark = [pytest.mark.browser, pytest.mark.book]

COPIED = """async () => {
  const [item] = await navigator.clipboard.read();
  const picture = await createImageBitmap(await item.getType('image/png'));
  return [picture.width, picture.height];
}"""
CELLS = """all => all.map((one) => ({
  grid: one.dataset.grid, row: +one.dataset.row, column: +one.dataset.column,
  value: one.dataset.value, text: one.textContent,
}))"""
ASK_ALL = """all => all.map((one) => {
  one.click();
  const figure = one.closest('.slw');
  return { cell: one.textContent, words: figure.querySelector('.slw-words').textContent,
           sum: figure.querySelector('.slw-sum').textContent };
})"""


@pytest.fixture
def figure(stands):
    assert stands.page.locator(".slw").count() > 0, "the chapter shows no AttentionSteps figure"
    return stands.page.locator(".slw").first


@pytest.fixture
def examples():
    return widget_state(PAGE, "examples")["examples"]


def choose(figure, example, stage):
    figure.locator("select").select_option(index=example)
    figure.locator("[role=tab]").nth(stage).click()


def test_every_cell_explains_itself_and_its_sum_ends_in_its_number(figure, examples):
    for index in range(len(examples)):
        for stage in range(len(STAGES)):
            choose(figure, index, stage)
            for explanation in figure.locator("td[data-grid]").evaluate_all(ASK_ALL):
                assert len(explanation["words"]) > 20
                assert explanation["sum"].endswith(f" {explanation['cell']}"), explanation
    assert figure.locator(".slw-explain").get_attribute("aria-live") == "polite"


def test_a_score_is_spelled_out_and_its_row_and_key_are_marked(figure, examples):
    choose(figure, 0, 0)
    figure.locator("td[data-grid=scores][data-row='1'][data-column='2']").hover()
    q, k = np.array(examples[0]["q"][1]), np.array(examples[0]["k"][2])
    terms = " + ".join(f"{a:.2f}×{b:.2f}" for a, b in zip(q, k, strict=True))
    assert figure.locator(".slw-sum").inner_text() == f"{terms} = {q @ k:.2f}"
    marked = figure.locator("td.slw-marked").evaluate_all(CELLS)
    width = len(q)
    assert {(c["grid"], c["row"]) for c in marked} == {("q", 1), ("k", 2), ("scores", 1)}
    assert len(marked) == 2 * width + 1


@pytest.mark.slow
def test_a_query_is_spelled_out_from_its_token_and_its_matrix(figure, examples):
    cell = figure.locator("td[data-grid=q][data-row='1'][data-column='1']")
    choose(figure, 0, 0)
    cell.hover()
    x, w = np.array(examples[0]["x"][1]), np.array(examples[0]["w"]["q"])[:, 1]
    terms = " + ".join(f"{a:.2f}×{b:.2f}" for a, b in zip(x, w, strict=True))
    assert figure.locator(".slw-sum").inner_text() == f"{terms} = {x @ w:.2f}"
    assert "x2 · column 2 of WQ" in figure.locator(".slw-words").text_content()
    choose(figure, 1, 0)
    cell.hover()
    assert "the identity, so Q = X" in figure.locator(".slw-words").text_content()
    choose(figure, 2, 0)
    cell.hover()
    assert "The queries of this example are given" in figure.locator(".slw-sum").text_content()


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 700, 1280])
def test_arrow_points_right_and_stays_with_its_result(figure, width):
    figure.page.set_viewport_size({"width": width, "height": 900})
    for stage in range(len(STAGES)):
        choose(figure, 0, stage)
        arrow, result = (figure.locator(name).bounding_box() for name in (".slw-sign", ".slw-to .slw-grid"))
        assert arrow["x"] + arrow["width"] <= result["x"] + 1
        assert result["y"] < arrow["y"] + arrow["height"] / 2 < result["y"] + result["height"]


@pytest.mark.slow
def test_tabs_and_output_share_one_screen_of_a_phone(html, visit):
    with visit((html / PAGE).as_uri(), width=390, has_touch=True, is_mobile=True) as seen:
        figure = seen.page.locator(".slw").first
        choose(figure, 0, len(STAGES) - 1)
        figure.locator("td[data-grid=output]").last.tap()
        tabs, output, explanation = (
            figure.locator(name).bounding_box() for name in (".slw-tabs", ".slw-to .slw-grid", ".slw-explain")
        )
        assert 0 <= tabs["y"] < output["y"] < explanation["y"] and explanation["y"] + explanation["height"] <= 900


@pytest.mark.slow
def test_shapes_can_be_shown_in_the_legends_letters(figure, examples):
    rows, width = np.array(examples[0]["q"]).shape
    choose(figure, 0, 0)
    assert figure.locator(".slw-shape").count() == 0
    figure.get_by_label("Show shapes").check()
    shapes = figure.locator(".slw-shape").all_inner_texts()
    expected = [f"T × H = {rows} × {width}", f"S × H = {rows} × {width}", f"T × S = {rows} × {rows}"]
    assert [text.strip() for text in shapes] == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "part"), [(PAGE, ".slw td[data-grid]"), ("book/01_motivation.html", ".slm .slm-fill")]
)
def test_cells_and_bars_do_not_move_for_those_who_want_no_motion(html, visit, page, part):
    with visit((html / page).as_uri(), reduced_motion="reduce") as seen:
        if ".slm" in part:
            seen.page.locator(".slm [data-slug=distribution]").first.click()
        moves = seen.page.locator(part).first.evaluate("one => getComputedStyle(one).transitionDuration")
        assert moves == "0s"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "drawn"), [("figure-4-1", "#figure-4-1 img.only-dark"), ("figure-4-6", ".slw")])
def test_figure_is_copied_as_picture_and_as_link(html, visit, name, drawn):
    permissions = ["clipboard-read", "clipboard-write"]
    with visit((html / PAGE).as_uri(), theme="dark", permissions=permissions) as seen:
        page = seen.page
        size = page.locator(drawn).evaluate("one => [one.offsetWidth, one.offsetHeight]")
        share = page.get_by_role("button", name=f"Share Figure {name[7:].replace('-', '.')}")
        share.click()
        page.get_by_role("button", name="Copy picture").click()
        expect(page.locator(".shr-state")).to_have_text("Picture copied")
        assert page.evaluate(COPIED) == pytest.approx([2 * (side + 32) for side in size], abs=4)
        page.keyboard.press("Escape")
        share.press("Enter")
        page.get_by_role("button", name="Copy link").click()
        expect(page.locator(".shr-state")).to_have_text("Link copied")
        assert page.evaluate("navigator.clipboard.readText()") == f"{(html / PAGE).as_uri()}#{name}"
        assert seen.complaints == []


@pytest.mark.one_in(4)
@pytest.mark.parametrize("width", [390, 1280])
def test_link_to_a_figure_lands_at_it_below_the_bar_and_marks_it(html, visit, width):
    with visit(f"{(html / PAGE).as_uri()}#figure-4-6", width=width) as seen:
        assert seen.page.evaluate("document.querySelector('.widget-area').getAnimations().length") == 1
        bar = seen.page.evaluate("document.querySelector('.bd-header-article').getBoundingClientRect().bottom")
        assert bar < seen.page.locator(".slw").first.bounding_box()["y"] < bar + 60
