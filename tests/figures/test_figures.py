"""Every figure draws in both themes, the same each time, and shows the numbers it was given."""

import base64
import functools
import re
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pytest
from beyond_text_examples import BEYOND_TEXT
from changed_examples import CHANGED
from counting_examples import COUNTING
from encoder_examples import ENCODER
from inference_examples import INFERENCE
from matplotlib.figure import Figure
from roofline_examples import ROOFLINE
from serving_examples import SERVING
from teaching_examples import TEACHING
from training_examples import TRAINING

from softlookup import reference
from softlookup_course import figures
from softlookup_course.figures import DARK, LIGHT, render_svg, show
from softlookup_course.figures.grid import draw_grid
from softlookup_course.figures.many_heads import with_unit
from softlookup_course.figures.page import grid, say, table
from softlookup_course.figures.show import Shown
from softlookup_course.figures.theme import style

RNG = np.random.default_rng(7)
Q, K, V = RNG.normal(size=(3, 4, 3))
WORDS = ["a", "word", "needs", "company"]
WIDTHS = 2 ** np.arange(2, 8)
FIGURES = {
    **COUNTING,
    **ENCODER,
    **TRAINING,
    **INFERENCE,
    **ROOFLINE,
    **BEYOND_TEXT,
    **SERVING,
    **TEACHING,
    **CHANGED,
    "pipeline": (figures.pipeline, ()),
    "accepted_wrong": (figures.accepted_wrong, ([("one", 40, 20, 0), ("another", 30, 3, 1)],)),
    "stages": (figures.stages, (Q, K, V, WORDS)),
    "variance": (figures.variance, (WIDTHS, WIDTHS * 1.1, np.full(6, 1.1))),
    "saturation": (figures.saturation, (np.array([0.97, 0.02, 0.01]), np.array([0.5, 0.3, 0.2]))),
    "gradient_size": (
        figures.gradient_size,
        (2.0 ** np.arange(6), np.exp(-np.arange(6.0)), np.exp(-2 * np.arange(6.0)), {"here": 4.0}),
    ),
    "weighted_mean": (
        figures.weighted_mean,
        ([(["a", "b", "c"], grid("0 0; 2 0; 0 2"), np.array([0.2, 0.5, 0.3]))], ("east", "north")),
    ),
    "gradient_flow": (figures.gradient_flow, (WORDS, ["one", "two", "three"], (Q, K, V), V[::-1])),
    "score_memory": (figures.score_memory, (4.0 ** np.arange(2, 6), 64, 4)),
    "step_cost": (
        figures.step_cost,
        (2 ** np.arange(6, 12), 3 + 0.001 * 2 ** np.arange(6, 12), 3 + 0.1 * 2 ** np.arange(6, 12)),
    ),
    "merging": (figures.merging, ([["▁", "a", "b", "c"], ["▁", "ab", "c"], ["▁ab", "c"]],)),
    "one_hot_product": (figures.one_hot_product, (WORDS, [1, 3, 1], np.arange(8.0).reshape(4, 2))),
    "vector_lengths": (figures.vector_lengths, (WIDTHS, np.ones(6), WIDTHS**0.5, (WIDTHS / 2) ** 0.5)),
    "vocabulary_size": (figures.vocabulary_size, ([90, 500, 4000], [52.0, 22.0, 12.0], 54.0, 11.5, 192)),
    "lookup_table": (
        figures.lookup_table,
        (["b", "d"], ["a", "b", "c"], ["1", "2", "3"], grid("0 1 0; 0 0 0"), ["2", "nothing"]),
    ),
    "temperature_curves": (
        figures.temperature_curves,
        (["a", "b", "c"], np.logspace(-1, 1, 9), np.linspace([0.9, 0.1, 0], [0.4, 0.3, 0.3], 9)),
    ),
    "common_direction": (
        figures.common_direction,
        ([("a", "as"), ("b", "bs"), ("c", "cs")], RNG.normal(size=(3, 5)), RNG.normal(size=(3, 5)) + 3),
    ),
    "signal_paths": (figures.signal_paths, (WORDS,)),
    "gradient_reach": (
        figures.gradient_reach,
        (np.arange(1, 41), {"RNN": 0.7 ** np.arange(40), "GRU": 0.9 ** np.arange(40), "attention": np.ones(40)}),
    ),
    "layer_operations": (
        figures.layer_operations,
        (
            2 ** np.arange(4, 12),
            64,
            {"LSTM": np.full(8, 16.0 * 64**2), "attention": 8.0 * 64**2 + 4 * 64 * 2 ** np.arange(4, 12)},
            {"LSTM": 128},
        ),
    ),
    "many_hands": (
        figures.many_hands,
        (
            10.0 ** np.arange(7),
            {
                "RNN": np.maximum(1e6 / 10.0 ** np.arange(7), 500),
                "attention": np.maximum(3e6 / 10.0 ** np.arange(7), 40),
            },
        ),
    ),
    "layer_times": (
        figures.layer_times,
        (2 ** np.arange(4, 9), {"LSTM": 2.0 ** np.arange(1, 6), "attention": 0.5 * 4.0 ** np.arange(5)}),
    ),
    "logit_lens": (figures.logit_lens, (WORDS, np.linspace(0, 0.9, 16).reshape(4, 4))),
    "comparison": (figures.comparison, (grid("1 2; 3 4"), grid("1 2; 3.5 4"), "M")),
    "open_product": (
        figures.open_product,
        (grid("2 0 1; 1 3 0"), grid("0 1; 1 0; 1 1"), ("the", "cat"), ("cat", "sat")),
    ),
    "verdict_rows": (
        figures.verdict_rows,
        ({"one subject": (3, 1, 2), "a long subject": (12, 0, 0)}, ("right", "so-so", "wrong")),
    ),
    "blending": (figures.blending, (2, 4, 4, 3)),
    "cost_by_heads": (figures.cost_by_heads, ([1, 2, 4], [64, 64, 64], [512, 512, 512], [100, 200, 400])),
    "head_groups": (figures.head_groups, ()),
    "head_maps": (
        figures.head_maps,
        (reference.attention_weights(np.stack([Q, K]), np.stack([K, Q])), WORDS, ["head 0", "head 1"]),
    ),
    "heads_needed": (
        figures.heads_needed,
        (np.array([[0.1, 0.6], [0.2, 0.3]]), np.array([[0.001, 0.0], [0.01, -0.002]]), 0.12),
    ),
    "input_slices": (figures.input_slices, (4, 2, 2)),
    "splitting": (figures.splitting, ()),
    "mask_panels": (
        figures.mask_panels,
        ([np.tri(5) > 0] * 3, ["triu(1)", "2", "3"], *[[["un", "chien", "noir", "court", "vite"], None, None]] * 2),
    ),
    "cross_map": (figures.cross_map, (np.eye(3)[:2], ["un", "chien"], ["a", "black", "dog"], "head 0")),
    "decoder_parts": (figures.decoder_parts, ()),
    "stretched": (figures.stretched, (np.array([3.0, 1.0, 2.0]), np.array([1.0, 5.0, -2.0]))),
    "chain": (figures.chain, (2.0, 3.0, 1.0)),
    "surprise": (figures.surprise, ({"sure": 1.0, "one in ten": 0.1},)),
    "reading_order": (figures.reading_order, (2, 3)),
    "position_stripes": (figures.position_stripes, (reference.sinusoidal(40, 16),)),
    "clock_hands": (figures.clock_hands, (reference.sinusoidal(8, 8),)),
    "position_ways": (figures.position_ways, ()),
    "distance_curve": (figures.distance_curve, ({8: reference.sinusoidal(21, 8) @ reference.sinusoidal(1, 8)[0]},)),
    "distance_terms": (
        figures.distance_terms,
        ({"T5": {"": np.array([0.1, 0.9, 0.0])}, "Shaw": {"one": np.zeros(3), "two": np.ones(3)}}, 2),
    ),
    "latency_curves": (
        figures.latency_curves,
        (
            [0.2, 1.2],
            {"first": {"p50": [1.0, 9.0], "p95": [2.0, 20.0]}},
            {"first": {"p50": [1.1, 8.0], "p95": [2.2, 30.0]}},
        ),
    ),
    "layer_maps": (
        figures.layer_maps,
        ({"scores": np.eye(3, 4), "shares": np.ones((3, 4)) / 2}, ["0", "1", "2", "3"], "head", "scores"),
    ),
    "layers_by_word": (figures.layers_by_word, (np.eye(4, 3), ["a", "small", "boat"], "shares")),
    "rank_by_layer": (figures.rank_by_layer, ([900, 40, 3, 1], "Paris", 1, "head 1.0")),
    "weight_and_effect": (
        figures.weight_and_effect,
        (np.eye(3, 2), np.full((3, 2), 0.2), {(0, 0): "head 0.0", (2, 1): "head 2.1"}, "France"),
    ),
    "contributions": (figures.contributions, ({"head 1.0": 2.0, "feed-forward 1": -1.0}, 1.5, "logit")),
    "feature_directions": (figures.feature_directions, ({"dense": np.eye(3, 2), "sparse": RNG.normal(size=(3, 2))},)),
    "relative_grids": (
        figures.relative_grids,
        ({"j - i": np.subtract.outer(-np.arange(4), -np.arange(4)), "ALiBi": reference.alibi_bias(8, 4, 4)[0]},),
    ),
    "first_token": (figures.first_token, ([[0.1, 0.9], [0.6, 0.5]], {"whole": 40.0, "window": 90.0})),
    "phase_moves": (figures.phase_moves, (200.0, {"products": (780.0, 1.0), "sums": (0.2, 0.2)})),
    "rotary_pairs": (figures.rotary_pairs, (8, 5)),
    "latent_scores": (figures.latent_scores, ()),
    "changed_parts": (
        figures.changed_parts,
        (
            {"keys": {"memory": ["latent", "few bits"]}, "network": {"work": ["experts"]}},
            ["memory", "work"],
            ["latent"],
        ),
    ),
    "ring_slots": (figures.ring_slots, (4, 2, 6)),
    "block_tables": (figures.block_tables, ({"A": [4, 0], "B": [4, 2, 1]}, [6, 9], 5, 4)),
    "draft_round": (figures.draft_round, ([0.6, 0.3, 0.1], [0.4, 0.1, 0.5])),
    "turned_pairs": (figures.turned_pairs, (np.array([2.0, 1.0]), np.array([1.0, 1.5]), 0.5, ((0, 2), (3, 5)))),
    "beyond_length": (
        figures.beyond_length,
        (
            8,
            4,
            {"rotary": {"curve": [[1.0, 0.9, 0.2, 0.1], [1.0, 0.8, 0.3, 0.1]]}},
            {"alibi": {"curve": [[1.0, 1.0, 1.1, 1.1]]}, "rotary": {"curve": [[0.8, 1.5, 3.0, 4.0]]}},
        ),
    ),
}


class Drawn:
    """A figure, drawn once for all tests that only look at it."""

    def __init__(self, name: str) -> None:
        self.name, (self.draw, self.args) = name, FIGURES[name]

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
    drawing = {name for name in figures.__all__ if name[0].islower()} - {
        "show",
        "render_svg",
        "style",
        "wrong_cells",
    }
    assert drawing == set(FIGURES)


@pytest.mark.one_in(24)
def test_figure_is_byte_for_byte_the_same_when_drawn_again(drawn):
    """What a page holds is text that is the drawing again."""
    again = render_svg(drawn.draw, DARK, *drawn.args)
    assert not re.search(r"20\d\d-\d\d|<dc:date>|Matplotlib v", again)
    if drawn.written("dark"):
        shown, expected = ElementTree.fromstring(drawn.written("dark")), ElementTree.fromstring(again)
        assert ElementTree.tostring(shown) == ElementTree.tostring(expected)


@pytest.mark.one_in(6)
def test_figure_is_drawn_in_each_themes_own_ink(drawn):
    for theme, ink, other in (("light", LIGHT.ink, DARK.ink), ("dark", DARK.ink, LIGHT.ink)):
        written = drawn.written(theme)
        assert written is None or (ink in written and other not in written)


@pytest.mark.one_in(6)
def test_shown_figure_has_both_images_with_their_words(drawn):
    alt = drawn.figure.get_label()
    assert 40 < len(alt) < 420 and alt.endswith(".")
    page = drawn.shown._repr_html_()
    images = re.findall(
        r'<img class="(only-\w+) dark-light" src="data:image/(?:svg\+xml|png;base64),[^"]+" alt="([^"]+)"',
        page,
    )
    assert [shown for shown, _ in images] == ["only-light", "only-dark"]
    assert images[0][1] == images[1][1]
    assert "<figcaption>What to see &lt;here&gt;.</figcaption>" in page
    # A caption that is a sibling of .only-dark would be hidden by the book's theme.
    assert re.search(r"</div><figcaption>", page)
    # A drawing stands in the page as plain text.
    kind, data = drawn.shown.dark.split(",", 1)
    assert kind != "data:image/svg+xml" or re.search(r"[\"<>#&\n]|[^\x20-\x7e]", data) is None


def test_wide_figure_keeps_its_letters_readable_on_a_phone(drawn):
    shown, figure = drawn.shown, drawn.figure
    assert f'class="slk-scroll" style="--slk-least:{shown.least_px}px"' in shown._repr_html_()
    sizes = [text.get_fontsize() for axes in figure.axes for text in axes.texts]
    sizes += [tick.get_fontsize() for axes in figure.axes for tick in axes.get_xticklabels()]
    least_scale = shown.least_px / (figure.get_figwidth() * 72)  # CSS pixels for one point of the drawing
    assert min(sizes) * least_scale >= 7.9


@pytest.mark.one_in(4)
def test_nothing_is_cut_off_at_the_edge(drawn):
    with style(LIGHT):
        drawn.figure.draw_without_rendering()
        drawing = drawn.figure.get_tightbbox()  # in inches
    width, height = drawn.figure.get_size_inches()
    assert min(drawing.x0, drawing.y0, width - drawing.x1, height - drawing.y1) > -0.02


def test_labels_of_stages_use_the_letters_of_the_notation():
    figure = figures.stages(Q, K, V, WORDS, palette=LIGHT)
    titles = " ".join(axes.get_title(loc="left") + axes.get_title() for axes in figure.axes)
    assert "R = Q K^T" in titles and "U = R" in titles and "Z = A V" in titles


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


def test_weighted_mean_prints_the_output_it_draws():
    figure = figures.weighted_mean(*FIGURES["weighted_mean"][1], palette=LIGHT)
    assert "z = (1.00, 0.60)" in words_of(figure)


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


@pytest.mark.parametrize("name", ["head_maps", "logit_lens", "signal_paths", "beyond_length", "drifting"])
def test_wide_figures_stand_on_a_phone_without_scrolling(name):
    draw, args = FIGURES[name]
    assert show(draw, *args).least_px <= 330


def test_stretched_and_chain_show_their_point_on_a_phone_without_scrolling():
    """What they are about stood at the right end, out of sight."""
    for name, args in (("stretched", ([3.0, 1.0, 2.0], [1.0, 5.0, 2.0])), ("chain", (3.0, 2.0, 4.0))):
        assert show(getattr(figures, name), *args).least_px <= 330


def test_reading_order_keeps_the_memory_and_turns_or_cuts_the_table():
    texts = [text.get_text() for text in figures.reading_order(2, 3, palette=LIGHT).axes[0].texts]
    numbers = [int(text) for text in texts if text.isdigit()]
    assert numbers == [1, 2, 3, 4, 5, 6, 1, 4, 2, 5, 3, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]


def test_surprise_of_a_certain_event_is_nought_and_has_no_sign():
    assert "sure: 0.00" in words_of(figures.surprise({"sure": 1.0}, palette=LIGHT))


def test_score_memory_names_the_bytes_of_a_square():
    figure = figures.score_memory(4.0 ** np.arange(2, 6), 64, 4, palette=LIGHT)
    assert with_unit(64**2 * 4) in words_of(figure)
    assert [with_unit(n) for n in (0, 999, 1000, 4e6, 17.2e9)] == [
        "0 bytes",
        "999 bytes",
        "1 kB",
        "4 MB",
        "17.2 GB",
    ]


def test_step_cost_names_both_ends_and_the_line_through_the_cached_steps():
    figure = figures.step_cost(*FIGURES["step_cost"][1], palette=LIGHT)
    words = words_of(figure)
    assert "no cache:\n208 ms" in words and "cached:\n5.05 ms" in words
    assert "3 ms + 1 ms per 1,000 tokens" in words and "3 ms + 1 ms per 1,000 tokens" in figure.get_label()
    line, dots = figure.axes[1].lines
    np.testing.assert_allclose(line.get_ydata(), dots.get_ydata())


def test_layer_operations_marks_where_the_curves_meet():
    figure = figures.layer_operations(*FIGURES["layer_operations"][1], palette=LIGHT)
    (mark,) = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    lengths, _, per_token, _ = FIGURES["layer_operations"][1]
    assert mark.get_xdata()[0] == 128 and mark.get_ydata()[0] == per_token["attention"][list(lengths).index(128)]
    assert "T = 128" in words_of(figure)


def test_draw_grid_refuses_what_is_no_matrix():
    with pytest.raises(ValueError, match=r"a grid shows a matrix, but got shape \(3,\)"):
        draw_grid(Figure().subplots(), np.zeros(3), LIGHT, title="row")


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
