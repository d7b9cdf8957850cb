"""Models with experts in a plan: memory beside all arrays, operations beside other counts, and a published run."""

from math import prod

import pytest
from sizes_of_models import MEASURED_H100

from softlookup.ranks import LinkSpeed
from softlookup.roofline import (
    LINKS,
    MODELS,
    Hardware,
    Layout,
    TrainingCluster,
    config_json,
    hardware,
    layout_cost,
    plan,
    planner_sizes,
)
from softlookup.roofline.planner_sizes import card_layer, card_part

QUOTED = config_json.QUOTED
LINK = LinkSpeed(1e-6, 1e9)
CLUSTER = TrainingCluster(hardware("H100 SXM"), LINK, LINK)
SMALL = {
    "model_type": "qwen3_moe",
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 4,
    "intermediate_size": 48,
    "moe_intermediate_size": 8,
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "vocab_size": 64,
    "tie_word_embeddings": False,
}
LAYER = [(16, 16), (16, 8), (16, 8), (16, 16), (4,), (4,), (16,), (16,), (16, 8)]
"""Shapes of all that a layer of SMALL has beside its experts: q, k, v, output, gains, norms, router."""
EXPERT = [(16, 8), (16, 8), (8, 16)]


@pytest.mark.parametrize("expert", [1, 2, 4])
@pytest.mark.parametrize("zero", [0, 1])
def test_states_are_those_of_all_arrays_that_a_card_has(expert, zero):
    sizes = planner_sizes(SMALL)
    got = layout_cost(sizes, Layout(4, expert=expert, zero=zero), CLUSTER, tokens=4 * 32, sequence=32)
    shared = sum(map(prod, [(64, 16), (64, 16), (16,), *LAYER, *LAYER]))
    of_experts = sum(map(prod, EXPERT)) * 2 * 8 // expert
    assert got.memory["weights"] == got.memory["gradients"] == 2 * (shared + of_experts)
    cut = (shared / 4 + of_experts / (4 / expert)) if zero else shared + of_experts
    assert got.memory["master"] == pytest.approx(4 * cut, abs=4)
    assert got.memory["optimizer"] == pytest.approx(8 * cut, abs=4)


@pytest.mark.parametrize("tensor, context", [(1, 1), (2, 1), (1, 4), (2, 2), (4, 1)])
def test_activations_are_those_of_all_arrays_that_a_card_keeps(tensor, context):
    got = layout_cost(planner_sizes(SMALL), Layout(2, tensor=tensor, context=context), CLUSTER, tokens=64, sequence=32)
    rows = 32 // context
    along_sequence = 4 * 16 + 2 * 16  # before and behind both norms; a token for each of its two experts
    queries, keys = 4 // tensor, max(1, 2 // tensor)  # heads; two key-value heads on four cards are there twice
    by_heads = 4 * (2 * queries + 2 * keys)  # queries, what is mixed, keys, values
    by_columns = 4 * 2 * 8  # gate, its activation, up, their product
    assert got.memory["activations"] == 2 * 2 * rows * ((along_sequence + by_columns) // tensor + by_heads)
    assert got.memory["logits"] == 2 * 4 * rows * 64 // tensor


@pytest.mark.parametrize("name", ["Llama 3 8B", "Mistral 7B", "Llama 2 7B"])
def test_a_file_and_sizes_by_hand_give_one_plan(name):
    by_hand, read = MODELS[name], planner_sizes(QUOTED[name] | {"sliding_window": None}, name)
    layout = Layout(4, tensor=2, pipeline=2, zero=1, recompute="elementwise", context=2)
    first, second = (layout_cost(sizes, layout, CLUSTER, tokens=16 * 2048, sequence=2048) for sizes in (by_hand, read))
    assert first == second


@pytest.mark.parametrize("name", ["Qwen3 30B-A3B", "DeepSeek-V3", "gpt-oss 20B", "Gemma 3 1B"])
def test_products_of_a_token_are_those_of_its_active_weights(name):
    read = config_json.sizes(QUOTED[name])
    sizes = planner_sizes(QUOTED[name])
    assert (sizes.whole, sizes.active) == (read.total, read.active)
    got = sum(step.product_flops for step in card_layer(sizes, 64, 1) if step.name != "fused attention")
    router = sizes.D * sizes.experts * sizes.expert_layers
    output = sizes.V * sizes.D
    assert got * sizes.L == pytest.approx(2 * 64 * (read.in_products - output - router), rel=1e-3)


def test_a_window_leaves_out_what_no_token_sees():
    sizes = planner_sizes(QUOTED["gpt-oss 20B"])
    attention = next(step for step in card_layer(sizes, 512, 1) if step.name == "fused attention")
    full = sum(range(1, 513))
    seen = sum(min(place, 128) for place in range(1, 513))
    assert attention.product_flops == 4 * 64 * 64 * (full + seen) / 2


def test_experts_of_a_card_are_read_whole_and_tokens_meet_those_they_chose():
    sizes = planner_sizes(SMALL)
    for expert in (1, 4):
        steps = {step.name: step for step in card_layer(card_part(sizes, 1, expert), 32, 1)}
        assert steps["up"].reads[1].elements == 16 * 8 * 8 // expert
        assert steps["up"].product_flops == 2 * 32 * 16 * 2 * 8


@pytest.mark.parametrize(
    "config, message",
    [
        ({"model_type": "mamba2"}, "layer 1 has .*Mamba"),
        ({"model_type": "qwen3_next"}, "layer 1 has .*; wanted attention"),
        ({"model_type": "gemma3n_text"}, "layer .* keys and values of an earlier layer; .*wanted attention"),
        ({"model_type": "deepseek_v32"}, "layer 1 has .*indexer.*wanted attention"),
    ],
)
def test_layers_that_no_plan_knows_are_refused(config, message):
    with pytest.raises(ValueError, match=message):
        planner_sizes(config)


@pytest.mark.parametrize(
    "layout, sizes, message",
    [
        (Layout(4, expert=3), SMALL, "expert is 3; wanted a divisor of data, 4, and of 8 experts"),
        (Layout(16, expert=16), SMALL, "expert is 16; wanted a divisor of data, 16, and of 8 experts"),
        (Layout(4, expert=2), QUOTED["Llama 3 8B"], "expert is 2; wanted a divisor of data, 4, and of 0 experts"),
        (Layout(1, context=32), SMALL, "sequence is 32; wanted a multiple of twice the context, 64"),
        (Layout(1, tensor=16), SMALL | {"num_attention_heads": 16}, "an expert's width is 8; wanted a multiple"),
    ],
)
def test_experts_and_contexts_that_do_not_divide_are_refused(layout, sizes, message):
    with pytest.raises(ValueError, match=message):
        layout_cost(planner_sizes(sizes), layout, CLUSTER, tokens=16 * 32, sequence=32)


def test_a_plan_puts_experts_on_every_number_of_replicas_that_divides():
    costs = plan(planner_sizes(SMALL), 4, CLUSTER, tokens=32 * 32, sequence=32, contexts=(1, 2))
    layouts = {cost.layout for cost in costs}
    assert len(layouts) == len(costs)
    grids = {(each.data, each.context, each.expert) for each in layouts if each.tensor == each.pipeline == 1}
    assert grids == {(4, 1, 1), (4, 1, 2), (4, 1, 4), (2, 2, 1), (2, 2, 2)}
    assert all(each.cards == 4 for each in layouts)
    assert str(Layout(2, context=2, expert=2)) == "data 2 x context 2, experts on 2"


def test_deepseek_v3_s_layout_sends_tokens_about_as_long_as_it_computes():
    """Without TP, with a pipeline of 16, experts on 64 cards and ZeRO 1, as the report says in section 3.2.

    Section 3.2.1 gives a ratio of computing to messages of about 1 to 1. Its messages to experts are in float8, and a
    token goes to 4 nodes at most; here all are in bfloat16, and each expert gets a copy, so that messages take longer.
    The published step, 20 s, lies between computing alone and computing and messages one after the other.

    Source: DeepSeek-AI 2024 (arXiv:2412.19437), sections 3.1, 3.2 and 4.2 (15,360 sequences of 4,096 tokens), section 1
    (180,000 hours of an H800 for 10^12 tokens).
    """
    cluster = TrainingCluster(MEASURED_H100, LinkSpeed(3.4e-6, 160e9, "NVLink of an H800"), LINKS["InfiniBand NDR"])
    sizes, tokens = planner_sizes(QUOTED["DeepSeek-V3"]), 15_360 * 4096
    layout = Layout(128, pipeline=16, expert=64, zero=1, chunks=2)
    got = layout_cost(sizes, layout, cluster, tokens=tokens, sequence=4096)
    assert 1 < got.expert_s / got.compute_s < 2
    published_s = 180_000 * 3600 / 1e12 * tokens / 2048
    assert got.compute_s < published_s < got.step_s
    assert "Tokens on their way to experts and back take" in got.reasons[1]
    # 37 billion weights of the 671 meet a token.
    assert got.model_flops / (6 * 37e9 * tokens) == pytest.approx(1.1, abs=0.1)
    states = sum(got.memory[name] for name in ("weights", "gradients", "master", "optimizer"))
    whole = layout_cost(sizes, Layout(128, pipeline=16, zero=1), cluster, tokens=tokens, sequence=4096)
    assert states < 11e9 and whole.memory["weights"] > 80e9


def test_a_long_text_fits_where_its_cards_share_it():
    small = Hardware("small", {"bfloat16": 1e12}, 1e11, 40e9, "made up")
    cluster = TrainingCluster(small, LINKS["NVLink 4"], LINKS["InfiniBand NDR"])
    sizes = planner_sizes(QUOTED["SmolLM2 135M"])
    fits = [
        layout_cost(sizes, Layout(1, context=context), cluster, tokens=2**17, sequence=2**17).fits
        for context in (1, 4, 16)
    ]
    assert fits == [False, True, True]
