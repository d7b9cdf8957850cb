"""The roofline explorer's numbers in Python: the library's counts, and what is refused."""

import re

import pytest

from softlookup.roofline import Hardware, TransformerSizes, hardware, layer
from softlookup_course.widgets import RooflineExplorer
from softlookup_course.widgets.roofline_explorer import BYTES, PHASES, START, as_record, describe, static_table

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


def test_more_sequences_help_the_matrices_in_decoding_and_not_the_scores():
    single, many = ({s["name"]: s for s in describe(A100, "bfloat16", b, 1024, 32, 128, "decode")} for b in (1, 256))
    assert single["up"]["bound"] == "memory" and many["up"]["bound"] == "compute"
    assert many["scores"]["intensity"] == pytest.approx(single["scores"]["intensity"])


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


def test_kind_of_number_without_a_rate_is_refused():
    with pytest.raises(KeyError, match="no dense rate for float8"):
        RooflineExplorer([A100], dtype="float8")


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


def test_script_of_the_explorer_knows_the_phases():
    assert re.findall(r'\["(prefill)", "(decode)"\]', str(RooflineExplorer._esm)) == [PHASES]
