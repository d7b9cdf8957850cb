"""The figures of chapter 13 show the numbers that they were given, and refuse what does not fit."""

import numpy as np
import pytest
from beyond_text_examples import LONG, RNG

from softlookup_course import figures
from softlookup_course.figures import LIGHT, PALETTES
from softlookup_course.figures.beyond_text import numbers_kept, numbers_moved
from softlookup_course.figures.theme import contrast


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


def test_arms_name_their_medians():
    axes = figures.shares_by_arm({"one": [1.0, 3.0, 2.0]}, palette=LIGHT).axes[0]
    assert [text.get_text() for text in axes.texts] == ["2.0 %"]


def test_names_of_occlusion_do_not_lie_on_each_other():
    curves = {name: [100, 50 + i / 10] for i, name in enumerate("abcd")}
    axes = figures.occlusion([0, 4], curves, palette=LIGHT).axes[0]
    heights = sorted(text.get_position()[1] for text in axes.texts)
    assert min(np.diff(heights)) >= 7.4


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
