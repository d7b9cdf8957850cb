"""Figures of the chapter on tokens: the one-hot product and the size of a vocabulary."""

import numpy as np

from softlookup import figures
from softlookup.figures import LIGHT


def test_one_hot_product_shows_the_rows_that_are_picked():
    table = np.array([[0.5, -1.5], [2.5, 3.5], [4.5, 5.5]])
    figure = figures.one_hot_product(["x", "y", "z"], [2, 0], table, palette=LIGHT)
    said = [text.get_text() for text in figure.axes[0].texts]
    assert said.count("4.5") == 2 and said.count("−1.5") == 2 and said.count("2.5") == 1
    assert said.count("1") == 2 and said.count("0") == 4
    assert "z picks row 2" in figure.get_label()


def test_vocabulary_size_draws_the_curves_it_was_given():
    figure = figures.vocabulary_size([100, 900], [40.0, 15.0], 50.0, 10.0, 8, palette=LIGHT)
    left, right = figure.axes
    assert left.lines[0].get_ydata().tolist() == [40.0, 15.0]
    assert right.lines[0].get_ydata().tolist() == [800.0, 7200.0]
    assert "40.0 to 15.0" in figure.get_label() and "7,200" in figure.get_label()
