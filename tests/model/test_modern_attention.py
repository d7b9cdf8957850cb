"""Parts that open models added to attention: sinks, windows and norms of queries and keys.

Dropping a part, and the mistakes that real projects made with it, give something else.
"""

import pytest
import torch
from modern_twins import EXACT, OURS, D, H, K, L, N, V, all_in_float64, lively, made, rows, step_by_step

from softlookup.model.decoding.fast_step import FastStep
from softlookup.model.parts.cache import KVCache, LayerCache
from softlookup.model.parts.masks import causal_mask
from softlookup.model.parts.multihead import MultiHeadAttention
from softlookup.model.parts.trace import Trace
from softlookup.model.whole.language import DecoderLM
from softlookup.model.whole.transformer import Transformer


@pytest.fixture(autouse=True)
def _all_in_float64():
    with all_in_float64():
        yield


def assert_dropping_it_changes_the_result(part, changes):
    """The same weights without the part give other logits, and single tokens too."""
    whole = made(**changes)
    without = DecoderLM(OURS).double().eval()
    left = without.load_state_dict(whole.state_dict(), strict=False)
    assert not left.missing_keys and all(part in name for name in left.unexpected_keys)
    ids = torch.randint(4, V, (2, 12))
    assert (whole(ids) - without(ids)).abs().max() > 1e-3


# Queries and keys that are normalised.


@pytest.mark.parametrize(("kind", "gains"), [("head", (H, H)), ("width", (N * H, K * H))])
def test_norms_have_the_gains_they_should_and_are_felt(kind, gains):
    attention = made(qk_norm=kind).decoder.layers[0].attention
    assert (attention.q_norm.gain.numel(), attention.k_norm.gain.numel()) == gains
    assert_dropping_it_changes_the_result("_norm.gain", {"qk_norm": kind})
    assert not any("q_norm" in name or "k_norm" in name for name in made().state_dict())


def test_norms_are_learned_in_cross_attention_too():
    layer = MultiHeadAttention(D, N, qk_norm="head").double()
    x, memory, cache = torch.randn(1, 3, D), torch.randn(1, 5, D), LayerCache(once=True)
    torch.testing.assert_close(layer(x, memory, cache=cache), layer(x, memory), **EXACT)
    torch.testing.assert_close(layer(x, memory, cache=cache), layer(10 * x, memory), rtol=1e-4, atol=1e-4)


# Learned sinks.


def with_sinks(strength, **changes):
    layer = lively(MultiHeadAttention(D, N, n_kv_heads=K, sinks=True, **changes))
    with torch.no_grad():
        layer.sinks.fill_(strength)
    return layer


def test_a_sink_takes_its_share_and_the_rest_is_not_normalised_again():
    x, mask = torch.randn(2, 5, D), causal_mask(5) & (torch.arange(5) > 0)
    layer = with_sinks(0.7)
    output, weights = layer(x, mask=mask, return_weights=True)
    plain = MultiHeadAttention(D, N, n_kv_heads=K).double()
    plain.load_state_dict({name: w for name, w in layer.state_dict().items() if name != "sinks"})
    _, renormalised = plain(x, mask=mask, return_weights=True)
    k_BNSH = (x @ layer.w_k).unflatten(-1, (K, D // N)).transpose(1, 2).repeat_interleave(N // K, dim=1)
    q_BNTH = (x @ layer.w_q).unflatten(-1, (N, D // N)).transpose(1, 2)
    total = (q_BNTH @ k_BNSH.mT / (D // N) ** 0.5).exp().masked_fill(~mask, 0).sum(dim=-1)
    left = total / (total + torch.tensor(0.7).exp())
    torch.testing.assert_close(weights.sum(dim=-1), left, **EXACT)
    torch.testing.assert_close(weights, renormalised * left[..., None], **EXACT)
    assert (output[:, 0] == 0).all() and (layer(x, mask=mask) - plain(x, mask=mask)).abs().max() > 0.1
    assert left[:, :, 0].abs().max() == 0  # the first row sees nothing: all of it goes to the sink


@pytest.mark.parametrize("strength", [-1e4, 1e4])
def test_sinks_are_shifted_by_the_maximum_like_scores(strength):
    layer, x = with_sinks(strength, scale=1.0), torch.randn(1, 4, D)
    for got in (layer(x), layer(x, return_weights=True)[0]):
        assert got.isfinite().all()
    assert (layer(x).abs().max() > 0.1) == (strength < 0)


def test_sinks_stand_beside_masks_and_biases_of_every_shape_and_learn_in_both_forms():
    layer, x = with_sinks(0.3), torch.randn(2, 5, D)
    wide_mask, wide_bias = torch.rand(2, N, 5, 5) < 0.7, torch.randn(2, N, 5, 5)
    for mask in (None, wide_mask, wide_mask[:, :1, :1], wide_mask[0, 0], wide_mask[..., :1]):
        for bias in (None, wide_bias, wide_bias[0], wide_bias[0, 0], wide_bias[..., :1]):
            forms = layer(x, mask=mask, bias=bias), layer(x, mask=mask, bias=bias, return_weights=True)[0]
            torch.testing.assert_close(*forms, **EXACT)
            gradients = (torch.autograd.grad(out.square().sum(), list(layer.parameters())) for out in forms)
            for fused, in_the_open in zip(*gradients, strict=True):
                torch.testing.assert_close(fused, in_the_open, **EXACT)


def test_a_model_feels_its_sinks():
    assert_dropping_it_changes_the_result("sinks", {"attention_sinks": True})


# Windows and global layers, and layers without rotary positions.


POSITIONS = ["sinusoidal", "rotary", "alibi", "t5", "shaw", "transformer_xl", "none"]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize(("window", "every"), [(1, None), (3, None), (4, 2), (20, 3)])
def test_a_windows_cache_gives_what_a_full_one_gives(positions, window, every):
    model = made(positions=positions, window=window, global_every=every, head_width=None)
    ids, real = rows()
    whole = model(ids, real)[:, 6:]
    got, state = step_by_step(model, ids, real)
    torch.testing.assert_close(got, whole, **EXACT)
    full = KVCache(L)
    full.padding = real[:, :7]
    first, _ = model.step(ids[:, :7], full)
    pieces, _ = model.step(ids[:, 7:], full)
    torch.testing.assert_close(torch.stack((first, pieces), dim=1), whole[:, [0, -1]], **EXACT)
    cached_lengths = [15 if model.config.window_of(layer) is None else min(15, window) for layer in range(L)]
    assert [cache.k.shape[2] for cache in state.layers] == cached_lengths
    assert (state.length, full.length) == (15, 15)
    assert state.bytes == 2 * 3 * K * H * 8 * sum(cached_lengths) and full.bytes == 2 * 3 * K * H * 8 * 15 * L


def test_a_windows_cache_takes_pieces_lets_storage_go_and_is_cut_by_rows():
    model = made(window=4, global_every=2, attention_sinks=True, qk_norm="width")
    ids = torch.randint(4, V, (2, 30))
    whole, state, start = model(ids), model.start(), 0
    with torch.no_grad():
        for length in (11, 1, 3, 1, 1, 6, 7):
            logits, state = model.step(ids[:, start : start + length], state)
            start += length
            torch.testing.assert_close(logits, whole[:, start - 1], **EXACT)
            assert state.layers[0].k.untyped_storage().nbytes() == 2 * K * 4 * H * 8
            state = state.select(torch.tensor([0, 1]))
    assert start == 30 and [cache.window for cache in state.layers] == [4, None, 4, None]


@pytest.mark.parametrize("window", [1, 3, 8])
def test_a_windows_cache_hands_out_what_the_first_new_token_may_attend_to(window):
    cache, keys = LayerCache(window=window), torch.randn(1, K, 12, H)
    for start, end in ((0, 5), (5, 6), (6, 7), (7, 12)):
        k, v = cache.append(keys[:, :, start:end], 2 * keys[:, :, start:end])
        assert torch.equal(k, keys[:, :, max(0, start - window + 1) : end]) and torch.equal(v, 2 * k)
        assert torch.equal(cache.k, keys[:, :, max(0, end - window) : end]) and cache.length == end


@pytest.mark.parametrize("every", [None, 2])
def test_layers_reach_as_far_as_their_windows_together(every):
    model, window = made(window=3, global_every=every), 3
    x = torch.randn(1, 20, D, requires_grad=True)
    model.decoder(x)[0, -1].sum().backward()
    reached = (x.grad[0].abs().sum(dim=-1) > 0).nonzero()[0, 0].item()
    assert 19 - reached == (L * (window - 1) if every is None else 19)  # W + 1 keys would reach L * W


def test_an_encoder_and_a_translator_have_their_windows_too():
    model = lively(Transformer(OURS.but(window=2, global_every=2, n_decoder_layers=3)))
    source, target = torch.randint(4, V, (2, 9)), torch.randint(4, V, (2, 10))
    state = model.start(source)
    for t in range(10):
        logits, state = model.step(target[:, t : t + 1], state)
    torch.testing.assert_close(logits, model(source, target)[:, -1], **EXACT)
    assert [cache.k.shape[2] for cache in state.layers] == [2, 10, 2]
    x = torch.randn(1, 9, D, requires_grad=True)
    trace = Trace()
    model.encoder(x, trace=trace)
    assert [int((weights[0, 0, 4] > 0).sum()) for weights in trace.weights] == [3, 9, 3, 9]


# Refusals.


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"qk_norm": "token"}, "qk_norm is 'token'; wanted one of none, head, width"),
        ({"global_every": 1, "window": 3}, "global_every must be at least 2, or None; got 1"),
        ({"no_rotary_every": 0}, "no_rotary_every must be at least 2, or None; got 0"),
        ({"global_every": 6}, "global_every is 6, but window is None; wanted the other layers' window"),
        ({"n_experts": 2, "experts_per_token": 3}, "experts_per_token is 3; wanted 1 to n_experts, which is 2"),
        ({"n_experts": 2, "activation": "gelu"}, "experts have the activation 'swiglu' and hidden_bias False"),
        ({"n_experts": -1}, "n_experts must be at least 0; got -1"),
        ({"n_experts": 2, "expert_gate": "tanh"}, "expert_gate is 'tanh'; wanted one of sigmoid, softmax"),
        ({"no_rotary_every": 4, "positions": "alibi"}, "no_rotary_every is 4, but positions are 'alibi'; wanted rot"),
    ],
)
def test_parts_that_do_not_go_together_are_refused(changes, message, unchecked):
    with pytest.raises(ValueError, match=message):
        OURS.but(**changes)


def test_a_layer_refuses_unknown_norms(unchecked):
    with pytest.raises(ValueError, match="qk_norm is 'both'; wanted one of none, head, width"):
        MultiHeadAttention(8, 2, qk_norm="both")


def test_caches_of_other_windows_are_refused():
    with pytest.raises(ValueError, match="2 windows are given for 3 layers; wanted one for each"):
        KVCache(3, windows=[4, None])
    with pytest.raises(ValueError, match="window is 0, once is False; wanted a window of at least 1"):
        KVCache(1, windows=[0])
    with pytest.raises(ValueError, match="window is 3, once is True; wanted .* without once"):
        LayerCache(once=True, window=3)
    ids = torch.randint(4, V, (1, 6))
    for model in (made(), made(window=4)):
        state = KVCache(L, windows=[2] * L)
        model.step(ids, state)
        with pytest.raises(ValueError, match="the cache of layer 0 keeps 2 positions; the window is (4|None)"):
            model.step(ids[:, :1], state)
    _, state = made(window=2).step(ids)
    with pytest.raises(ValueError, match="the state keeps the positions of a window"):
        FastStep(made()).step(ids[:, :1], state)
