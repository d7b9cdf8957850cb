"""Data sheets, the roof, and the time to start an operation, which is found in measured times and judged by others."""

import json
import math
from pathlib import Path

import pytest

from softlookup import roofline as rl
from tests.refusing import refused

PLAIN = rl.Hardware("plain", {"float32": 1024.0}, 256.0, 1e6, "made up", {}, {"wire": 64.0})


@pytest.mark.parametrize(("name", "bend"), [("A100 80GB PCIe", 161), ("A100 80GB SXM", 153)])
def test_ridge_of_the_a100_is_what_its_sheet_says_and_not_390(name, bend):
    assert round(rl.ridge(rl.hardware(name), "bfloat16")) == round(rl.ridge(rl.hardware(name), "float16")) == bend


def test_no_division_of_the_a100s_sheet_gives_390():
    for name in rl.known_hardware()[:2]:
        machine = rl.hardware(name)
        for sparse in (False, True):
            for kind in machine.sparse_flops_per_s if sparse else machine.dense_flops_per_s:
                assert not math.isclose(rl.ridge(machine, kind, sparse=sparse), 390, rel_tol=0.02)
    assert 312e12 / 800e9 == 390


@pytest.mark.parametrize("name", rl.known_hardware())
def test_sheets_keep_dense_and_sparse_apart_and_name_their_source(name):
    machine = rl.hardware(name)
    for kind, rate in machine.sparse_flops_per_s.items():
        assert rate == pytest.approx(2 * machine.dense_flops_per_s[kind], rel=1e-4)
    assert machine.source.split()[0] in ("NVIDIA", "AMD", "Google") and 32e9 <= machine.memory_bytes <= 192e9
    dense = machine.dense_flops_per_s
    assert dense["bfloat16"] == dense.get("float16", dense["bfloat16"])
    assert {"int8", "bfloat16"} <= set(dense) and set(machine.sparse_flops_per_s) <= set(dense)
    assert ("float4" in dense) is name.replace("G", "").startswith("B200")
    assert all(0 < machine.link_bytes_per_s(link) for link in machine.links_bytes_per_s)
    with pytest.raises(TypeError):
        machine.dense_flops_per_s["bfloat16"] = 1.0


def test_peaks_of_the_a100_follow_from_its_units_and_clock():
    """432 matrix units of 512 operations, 6912 cores of two, at 1.41 GHz."""
    machine = rl.hardware("A100 80GB SXM")
    assert machine.dense_flops_per_s["bfloat16"] == pytest.approx(432 * 512 * 1.41e9, rel=2e-3)
    assert machine.dense_flops_per_s["float32"] == pytest.approx(6912 * 2 * 1.41e9, rel=2e-3)


def test_peaks_of_the_mi300x_follow_from_its_units_and_clock():
    """304 compute units at 2.1 GHz, with so many operations a tick for each kind of number; sparsity doubles them."""
    machine = rl.hardware("MI300X")
    ticks = {"float64": 128, "float32": 256, "tf32": 1024, "bfloat16": 2048, "float8": 4096, "int8": 4096}
    for kind, operations in ticks.items():
        assert machine.dense_flops_per_s[kind] == pytest.approx(304 * operations * 2.1e9, rel=1e-3)


def test_blackwell_is_told_for_one_gpu_of_the_eight_or_two_of_its_sheet():
    peta, (eight, two) = 1e15, (rl.hardware("B200"), rl.hardware("GB200 (one GPU)"))
    printed = {"float4": (144, 40), "float8": (72, 20), "int8": (72, 20), "bfloat16": (36, 10), "tf32": (18, 5)}
    for kind, (hgx, superchip) in printed.items():
        assert 8 * eight.sparse_flops_per_s[kind] == hgx * peta and 2 * two.sparse_flops_per_s[kind] == superchip * peta
    assert 8 * eight.dense_flops_per_s["float4"] == 72 * peta and 2 * two.dense_flops_per_s["float4"] == 20 * peta
    assert (8 * eight.memory_bytes, 8 * eight.bandwidth_bytes_per_s) == (1440e9, 64e12)
    assert (2 * two.memory_bytes, 2 * two.bandwidth_bytes_per_s) == (372e9, 16e12)


def test_nvlink_of_a_pcie_card_is_a_bridge():
    for name in rl.known_hardware():
        assert ("NVLink bridge" in rl.hardware(name).links_bytes_per_s) is name.endswith("PCIe")
    with pytest.raises(KeyError, match="has no link NVLink; it has NVLink bridge, PCIe"):
        rl.hardware("A100 80GB PCIe").link_bytes_per_s("NVLink")


def test_links_are_printed_for_both_directions_and_carry_half_one_way():
    machine = rl.hardware("A100 80GB SXM")
    assert machine.links_bytes_per_s["NVLink"] == 600e9 and machine.link_bytes_per_s("NVLink") == 300e9
    assert rl.ridge(machine, "bfloat16", link="PCIe") == 312e12 / 32e9
    assert rl.roof_bytes_per_s(machine, "PCIe") == 32e9


def test_attainable_rises_and_then_lies_flat():
    assert [rl.attainable_flops_per_s(PLAIN, at, "float32") for at in (0, 1, 4, 8)] == [0, 256, 1024, 1024]
    assert rl.attainable_flops_per_s(PLAIN, 1, "float32", link="wire") == 32


def test_both_limits_hold_at_the_ridge_alone():
    assert [rl.bound_by(PLAIN, at, "float32") for at in (3.99, 4, 4.01)] == ["memory", "both", "compute"]
    assert rl.bound_by(rl.hardware("H200"), rl.ridge(rl.hardware("H200"), "float8"), "float8") == "both"


def test_predicted_time_is_the_longest_of_the_limits():
    assert rl.predicted_time_s(PLAIN, 2048, 256, "float32") == 2
    assert rl.predicted_time_s(PLAIN, 1024, 1024, "float32") == 4
    assert rl.predicted_time_s(PLAIN, 1024, 256, "float32", link_bytes=320, link="wire") == 10


test_what_fits_no_machine_is_refused_with_a_sentence = refused(
    (lambda: rl.hardware("V100"), KeyError, "no data sheet for 'V100'; there are A100 80GB PCIe"),
    (lambda: PLAIN.peak_flops_per_s("int4"), KeyError, "plain has no dense rate for int4; it has float32"),
    (lambda: rl.ridge(PLAIN, "float32", sparse=True), KeyError, "no sparse rate for float32; it has none at all"),
    (lambda: PLAIN.link_bytes_per_s("rope"), KeyError, "plain has no link rope; it has wire"),
    (lambda: rl.attainable_flops_per_s(PLAIN, -1, "float32"), "intensity is -1, wanted 0 or more"),
    (lambda: rl.attainable_flops_per_s(PLAIN, math.nan, "float32"), "intensity is nan"),
    (lambda: rl.predicted_time_s(PLAIN, -1, 0, "float32"), "flops is -1, wanted 0 or more"),
    (lambda: rl.predicted_time_s(PLAIN, 1, 1, "float32", link_bytes=5), "5 bytes go over a link"),
    (lambda: rl.Hardware("x", {}, 1, 1, ""), "x: wanted at least one dense rate"),
    (lambda: rl.Hardware("x", {"a": 0.0}, 1, 1, ""), "x: a is 0.0, wanted a number above 0"),
    (lambda: rl.Hardware("x", {"a": 1.0}, -1, 1, ""), "x: bandwidth is -1, wanted a number above 0"),
    (lambda: rl.measured_hardware({"machine": "x"}), KeyError, "rates"),
)


MEASURED = Path(__file__).resolve().parents[2] / "book" / "measured"


def rows(times):
    return [{"predicted_s": predicted, "measured_s": measured} for predicted, measured in times]


def test_a_floor_is_found_and_judged_by_the_other_half():
    least = [1e-7, 3e-7, 1e-6, 3e-6, 1e-4, 1e-3]
    fit = rl.fit_launch(rows([(t, max(1e-5, t)) for t in least for _ in range(2)]))
    assert fit.launch_s == 1e-5 and fit.error == 0.0 and (fit.fitted, fit.judged) == (6, 6)
    assert fit.error_without > 2


def test_where_all_times_are_as_predicted_there_is_none():
    fit = rl.fit_launch(rows([(t * 1e-5, 1.02e-5 * t) for t in range(10, 50)]))
    assert fit.launch_s < 1.1e-4 and fit.error == pytest.approx(0.02) == fit.error_without


@pytest.mark.parametrize(("record", "least", "most"), [("roofline_h100", 8e-6, 12e-6), ("roofline", 0.0, 0.0)])
def test_records_are_predicted_within_15_per_cent_at_the_median(record, least, most):
    run = json.loads((MEASURED / f"{record}.json").read_text(encoding="utf-8"))
    fit = rl.fit_launch(run["points"])
    assert least <= fit.launch_s <= most and fit.error < 0.15
    assert run["launch"]["launch_s"] == pytest.approx(fit.launch_s, rel=1e-3)


def test_a_prediction_is_at_least_the_launch():
    h100 = rl.hardware("H100 SXM")
    assert rl.predicted_time_s(h100, 1e6, 1e6, "bfloat16", launch_s=1e-5) == 1e-5
    assert rl.predicted_time_s(h100, 1e15, 1e6, "bfloat16", launch_s=1e-5) > 1.0
    with pytest.raises(ValueError, match="launch_s is -1, wanted 0 or more"):
        rl.predicted_time_s(h100, 1.0, 1.0, "bfloat16", launch_s=-1)


def test_too_few_points_are_refused():
    with pytest.raises(ValueError, match="3 points, wanted at least 4"):
        rl.fit_launch(rows([(1e-5, 1e-5)] * 3))
