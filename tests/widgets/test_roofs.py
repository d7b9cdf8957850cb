"""The figures of chapter 11 in Python: the library's counts, counts by hand, and stand-ins that hold them."""

import re

import pytest

from softlookup.roofline import Hardware, TransformerSizes, attainable_flops_per_s, hardware, layer
from softlookup_course.widgets.roofline_explorer import BYTES, PHASES, START, as_record, describe, static_table
from softlookup_course.widgets.work_and_bytes import SIDES
from softlookup_course.widgets.work_and_bytes import describe as describe_work
from softlookup_course.widgets.work_and_bytes import static_table as work_table

A100 = hardware("A100 80GB SXM")


def test_prefill_is_a_layer_over_all_tokens_in_the_dtypes_bytes():
    records = describe(A100, "float32", 2, 64, 4, 16, "prefill")
    steps = layer(TransformerSizes("x", D=64, N=4, F=256, V=1, L=1), 2, 64, number_bytes=4)
    assert [(record["name"], record["flops"], record["bytes"]) for record in records] == [
        (s.name, s.flops, s.bytes) for s in steps
    ]


def test_decode_looks_back_at_all_tokens_with_one_query():
    by_name = {record["name"]: record for record in describe(A100, "bfloat16", 8, 512, 4, 16, "decode")}
    assert by_name["scores"]["flops"] == 2 * 8 * 4 * 512 * 16
    assert by_name["scores"]["bytes"] == 2 * (8 * 4 * 16 + 8 * 4 * 512 * 16 + 8 * 4 * 512)
    assert by_name["q"]["flops"] == 2 * 8 * 64 * 64


def test_every_record_obeys_the_roof():
    for phase in PHASES:
        for record in describe(
            A100,
            "bfloat16",
            **dict(zip(("batch", "tokens", "n_heads", "head_width"), START.values(), strict=True)),
            phase=phase,
        ):
            assert record["intensity"] == record["flops"] / record["bytes"]
            assert record["seconds"] == pytest.approx(record["flops"] / record["rate"])
            assert record["bound"] == ("memory" if record["intensity"] < 312e12 / 2039e9 else "compute")


def test_only_kinds_of_which_the_bytes_are_known_are_offered():
    record = as_record(hardware("H200"))
    assert set(record["peaks"]) <= set(BYTES) and "float64 matrix" not in record["peaks"]
    assert record["bandwidth"] == 4800e9


def test_stand_in_of_the_explorer_lists_the_operations_and_no_markup_of_a_name():
    odd = Hardware("<b>", {"bfloat16": 312e12}, 2039e9, 1.0, "")
    html = static_table(odd, "bfloat16")
    assert "<b>" not in html and "the ridge point is at 153" in html
    names = re.findall(r'<th scope="row">([^<]+)</th>', html)
    assert names == [record["name"] for record in describe(odd, "bfloat16", *START.values(), "prefill")]


def test_counts_of_a_small_side_are_those_done_by_hand():
    counts = [(row["name"], row["flops"], row["bytes"]) for row in describe_work(A100, 4)]
    assert counts == [("matrix + matrix", 16, 192), ("matrix × vector", 32, 96), ("matrix × matrix", 128, 192)]


@pytest.mark.parametrize("side", SIDES)
def test_operations_over_least_time_are_the_attainable_rate(side):
    for row in describe_work(A100, side):
        assert row["least"] == max(row["computing"], row["moving"])
        rate = attainable_flops_per_s(A100, row["intensity"], "float32")
        assert row["flops"] / row["least"] == pytest.approx(rate, rel=1e-12)


def test_a_faster_machine_helps_the_computation_that_waits_for_it():
    before = describe_work(A100, 4096)
    for after, lane, shares in (
        (describe_work(A100, 4096, faster_memory=2), "moving", [0.5, 0.5, 1]),
        (describe_work(A100, 4096, faster_units=2), "computing", [1, 1, 0.5]),
    ):
        pairs = list(zip(after, before, strict=True))
        assert [row["least"] / printed["least"] for row, printed in pairs] == shares
        assert all(row[lane] == printed[lane] / 2 for row, printed in pairs)


def test_stand_in_holds_a_small_and_a_large_side():
    table = work_table(A100)
    assert table.count('<tr><th scope="row">') == 6
    cells = re.findall(r'<th scope="row">matrix × matrix</th>(.*?)</tr>', table)
    assert [re.findall(r"<td>(.*?)</td>", row) for row in cells] == [
        ["4", "0.67", "6.56 ps", "94.2 ps"],
        ["4,096", "682.67", "7.05 ms", "98.7 µs"],
    ]
