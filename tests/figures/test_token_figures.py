"""Figures of tokens and embeddings: what is read off them, and their width."""

import numpy as np

from softlookup import figures
from softlookup.figures import LIGHT, show
from softlookup.figures.page import grid

WIDTHS = np.array([16.0, 64.0, 256.0, 1024.0])


def test_merging_numbers_its_rows_as_the_merges_were_learned():
    figure = figures.merging([["▁", "a", "b"], ["▁", "ab"], ["▁ab"]], {"ab": 18, "▁ab": 2948}, palette=LIGHT)
    said = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert [said.count(label) for label in ("letters", "merge 18", "merge 2,948", "merge 1 ")] == [1, 1, 1, 0]
    assert "merge 18 makes ab, merge 2,948 makes ▁ab" in figure.get_label()


def test_figures_of_tokens_fit_a_phone_without_scrolling():
    """What they are about, the last row, the second panel, the product, the names, stood at the right end."""
    table = grid(".3 -1.2; .7 .1; -.4 .9; 1.1 0; -.6 .2")
    for name, given in (
        ("merging", ([[*"▁streets"], ["▁s", *"treets"]], {"▁s": 5})),
        ("one_hot_product", ("the cat sat on mat".split(), [0, 1, 2, 0], table)),
        ("vocabulary_size", ([90, 500, 4000], [52.0, 22.0, 12.0], 54.0, 11.5, 192)),
        ("vector_lengths", (WIDTHS, np.ones(4), WIDTHS**0.5, (WIDTHS / 2) ** 0.5)),
    ):
        assert show(getattr(figures, name), *given).least_px <= 330, name


def test_one_hot_product_names_columns_and_has_both_signs():
    figure = figures.one_hot_product(["x", "y"], [1, 0, 1], grid("1 2; 3 4"), palette=LIGHT)
    said = [text.get_text() for text in figure.axes[0].texts]
    assert said.count("×") == 1 and said.count("=") == 1
    assert said.count("x") == 3 and said.count("y") == 4, "a column, a row of E, and the rows of X"
