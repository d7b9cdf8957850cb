"""A trace: what a pass leaves in it, what its patches change, and what it refuses."""

import pytest
import torch
from lively_weights import lively

from softlookup.model.parts.config import Config
from softlookup.model.parts.trace import Trace
from softlookup.model.whole.language import DecoderLM, EncoderLM
from softlookup.model.whole.transformer import Transformer

EXACT = {"rtol": 1e-10, "atol": 1e-10}
B, T, S, D, N, H, L, V = 2, 5, 4, 12, 4, 6, 3, 11
SMALL = Config(
    V, d_model=D, n_heads=N, head_width=H, n_kv_heads=2, n_layers=L, d_hidden=16, max_length=16, dropout=0.0, pad_id=0
)
KINDS = {
    "post_norm": {},
    "pre_norm": {"pre_norm": True, "norm": "rms", "positions": "rotary", "attention_bias": True},
    "sinks": {"pre_norm": True, "attention_sinks": True, "n_kv_heads": 1, "window": 3, "positions": "alibi"},
    "latent": {
        "pre_norm": True,
        "n_kv_heads": None,
        "latent_width": 6,
        "latent_rotary_width": 4,
        "positions": "rotary",
    },
}
SELF = ("weights", "heads", "attention", "feed_forward")
CROSS = ("cross_weights", "cross_heads", "cross_attention")
SOURCE, TARGET = torch.randint(4, V, (B, S)), torch.randint(4, V, (B, T))


def everywhere(patch, places, layers=L):
    return {(place, layer): patch for place in places for layer in range(layers)}


def written(model, trace_of):
    """The logits of a decoder-only model that is given one token at a time, with a cache."""
    state, rows = model.start(), []
    for t in range(T):
        logits, state = model.step(TARGET[:, t : t + 1], state, trace=trace_of())
        rows.append(logits)
    return torch.stack(rows, dim=1)


@pytest.mark.parametrize("kind", KINDS)
def test_trace_with_identities_changes_nothing_with_and_without_a_cache(kind):
    model = lively(DecoderLM(SMALL.but(**KINDS[kind])))
    patches = everywhere(torch.clone, ("state", *SELF)) | {("state", L): torch.clone}
    plain = model(TARGET)
    torch.testing.assert_close(model(TARGET, trace=Trace(patches)), plain, **EXACT)
    torch.testing.assert_close(written(model, lambda: Trace(patches)), plain, **EXACT)


@pytest.mark.parametrize("kind", KINDS)
def test_trace_patches_do_the_same_with_and_without_a_cache(kind):
    model = lively(DecoderLM(SMALL.but(**KINDS[kind])))
    halved = everywhere(lambda x: x / 2, ("heads", "weights", "feed_forward"))
    plain, patched = model(TARGET), model(TARGET, trace=Trace(halved))
    assert not torch.allclose(plain, patched, atol=1e-3)
    torch.testing.assert_close(written(model, lambda: Trace(halved)), patched, **EXACT)


@pytest.mark.parametrize("kind", ["pre_norm", "sinks", "latent"])
def test_trace_before_the_norm_adds_up_to_the_residual_stream(kind):
    model, trace = lively(DecoderLM(SMALL.but(**KINDS[kind]))), Trace()
    model(TARGET, trace=trace)
    for i, layer in enumerate(model.decoder.each()):
        torch.testing.assert_close(
            trace.states[i] + trace.attention[i] + trace.feed_forward[i], trace.states[i + 1], **EXACT
        )
        added = trace.heads[i].transpose(1, 2).flatten(2) @ layer.attention.w_o
        bias = getattr(layer.attention, "b_o", None)
        torch.testing.assert_close(added if bias is None else added + bias, trace.attention[i], **EXACT)


@pytest.mark.parametrize("kind", KINDS)
def test_silenced_heads_equal_attention_that_is_off(kind):
    model = lively(EncoderLM(SMALL.but(**KINDS[kind])))
    silent = model(TARGET, trace=Trace(everywhere(torch.zeros_like, ["heads"])))
    weightless = model(TARGET, trace=Trace(everywhere(torch.zeros_like, ["weights"])))
    with torch.no_grad():
        for layer in model.encoder.each():
            layer.attention.w_o.zero_()
    torch.testing.assert_close(silent, model(TARGET), **EXACT)
    torch.testing.assert_close(weightless, silent, **EXACT)


@pytest.mark.parametrize("pre_norm", [False, True])
def test_encoder_and_decoder_are_patched_by_traces_of_their_own(pre_norm):
    model = lively(Transformer(SMALL.but(pre_norm=pre_norm, n_decoder_layers=2)))
    plain, read, wrote = model(SOURCE, TARGET), Trace(), Trace()
    torch.testing.assert_close(model(SOURCE, TARGET, trace=wrote, encoder_trace=read), plain, **EXACT)
    assert [tuple(x.shape) for x in wrote.cross_weights] == [(B, N, T, S)] * 2
    assert [tuple(x.shape) for x in wrote.cross_heads] == [(B, N, T, H)] * 2
    assert len(read.heads) == L and read.heads[0].shape == (B, N, S, H) and not read.cross_heads
    same = Trace(everywhere(torch.clone, ("state", *SELF, *CROSS), 2))
    torch.testing.assert_close(model(SOURCE, TARGET, trace=same), plain, **EXACT)

    deaf = Trace(everywhere(torch.zeros_like, ["cross_heads"], 2))  # what was said in the source cannot matter then
    without = model(SOURCE, TARGET, trace=deaf)
    assert not torch.allclose(without, plain, atol=1e-3)
    torch.testing.assert_close(model(SOURCE.flip(0), TARGET, trace=deaf), without, **EXACT)

    blank = {("state", L): torch.zeros_like}
    memory = torch.zeros_like(read.states[-1])
    if model.encoder.norm is not None:
        memory = model.encoder.norm(memory)
    x_BTD = model.decoder(model.embedder(TARGET), memory)
    torch.testing.assert_close(model(SOURCE, TARGET, encoder_trace=Trace(blank)), model.head(x_BTD), **EXACT)
    state = model.start(SOURCE, trace=Trace(blank))
    torch.testing.assert_close(model.step(TARGET, state, trace=same)[0], model.head(x_BTD)[:, -1], **EXACT)


def test_patched_state_is_what_the_layer_reads_and_the_trace_keeps():
    model = lively(DecoderLM(SMALL))
    clean, other = Trace(), Trace()
    plain = model(TARGET, trace=clean)
    put_back = Trace({("state", 1): lambda x: clean.states[1]})
    torch.testing.assert_close(model(TARGET.flip(0), trace=put_back), plain, **EXACT)
    assert put_back.states[1] is clean.states[1]
    assert not torch.equal(model(TARGET.flip(0), trace=other), plain)


@pytest.mark.parametrize(
    ("patches", "kind", "message"),
    [
        ({("head", 0): torch.clone}, ValueError, r"\('head', 0\); wanted \(place, layer\).*'heads'"),
        ({"heads": torch.clone}, ValueError, "'heads'; wanted"),
        ({("heads", -1): torch.clone}, ValueError, "layer -1; wanted a whole number from 0 on"),
        ({("heads", 0): 0.0}, TypeError, "is a float; wanted a function"),
    ],
)
def test_trace_refuses_patches_that_are_none(unchecked, patches, kind, message):
    with pytest.raises(kind, match=message):
        Trace(patches)


@pytest.mark.parametrize(
    ("key", "patch", "kind", "message"),
    [
        (("heads", L), torch.clone, ValueError, "never reached; heads has layers 0 to 2"),
        (("state", L + 1), torch.clone, ValueError, "never reached; state has layers 0 to 3"),
        (("cross_heads", 0), torch.clone, ValueError, "never reached: the layers have no cross-attention"),
        (("heads", 1), lambda x: x[:, 0], ValueError, r"returned shape \(2, 5, 6\).*wanted shape \(2, 4, 5, 6\)"),
        (("feed_forward", 1), lambda x: x.float(), ValueError, "float32 on cpu; wanted .*float64"),
        (("state", 0), lambda x: None, TypeError, r"returned a NoneType; wanted a tensor of shape \(2, 5, 12\)"),
    ],
)
def test_pass_refuses_patches_that_do_not_fit(unchecked, key, patch, kind, message):
    with pytest.raises(kind, match=message):
        lively(DecoderLM(SMALL))(TARGET, trace=Trace({key: patch}))
