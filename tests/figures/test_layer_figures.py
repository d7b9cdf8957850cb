"""The figures that compare kinds of layers: paths, operations, times, guesses."""

import itertools

import numpy as np
import pytest

from softlookup_course import figures
from softlookup_course.figures import LIGHT
from softlookup_course.figures.marks import kept_apart
from softlookup_course.figures.theme import style

WORDS = ["a", "word", "needs", "company"]


def test_signal_paths_draws_every_step_of_the_chain_and_one_straight_way():
    chain, direct = figures.signal_paths(WORDS, palette=LIGHT).axes
    strong = [[line for line in axes.lines if line.get_linewidth() > 2] for axes in (chain, direct)]
    assert [len(lines) for lines in strong] == [len(WORDS), 1]
    assert [tuple(xy) for xy in strong[1][0].get_xydata()] == [(0, 0), (len(WORDS) - 1, 1)]


def test_names_at_the_ends_of_curves_do_not_lie_on_each_other():
    curves = {"RNN": 0.7 ** np.arange(40), "GRU": 0.701 ** np.arange(40), "LSTM": 0.702 ** np.arange(40)}
    axes = figures.gradient_reach(np.arange(1, 41), curves, palette=LIGHT).axes[0]
    heights = sorted(np.log10(text.get_position()[1]) for text in axes.texts)
    assert min(np.diff(heights)) > 0.8


def test_kept_apart_moves_up_only_what_lies_too_low():
    assert kept_apart([0.5, 0.1, 0.12, 0.9], 0.1) == [0.5, 0.1, pytest.approx(0.2), 0.9]
    assert kept_apart([1.0, 1.0, 1.0], 0.25) == [1.0, 1.25, 1.5]
    assert kept_apart([], 1.0) == []


@pytest.mark.parametrize("kind", ["drifting", "layer_times", "layer_operations", "many_hands", "beyond_length"])
def test_names_of_curves_that_end_together_are_clear_of_each_other(kind):
    ends = np.array([1.0, 1.001, 1.002, 1.003])
    names = ("RNN", "GRU", "LSTM", "attention")
    levels = {name: np.full(8, 100 * end) for name, end in zip(names, ends, strict=True)}
    curves = {
        name: {"curve": [[0.5 * end] * 4]} for name, end in zip(("t5", "alibi", "rotary", "none"), ends, strict=True)
    }
    x = 2.0 ** np.arange(4, 12)
    figure = {
        "drifting": lambda: figures.drifting(
            np.full((2, 4), 0.5), np.full((2, 4), 0.501), [0.5] * 4, [0.5] * 4, palette=LIGHT
        ),
        "layer_times": lambda: figures.layer_times(x, levels | {"RNN": x}, palette=LIGHT),
        "layer_operations": lambda: figures.layer_operations(x, 64, levels | {"attention": x}, {}, palette=LIGHT),
        "many_hands": lambda: figures.many_hands(10.0 ** np.arange(8), levels | {"RNN": 1e9 / x}, palette=LIGHT),
        "beyond_length": lambda: figures.beyond_length(8, 4, curves, curves, palette=LIGHT),
    }[kind]()
    with style(LIGHT):
        figure.canvas.draw()
        for axes in figure.axes:
            boxes = [text.get_window_extent() for text in axes.texts if text.get_text() != " trained"]
            assert len(boxes) == 4
            for first, second in itertools.combinations(boxes, 2):
                assert not first.overlaps(second)


def test_a_layer_has_one_colour_in_all_figures_of_the_chapter():
    together = ["RNN", "LSTM", "LSTM, gates open", "attention"]
    reach = figures.gradient_reach(np.arange(1, 5), {name: np.ones(4) for name in together}, palette=LIGHT).axes[0]
    others = {name: np.full(8, 64.0) for name in ("RNN", "GRU", "LSTM", "attention")}
    counts = figures.layer_operations(2 ** np.arange(4, 12), 64, others, {}, palette=LIGHT).axes[0]
    here, there = ({text.get_text(): text.get_color() for text in axes.texts} for axes in (reach, counts))
    assert {here[name] == there[name] for name in ("RNN", "LSTM", "attention")} == {True}
    assert here["LSTM, gates open"] == here["LSTM"] and len(set(there.values())) == 4
    assert [line.get_linestyle() for line in reach.lines] == ["-", "-", "--", "-"]


def test_norm_steps_names_its_marks_and_keeps_them_apart():
    figure = figures.norm_steps(WORDS[:2], [("x", np.zeros((2, 3)))], palette=LIGHT)
    heights = [line.get_ydata()[0] for line in figure.axes[0].lines if line.get_marker() in ("o", "s", "D")]
    assert len(heights) == len(set(heights)) == 6
    named = [text.get_text() for text in figure.axes[0].texts]
    assert named == ["1", "2", "3", "mean"] and figure.axes[0].get_xlabel() == "value of each feature, 1 to 3"


def test_position_ways_names_three_ways_in_the_order_of_the_steps():
    texts = figures.position_ways(palette=LIGHT).axes[0].texts
    height = {text.get_text(): text.get_position()[1] for text in texts}
    order = ("token embeddings", "absolute", "queries and keys", "rotary", "scores", "relative", "softmax")
    assert sorted(order, key=height.__getitem__, reverse=True) == list(order)
