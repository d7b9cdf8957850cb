"""The figures of chapter 13 show the numbers that they were given, and refuse what does not fit."""

import numpy as np
import pytest
from beyond_text_examples import LONG, RNG

from softlookup import figures
from softlookup.figures import LIGHT


def test_cut_up_numbers_every_patch_in_both_panels():
    whole, row = figures.cut_up(RNG.random((4, 6)), 2, palette=LIGHT).axes
    assert [text.get_text() for text in whole.texts] == [text.get_text() for text in row.texts] == list("012345")
    assert len(row.images) == 6
    with pytest.raises(ValueError, match="4 x 6 cannot be cut into patches of 4 x 4"):
        figures.cut_up(RNG.random((4, 6)), 4, palette=LIGHT)


def test_pair_grid_writes_every_cosine_and_counts_the_right_ones():
    cosines = np.array([[0.8, -0.1], [0.7, 0.6]])
    figure = figures.pair_grid(RNG.random((2, 3, 4, 4)), ["a", "b"], cosines, palette=LIGHT)
    assert [text.get_text() for text in figure.axes[0].texts] == ["0.80", "\N{MINUS SIGN}0.10", "0.70", "0.60"]
    assert "For 1 of the pictures" in figure.get_label()
    with pytest.raises(ValueError, match=r"cosines have shape \(2, 2\), wanted \(2, 3\)"):
        figures.pair_grid(RNG.random((2, 3, 4, 4)), list("abc"), cosines, palette=LIGHT)


def test_arms_name_their_medians_and_want_runs():
    axes = figures.shares_by_arm({"one": [1.0, 3.0, 2.0]}, palette=LIGHT).axes[0]
    assert [text.get_text() for text in axes.texts] == ["2.0 %"]
    for nothing in ({}, {"one": []}):
        with pytest.raises(ValueError, match="no runs"):
            figures.shares_by_arm(nothing, palette=LIGHT)


def test_names_of_occlusion_do_not_lie_on_each_other():
    curves = {name: [100, 50 + i / 10] for i, name in enumerate("abcd")}
    axes = figures.occlusion([0, 4], curves, palette=LIGHT).axes[0]
    heights = sorted(text.get_position()[1] for text in axes.texts)
    assert min(np.diff(heights)) >= 7.4
    with pytest.raises(ValueError, match="wanted 1 to 4 curves of 3 points"):
        figures.occlusion([0, 1, 2], curves, palette=LIGHT)


def test_long_attention_leaves_out_what_was_not_measured():
    time, memory = figures.long_attention(LONG, palette=LIGHT).axes
    assert [len(line.get_xdata()) for line in time.lines] == [2, 3, 3, 3]
    assert [len(line.get_xdata()) for line in memory.lines] == [2, 3, 3, 2]
