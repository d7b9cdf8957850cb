"""Figures say and draw the numbers that they are given: a table of words, and figures of chapters 3, 5, 9, 10."""

import numpy as np
import pytest
from figure_examples import FIGURES, TOKENS
from matplotlib.figure import Figure
from test_figures import words_of

from softlookup_course import figures
from softlookup_course.figures import LIGHT, show

SPARSE = ({"x": (100.0, 0.05)}, [("product", 4096 / 3)])
SIZES = ([1 << 10, 1 << 20, 1 << 30], [5e9, 60e9, 20e9], 21e9, None)
WRITTEN = [
    ("roofline", SPARSE, "ridge at 2,000 FLOP/B", "product, at 1,365 FLOP/B"),
    (
        "measured_roof",
        ({"a": (100.0, 10.0)}, {"a": [(1.0, 5.0), (20.0, 100.0)]}),
        "at least 75 % of the roof, the lowest 50 %",
    ),
    (
        "loop_passes",
        ([("one", [("x = A", ("A",), ("x",))])], ("A", "x")),
        "one: 8 bytes per element, x = A reads A and writes x",
    ),
    (
        "kitchen",
        ({"A": 64, "B": 32}, {"C": 16}, 5),
        "brings A, 64 bytes, B, 32 bytes and takes back C, 16 bytes: 112 bytes",
        "for 5 operations",
    ),
    ("stream_sizes", SIZES, "5 GB/s at 1 KiB", "60 GB/s, at 1 MiB", "20 GB/s at 1 GiB", "21 GB/s"),
    (
        "shifted_labels",
        (["<s>", "un", "</s>"], 2),
        "after <s> comes un; after un comes </s>.",
        "2 positions of padding are",
    ),
    ("shifted_labels", (["a", "b"], 1), "1 position of padding is left out"),
    ("memory_bars", ({"one": {"a": 4, "b": 8}, "two": {"a": 2, "b": 1}},), "12 in all", "3 in all"),
    ("decisions", None, "from 2.10 to 2.20", "half 2.45; twice 2.10 (overlapping); large 4.05."),
    (
        "layer_areas",
        (
            {
                "x": {"q": (4096, 4096), **dict.fromkeys(("k", "v", "output", "scores"), (4096, 4096))}
                | {"mix": (4096, 4096), "gate": (4096, 8192), "up": (4096, 8192), "down": (8192, 4096)}
            },
            4096,
        ),
        "q 17 M",
        "down 34 M",
    ),
    ("product_passes", (2, 3, 5), "Three products of 60 operations", "X, 2 by 3, times W, 3 by 5"),
    ("rate_curves", ([1, 2, 3], {"up": [0.1, 0.5, 0.2]}), "up is highest at step 2, with 5.00e-01."),
    (
        "learning_curves",
        ({"": {"training": [[1, 4.0], [9, 1.5]]}},),
        "Loss against the step, from first to last. training 4.00 to 1.50.",
    ),
    ("learning_curves", None, "two: training 3.00 to 2.00, validation 3.00 to 2.50"),
    ("clipped", None, "as one arrow at 27 degrees", "the same way, 27 degrees", "turned, to 45 degrees"),
    ("adam_steps", None, "step 2: gradient 0.5, Adam's step 0.75 times the rate; step 3: gradient \N{MINUS SIGN}2, "),
    ("smoothing", (4000, 0.1), "lowest at 0.900 "),
    ("peaks", None, "1 run diverged", "no warm-up: 0.001 gives 2.50, 0.01 gives 2.00"),
    ("loss_stages", None, "first ends at 2.00; second ends at 1.50"),
    ("sharpened", (["a", "b"], (0.5, 1.0), np.array([[0.8, 0.1], [0.6, 0.3]])), "0.80 0.10 0.60 0.30"),
    ("reading_times", ({"one": ([1, 4], [4.0, 0.5])},), "4 ms with 1 token in a pass, 0.5 ms with 4", "one: 0.5 ms"),
    ("weighted_mean", None, "z = (1.00, 0.60)"),
    ("surprise", ({"sure": 1.0},), "sure: 0.00"),
    ("shares_by_arm", ({"one": [1.0, 3.0, 2.0]},), "2.0 %"),
]
"""Figures, what they are given (an example's arguments, where there is none), and what their words are."""


def texts_of(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@pytest.mark.parametrize(("name", "args", "words"), [(name, args, words) for name, args, *words in WRITTEN])
def test_figure_says_what_it_was_given(name, args, words):
    figure = getattr(figures, name)(*(FIGURES[name] if args is None else args), palette=LIGHT)
    written = f"{figure.get_label()} {words_of(figure)}"
    assert [part for part in words if part not in written] == [], written


@pytest.mark.parametrize(
    "name", ["head_maps", "logit_lens", "signal_paths", "beyond_length", "drifting", "stretched", "chain"]
)
def test_wide_figures_stand_on_a_phone_without_scrolling(name):
    assert show(getattr(figures, name), *FIGURES[name]).least_px <= 330


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


def test_names_of_rate_curves_stand_clear_of_each_other_and_of_the_lines():
    steps = np.arange(1, 201)
    rates = {"low": 1 / np.sqrt(steps), "high": 2 / np.sqrt(steps), "near": 1.01 / np.sqrt(steps)}
    axes = figures.rate_curves(steps, rates, palette=LIGHT).axes[0]
    places = {text.get_text().split(":")[0]: text.get_position() for text in axes.texts}
    assert places["high"][1] > max(rates["high"]) and places["low"][0] > steps[-1] < places["near"][0]
    assert places["near"][1] - places["low"][1] >= 0.06 * max(rates["high"])


def test_training_losses_are_dashed_and_share_the_colour_of_their_validation_losses():
    shown = figures.learning_curves(*FIGURES["learning_curves"], palette=LIGHT)
    first, _, three = [axes.lines for axes in shown.axes[:3]]
    assert [line.get_linestyle() for line in first] == ["--", "-"] and first[0].get_color() == first[1].get_color()
    two_runs = figures.learning_curves({"": {"A": [[1, 3.0], [5, 1.0]], "B": [[1, 3.0], [5, 2.0]]}}, palette=LIGHT)
    a, b = two_runs.axes[0].lines
    assert a.get_linestyle() == b.get_linestyle() == three[0].get_linestyle() == "-" and a.get_color() != b.get_color()
