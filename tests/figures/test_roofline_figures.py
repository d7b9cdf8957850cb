"""What the figures about roofs say and draw, beyond what holds for every figure."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from softlookup_course import figures
from softlookup_course.figures import LIGHT
from softlookup_course.figures.roofs import rate_words
from softlookup_course.figures.theme import style

BOTH = {"bfloat16": (312e12, 2039e9), "float32": (19.5e12, 2039e9)}
"""An A100's."""


def test_roof_has_its_ridge_at_peak_over_bandwidth_and_no_mark_lies_above_it():
    figure = figures.roofline({"x": (100.0, 10.0)}, [("low", 0.5), ("high", 50.0)], span=(0.1, 100), palette=LIGHT)
    roof = figure.axes[0].lines[0]
    np.testing.assert_allclose(roof.get_xydata(), [[0.1, 1], [10, 100], [100, 100]])
    marks = [line.get_xydata()[0].tolist() for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert marks == [[0.5, 5.0], [50.0, 100.0]]
    assert "ridge at 10 FLOP/B" in figure.get_label() and "low, at 0.5 FLOP/B" in figure.get_label()


def test_a_single_roof_has_its_regions_shaded_and_several_have_none():
    single = figures.roofline({"x": (100.0, 10.0)}, palette=LIGHT)
    several = figures.roofline({"x": (100.0, 10.0), "y": (50.0, 10.0)}, palette=LIGHT)
    words = [{text.get_text() for text in figure.axes[0].texts} for figure in (single, several)]
    assert {"memory-bound", "compute-bound", "ridge 10"} <= words[0] and len(single.axes[0].collections) == 2
    assert words[1] == {"x", "y", "ridge 10", "ridge 5"} and not several.axes[0].collections


@pytest.mark.parametrize("roofs", [BOTH, {"bfloat16": BOTH["bfloat16"]}])
def test_words_of_a_roof_stand_inside_the_panel_and_on_no_ridge(roofs):
    with style(LIGHT):
        figure = figures.roofline(roofs, [("add", 1 / 12), ("big", 1365)], span=(0.01, 10000), palette=LIGHT)
        figure.draw_without_rendering()
    axes = figure.axes[0]
    panel = axes.get_window_extent()
    ridges = [axes.transData.transform((peak / bandwidth, 1e12))[0] for peak, bandwidth in roofs.values()]
    for text in axes.texts:
        box = text.get_window_extent()
        assert panel.x0 <= box.x0 and box.x1 <= panel.x1, text.get_text()
        assert not any(box.x0 < ridge < box.x1 for ridge in ridges), text.get_text()


def test_machine_times_join_the_least_and_the_measured_and_say_their_range():
    times = {"a": [(0.01, 0.012), (0.02, 0.05)], "b": [(4e-5, None), (9e-7, None)]}
    figure = figures.machine_times(["one", "two"], times, palette=LIGHT)
    label = figure.get_label()
    assert "a at least 10 ms to 20 ms, measured 1.20 to 2.50 times that" in label
    assert "b at least 0.9 µs to 40 µs, not measured" in label
    joined = [
        line.get_xdata() for line in figure.axes[0].lines if line.get_marker() == "None" and len(line.get_xdata()) == 2
    ]
    np.testing.assert_allclose([span for span in joined if max(span) > 1], [[1e4, 1.2e4], [2e4, 5e4]])


def test_product_box_marks_the_first_rows_whose_operations_take_longer():
    figure = figures.product_box([1, 2, 4], [1e-6, 3e-6, 9e-6], [2e-6, 2e-6, 3e-6], palette=LIGHT)
    time = figure.axes[1]
    assert [line.get_xydata().tolist() for line in time.lines if line.get_marker() == "o"] == [[[2, 3]]]
    np.testing.assert_allclose(time.lines[2].get_ydata(), [2, 3, 9])
    assert "operations take longer from T = 2 on" in figure.get_label()
    never = figures.product_box([1, 2], [1e-6, 2e-6], [2e-6, 3e-6], palette=LIGHT)
    assert "bytes take longer at every T" in never.get_label()


def test_prediction_errors_name_the_median_and_the_slowest():
    rows = [("a", 0.1, 1.1, 1.0, 1.2), ("b", 1.0, 3.0, 2.8, 3.3), ("c", 9.0, 0.95, 0.9, 1.0)]
    figure = figures.prediction_errors({"stream": rows}, palette=LIGHT)
    assert "median error 10.0 %" in figure.get_label() and "b with 3.00 times" in figure.get_label()
    assert [text.get_text() for text in figure.axes[0].texts] == ["stream", "b"], "only what lies outside is named"


def test_predicted_and_measured_differ_in_line_and_mark_and_a_name_keeps_its_colour():
    points = [(1, 9e9, 8e9), (8, 5e10, 4e10)]
    panels = {"dense": {"decode": points}, "attention": {"prefill": points, "decode": points}}
    figure = figures.predicted_and_measured(panels, palette=LIGHT)
    drawn = [[line for line in axes.lines if len(line.get_xdata()) == 2] for axes in figure.axes]
    for predicted, measured in (drawn[0], drawn[1][:2], drawn[1][2:]):
        assert (predicted.get_linestyle(), predicted.get_markerfacecolor()) == ("--", "none")
        assert measured.get_linestyle() == "-" and measured.get_markerfacecolor() == measured.get_color()
    assert drawn[0][0].get_color() == drawn[1][2].get_color() != drawn[1][0].get_color()


def test_model_parts_fill_the_bar_and_idle_parts_are_hatched():
    models = {"m": {"attention": 3e9, "table": 1e9}, "n": {"attention": 1e9, "table": 0.0}}
    figure = figures.model_parts(models, ["table"], palette=LIGHT)
    bars = [(patch.get_x(), patch.get_width(), patch.get_hatch()) for patch in figure.axes[0].patches]
    assert bars == [(0, 0.75, None), (0.75, 0.25, "////"), (0, 1, None), (1, 0, "////")]
    assert "m, 4.00 billion: attention 75 %, table 25 %" in figure.get_label()


def test_a_machine_without_measurements_has_a_line_and_no_marks():
    panels = {"dense": {"GPU": ([(1, 3e12), (4, 9e12)], [(1, 2e12), (4, 8e12)]), "sheet": ([(1, 2e12), (4, 8e12)], [])}}
    figure = figures.batch_machines(panels, palette=LIGHT)
    assert [line.get_linestyle() for line in figure.axes[0].lines] == ["--", "None", "--"]
    assert "sheet predicted 2 TFLOP/s to 8 TFLOP/s." in figure.get_label()


@pytest.mark.parametrize(
    ("rate", "words"),
    [(999.9e9, "1 TFLOP/s"), (19.5e12, "19.5 TFLOP/s"), (1.5e15, "1.5 PFLOP/s"), (2e6, "2 MFLOP/s"), (3.0, "3 FLOP/s")],
)
def test_rates_are_written_with_the_right_prefix(rate, words):
    assert rate_words(rate) == words


def test_moved_floor_is_level_until_the_bytes_take_longer():
    ways = {"plain": {"a": (1e7, 9e-4)}, "graph": {"a": (1e7, 5e-5)}}
    figure = figures.moved_floor(ways, {"plain": 9e-4, "graph": 5e-5}, 1e12, palette=LIGHT)
    plain, graph = [line.get_xydata() for line in figure.axes[0].lines if len(line.get_xdata()) > 2]
    for line, end_mb, floor_us in ((plain, 900, 900), (graph, 50, 50)):
        x, y = line.T
        np.testing.assert_allclose(y, np.where(x < end_mb, floor_us, x))
    assert "plain: a floor of 900 microseconds until 900 megabytes" in figure.get_label()


def test_launch_floor_draws_a_level_line_where_a_launch_takes_longer_than_the_work():
    times = {"GPU": [(1e-6, 1.1e-5), (9e-5, 9e-5)], "CPU": [(1e-5, 1.2e-5)]}
    figure = figures.launch_floor(times, {"GPU": 1e-5, "CPU": 0.0}, palette=LIGHT)
    gpu, cpu = (axes.lines[1].get_ydata() for axes in figure.axes)
    assert gpu.min() == pytest.approx(10.0) and cpu.min() < 10.0
    assert "GPU: 2 operations, a floor of 10 µs, median 1.05" in figure.get_label()
    assert "CPU: 1 operations, no floor" in figure.get_label()


@pytest.mark.parametrize(("stride", "count"), [(1, 4), (2, 8), (3, 12), (8, 32), (100, 32)])
def test_sectors_counts_what_a_warp_fetches(stride, count):
    (axes,) = figures.sectors([stride], palette=LIGHT).axes
    assert axes.get_title() == f"stride {stride}: {count} sectors, 128 of {32 * count:,} bytes used"


def test_program_order_counts_the_strips_that_programs_share():
    orders = {"row": [(0, 0), (0, 1), (0, 2), (0, 3)], "square": [(0, 0), (1, 0), (0, 1), (1, 1)]}
    figure = figures.program_order(orders, (4, 4), palette=LIGHT)
    assert [axes.get_title() for axes in figure.axes] == ["row:\n1 + 4 = 5 strips", "square:\n2 + 2 = 4 strips"]


def test_warps_outlines_the_numbers_of_a_thread_in_each_repetition():
    figure = figures.warps(1024, 4, 32, 4, palette=LIGHT)
    (axes,) = figure.axes
    lines = [patch for patch in axes.patches if patch.get_fill()]
    assert [patch.get_facecolor() for patch in lines] == [to_rgba(color) for color in LIGHT.series * 2]
    outlines = [(patch.get_x(), patch.get_width(), patch.get_y()) for patch in axes.patches if not patch.get_fill()]
    assert outlines == [(16, 4, lines[1].get_y()), (16, 4, lines[5].get_y())]
    assert axes.get_title() == "thread 4 of warp 1: numbers 144 to 147 and 656 to 659"
    texts = [text.get_text() for text in axes.texts]
    assert texts[2:4] == ["warp 1", "128 to 255"] and texts[-2:] == ["warp 3", "896 to 1,023"]
    assert "the pattern repeats after 512 numbers" in figure.get_label()


def test_warps_that_fill_a_tile_at_once_do_not_repeat():
    figure = figures.warps(256, 4, 32, 2, (1, 31), palette=LIGHT)
    assert figure.axes[0].get_title() == "thread 31 of warp 1: numbers 252 to 255"
    assert "repeats" not in figure.get_label()
