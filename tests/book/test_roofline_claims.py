"""What the page of chapter 11 asserts in words holds in numbers, of sheets and of the committed run."""

import json
from fractions import Fraction

import pytest
from built_book import ROOT

from softlookup.roofline import (
    CHAIN,
    FUSED,
    TransformerSizes,
    hardware,
    known_hardware,
    layer,
    measured_hardware,
    predicted_time_s,
    ridge,
)
from softlookup.roofline.streams import TORCH_TWO
from softlookup_course.widgets.roofline_explorer import PHASES, describe
from softlookup_judge import get_task

A100 = hardware("A100 80GB SXM")


@pytest.fixture(scope="module")
def run():
    return json.loads((ROOT / "book" / "measured" / "roofline.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def ratio(run):
    return {row["name"]: row["ratio"] for row in run["points"]}


def test_rows_with_the_true_ridge_and_with_the_slides():
    rows = get_task("11.rows").oracle
    true, slide = (rows(4096, 4096, 2, r) for r in (ridge(A100, "bfloat16"), 390.0))
    assert (true, slide, -(-true // 50), -(-slide // 50)) == (166, 482, 4, 10)


def test_fused_loops_gain_what_the_page_says(run):
    gains = {way: row["gain"]["median"] for way, row in run["fused"].items()}
    assert 1.75 < gains["C"] < 2.1 and 1.1 < run["fused"]["C"]["around"]["median"] < 1.35
    assert 1 < gains["numpy"] < gains["C"] and 1 < gains["torch"] < gains["C"]
    assert run["fused"]["torch"]["chain"]["bytes"] * 7 == run["fused"]["torch"]["fused"]["bytes"] * 9


def test_bytes_of_the_fused_loops_explain_what_they_gain(run):
    """In passes 36 bytes an element; fused 20 in C, 20 in numpy's blocks, 28 in torch; 48 and 24 if stores read."""
    elements = run["fused"]["C"]["chain"]["bytes"] // 36
    moved = {way: [row[kind]["bytes"] / elements for kind in ("chain", "fused")] for way, row in run["fused"].items()}
    assert moved == {"C": [36, 20], "numpy": [36, 20], "torch": [36, 28]}
    assert (TORCH_TWO.reads, TORCH_TWO.writes, TORCH_TWO.n_bytes(1)) == (5, 2, 28)
    assert [loop.n_bytes(1, write_allocate=True) for loop in (CHAIN, FUSED)] == [48, 24]
    gains = {way: row["gain"]["median"] for way, row in run["fused"].items()}
    assert abs(gains["C"] - 48 / 24) < 0.2 and abs(gains["torch"] - 36 / 28) < 0.05 and gains["numpy"] < 1.6


def test_outliers_are_those_that_the_page_explains_and_two_that_it_does_not(run, ratio):
    outside = [row for row in run["points"] if abs(row["ratio"] - 1) > 0.15]
    assert {row["kind"] for row in outside} == {"product"}
    others = [row for row in outside if not 2 <= int(row["name"].split()[1]) <= 128]
    assert len(others) == 2 and {row["dtype"] for row in others} == {"float64"}
    assert all(row["ratio"] < 1.2 for row in others)
    for dtype in ("float32", "float64"):
        ratio_1, ratio_2, ratio_4 = (ratio[f"{dtype} {t} x 8192 x 8192"] for t in (1, 2, 4))
        assert ratio_1 < 1.25 and 1.4 < ratio_2 < 2.6 and 2.8 < ratio_4 < 5


def test_what_16_to_128_rows_take_too_long_is_two_or_three_fetches_of_the_matrix(run):
    bandwidth = run["bandwidth"]["median"]
    fetches = []
    for row in run["points"]:
        words = row["name"].split()
        if row["kind"] == "product" and 16 <= int(words[1]) <= 128:
            matrix = {"float32": 4, "float64": 8}[row["dtype"]] * int(words[3]) * int(words[5])
            fetches.append(row["measured_s"] * (1 - 1 / row["ratio"]) / (matrix / bandwidth))
    assert len(fetches) == 6 and 2 < min(fetches) and max(fetches) < 4


def test_reads_for_stores_explain_scaling_and_not_what_stores_little(run, ratio):
    def fetched(reads, writes):
        """What a read for each store makes of a prediction by the roof's stream, two reads and a write."""
        return Fraction(reads + 2 * writes, reads + writes) / Fraction(4, 3)

    assert (fetched(1, 1), fetched(2, 0), fetched(4, 1)) == (Fraction(9, 8), Fraction(3, 4), Fraction(9, 10))
    for stream, expected, near in (("scale", 9 / 8, True), ("dot", 3 / 4, False), ("sum of four", 9 / 10, False)):
        got = ratio[f"C {stream}, 128 MiB"]
        assert (abs(got - expected) < 0.03) is near and (abs(got - 1) < 0.03) is not near
    plain, touched = (run["errors"]["streams"][key] for key in ("median", "touched"))
    assert abs(plain - touched) < 0.01


def test_predictions_that_the_reader_is_asked_for_land(run):
    machine = measured_hardware(run)
    for name in ("numpy mul, 192 MiB", "float32 1 x 8192 x 8192", "float32 1024 x 512 x 2048"):
        row = next(row for row in run["points"] if row["name"] == name)
        least = predicted_time_s(machine, row["flops"], row["bytes"], "float32")
        assert abs(row["measured_s"] / least - 1) < 0.15
    assert row["flops"] / row["bytes"] > 30 * ridge(machine, "float32")


def test_scores_need_heads_wider_than_the_ridge():
    def bound(name, tokens, width):
        rows = describe(hardware(name), "bfloat16", 1, tokens, 32, width, "prefill")
        return next(row["bound"] for row in rows if row["name"] == "scores")

    assert {bound(name, 1 << 15, 128) for name in known_hardware()} == {"memory"}
    right = [name for name in known_hardware() if bound(name, 1024, 256) == "compute"]
    assert right == ["A100 80GB PCIe", "A100 80GB SXM", "TPU v5p"]


def test_fused_scores_of_a_long_prompt_are_compute_bound_on_every_machine():
    sizes = TransformerSizes("x", D=4096, N=32, F=16384, V=1, L=1)
    fused = {
        tokens: next(step for step in layer(sizes, 1, tokens, fused=True) if step.name == "fused attention")
        for tokens in (256, 4096)
    }
    ridges = [ridge(hardware(name), "bfloat16") for name in known_hardware()]
    assert fused[4096].product_intensity == 4096 / 2 > max(ridges)
    assert fused[256].product_intensity == 128 < min(ridges)


def test_elementwise_operations_stay_on_the_slope_of_the_ordinary_units():
    """Whatever the sizes: no graphics processor's ordinary units, in float64 or float32, are their limit."""
    for name in known_hardware():
        machine = hardware(name)
        for dtype in {"float64", "float32"} & set(machine.dense_flops_per_s):  # no rate of a TPU's vector units is told
            for tokens, width in ((1, 16), (1024, 128), (1 << 15, 256)):
                for phase in PHASES:
                    for row in describe(machine, dtype, 1, tokens, 32, width, phase):
                        if row["part"] in ("norm", "residual") or row["name"] in ("softmax", "relu"):
                            assert row["intensity"] < ridge(machine, dtype), (name, row["name"])


def test_what_is_left_out_shows_in_the_run(run):
    aside = run["left_out"]
    rates, roof = [row["bytes_per_s"] for row in aside["sweep"]], run["bandwidth"]["median"]
    assert max(rates) > 2 * roof and rates[0] < max(rates) / 2 and rates[-1] < 1.3 * roof
    assert aside["start_s"]["torch"] > aside["start_s"]["numpy"] > 1e-7
    functions = aside["functions"]
    assert functions["sqrt"] > 0.7 * functions["multiply"] > 2 * functions["exp"] > 2 * functions["tanh"]


def test_half_precision_is_slower_on_a_processor_without_units_for_it(run):
    assert run["rates"]["bfloat16"]["median"] < run["rates"]["float32"]["median"] / 5
