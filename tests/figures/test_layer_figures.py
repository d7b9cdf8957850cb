"""Figures of chapters 1, 2, 6, 7 and 13 show what they were given: paths, layers, lookups, patches, long texts."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from figure_examples import LONG, RNG

from softlookup import reference
from softlookup_course import figures, widgets
from softlookup_course.figures import DARK, LIGHT, PALETTES, show
from softlookup_course.figures.beyond_text import numbers_kept, numbers_moved
from softlookup_course.figures.theme import contrast, style

WORDS = ["a", "word", "needs", "company"]


def test_signal_paths_draws_every_step_of_the_chain_and_one_straight_way():
    chain, direct = figures.signal_paths(WORDS, palette=LIGHT).axes
    strong = [[line for line in axes.lines if line.get_linewidth() > 2] for axes in (chain, direct)]
    assert [len(lines) for lines in strong] == [len(WORDS), 1]
    assert [tuple(xy) for xy in strong[1][0].get_xydata()] == [(0, 0), (len(WORDS) - 1, 1)]


def test_keys_lie_along_the_query_by_their_scores_and_its_own_key_above():
    q_SH, k_SH = np.random.default_rng(4).normal(size=(2, 4, 6))
    figure = figures.query_and_keys(WORDS, q_SH, k_SH, 2, palette=LIGHT)
    *keys, _, tip = [line.get_xydata()[0] for line in figure.axes[0].lines]
    length = np.linalg.norm(q_SH[2])
    assert np.allclose([key[0] for key in keys], k_SH @ q_SH[2] / length) and np.allclose(tip, (length, 0))
    rest_S = np.linalg.norm(k_SH - np.outer(k_SH @ q_SH[2], q_SH[2]) / length**2, axis=1)
    assert keys[2][1] > 0 and all(abs(key[1]) <= rest + 1e-9 for key, rest in zip(keys, rest_S, strict=True))
    best = WORDS[int(np.argmax(k_SH @ q_SH[2]))]
    assert f"the key of {best} lies at" in figure.get_label()


X, ROWS = 2.0 ** np.arange(4, 12), np.arange(1, 4097)
ENDS = {"RNN": 1.0, "GRU": 1.001, "LSTM": 1.002, "attention": 1.003}
LEVELS = {name: np.full(8, 100 * end) for name, end in ENDS.items()}
CURVES = {name: {"curve": [[0.5 + i / 2000] * 4]} for i, name in enumerate(("t5", "alibi", "rotary", "none"))}
CLOSE = {
    "drifting": (np.full((2, 4), 0.5), np.full((2, 4), 0.501), [0.5] * 4, [0.5] * 4),
    "layer_times": (X, LEVELS | {"RNN": X}),
    "layer_operations": (X, 64, LEVELS | {"attention": X}, {}),
    "many_hands": (10.0 ** np.arange(8), LEVELS | {"RNN": 1e9 / X}),
    "beyond_length": (8, 4, CURVES, CURVES),
    "gradient_reach": (np.arange(1, 41), {name: end * 0.7 ** np.arange(40) for name, end in ENDS.items()}),
    "occlusion": ([0, 4], {name: [100, 50 + i / 10] for i, name in enumerate("abcd")}),
    "kitchen": ({"A": 64, "B": 64}, {"A B": 64}, 128),
    "product_box": (ROWS, ROWS * 1.08e-7, 1.64e-5 + ROWS * 8.0e-9),
}
"""Figures with what brings their words close together, as curves that end in one place."""


@pytest.mark.parametrize("name", CLOSE)
def test_words_of_a_figure_are_clear_of_each_other(name):
    with style(LIGHT):
        figure = getattr(figures, name)(*CLOSE[name], palette=LIGHT)
        figure.canvas.draw()
        for axes in figure.axes:
            shown = [text for text in axes.texts if text.get_text() not in ("", " trained")]
            assert len(shown) >= 3
            for first, second in itertools.combinations([text.get_window_extent() for text in shown], 2):
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


TAUS = np.logspace(-2, 2, 41)
WEIGHTS = np.array([reference.lookup_weights(np.array([2.2, 3.5, 0.36]), tau) for tau in TAUS])


def words(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_lookup_table_writes_every_weight_and_every_word():
    table = np.array([[0, 1, 0], [0.25, 0.25, 0.5]])
    with style(LIGHT):
        figure = figures.lookup_table(["p", "q"], list("abc"), list("123"), table, ["two", "mixed"], palette=LIGHT)
    assert words(figure)[:6] == ["0", "1", "0", "0.25", "0.25", "0.5"]
    assert {*"abc123pq", "two", "mixed"} <= set(words(figure))
    assert "p gives two; q gives mixed" in figure.get_label()


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=lambda palette: palette.name)
def test_lookup_tables_ones_can_be_read_on_their_shade(palette):
    from matplotlib.colors import to_rgb

    with style(palette):
        figure = figures.lookup_table(["p"], ["a"], ["1"], np.ones((1, 1)), ["one"], palette=palette)
    shade = next(patch for patch in figure.axes[0].patches if patch.get_fill())
    share = shade.get_alpha()
    mixed = [
        share * top + (1 - share) * below
        for top, below in zip(to_rgb(palette.mixed), to_rgb(palette.paper), strict=True)
    ]
    assert contrast(palette.ink, tuple(mixed)) >= 4.5


def test_temperature_curves_draw_the_weights_and_name_each_line_beside_it():
    names = ["apple", "banana", "lemon"]
    figure = figures.temperature_curves(names, TAUS, WEIGHTS, palette=LIGHT)
    drawn = {
        tuple(np.round(line.get_ydata(), 12)) for line in figure.axes[0].lines if len(line.get_xdata()) == len(TAUS)
    }
    assert drawn == {tuple(np.round(column, 12)) for column in WEIGHTS.T}
    for name, column in zip(names, WEIGHTS.T, strict=True):
        x, y = next(text.xy for text in figure.axes[0].texts if text.get_text() == name)
        assert y == column[np.flatnonzero(TAUS == x)[0]]
    assert "banana from 1.00 to 0.34" in figure.get_label()


def test_temperature_curves_give_each_key_its_colour_in_the_interactive_figure():
    names, css = ["apple", "banana", "lemon"], (Path(widgets.__file__).parent / "lookup_plane.css").read_text()
    texts = figures.temperature_curves(names, TAUS, WEIGHTS, palette=LIGHT).axes[0].texts
    drawn = {text.get_text(): text.get_color() for text in texts}
    roles = re.findall(r"--slp-\d: var\(--slf-(\w+)\);", css)[:3]
    assert [drawn[name] for name in names] == [getattr(LIGHT, role) for role in roles]


def test_one_weighted_mean_fits_a_phone_and_names_no_panel():
    panel = (["a", "b", "c"], np.array([[0.0, 0], [2, 0], [0, 2]]), np.array([0.2, 0.5, 0.3]))
    single, double = (figures.weighted_mean([panel] * n, ("east", "north"), palette=LIGHT) for n in (1, 2))
    assert show(figures.weighted_mean, [panel], ("east", "north")).least_px < 340
    assert [figure.axes[0].get_title() for figure in (single, double)] == ["", "a b c"]


def test_equal_steps_are_drawn_as_parallel_arrows_of_one_length():
    rng = np.random.default_rng(5)
    starts, step = rng.normal(size=(4, 6)), rng.normal(size=6)
    figure = figures.common_direction([(c, c * 2) for c in "abcd"], starts, starts + step, palette=LIGHT)
    dots = np.array([line.get_xydata()[0] for line in figure.axes[0].lines])
    moved = dots[1::2] - dots[::2]
    np.testing.assert_allclose(moved, np.tile([np.linalg.norm(step), 0.0], (4, 1)), atol=1e-12)
    assert (
        "4 of 4 go to the right; the cosines of the steps with their mean lie between 1.00 and 1.00"
        in figure.get_label()
    )


def test_cut_up_numbers_every_patch_in_both_panels():
    whole, row = figures.cut_up(RNG.random((4, 6)), 2, palette=LIGHT).axes
    assert [text.get_text() for text in whole.texts] == [text.get_text() for text in row.texts] == list("012345")
    assert len(row.images) == 6


@pytest.mark.parametrize("palette", PALETTES, ids=lambda palette: palette.name)
def test_numbers_of_patches_can_be_read_on_any_pixel(palette):
    whole, row = figures.cut_up(np.ones((4, 6)), 2, palette=palette).axes
    assert all(text.get_bbox_patch() for text in whole.texts)
    for axes in (whole, row):
        for text in axes.texts:
            box = text.get_bbox_patch()
            behind = palette.paper if box is None else box.get_facecolor()[:3]
            assert contrast(text.get_color(), behind) >= 7


def test_pair_grid_writes_every_cosine_and_counts_the_right_ones():
    cosines = np.array([[0.8, -0.1], [0.7, 0.6]])
    figure = figures.pair_grid(RNG.random((2, 3, 4, 4)), ["a", "b"], cosines, palette=LIGHT)
    assert [text.get_text() for text in figure.axes[0].texts] == ["0.80", "\N{MINUS SIGN}0.10", "0.70", "0.60"]
    assert "For 1 of the pictures" in figure.get_label()


def test_long_attention_leaves_out_what_was_not_measured():
    time, memory = figures.long_attention(LONG, palette=LIGHT).axes
    assert [len(line.get_xdata()) for line in time.lines] == [2, 3, 3, 3, 3]
    assert [len(line.get_xdata()) for line in memory.lines] == [2, 3, 3, 2]


def test_both_kinds_of_tiles_are_named_and_only_one_is_drawn_in_memory():
    panels = figures.long_attention(LONG, palette=LIGHT).axes
    time, memory = ({text.get_text() for text in axes.texts} for axes in panels)
    assert time - memory == {"tiles, in torch"} and "tiles, in Python" in memory


def test_tile_flow_counts_what_a_walk_through_the_tiles_moves():
    n_queries, n_keys, width, tile = 12, 8, 3, 4
    moved = 0
    for _ in range(0, n_queries, tile):
        moved += tile * width  # a block of queries is read
        for _ in range(0, n_keys, tile):
            moved += 2 * tile * width  # a tile of keys and values
        moved += tile * width  # outputs are written
    assert numbers_moved(n_queries, n_keys, width, tile)[0] == moved
    ends = 2 * n_queries * width + 2 * n_keys * width
    assert numbers_moved(n_queries, n_keys, width, tile)[1] == ends + 4 * n_queries * n_keys
    queries, passing, scores, running = tile * width, 2 * tile * width, tile * tile, tile * width + 2 * tile
    assert numbers_kept(width, tile, tile) == queries + passing + scores + running


def test_tile_flow_shows_its_counts_on_a_phone():
    figure = figures.tile_flow(4096, 4096, 64, 128, palette=LIGHT)
    tiled, stored = numbers_moved(4096, 4096, 64, 128)
    words = " ".join(text.get_text() for text in figure.axes[0].texts)
    for number in (tiled, stored):
        assert f"{number / 1e6:.1f} million" in words and f"{number / 1e6:.1f} million" in figure.get_label()
    assert figures.show(figures.tile_flow, 4096, 4096, 64, 128).least_px <= 330
