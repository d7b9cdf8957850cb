"""The figure of matrix products: its sums in words, what is marked, and which turn helps a misfit."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.book]

PAGE = "book/00_before_you_start.html"
SET = "(one, size) => { one.value = size; one.dispatchEvent(new Event('input', { bubbles: true })); }"
PLACES = "all => all.map((one) => [one.dataset.grid, +one.dataset.row, +one.dataset.column])"
ASK_ALL = """all => all.map((one) => {
  one.click();
  return [+one.dataset.value, one.closest('.spr').querySelector('.spr-sum').textContent];
})"""


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


@pytest.mark.parametrize(
    ("shape_a", "shape_b"), [((2, 3), (3, 2)), ((2, 3), (4, 3)), ((5, 5), (5, 5)), ((1, 4), (4, 1))]
)
def test_every_cell_of_a_product_spells_out_a_sum_that_is_true(figure, shape_a, shape_b):
    choose(figure, shape_a, shape_b)
    for value, words in figure.locator("td[data-grid=c]").evaluate_all(ASK_ALL):
        terms, _, total = words.replace("−", "-").replace("×", "*").partition(" = ")
        assert eval(terms) == int(total) == value


def test_a_cell_marks_its_row_and_its_column(figure):
    choose(figure, (2, 3), (3, 2))
    marked = figure.locator("td.spr-marked[data-grid]")
    figure.locator("td[data-grid=c][data-row='1'][data-column='0']").hover()
    places = marked.evaluate_all(PLACES)
    assert {row for grid, row, _ in places if grid == "a"} == {1}
    assert {column for grid, _, column in places if grid == "b"} == {0}
    assert len(places) == 3 + 3 + 1
    figure.locator("td[data-grid=a][data-row='0'][data-column='2']").hover()
    assert {(grid, row) for grid, row, _ in marked.evaluate_all(PLACES)} == {("a", 0), ("b", 2), ("c", 0)}
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
    assert figure.locator("td.spr-alone[data-grid]").count() > 0
    for hint in hints:
        choose(figure, shape_a, shape_b, {"A": "a", "B": "b", "both": "ab"}[hint.split()[1]])
        assert "They fit." in figure.locator(".spr-words").inner_text()


@pytest.mark.slow
def test_sliders_name_the_matrix_as_it_stands_after_a_turn(figure):
    choose(figure, (2, 4), (3, 2), "a")
    rows = figure.locator("label", has=figure.page.locator("input[data-of=a0]"))
    assert rows.inner_text().split() == ["rows", "of", "Aᵀ", "4"]
    assert figure.locator("td[data-grid=a]").count() == 4 * 2
