"""The figure of matrix products: its sums in words, what is marked, and which turn helps a misfit."""

import numpy as np
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.book]

PAGE = "book/00_before_you_start.html"
CELLS = """all => all.map((one) => ({
  grid: one.dataset.grid, row: +one.dataset.row, column: +one.dataset.column, value: +one.dataset.value,
  alone: one.classList.contains('spr-alone'), marked: one.classList.contains('spr-marked'),
}))"""
SET = """(one, size) => { one.value = size; one.dispatchEvent(new Event('input', { bubbles: true })); }"""
ASK_ALL = """all => all.map((one) => {
  one.click();
  const figure = one.closest('.spr');
  return { row: +one.dataset.row, column: +one.dataset.column, value: +one.dataset.value,
           sum: figure.querySelector('.spr-sum').textContent };
})"""
SETTINGS = [
    ((2, 3), (3, 2), ""),
    ((2, 3), (4, 3), ""),
    ((5, 5), (5, 5), ""),
    ((1, 4), (4, 1), ""),
    ((4, 1), (1, 5), ""),
    ((3, 2), (3, 5), "a"),
    ((2, 5), (4, 5), "b"),
    ((4, 3), (2, 4), "ab"),
    ((2, 2), (2, 4), "a"),
]
"""Shapes as they stand before the turns, and which of the two are turned."""


@pytest.fixture
def figure(stands):
    return stands.page.locator(".spr").first


def choose(figure, shape_a, shape_b, turned=""):
    for which in "ab":
        button = figure.locator(f".spr-turn[data-of={which}]")
        if button.get_attribute("aria-pressed") == "true":
            button.click()
    for which, shape in (("a", shape_a), ("b", shape_b)):
        for axis, size in enumerate(shape):
            figure.locator(f"input[data-of={which}{axis}]").evaluate(SET, size)
    for which in turned:
        figure.locator(f".spr-turn[data-of={which}]").click()


def shown(figure, grid):
    cells = [c for c in figure.locator("td[data-grid]").evaluate_all(CELLS) if c["grid"] == grid]
    if not cells:
        return None
    table = np.zeros((1 + max(c["row"] for c in cells), 1 + max(c["column"] for c in cells)), dtype=int)
    assert table.size == len(cells)
    for c in cells:
        table[c["row"], c["column"]] = c["value"]
    return table


def test_every_cell_of_a_product_spells_out_a_sum_that_is_true(figure):
    for shape_a, shape_b, turned in SETTINGS[:4]:
        choose(figure, shape_a, shape_b, turned)
        for explanation in figure.locator("td[data-grid=c]").evaluate_all(ASK_ALL):
            terms, _, total = explanation["sum"].replace("−", "-").replace("×", "*").partition(" = ")
            assert eval(terms) == int(total) == explanation["value"]


def test_a_cell_marks_its_row_and_its_column(figure):
    choose(figure, (2, 3), (3, 2))
    figure.locator("td[data-grid=c][data-row='1'][data-column='0']").hover()
    marked = [c for c in figure.locator("td[data-grid]").evaluate_all(CELLS) if c["marked"]]
    assert {(c["grid"], c["row"]) for c in marked if c["grid"] == "a"} == {("a", 1)}
    assert {(c["grid"], c["column"]) for c in marked if c["grid"] == "b"} == {("b", 0)}
    assert len(marked) == 3 + 3 + 1
    figure.locator("td[data-grid=a][data-row='0'][data-column='2']").hover()
    marked = [c for c in figure.locator("td[data-grid]").evaluate_all(CELLS) if c["marked"]]
    assert {(c["grid"], c["row"]) for c in marked} == {("a", 0), ("b", 2), ("c", 0)}
    assert "row 1 of the product" in figure.locator(".spr-words").inner_text()


@pytest.mark.parametrize(
    ("shape_a", "shape_b", "hints"),
    [
        ((2, 3), (4, 3), ["transposing B"]),
        ((3, 2), (3, 5), ["transposing A"]),
        ((4, 3), (2, 4), ["transposing both"]),
        ((2, 3), (2, 3), ["transposing A", "transposing B"]),
        ((5, 3), (4, 1), []),
    ],
)
def test_misfit_says_which_turn_would_help_and_it_does(figure, shape_a, shape_b, hints):
    choose(figure, shape_a, shape_b)
    words = figure.locator(".spr-words").inner_text()
    every = ["transposing A", "transposing B", "transposing both"]
    assert [hint for hint in every if hint in words] == hints
    assert ("Transposing does not help" in words) == (not hints)
    assert any(c["alone"] for c in figure.locator("td[data-grid]").evaluate_all(CELLS))
    for hint in hints:
        choose(figure, shape_a, shape_b, {"A": "a", "B": "b", "both": "ab"}[hint.split()[1]])
        assert "They fit." in figure.locator(".spr-words").inner_text()


def test_sliders_name_the_matrix_as_it_stands_after_a_turn(figure):
    choose(figure, (2, 4), (3, 2), "a")
    rows = figure.locator("label", has=figure.page.locator("input[data-of=a0]"))
    assert rows.inner_text().split() == ["rows", "of", "Aᵀ", "4"]
    assert shown(figure, "a").shape == (4, 2)
