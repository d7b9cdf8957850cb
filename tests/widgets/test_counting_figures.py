"""The figures of chapters 12 and 15 in Python: checked against formulas written otherwise, and against configs."""

import itertools
import re

import pytest

from softlookup import roofline as rl
from softlookup.roofline.config_json import QUOTED, cache_bytes, sizes, token_operations
from softlookup_course.widgets import (
    BatchingExplorer,
    ConfigReader,
    CooksAndVan,
    CostSwitches,
    MemoryExplorer,
    config_reader,
    cooks_and_van,
    cost_switches,
)
from softlookup_course.widgets import batching_explorer as batching
from softlookup_course.widgets import memory_explorer as memory
from softlookup_course.widgets.cooks_and_van import CONTEXT, FUSED, STEPS, TOKENS

MODEL, MACHINE = "Llama 3 8B", "A100 80GB SXM"
SIZES = rl.MODELS[MODEL]


@pytest.mark.parametrize("stage", [batching.READING, batching.WRITING])
@pytest.mark.parametrize(("batch", "length"), [(1, 1000), (64, 200)])
def test_described_intensities_are_those_of_the_formulas(stage, batch, length):
    counts = batching.describe(MODEL, MACHINE, stage, batch, length)
    tokens = length if stage == batching.READING else 1
    rows, d, f, h = batch * tokens, SIZES.D, SIZES.F, SIZES.head_width
    weights = d * h * 2 * (SIZES.N + SIZES.kv_heads) + 3 * d * f
    assert counts["dense"]["flops"] == 2 * rows * weights
    widths = 2 * (d + SIZES.wide) + 2 * (d + SIZES.narrow) + 3 * (d + f)
    assert counts["dense"]["bytes"] == 2 * (weights + rows * widths)
    group = SIZES.N / SIZES.kv_heads
    assert counts["attention"]["intensity"] == pytest.approx(1 / (1 / length + 1 / (group * tokens) + 1 / h))
    assert counts["flops"] == rows * (2 * rl.product_weights(SIZES) + 4 * SIZES.L * SIZES.wide * length)
    moved = 2 * rl.product_weights(SIZES) + 4 * batch * length * SIZES.L * SIZES.narrow
    assert counts["weight_bytes"] + counts["cache_bytes"] == moved
    machine = rl.hardware(MACHINE)
    assert counts["seconds"] == pytest.approx(max(counts["flops"] / 312e12, moved / machine.bandwidth_bytes_per_s))
    assert counts["tokens_per_s"] == pytest.approx(rows / counts["seconds"])


def test_memory_is_the_librarys_and_the_largest_batch_is_the_last_that_fits():
    memory_bytes = rl.hardware(MACHINE).memory_bytes
    most = memory.largest_batch(MODEL, memory_bytes, 4096)
    fits, more = (sum(memory.describe_writing(MODEL, b, 4096).values()) for b in (most, most + 1))
    assert fits <= memory_bytes < more
    assert memory.largest_batch("Llama 2 70B", memory_bytes, 4096) == 0
    learning = memory.describe_learning(MODEL, 2, 1024, "master", fused=False)
    assert learning["cache"] == 0 and learning["optimizer"] == 8 * sum(rl.parameters(SIZES).values())
    assert set(learning) == set(memory.PARTS) == set(memory.describe_writing(MODEL, 1, 1))


def test_stand_ins_hold_the_librarys_numbers():
    html = BatchingExplorer([MODEL], [MACHINE]).fallback
    shown = [float(number) for number in re.findall(r"<td>([\d.]+)</td>", html)]
    expected = [batching.describe(MODEL, MACHINE, batching.WRITING, b, 1000) for b in batching.BATCHES[::2]]
    assert shown == pytest.approx([t[p]["intensity"] for t in expected for p in ("dense", "attention")], abs=0.006)
    html = MemoryExplorer([MODEL], [MACHINE]).fallback
    assert f"<td>{memory.largest_batch(MODEL, 80e9, 1024)}</td>" in html


def test_only_models_with_a_table_of_positions_have_an_end():
    models = MemoryExplorer(["GPT-2 small", "GPT-2 XL", MODEL], [MACHINE]).models
    assert [model["positions"] for model in models] == [1024, 1024, 0]


MODEL, MACHINE = "Llama 3 8B", "A100 80GB SXM"
WORD = re.compile(r"[A-Z]+")


@pytest.mark.parametrize("model", ["Llama 2 7B", MODEL])
@pytest.mark.parametrize("tokens", [1, 50, CONTEXT])
def test_formulas_give_what_is_counted(model, tokens):
    sizes = rl.MODELS[model]
    letters = {"T": tokens, "S": CONTEXT, "D": sizes.D, "N": sizes.N, "K": sizes.kv_heads, "H": sizes.head_width}
    letters |= {"F": sizes.F, "NH": sizes.wide, "KH": sizes.narrow}
    for name, (flops, moved) in cooks_and_van.counted(model, tokens).items():
        formulas = [
            WORD.sub(lambda word: str(letters[word[0]]), formula.replace("·", "*")) for formula in STEPS[name][1:]
        ]
        assert [flops, moved / 2] == [eval(formula) for formula in formulas], name


@pytest.mark.parametrize("model", ["Llama 2 7B", MODEL, "Llama 2 70B", "Mistral 7B"])
@pytest.mark.parametrize("machine", [MACHINE, "A100 80GB PCIe", "H100 SXM", "H200"])
def test_times_add_up_to_those_of_the_whole_layer_kernel_by_kernel(model, machine):
    card = rl.hardware(machine)
    for fused, tokens in itertools.product((False, True), TOKENS):
        hidden = ("scores", "softmax", "mix") if fused else (FUSED,)
        times = cooks_and_van.step_seconds(model, machine, tokens)
        kernels = rl.layer(rl.MODELS[model], 1, tokens, cached=CONTEXT - tokens, fused=fused)
        whole = sum(rl.predicted_time_s(card, kernel.flops, kernel.bytes, "bfloat16") for kernel in kernels)
        assert sum(max(pair) for name, pair in times.items() if name not in hidden) == pytest.approx(whole)


def test_times_are_longest_where_the_ridge_says():
    ridge = rl.ridge(rl.hardware(MACHINE), "bfloat16")
    for tokens in TOKENS:
        times = cooks_and_van.step_seconds(MODEL, MACHINE, tokens)
        for name, (flops, moved) in cooks_and_van.counted(MODEL, tokens).items():
            assert (times[name][0] > times[name][1]) == (flops / moved > ridge), (name, tokens)


def test_stand_in_holds_formulas_and_times_of_a_whole_prompt():
    html = CooksAndVan([MODEL], [MACHINE]).fallback
    for name, (cooks, van) in cooks_and_van.step_seconds(MODEL, MACHINE, CONTEXT).items():
        cells = f"<td>{STEPS[name][1]}</td><td>{STEPS[name][2]}</td><td>{1e6 * cooks:.3g}</td><td>{1e6 * van:.3g}</td>"
        assert cells in html
    assert "With scripts switched on" in html and FUSED in html


@pytest.mark.parametrize("name", QUOTED)
def test_described_parts_add_up_to_all_parameters(name):
    record = config_reader.summarize(QUOTED[name])
    assert sum(record["parts"].values()) == sizes(QUOTED[name]).total
    assert len(record["windows"]) == len(record["rotary"]) == QUOTED[name]["num_hidden_layers"]


def test_a_model_without_windows_and_with_all_heads_saves_nothing():
    plain = {**QUOTED["Llama 3 8B"], "num_key_value_heads": 32}
    now = config_reader.describe(plain, 1000, 2)
    assert now["cache"] == now["plain"] == cache_bytes(plain, 1000)
    assert config_reader.describe(QUOTED["Llama 3 8B"], 1000, 2)["plain"] == now["plain"]


def test_stand_in_shows_every_model():
    html = ConfigReader(QUOTED, "Gemma 3 1B").fallback
    shown = [float(number) for number in re.findall(r"</th><td>([\d.]+)</td>", html)]
    assert shown == [pytest.approx(sizes(config).total / 1e9, abs=0.006) for config in QUOTED.values()]


LLAMA = QUOTED["Llama 2 7B"]
LONG = cost_switches.LENGTHS[-1]


def priced(*changes, length=LONG):
    return cost_switches.describe(LLAMA, changes, length)


def cost(now):
    return now["stored"] + now["cache"], now["met"] + now["cache"], now["weights"] + now["mixing"]


@pytest.mark.parametrize("changes", [(), ("heads",), ("latent",), ("experts",), ("heads", "experts")])
def test_without_windows_and_bits_the_counts_are_those_of_the_config(changes):
    config, now = cost_switches.changed_config(LLAMA, changes), priced(*changes)
    assert now["cache"] == cache_bytes(config, LONG) and now["stored"] == 2 * sizes(config).total
    assert (now["weights"], now["mixing"]) == token_operations(config, LONG)
    assert now["met"] == 2 * sizes(config).in_products


def test_windows_of_every_sixth_layer_hold_what_gemmas_layers_hold():
    layers = cost_switches.cached_by_layer(32, 4096, ["windows"])
    assert [layer for layer, positions in enumerate(layers) if positions == 4096] == [5, 11, 17, 23, 29]
    assert set(layers) == {1024, 4096}
    assert cost_switches.cached_by_layer(32, 512, ["windows"]) == [512] * 32


def test_each_change_lowers_what_the_chapter_says_and_factors_multiply():
    memory, fetched, operations = cost(priced())
    windows = cost(priced("windows"))
    assert all(new < 0.45 * old for new, old in zip(windows[1:], (fetched, operations), strict=True))
    for changes in (("heads",), ("bits",)):
        new = cost(priced(*changes))
        assert new[0] < memory and new[1] < fetched
        assert new[2] == pytest.approx(operations, rel=0.03)
    latent, experts = cost(priced("latent")), cost(priced("experts"))
    assert latent[1] < fetched and latent[2] > 3 * operations
    assert experts[0] > 1.7 * memory and 1.05 < experts[1] / fetched < 1.15
    shares = [priced(change)["cache"] / priced()["cache"] for change in ("heads", "windows", "bits")]
    together = priced("heads", "windows", "bits")["cache"] / priced()["cache"]
    assert together == pytest.approx(shares[0] * shares[1] * shares[2])


def test_stand_in_shows_each_change_and_all_choices_can_be_described():
    html = CostSwitches("Llama 2 7B", "H100 SXM").fallback
    names = re.findall(r'<th scope="row">([^<]+)</th>', html)
    assert names == ["as published", *cost_switches.CHANGES.values(), "8 key-value heads, windows of 1,024, 4 bits"]
    assert len({frozenset(choice) for choice in cost_switches.every_choice()}) == 24
    figure = CostSwitches("Llama 2 7B", "H100 SXM")
    assert set(figure.records) == {"", "heads", "latent", "experts", "heads+experts", "latent+experts"}
