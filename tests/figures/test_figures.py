"""Every figure draws in both themes, the same each time, and shows the numbers it was given."""

import base64
import functools
import re
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pytest
from figure_examples import FIGURES, RNG, WORDS, K, Q, V
from matplotlib.figure import Figure

from softlookup import reference
from softlookup_course import figures
from softlookup_course.figures import DARK, LIGHT, render_svg, show
from softlookup_course.figures.many_heads import with_unit
from softlookup_course.figures.marks import several_panels
from softlookup_course.figures.page import grid, say, table
from softlookup_course.figures.show import SCALE, Shown
from softlookup_course.figures.theme import style


class Drawn:
    """A figure, drawn once for all tests that only look at it."""

    def __init__(self, name: str) -> None:
        self.name, self.draw, self.args = name, getattr(figures, name), FIGURES[name]

    @functools.cached_property
    def shown(self) -> Shown:
        return show(self.draw, *self.args, caption="What to see <here>.")

    @functools.cached_property
    def figure(self) -> Figure:
        return self.shown.drawing

    def written(self, theme: str) -> str | None:
        """Give the SVG that a page of this theme holds, or None where it holds a PNG."""
        kind, data = getattr(self.shown, theme).split(",", 1)
        return unquote(data) if kind == "data:image/svg+xml" else None


@pytest.fixture(params=FIGURES, scope="module")
def drawn(request: pytest.FixtureRequest) -> Drawn:
    return Drawn(request.param)


def words_of(figure: Figure) -> str:
    return " ".join(text.get_text() for axes in figure.axes for text in axes.texts)


def test_every_public_figure_is_tried_here():
    drawing = {name for name in figures.__all__ if name[0].islower()} - {"show", "render_svg", "style", "wrong_cells"}
    assert drawing == set(FIGURES)


@pytest.mark.one_in(48)
def test_figure_is_byte_for_byte_the_same_when_drawn_again(drawn):
    """What a page holds is text that is the drawing again."""
    again = render_svg(drawn.draw, DARK, *drawn.args)
    assert not re.search(r"20\d\d-\d\d|<dc:date>|Matplotlib v", again)
    if drawn.written("dark"):
        shown, expected = ElementTree.fromstring(drawn.written("dark")), ElementTree.fromstring(again)
        assert ElementTree.tostring(shown) == ElementTree.tostring(expected)


@pytest.mark.one_in(28)
def test_figure_is_drawn_in_each_themes_own_ink(drawn):
    for theme, ink, other in (("light", LIGHT.ink, DARK.ink), ("dark", DARK.ink, LIGHT.ink)):
        written = drawn.written(theme)
        assert written is None or (ink in written and other not in written)


@pytest.mark.one_in(28)
def test_shown_figure_has_both_images_with_their_words(drawn):
    alt = drawn.figure.get_label()
    assert 40 < len(alt) < 420 and alt.endswith(".")
    page = drawn.shown._repr_html_()
    images = re.findall(
        r'<img class="(only-\w+) dark-light" src="data:image/(?:svg\+xml|png;base64),[^"]+" alt="([^"]+)"', page
    )
    assert [shown for shown, _ in images] == ["only-light", "only-dark"]
    assert images[0][1] == images[1][1]
    assert "<figcaption>What to see &lt;here&gt;.</figcaption>" in page
    # A caption that is a sibling of .only-dark would be hidden by the book's theme.
    assert re.search(r"</div><figcaption>", page)
    # A drawing stands in the page as plain text.
    kind, data = drawn.shown.dark.split(",", 1)
    assert kind != "data:image/svg+xml" or re.search(r"[\"<>#&\n]|[^\x20-\x7e]", data) is None


@pytest.mark.one_in(28)
def test_wide_figure_keeps_its_letters_readable_on_a_phone(drawn):
    shown, figure = drawn.shown, drawn.figure
    assert f'class="slk-scroll" style="--slk-least:{shown.least_px}px"' in shown._repr_html_()
    sizes = [text.get_fontsize() for axes in figure.axes for text in axes.texts]
    sizes += [tick.get_fontsize() for axes in figure.axes for tick in axes.get_xticklabels()]
    least_scale = shown.least_px / (figure.get_figwidth() * 72)  # CSS pixels for one point of the drawing
    assert min(sizes) * least_scale >= 7.9


@pytest.mark.one_in(20)
def test_panels_cover_the_figure_and_cut_none_through(drawn):
    panels, figure, inch = drawn.shown.panels_px, drawn.figure, SCALE * 96
    if not panels:
        return
    whole = drawn.shown.width_px * drawn.shown.height_px
    assert sum(width * height for _, _, width, height in panels) == pytest.approx(whole, rel=0.01)
    for axes in figure.axes:
        box = axes.get_tightbbox()
        assert box is not None
        left, low, right, top = (edge / figure.dpi * inch for edge in box.extents)
        low, top = drawn.shown.height_px - top, drawn.shown.height_px - low
        assert any(
            x - 2 < left and y - 2 < low and right < x + width + 2 and top < y + height + 2
            for x, y, width, height in panels
        )


def test_panels_that_an_arrow_joins_are_not_parted():
    def panels(is_joined: bool, *, palette: figures.Palette) -> Figure:
        figure, (left, right) = several_panels(6, 2, 1, 2)
        if is_joined:
            arrow = {"arrowstyle": "->"}
            left.annotate("", (0.5, 0.5), (0.5, 0.5), xycoords=right.transData, textcoords="data", arrowprops=arrow)
        return figure

    assert len(show(panels, False, alt="Two panels.").panels_px) == 2
    assert show(panels, True, alt="Two panels.").panels_px == []


@pytest.mark.one_in(20)
def test_nothing_is_cut_off_at_the_edge(drawn):
    with style(LIGHT):
        drawn.figure.draw_without_rendering()
        drawing = drawn.figure.get_tightbbox()  # in inches
    width, height = drawn.figure.get_size_inches()
    assert min(drawing.x0, drawing.y0, width - drawing.x1, height - drawing.y1) > -0.02


def test_titles_of_stages_stay_clear_of_the_tables_above():
    with style(LIGHT):
        figure = figures.stages(Q, K, V, WORDS, palette=LIGHT)
        figure.draw_without_rendering()
    above, below = figure.axes[0].get_window_extent(), figure.axes[2]._left_title.get_window_extent()
    assert above.y0 - below.y1 > 10


def test_show_refuses_a_figure_without_words():
    def mute(*, palette: figures.Palette) -> Figure:
        return Figure()

    with pytest.raises(ValueError, match="mute needs alt: a sentence"):
        show(mute)
    with pytest.raises(ValueError, match="mute needs alt"):
        show(mute, alt="  \n ")
    assert show(mute, alt="An empty\n  page.").alt == "An empty page."


def test_large_figure_is_sent_as_png():
    def dots(*, palette: figures.Palette) -> Figure:
        figure = Figure()
        figure.subplots().plot(np.arange(4000), np.sin(np.arange(4000.0)), "o")
        return figure

    shown = show(dots, alt="Many dots.")
    kind, data = shown.light.split(";base64,")
    assert kind == "data:image/png" and base64.b64decode(data).startswith(b"\x89PNG")


def test_stages_shows_the_references_numbers():
    with style(LIGHT):
        figure = figures.stages(Q, K, V, WORDS, palette=LIGHT)
    weights = reference.attention_weights(Q, K)
    got = [float(text.get_text().replace("\N{MINUS SIGN}", "-")) for text in figure.axes[2].texts]
    np.testing.assert_allclose(got, weights.ravel(), atol=0.00501)
    output = [float(text.get_text().replace("\N{MINUS SIGN}", "-")) for text in figure.axes[3].texts]
    np.testing.assert_allclose(output, (weights @ V).ravel(), atol=0.00501)


def test_wrong_cells_forgives_rounding_and_nothing_more():
    true = np.array([0.125, 0.1251, 0.2, 0.2])
    printed = np.array([0.12, 0.12, 0.20, 0.21])
    assert figures.wrong_cells(printed, true, 2).tolist() == [False, True, False, True]
    with pytest.raises(ValueError, match=r"printed has shape \(4,\), but true has shape \(2,\)"):
        figures.wrong_cells(printed, true[:2], 2)


def test_comparison_counts_and_frames_the_wrong_cells():
    figure = figures.comparison(grid("1 2; 3 4"), grid("1 2; 3.5 4"), "M", palette=LIGHT)
    assert figure.axes[0].get_title(loc="center") + figure.axes[0].get_title(loc="left") == "printed: 1 of 4 wrong"
    frames = [p for p in figure.axes[0].patches if not p.get_fill()]
    assert [(round(p.get_x()), round(p.get_y())) for p in frames] == [(0, 1)]


def test_gradient_flow_shows_the_slopes_that_nudges_find():
    dz, width = np.array([[0, 0], [0, 0], [1, -2.0]]), 1e-6
    inputs = [RNG.normal(size=(3, 2)) for _ in range(3)]
    figure = figures.gradient_flow(["a", "b", "c"], ["x", "y"], inputs, dz, palette=LIGHT)
    cells = [text for text in figure.axes[0].texts if text.get_va() == "center" and text.get_ha() == "center"]
    shown = np.array([float(text.get_text().replace("\N{MINUS SIGN}", "-")) for text in cells])
    for number, slopes in enumerate(shown[:18].reshape(3, 6)):
        for place, slope in enumerate(slopes):
            ends = []
            for nudge in (-width, width):
                nudged = [array.copy() for array in inputs]
                nudged[number].flat[place] += nudge
                ends.append((reference.scaled_dot_product_attention(*nudged) * dz).sum())
            assert abs((ends[1] - ends[0]) / (2 * width) - slope) <= 0.00501


def test_stretched_shows_every_difference_of_the_column_and_the_row():
    column, row = np.array([3.0, 1.0, 2.0]), np.array([1.0, 5.0, -2.0])
    texts = [text.get_text() for text in figures.stretched(column, row, palette=LIGHT).axes[0].texts]
    shown = [float(text.replace("\N{MINUS SIGN}", "-")) for text in texts[:27]]
    assert shown[2::3] == (column[:, None] - row).ravel().tolist()
    assert "difference, shape (3, 3)" in texts


@pytest.mark.parametrize(("w", "x", "t"), [(2.0, 3.0, 1.0), (1.0, -2.0, 4.0)])
def test_chain_gathers_the_slope_that_a_nudge_finds(w, x, t):
    slope = (((w + 1) * x - t) ** 2 - ((w - 1) * x - t) ** 2) / 2
    words = words_of(figures.chain(w, x, t, palette=LIGHT)).replace("\N{MINUS SIGN}", "-")
    assert f"dL/dw = {slope:g}" in words and "dL/dL = 1" in words


def test_reading_order_keeps_the_memory_and_turns_or_cuts_the_table():
    texts = [text.get_text() for text in figures.reading_order(2, 3, palette=LIGHT).axes[0].texts]
    numbers = [int(text) for text in texts if text.isdigit()]
    assert numbers == [1, 2, 3, 4, 5, 6, 1, 4, 2, 5, 3, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]


def test_score_memory_names_the_bytes_of_a_square():
    figure = figures.score_memory(4.0 ** np.arange(2, 6), 64, 4, palette=LIGHT)
    assert with_unit(64**2 * 4) in words_of(figure)
    assert [with_unit(n) for n in (0, 999, 1000, 4e6, 17.2e9)] == ["0 bytes", "999 bytes", "1 kB", "4 MB", "17.2 GB"]


def test_step_cost_names_both_ends_and_the_line_through_the_cached_steps():
    figure = figures.step_cost(*FIGURES["step_cost"], palette=LIGHT)
    words = words_of(figure)
    assert "no cache:\n208 ms" in words and "cached:\n5.05 ms" in words
    assert "3 ms + 1 ms per 1,000 tokens" in words and "3 ms + 1 ms per 1,000 tokens" in figure.get_label()
    line, dots = figure.axes[1].lines
    np.testing.assert_allclose(line.get_ydata(), dots.get_ydata())


def test_layer_operations_marks_where_the_curves_meet():
    figure = figures.layer_operations(*FIGURES["layer_operations"], palette=LIGHT)
    (mark,) = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    lengths, _, per_token, _ = FIGURES["layer_operations"]
    assert mark.get_xdata()[0] == 128 and mark.get_ydata()[0] == per_token["attention"][list(lengths).index(128)]
    assert "T = 128" in words_of(figure)


def test_grid_reads_rows_and_refuses_ragged_ones():
    assert grid("1 .5; 0 -2").tolist() == [[1, 0.5], [0, -2]]
    with pytest.raises(ValueError, match="row 2 has 1 numbers, the first has 2"):
        grid("1 2; 3")


def test_say_refuses_what_a_sentence_cannot_show():
    with pytest.raises(TypeError, match="share is a ndarray; sentences show an int, a float or a str"):
        say(share=np.zeros(3))


def test_merging_frames_what_each_merge_has_made():
    passes = [["▁", "a", "b"], ["▁", "ab"], ["▁ab"]]
    figure = figures.merging(passes, palette=LIGHT)
    words = words_of(figure)
    assert [words.count(piece) for piece in ("letters", "merge 1", "merge 2")] == [1, 1, 1]
    filled = [patch for patch in figure.axes[0].patches if patch.get_alpha() is not None]
    assert len(filled) == 2, "one new piece for each merge"


def test_table_aligns_numbers_to_the_right_and_writes_each_column_in_its_format(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda table: shown.append(table.data))
    table({"$H$": np.array([4, 4096]), "spread": [1.5, -0.25], "name": ["a|b", True]}, {"spread": ".1f"})
    assert shown[0].splitlines() == [
        "| $H$ | spread | name |",
        "| ---: | ---: | --- |",
        "| 4 | 1.5 | a\\|b |",
        "| 4,096 | \N{MINUS SIGN}0.2 | True |",
    ]


def test_table_names_the_column_that_does_not_fit():
    with pytest.raises(ValueError, match="column 'b' has 1 cells, the first has 2"):
        table({"a": [1, 2], "b": [1]})
    with pytest.raises(ValueError, match="no column 'c'; there are 'a'"):
        table({"a": [1]}, {"c": ".2f"})
