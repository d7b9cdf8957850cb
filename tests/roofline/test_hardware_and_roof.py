"""Data sheets and the roof: the numbers of the sheets, the bends, and what is refused."""

import math

import pytest

from softlookup.roofline import (
    Hardware,
    attainable_flops_per_s,
    bound_by,
    hardware,
    known_hardware,
    measured_hardware,
    predicted_time_s,
    ridge,
    roof_bytes_per_s,
)

PLAIN = Hardware("plain", {"float32": 1024.0}, 256.0, 1e6, "made up", {}, {"wire": 64.0})


@pytest.mark.parametrize(("name", "bend"), [("A100 80GB PCIe", 161), ("A100 80GB SXM", 153)])
def test_ridge_of_the_a100_is_what_its_sheet_says_and_not_390(name, bend):
    assert round(ridge(hardware(name), "bfloat16")) == round(ridge(hardware(name), "float16")) == bend


def test_no_division_of_the_a100s_sheet_gives_390():
    for name in known_hardware()[:2]:
        machine = hardware(name)
        for sparse in (False, True):
            for kind in machine.sparse_flops_per_s if sparse else machine.dense_flops_per_s:
                assert not math.isclose(ridge(machine, kind, sparse=sparse), 390, rel_tol=0.02)
    assert 312e12 / 800e9 == 390


@pytest.mark.parametrize("name", known_hardware())
def test_sheets_keep_dense_and_sparse_apart_and_name_their_source(name):
    machine = hardware(name)
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
    machine = hardware("A100 80GB SXM")
    assert machine.dense_flops_per_s["bfloat16"] == pytest.approx(432 * 512 * 1.41e9, rel=2e-3)
    assert machine.dense_flops_per_s["float32"] == pytest.approx(6912 * 2 * 1.41e9, rel=2e-3)


def test_peaks_of_the_mi300x_follow_from_its_units_and_clock():
    """304 compute units at 2.1 GHz, with so many operations a tick for each kind of number; sparsity doubles them."""
    machine = hardware("MI300X")
    ticks = {"float64": 128, "float32": 256, "tf32": 1024, "bfloat16": 2048, "float8": 4096, "int8": 4096}
    for kind, operations in ticks.items():
        assert machine.dense_flops_per_s[kind] == pytest.approx(304 * operations * 2.1e9, rel=1e-3)


def test_blackwell_is_told_for_one_gpu_of_the_eight_or_two_of_its_sheet():
    peta, (eight, two) = 1e15, (hardware("B200"), hardware("GB200 (one GPU)"))
    printed = {"float4": (144, 40), "float8": (72, 20), "int8": (72, 20), "bfloat16": (36, 10), "tf32": (18, 5)}
    for kind, (hgx, superchip) in printed.items():
        assert 8 * eight.sparse_flops_per_s[kind] == hgx * peta and 2 * two.sparse_flops_per_s[kind] == superchip * peta
    assert 8 * eight.dense_flops_per_s["float4"] == 72 * peta and 2 * two.dense_flops_per_s["float4"] == 20 * peta
    assert (8 * eight.memory_bytes, 8 * eight.bandwidth_bytes_per_s) == (1440e9, 64e12)
    assert (2 * two.memory_bytes, 2 * two.bandwidth_bytes_per_s) == (372e9, 16e12)


def test_nvlink_of_a_pcie_card_is_a_bridge():
    for name in known_hardware():
        assert ("NVLink bridge" in hardware(name).links_bytes_per_s) is name.endswith("PCIe")
    with pytest.raises(KeyError, match="has no link NVLink; it has NVLink bridge, PCIe"):
        hardware("A100 80GB PCIe").link_bytes_per_s("NVLink")


def test_links_are_printed_for_both_directions_and_carry_half_one_way():
    machine = hardware("A100 80GB SXM")
    assert machine.links_bytes_per_s["NVLink"] == 600e9 and machine.link_bytes_per_s("NVLink") == 300e9
    assert ridge(machine, "bfloat16", link="PCIe") == 312e12 / 32e9
    assert roof_bytes_per_s(machine, "PCIe") == 32e9


def test_attainable_rises_and_then_lies_flat():
    assert [attainable_flops_per_s(PLAIN, at, "float32") for at in (0, 1, 4, 8)] == [0, 256, 1024, 1024]
    assert attainable_flops_per_s(PLAIN, 1, "float32", link="wire") == 32


def test_add_on_an_a100_reaches_less_than_a_hundredth_of_the_peak():
    machine = hardware("A100 80GB SXM")
    rate = attainable_flops_per_s(machine, 1 / 12, "float32")
    assert round(rate / 1e9) == 170 and rate / machine.dense_flops_per_s["float32"] < 0.01


def test_both_limits_hold_at_the_ridge_alone():
    assert [bound_by(PLAIN, at, "float32") for at in (3.99, 4, 4.01)] == ["memory", "both", "compute"]
    assert bound_by(hardware("H200"), ridge(hardware("H200"), "float8"), "float8") == "both"


def test_predicted_time_is_the_longest_of_the_limits():
    assert predicted_time_s(PLAIN, 2048, 256, "float32") == 2
    assert predicted_time_s(PLAIN, 1024, 1024, "float32") == 4
    assert predicted_time_s(PLAIN, 1024, 256, "float32", link_bytes=320, link="wire") == 10


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda: hardware("V100"), KeyError, "no data sheet for 'V100'; there are A100 80GB PCIe"),
        (lambda: PLAIN.peak_flops_per_s("int4"), KeyError, "plain has no dense rate for int4; it has float32"),
        (lambda: ridge(PLAIN, "float32", sparse=True), KeyError, "no sparse rate for float32; it has none at all"),
        (lambda: PLAIN.link_bytes_per_s("rope"), KeyError, "plain has no link rope; it has wire"),
        (lambda: attainable_flops_per_s(PLAIN, -1, "float32"), ValueError, "intensity is -1, wanted 0 or more"),
        (lambda: attainable_flops_per_s(PLAIN, math.nan, "float32"), ValueError, "intensity is nan"),
        (lambda: predicted_time_s(PLAIN, -1, 0, "float32"), ValueError, "flops is -1, wanted 0 or more"),
        (lambda: predicted_time_s(PLAIN, 1, 1, "float32", link_bytes=5), ValueError, "5 bytes go over a link"),
        (lambda: Hardware("x", {}, 1, 1, ""), ValueError, "x: wanted at least one dense rate"),
        (lambda: Hardware("x", {"a": 0.0}, 1, 1, ""), ValueError, "x: a is 0.0, wanted a number above 0"),
        (lambda: Hardware("x", {"a": 1.0}, -1, 1, ""), ValueError, "x: bandwidth is -1, wanted a number above 0"),
        (lambda: measured_hardware({"machine": "x"}), KeyError, "rates"),
    ],
)
def test_what_fits_no_machine_is_refused_with_a_sentence(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()
