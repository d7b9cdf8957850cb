"""The numbers of the batching and the memory explorer in Python: checked against formulas written otherwise."""

import re

import pytest

from softlookup import roofline as rl
from softlookup_course.widgets import BatchingExplorer, MemoryExplorer
from softlookup_course.widgets import batching_explorer as batching
from softlookup_course.widgets import memory_explorer as memory

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


def test_dense_layers_travel_with_the_batch_and_attention_does_not():
    few, many = (batching.describe(MODEL, MACHINE, batching.WRITING, b, 1000) for b in (1, 64))
    assert many["attention"]["intensity"] == few["attention"]["intensity"]
    assert many["dense"]["intensity"] > 60 * few["dense"]["intensity"]


def test_memory_is_the_librarys_and_the_largest_batch_is_the_last_that_fits():
    memory_bytes = rl.hardware(MACHINE).memory_bytes
    most = memory.largest_batch(MODEL, memory_bytes, 4096)
    fits, more = (sum(memory.describe_writing(MODEL, b, 4096).values()) for b in (most, most + 1))
    assert fits <= memory_bytes < more
    assert memory.largest_batch("Llama 2 70B", memory_bytes, 4096) == 0
    learning = memory.describe_learning(MODEL, 2, 1024, "master", fused=False)
    assert learning["cache"] == 0 and learning["optimizer"] == 8 * sum(rl.parameters(SIZES).values())
    assert set(learning) == set(memory.PARTS) == set(memory.describe_writing(MODEL, 1, 1))


@pytest.mark.parametrize("figure", [BatchingExplorer, MemoryExplorer])
def test_unknown_names_are_refused(figure):
    with pytest.raises(ValueError, match="there is no model 'GPT-9'"):
        figure(["GPT-9"], [MACHINE])
    with pytest.raises(KeyError, match="no data sheet for 'A900'"):
        figure([MODEL], ["A900"])


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
