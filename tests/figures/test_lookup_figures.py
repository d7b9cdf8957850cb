"""The figures of the soft lookup show the numbers that they were given, and refuse what does not fit."""

import re
from pathlib import Path

import numpy as np
import pytest

from softlookup import reference
from softlookup_course import figures, widgets
from softlookup_course.figures import DARK, LIGHT, show
from softlookup_course.figures.theme import contrast, style

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
