"""What chapter 12 and its side page say holds: of published numbers, of the measured records, of the formula sheet."""

import json

import pytest
from built_book import ROOT

from softlookup import roofline as rl
from softlookup_course.widgets import memory_explorer

H100 = json.loads((ROOT / "book" / "measured" / "batching_h100.json").read_text(encoding="utf-8"))
RECORD = json.loads((ROOT / "book" / "measured" / "batching.json").read_text(encoding="utf-8"))
LLAMA = rl.MODELS["Llama 2 7B"]
A100 = rl.hardware("A100 80GB SXM")
LECTURE = rl.TransformerSizes("lecture", D=4096, N=32, F=16384, V=50272, L=32)


def steps(tokens, cached=0, sizes=LECTURE):
    return {step.name: step for step in rl.layer(sizes, 1, tokens, cached=cached)}


def test_hidden_widths_of_gated_models_are_not_all_eight_thirds_of_d():
    wide = {name: sizes.F / sizes.D for name, sizes in rl.MODELS.items() if sizes.gated}
    assert wide.pop("Llama 2 7B") == 2.6875  # 11008 / 4096: 8/3, rounded up to a multiple of 256
    assert wide.pop("Llama 3 405B") == 3.25
    assert wide == dict.fromkeys(("Llama 2 70B", "Mistral 7B", "Llama 3 8B"), 3.5)


@pytest.mark.parametrize("context", [1, 50, 1000, 100_000])
def test_attention_of_a_model_that_writes_stays_below_the_heads_that_share_a_key(context):
    for sizes in (LECTURE, rl.MODELS["Llama 3 8B"]):
        by_name = steps(1, context - 1, sizes)
        assert max(by_name["scores"].intensity, by_name["mix"].intensity) < sizes.N / sizes.kv_heads


def test_a_fused_kernel_does_five_products_back_instead_of_four():
    there = rl.layer(LECTURE, 1, 10, fused=True)
    forward = next(o for o in there if o.name == "fused attention")
    back = next(o for o in rl.backward(LECTURE, there) if o.name == "d fused attention")
    assert 2 * back.product_flops == 5 * forward.product_flops


def test_answers_beside_the_memory_explorer_hold():
    memory_bytes = A100.memory_bytes
    few, many = (memory_explorer.largest_batch(name, memory_bytes, 4096) for name in ("Llama 2 7B", "Llama 3 8B"))
    assert few < many / 3
    for name, half in (("Llama 2 7B", few), ("Llama 3 8B", many)):
        assert memory_explorer.largest_batch(name, memory_bytes, 4096, 4) < half / 2
    learned = sum(rl.training_memory(rl.MODELS["GPT-2 XL"], 1, 1024).values())
    assert learned < memory_bytes < sum(rl.training_memory(LLAMA, 1, 1024).values())


def test_attention_overtakes_the_weights_where_the_figure_says():
    equal = 2 * rl.product_weights(LLAMA) / (4 * LLAMA.L * LLAMA.wide)
    assert round(equal) == 25_204


def test_a_step_is_bounded_by_bytes_that_it_reads_and_a_short_text_makes_a_batch_cheap():
    def step_s(batch):
        read = 2 * rl.product_weights(LLAMA) + rl.inference_memory(LLAMA, batch, 100)["cache"]
        return rl.predicted_time_s(A100, rl.total(rl.decode(LLAMA, batch, 100)).product_flops, read, "bfloat16")

    assert step_s(1) == pytest.approx(6.51e-3, rel=1e-3) and step_s(64) / step_s(1) == pytest.approx(1.25, abs=0.01)


def test_a_rule_of_six_leaves_out_what_llamas_hours_computed():
    at_peak = 184_320 * 3600 * A100.peak_flops_per_s("bfloat16")
    rule = 6 * sum(rl.parameters(LLAMA).values()) * 2e12 / at_peak
    skipped, full = (
        3 * rl.total(rl.forward(LLAMA, 1, 4096, causal=causal)).product_flops / 4096 * 2e12 / at_peak
        for causal in (True, False)
    )
    assert (rule, skipped, full) == pytest.approx((0.39, 0.41, 0.45), abs=0.006)


def test_seven_billion_do_not_learn_on_one_card_and_write_on_it():
    states = rl.state_bytes(sum(rl.parameters(LLAMA).values()), "master")
    assert sum(states.values()) > 100e9 > A100.memory_bytes > sum(rl.inference_memory(LLAMA, 16, 4096).values()) * 0.9
    assert sum(rl.inference_memory(LLAMA, 1, 4096).values()) < A100.memory_bytes


def test_sharing_heads_four_ways_quarters_the_cache_and_multiplies_the_intensity_of_the_scores():
    grouped = rl.MODELS["Llama 3 8B"]
    assert rl.cache_bytes(LLAMA, 1, 4096) == 4 * rl.cache_bytes(grouped, 1, 4096)
    ratio = steps(1, 999, grouped)["scores"].intensity / steps(1, 999, LLAMA)["scores"].intensity
    assert 3.7 < ratio < 4


def test_sentences_about_the_record_hold():
    few = [p["ratio"] for p in RECORD["points"] if p["stage"] == "auto-regressive" and p["part"] == "dense"]
    assert max(few) > 2, "products with few rows are said to be far from the roof"
    reading = [p["ratio"] for p in RECORD["points"] if p["stage"] == "initial" and p["s"] == 1000]
    assert all(0.9 < ratio < 1.15 for ratio in reading)
    outside = [p for p in RECORD["points"] if p["part"] == "attention" and p["s"] == 1000 and not p["cached"]]
    first, *_, last = (p["flops"] / p["measured_s"] for p in outside if p["stage"] == "auto-regressive")
    assert 0.8 < last / first <= 1, "a larger batch gains nothing in attention"


def test_sentences_about_the_h100_hold():
    dense, attention = ([p for p in H100["points"] if p["part"] == part] for part in ("dense", "attention"))
    rates = [p["flops"] / p["measured_s"] for p in dense]
    assert rates == sorted(rates), "the dense layer climbs"
    assert max(p["measured_s"] / p["predicted_s"] for p in dense) < 1.75
    many = [p["flops"] / p["measured_s"] for p in attention if p["batch"] >= 16]
    assert max(many) < 1.2 * min(many), "attention stays nearly flat"
    ratios = [p["measured_s"] / p["predicted_s"] for p in attention]
    assert ratios == sorted(ratios, reverse=True) and ratios[0] > 3.5 and abs(ratios[-1] - 1) < 0.02
    assert H100["machine"] == "NVIDIA H100 80GB HBM3" and {p["s"] for p in attention} == {1000}


def test_envelope_is_within_a_factor_of_two():
    weights = rl.product_weights(LLAMA)
    short, full = (rl.cache_bytes(LLAMA, *case) + 2 * weights for case in ((1, 100), (30, 4096)))
    guessed = {
        14e9: rl.total(rl.decode(LLAMA, 1, 1000)).product_flops,
        112e9: sum(rl.state_bytes(sum(rl.parameters(LLAMA).values()), "master").values()),
        2e9: rl.cache_bytes(LLAMA, 1, 4096),
        33: memory_explorer.largest_batch("Llama 2 7B", A100.memory_bytes, 4096),
        6.5e-3: short / A100.bandwidth_bytes_per_s,
        750: 30 * A100.bandwidth_bytes_per_s / full,
        8: 6 * sum(rl.parameters(LLAMA).values()) * 2e12 / (1024 * 0.4 * A100.peak_flops_per_s("bfloat16")) / 86400,
    }
    assert all(0.85 < guess / count < 1.2 for guess, count in guessed.items())
    assert 7 * rl.cache_bytes(LLAMA, 1, 4096) > 2 * sum(rl.parameters(LLAMA).values())


def test_four_texts_recomputed_take_less_memory_than_one_without():
    four = sum(rl.training_memory(LLAMA, 4, 4096, recompute=True).values())
    assert A100.memory_bytes < four < sum(rl.training_memory(LLAMA, 1, 4096).values())


def test_elementwise_steps_wait_for_memory_on_the_sheets_and_for_exponentials_on_the_measured_processor():
    for name in rl.known_hardware():
        machine = rl.hardware(name)
        if "float32" not in machine.dense_flops_per_s:  # TPUs have sheets without one
            continue
        assert max(steps(1000)[step].intensity for step in ("softmax", "relu")) < rl.ridge(machine, "float32"), name
    measured = json.loads((ROOT / "book" / "measured" / "roofline.json").read_text(encoding="utf-8"))
    functions, moved = measured["left_out"]["functions"], 4 + 4  # bytes: one float32 read, one written
    assert functions["exp"] * moved < 0.5 * measured["bandwidth"]["median"] < functions["multiply"] * moved


def test_least_time_on_the_formula_sheet_counts_only_weights_that_a_token_reads():
    """An untied embedding table is looked up in, one row for a token: it is no part of the bound."""
    llama = rl.MODELS["Llama 3 8B"]
    assert sum(rl.parameters(llama).values()) - rl.product_weights(llama) >= llama.V * llama.D
    sheet = (ROOT / "book" / "formulas.md").read_text(encoding="utf-8")
    assert "rl.product_weights(one) * rl.HALF_BYTES / MACHINE.bandwidth_bytes_per_s" in sheet
