"""Work against bytes in Python: counts by hand, times that are the roofline's, and a stand-in that holds them."""

import re

import pytest

from softlookup.roofline import attainable_flops_per_s, hardware
from softlookup_course.widgets import WorkAndBytes
from softlookup_course.widgets.work_and_bytes import SIDES, describe, static_table

A100 = hardware("A100 80GB SXM")


def test_counts_of_a_small_side_are_those_done_by_hand():
    counts = [(row["name"], row["flops"], row["bytes"]) for row in describe(A100, 4)]
    assert counts == [("matrix + matrix", 16, 192), ("matrix × vector", 32, 96), ("matrix × matrix", 128, 192)]


@pytest.mark.parametrize("side", SIDES)
def test_operations_over_least_time_are_the_attainable_rate(side):
    for row in describe(A100, side):
        assert row["least"] == max(row["computing"], row["moving"])
        rate = attainable_flops_per_s(A100, row["intensity"], "float32")
        assert row["flops"] / row["least"] == pytest.approx(rate, rel=1e-12)


def test_a_faster_machine_helps_the_computation_that_waits_for_it():
    before = describe(A100, 4096)
    for after, lane, shares in (
        (describe(A100, 4096, faster_memory=2), "moving", [0.5, 0.5, 1]),
        (describe(A100, 4096, faster_units=2), "computing", [1, 1, 0.5]),
    ):
        pairs = list(zip(after, before, strict=True))
        assert [row["least"] / printed["least"] for row, printed in pairs] == shares
        assert all(row[lane] == printed[lane] / 2 for row, printed in pairs)


def test_stand_in_holds_a_small_and_a_large_side():
    table = static_table(A100)
    assert table.count('<tr><th scope="row">') == 6
    cells = re.findall(r'<th scope="row">matrix × matrix</th>(.*?)</tr>', table)
    assert [re.findall(r"<td>(.*?)</td>", row) for row in cells] == [
        ["4", "0.67", "6.56 ps", "94.2 ps"],
        ["4,096", "682.67", "7.05 ms", "98.7 µs"],
    ]


def test_figure_hands_its_script_the_machine():
    figure = WorkAndBytes(A100)
    assert (figure.machine, figure.peak, figure.bandwidth) == ("A100 80GB SXM", 19.5e12, 2039e9)
    assert figure.sides == list(SIDES) and "<table>" in figure.fallback
