"""Figures of the chapters on tokens and heads: the one-hot product, the size of a vocabulary, maps of heads."""

import numpy as np

from softlookup_course import figures
from softlookup_course.figures import LIGHT


def test_one_hot_product_shows_the_rows_that_are_picked():
    table = np.array([[0.5, -1.5], [2.5, 3.5], [4.5, 5.5]])
    figure = figures.one_hot_product(["x", "y", "z"], [2, 0], table, palette=LIGHT)
    words = [text.get_text() for text in figure.axes[0].texts]
    assert words.count("4.5") == 2 and words.count("−1.5") == 2 and words.count("2.5") == 1
    assert words.count("1") == 2 and words.count("0") == 4
    assert "z picks row 2" in figure.get_label()


def test_vocabulary_size_draws_the_curves_it_was_given():
    figure = figures.vocabulary_size([100, 900], [40.0, 15.0], 50.0, 10.0, 8, palette=LIGHT)
    left, right = figure.axes
    assert left.lines[0].get_ydata().tolist() == [40.0, 15.0]
    assert right.lines[0].get_ydata().tolist() == [800.0, 7200.0]
    assert "40.0 to 15.0" in figure.get_label() and "7,200" in figure.get_label()


def test_head_maps_frame_the_row_of_one_query_and_say_where_it_attends_most():
    weights_NTS = np.array([np.eye(3), [[0.2, 0.7, 0.1], [0.3, 0.1, 0.6], [1.0, 0.0, 0.0]]])
    figure = figures.head_maps(weights_NTS, ["a", "b", "c"], ["one", "two"], 1, palette=LIGHT)
    assert [axes.patches[0].get_bbox().bounds for axes in figure.axes[:2]] == [(0, 1, 3, 1)] * 2
    assert [text.get_text() for text in figure.axes[2].get_yticklabels()] == ["0", "0.5", "1"]
    assert "two: 0 of 3 tokens attend most to themselves, and b gives 0.60 to c" in figure.get_label()
    assert not figures.head_maps(weights_NTS, ["a", "b", "c"], ["one", "two"], palette=LIGHT).axes[0].patches


def test_head_maps_of_several_sentences_have_the_words_of_each():
    sentences = [["a", "b"], ["c", "d"]]
    figure = figures.head_maps(np.array([np.eye(2), np.eye(2)]), sentences, ["one", "two"], palette=LIGHT)
    assert [[text.get_text() for text in axes.get_yticklabels()] for axes in figure.axes[:2]] == sentences
