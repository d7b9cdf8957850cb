"""What chapter 15 and its side page say of published models and of measured parts holds."""

from importlib import import_module, util

import numpy as np
import pytest

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
