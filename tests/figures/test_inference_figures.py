"""The figures of chapter 10 show what they were given, and refuse what they cannot show."""

import numpy as np
import pytest
from inference_examples import TOKENS
from matplotlib.figure import Figure

from softlookup_course import figures
from softlookup_course.figures import LIGHT


def texts_of(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@pytest.mark.parametrize(("prompt", "new", "again", "cached"), [(2, 3, 9, 4), (1, 1, 1, 1), (5, 2, 11, 6)])
def test_passes_counts_the_tokens_of_both_ways(prompt, new, again, cached):
    figure = figures.passes(prompt, new, palette=LIGHT)
    titles = [axes.get_title(loc="left") + axes.get_title() for axes in figure.axes]
    assert [int(title.split()[-2]) for title in titles] == [again, cached]
    filled = [sum(p.get_facecolor() != (0, 0, 0, 0) for p in axes.patches) for axes in figure.axes]
    assert filled[0] == again and texts_of(figure).count("cached") == again - cached


@pytest.mark.parametrize(("p", "crossing"), [(0.4, 0), (0.6, 1), (0.75, 2), (0.88, 3)])
def test_cut_tail_marks_the_token_that_crosses(p, crossing):
    figure = figures.top_p(TOKENS, [0.5, 0.2, 0.15, 0.05], p, palette=LIGHT)
    assert f"within {TOKENS[crossing]}, which is kept" in figure.get_label()
    bars = figure.axes[0].patches
    bottoms = [bar.get_y() for bar in bars]
    np.testing.assert_allclose(bottoms, [0, 0.5, 0.7, 0.85])
    colours = [bar.get_facecolor() for bar in bars]
    assert all(colours[i] == colours[-1] for i in range(crossing + 1, 4))


def test_sharpened_prints_every_probability():
    table = np.array([[0.8, 0.1], [0.6, 0.3]])
    shown = texts_of(figures.sharpened(TOKENS[:2], (0.5, 1.0), table, palette=LIGHT))
    assert shown == ["0.80", "0.10", "0.60", "0.30"]


def test_reading_times_names_the_ends_of_each_line():
    figure = figures.reading_times({"in pieces": ([1, 4], [4.0, 0.5])}, palette=LIGHT)
    assert texts_of(figure) == ["in pieces: 0.5 ms"]
    assert "4 ms with 1 token in a pass, 0.5 ms with 4" in figure.get_label()
