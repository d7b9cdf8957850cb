"""What chapter 15 and its side page say of published models and of measured parts holds."""

from importlib import import_module, util

import numpy as np
import pytest
import torch

from softlookup.model import LatentAttention, RotaryScaling
from softlookup.roofline import config_json
from softlookup.training.muon import QUINTIC


def test_scale_of_deepseeks_latent_attention_has_yarns_factor_squared():
    plain = LatentAttention(16, 2, d_latent=8, head_width=128, rotary_width=64)
    yarn = RotaryScaling("yarn", 40, 4096)
    stretched = LatentAttention(16, 2, d_latent=8, head_width=128, rotary_width=64, rotary_scaling=yarn)
    assert plain.scale == pytest.approx((128 + 64) ** -0.5)
    assert stretched.scale / plain.scale == pytest.approx(1.87, abs=0.005)


def test_five_steps_of_muon_bring_all_but_the_smallest_singular_values_near_one():
    before = np.logspace(-5, 0, 10_001)
    after = before
    for _ in range(5):
        after = sum(c * after**power for c, power in zip(QUINTIC, (1, 3, 5), strict=True))
    assert 0.68 < after[before >= 0.002].min() < after.max() < 1.21
    assert after[before <= 1e-4].max() < 0.05


def test_active_parameters_are_published_with_the_table_of_tokens_and_without():
    qwen, gpt_oss = (config_json.sizes(config_json.QUOTED[name]) for name in ("Qwen3 30B-A3B", "gpt-oss 20B"))
    assert qwen.active / 1e9 == pytest.approx(3.3, abs=0.06) and qwen.in_products / 1e9 < 3.1
    assert gpt_oss.in_products / 1e9 == pytest.approx(3.61, abs=0.01) and gpt_oss.active / 1e9 > 4.1


@pytest.mark.skipif(util.find_spec("transformers") is None, reason="names classes of transformers")
@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("glm_moe_dsa", ("GlmMoeDsaTopkRouter", "GlmMoeDsaAttention", "GlmMoeDsaIndexer")),
        ("qwen3_5", ("Qwen3_5GatedDeltaNet", "Qwen3_5Attention")),
        ("mistral4", ("Mistral4Attention",)),
        (
            "deepseek_v4",
            ("DeepseekV4Attention", "DeepseekV4TopKRouter", "DeepseekV4Indexer", "DeepseekV4HyperConnection"),
        ),
    ],
)
def test_models_of_2026_have_the_parts_that_the_page_names(module, names):
    there = import_module(f"transformers.models.{module}.modeling_{module}")
    assert all(hasattr(there, name) for name in names)


@pytest.mark.skipif(util.find_spec("transformers") is None, reason="reads the configs of transformers")
def test_models_of_2026_have_the_sizes_that_the_page_states():
    glm = import_module("transformers.models.glm_moe_dsa.configuration_glm_moe_dsa").GlmMoeDsaConfig()
    assert (glm.kv_lora_rank, glm.qk_rope_head_dim) == (512, 64)
    assert (glm.n_routed_experts, glm.num_experts_per_tok) == (256, 8)
    qwen = import_module("transformers.models.qwen3_5_moe.configuration_qwen3_5_moe").Qwen3_5MoeTextConfig()
    assert (qwen.num_experts, qwen.num_experts_per_tok) == (256, 8)
    assert qwen.layer_types[:4] == ["linear_attention"] * 3 + ["full_attention"]
    assert qwen.num_key_value_heads < qwen.num_attention_heads
    assert qwen.rope_parameters["partial_rotary_factor"] == 0.25
    mistral = import_module("transformers.models.mistral4.configuration_mistral4").Mistral4Config()
    assert mistral.kv_lora_rank + mistral.qk_rope_head_dim == 320


@pytest.mark.skipif(util.find_spec("transformers") is None, reason="reads the configs of transformers")
@pytest.mark.parametrize(
    ("module", "config", "every"),
    [("gemma3", "Gemma3TextConfig", 6), ("gemma4", "Gemma4TextConfig", 6), ("olmo3", "Olmo3Config", 4)],
)
def test_global_layers_come_as_often_as_the_pages_state(module, config, every):
    kinds = getattr(import_module(f"transformers.models.{module}.configuration_{module}"), config)().layer_types
    assert [layer + 1 for layer, kind in enumerate(kinds[: 2 * every]) if kind == "full_attention"] == [
        every,
        2 * every,
    ]
    assert set(kinds) == {"full_attention", "sliding_attention"}


@pytest.mark.skipif(util.find_spec("transformers") is None, reason="runs a router of transformers")
def test_deepseek_v4_has_one_key_value_head_sinks_and_a_bias_that_only_chooses():
    config = import_module("transformers.models.deepseek_v4.configuration_deepseek_v4").DeepseekV4Config(
        hidden_size=3, n_routed_experts=3, num_experts_per_tok=2, routed_scaling_factor=1.0
    )
    assert config.num_key_value_heads == 1
    deepseek = import_module("transformers.models.deepseek_v4.modeling_deepseek_v4")
    assert "sinks" in dict(deepseek.DeepseekV4Attention(config, 0).named_parameters())
    router = deepseek.DeepseekV4TopKRouter(config)
    logits = torch.tensor([[2.0, 1.0, 0.5]])
    with torch.no_grad():
        router.weight.copy_(torch.eye(3))
        router.e_score_correction_bias.copy_(torch.tensor([0.0, -5.0, 0.0]))
        _, weights, chosen = router(logits)
    gates = np.sqrt(np.log1p(np.exp([2.0, 0.5])))
    assert sorted(chosen[0].tolist()) == [0, 2]
    np.testing.assert_allclose(sorted(weights[0].tolist()), sorted(gates / gates.sum()), rtol=1e-5)


@pytest.mark.skipif(util.find_spec("transformers") is None, reason="calls a function of transformers")
def test_ramp_of_yarn_is_straight_over_the_pairs_in_transformers_and_not_over_the_turns():
    rope = {
        "rope_type": "yarn",
        "rope_theta": 10_000.0,
        "factor": 32.0,
        "original_max_position_embeddings": 4096,
        "truncate": False,
    }
    llama = import_module("transformers").LlamaConfig(max_position_embeddings=131_072, rope_parameters=rope)
    speeds, _ = import_module("transformers.modeling_rope_utils")._compute_yarn_parameters(llama)
    plain = 10_000.0 ** (-np.arange(0, 128, 2) / 128)
    ramp = (1 - speeds.double().numpy() / plain) / (1 - 1 / 32)
    between = ramp[(ramp > 1e-4) & (ramp < 1 - 1e-4)]
    np.testing.assert_allclose(np.diff(between), np.diff(between).mean(), rtol=1e-3)
    turns = 4096 * plain / (2 * np.pi)
    assert abs(ramp - np.clip((32 - turns) / 31, 0, 1)).max() > 0.2


@pytest.mark.skipif(util.find_spec("transformers") is None, reason="reads the code of transformers")
def test_hybrid_stack_built_in_draft_and_block_format_are_where_the_page_says():
    codes = import_module("transformers.integrations.mxfp4").FP4_VALUES
    assert codes[:8] == [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    assert hasattr(import_module("transformers.modeling_layers"), "MtpLayer")
    assert hasattr(import_module("transformers.models.qwen3_next.modeling_qwen3_next"), "Qwen3NextGatedDeltaNet")
    qwen = import_module("transformers.models.qwen3_next.configuration_qwen3_next").Qwen3NextConfig()
    assert (qwen.num_hidden_layers, qwen.num_key_value_heads, qwen.head_dim) == (48, 2, 256)
    assert qwen.layer_types == (["linear_attention"] * 3 + ["full_attention"]) * 12
    assert (qwen.linear_num_key_heads, qwen.linear_num_value_heads, qwen.linear_conv_kernel_dim) == (16, 32, 4)
    assert qwen.linear_key_head_dim == qwen.linear_value_head_dim == 128
