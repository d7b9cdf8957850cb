"""Multi-head latent attention: expanded and absorbed, whole and cached. DeepSeek-V3's own: test_open_decoders."""

import math

import pytest
import torch
from modern_twins import OURS

from softlookup.model.parts.cache import LayerCache
from softlookup.model.parts.latent_attention import LatentAttention
from softlookup.model.parts.masks import causal_mask
from softlookup.model.parts.rotary_scaling import RotaryScaling
from tests.refusing import refused

SIZES = {"d_latent": 10, "head_width": 6, "rotary_width": 4, "value_width": 5}
T = 7


def seeded(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("query_latent", [None, 8])
def test_expanded_and_absorbed_are_equal_whole_and_cached_with_gradients(query_latent):
    attention = LatentAttention(16, 3, d_query_latent=query_latent, **SIZES).double()
    x, grad = seeded(1, 2, T, 16).double(), seeded(2, 2, T, 16).double()
    mask, results = causal_mask(T), []
    for absorbed in (False, True):
        cache = LayerCache()
        parts = [attention(x[:, :3], mask[:3, :3], cache=cache, absorbed=absorbed)]
        parts += [attention(x[:, t : t + 1], cache=cache, absorbed=absorbed) for t in range(3, T)]
        for out in (attention(x, mask, absorbed=absorbed), torch.cat(parts, dim=1)):
            results.append([out, *torch.autograd.grad(out, list(attention.parameters()), grad)])
        assert cache.k.nbytes + cache.v.nbytes == 2 * T * attention.bytes_per_token == 2 * T * 8 * (10 + 4)
    for other in results[1:]:
        for got, expected in zip(other, results[0], strict=True):
            torch.testing.assert_close(got, expected, rtol=0, atol=1e-10)


test_what_does_not_fit_is_named = refused(
    (lambda: LatentAttention(16, 3, **SIZES | {"d_latent": 0}), "d_latent 0"),
    (lambda: LatentAttention(16, 3, **SIZES | {"rotary_width": 3}), "must be even and at least 2.*got 3"),
    (lambda: LatentAttention(16, 3, **SIZES)(torch.zeros(2, T, 8)), r"x has shape \(2, 7, 8\); wanted .* D = 16"),
    (lambda: LatentAttention(16, 3, **SIZES)(torch.zeros(2, T, 16), causal_mask(5)), "mask has shape"),
)


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
