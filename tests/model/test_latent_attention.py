"""Multi-head latent attention: equal to DeepSeek-V3's in `transformers`, whole and cached, expanded and absorbed."""

import math

import pytest
import torch
from modern_twins import OURS

from softlookup.model.parts.cache import LayerCache
from softlookup.model.parts.latent_attention import LatentAttention
from softlookup.model.parts.masks import causal_mask
from softlookup.model.parts.rotary_scaling import RotaryScaling

SIZES = {"d_latent": 10, "head_width": 6, "rotary_width": 4, "value_width": 5}
T = 7


def seeded(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def weights_of(block, n_heads, latent, width):
    """Give the weights of theirs under our names."""
    up = block.kv_b_proj.weight.unflatten(0, (n_heads, -1)).mT
    down = block.kv_a_proj_with_mqa.weight.mT
    values = {"w_a": down[:, :latent], "w_rotary": down[:, latent:], "latent_norm.gain": block.kv_a_layernorm.weight}
    values |= {"w_uk": up[..., :width], "w_uv": up[..., width:], "w_o": block.o_proj.weight.mT}
    if block.q_lora_rank is None:
        return values | {"w_q": block.q_proj.weight.mT}
    values |= {"w_q": block.q_b_proj.weight.mT, "w_q_down": block.q_a_proj.weight.mT}
    return values | {"query_norm.gain": block.q_a_layernorm.weight}


def pair(query_latent):
    """Make ours and theirs with the same weights, and what theirs gives for x under a causal mask."""
    pytest.importorskip("transformers", reason="transformers is not installed")
    from transformers import DeepseekV3Config
    from transformers.models.deepseek_v3 import modeling_deepseek_v3 as deepseek

    config = DeepseekV3Config(
        hidden_size=16, num_attention_heads=3, num_key_value_heads=3, kv_lora_rank=10, q_lora_rank=query_latent,
        qk_nope_head_dim=6, qk_rope_head_dim=4, v_head_dim=5, attention_bias=False, max_position_embeddings=32,
        attn_implementation="eager",
    )  # fmt: skip
    block = deepseek.DeepseekV3Attention(config, layer_idx=0).eval()
    for i, weight in enumerate(block.parameters()):
        weight.data = seeded(i, *weight.shape) * 0.5 + (weight.ndim == 1)
    attention = LatentAttention(16, 3, d_query_latent=query_latent, **SIZES)
    attention.load_state_dict(weights_of(block, 3, 10, 6))
    x = seeded(99, 2, T, 16)
    turns = deepseek.DeepseekV3RotaryEmbedding(config)(x, torch.arange(T)[None])
    hidden = torch.zeros(1, 1, T, T).masked_fill(~torch.ones(T, T).bool().tril(), -torch.inf)
    with torch.no_grad():
        return attention, x, block(x, position_embeddings=turns, attention_mask=hidden)[0]


@pytest.mark.parametrize("absorbed", [False, True])
@pytest.mark.parametrize("query_latent", [None, 8])
def test_whole_and_cached_equal_transformers(query_latent, absorbed):
    attention, x, expected = pair(query_latent)
    mask = causal_mask(T)
    with torch.no_grad():
        torch.testing.assert_close(attention(x, mask, absorbed=absorbed), expected, rtol=1e-4, atol=1e-4)
        cache = LayerCache()
        parts = [attention(x[:, :3], mask[..., :3, :3], cache=cache, absorbed=absorbed)]
        parts += [attention(x[:, t : t + 1], cache=cache, absorbed=absorbed) for t in range(3, T)]
    torch.testing.assert_close(torch.cat(parts, dim=1), expected, rtol=1e-4, atol=1e-4)
    cached_bytes = sum(tensor.numel() * tensor.element_size() for tensor in (cache.k, cache.v))
    assert cached_bytes == 2 * T * attention.bytes_per_token == 2 * T * 4 * (10 + 4)


def test_expanded_equals_absorbed_with_gradients():
    attention = LatentAttention(16, 3, **SIZES).double()
    x, grad = seeded(1, 2, T, 16).double(), seeded(2, 2, T, 16).double()
    weights = list(attention.parameters())
    got = [torch.autograd.grad(attention(x, causal_mask(T), absorbed=way), weights, grad) for way in (False, True)]
    for expanded, absorbed in zip(*got, strict=True):
        torch.testing.assert_close(expanded, absorbed, rtol=0, atol=1e-10)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: LatentAttention(16, 3, **SIZES | {"d_latent": 0}), "d_latent 0"),
        (lambda: LatentAttention(16, 3, **SIZES | {"rotary_width": 3}), "must be even and at least 2.*got 3"),
        (lambda: LatentAttention(16, 3, **SIZES)(torch.zeros(2, T, 8)), r"x has shape \(2, 7, 8\); wanted .* D = 16"),
        (lambda: LatentAttention(16, 3, **SIZES)(torch.zeros(2, T, 16), causal_mask(5)), "mask has shape"),
    ],
)
def test_what_does_not_fit_is_named(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_yarns_factor_multiplies_all_of_the_score_by_its_square():
    plain = LatentAttention(16, 3, **SIZES)
    slowed = LatentAttention(16, 3, **SIZES, rotary_scaling=RotaryScaling("yarn", 40, 4096))
    assert slowed.scale / plain.scale == pytest.approx(1.874, abs=5e-4)  # DeepSeek-V3's
    assert slowed.scale == plain.scale * (0.1 * math.log(40) + 1) ** 2
    turned = slowed.rotary(torch.ones(1, 1, 3, 4))
    torch.testing.assert_close(turned.norm(dim=-1), torch.full((1, 1, 3), 2.0))  # lengths stay
    weaker = RotaryScaling("yarn", 40, 4096, attention_factor=1.2608)  # DeepSeek-V2's mscale_all_dim is 0.707
    assert LatentAttention(16, 3, **SIZES, rotary_scaling=weaker).scale / plain.scale == pytest.approx(1.2608**2)
    assert LatentAttention(16, 3, **SIZES, rotary_scaling=weaker, scale=0.3).scale == 0.3


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"positions": "rotary_halves"}, "latent_width is 10 and positions 'rotary_halves'; wanted 'rotary'"),
        ({"n_kv_heads": 2}, "n_kv_heads 2; wanted None"),
        ({"qk_norm": "head"}, "qk_norm 'head'; wanted 'none'"),
        ({"latent_width": 0}, "latent_width must be at least 1, or None; got 0"),
    ],
)
def test_parts_that_do_not_go_with_a_latent_cache_are_named(changes, says):
    config = OURS.but(positions="rotary", n_kv_heads=None)
    with pytest.raises(ValueError, match=says):
        config.but(**({"latent_width": 10} | changes))
