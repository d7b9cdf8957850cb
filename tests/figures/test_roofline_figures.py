"""What the figures about roofs say and draw, beyond what holds for every figure."""

import numpy as np
import pytest

from softlookup import figures
from softlookup.figures import LIGHT
from softlookup.figures.predictions import size_words
from softlookup.figures.roofs import rate_words


def test_roof_bends_at_peak_over_bandwidth_and_no_mark_lies_above_it():
    figure = figures.roofline({"x": (100.0, 10.0)}, [("low", 0.5), ("high", 50.0)], span=(0.1, 100), palette=LIGHT)
    roof = figure.axes[0].lines[0]
    np.testing.assert_allclose(roof.get_xydata(), [[0.1, 1], [10, 100], [100, 100]])
    marks = [line.get_xydata()[0].tolist() for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert marks == [[0.5, 5.0], [50.0, 100.0]]
    assert "bends at 10 FLOP/B" in figure.get_label() and "low, at 0.5 FLOP/B" in figure.get_label()


def test_an_intensity_of_thousands_is_said_in_full():
    figure = figures.roofline({"x": (100.0, 0.05)}, [("product", 4096 / 3)], span=(0.1, 3000), palette=LIGHT)
    assert "bends at 2,000 FLOP/B" in figure.get_label() and "product, at 1,365 FLOP/B" in figure.get_label()


def test_measured_roof_says_how_near_the_points_come_and_refuses_strangers():
    figure = figures.measured_roof({"a": (100.0, 10.0)}, {"a": [(1.0, 5.0), (20.0, 100.0)]}, palette=LIGHT)
    assert "at least 75 % of the roof, the lowest 50 %" in figure.get_label()
    with pytest.raises(ValueError, match="points of b, but there are roofs of a"):
        figures.measured_roof({"a": (1.0, 1.0)}, {"b": []}, palette=LIGHT)


def test_passes_add_up_the_bytes_and_refuse_an_array_without_a_column():
    figure = figures.loop_passes([("one", [("x = A", ("A",), ("x",))])], ("A", "x"), palette=LIGHT)
    assert "one: 8 bytes for each place, x = A reads A and writes x" in figure.get_label()
    with pytest.raises(ValueError, match="x = B names B; the columns are A, x"):
        figures.loop_passes([("one", [("x = B", ("B",), ("x",))])], ("A", "x"), palette=LIGHT)


def test_prediction_errors_name_the_median_and_the_slowest():
    rows = [("a", 1.1, 1.0, 1.2), ("b", 3.0, 2.8, 3.3), ("c", 0.95, 0.9, 1.0)]
    figure = figures.prediction_errors({"stream": rows}, palette=LIGHT)
    assert "median error 10.0 %" in figure.get_label() and "b with 3.00 times" in figure.get_label()


def test_stream_sizes_say_the_ends_and_the_best():
    figure = figures.stream_sizes([1 << 10, 1 << 20, 1 << 30], [5e9, 60e9, 20e9], 21e9, None, palette=LIGHT)
    for words in ("5 GB/s at 1 KiB", "60 GB/s, at 1 MiB", "20 GB/s at 1 GiB", "21 GB/s"):
        assert words in figure.get_label()


@pytest.mark.parametrize(
    ("rate", "words"),
    [(999.9e9, "1 TFLOP/s"), (19.5e12, "19.5 TFLOP/s"), (1.5e15, "1.5 PFLOP/s"), (2e6, "2 MFLOP/s"), (3.0, "3 FLOP/s")],
)
def test_rates_are_written_with_the_right_prefix(rate, words):
    assert rate_words(rate) == words


def test_sizes_are_written_with_binary_prefixes():
    assert [size_words(n) for n in (100, 1 << 10, 48 << 20, 1 << 31)] == ["100 B", "1 KiB", "48 MiB", "2 GiB"]
