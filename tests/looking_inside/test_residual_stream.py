"""The residual stream read as words: the lens ends in the model's own logits, and attributions add up to them."""

import pytest
import torch

from softlookup.looking_inside import direct_attribution, logit_lens, silence
from softlookup.model import Config, DecoderLM, EncoderLM, Trace, Transformer, load_writer
from tests.model.lively_weights import lively

V = 13
SMALL = Config(
    V, d_model=12, n_heads=4, n_kv_heads=2, n_layers=3, d_hidden=16, max_length=16, dropout=0.0, pre_norm=True
)
IDS = torch.tensor([[4, 5, 6, 7, 8], [9, 4, 4, 12, 5]])
KINDS = {
    "layer_norm": {"attention_bias": True, "output_bias": True},
    "untied": {"tied": False, "norm": "rms", "positions": "rotary_halves", "head_width": 6},
    "scaled": {"tied_scale": 0.3, "norm": "rms", "attention_sinks": True, "positions": "alibi", "hidden_bias": False},
    "latent": {"n_kv_heads": None, "latent_width": 6, "latent_rotary_width": 4, "positions": "rotary"},
}


@pytest.mark.parametrize("make", [DecoderLM, EncoderLM])
@pytest.mark.parametrize("kind", KINDS)
def test_attribution_adds_up_to_the_logit_and_to_a_difference(kind, make):
    model = lively(make(SMALL.but(**KINDS[kind])))
    logits_BTV = model(IDS)
    for other, position in ((None, -1), (7, -1), (7, 2)):
        got = direct_attribution(model, IDS, 5, other, position=position)
        expected_B = logits_BTV[:, position, 5] - (0 if other is None else logits_BTV[:, position, other])
        torch.testing.assert_close(got.logit, expected_B, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(got.total, expected_B, rtol=1e-9, atol=1e-9)
    assert got.heads.shape == (2, 3, 4) and got.feed_forward.shape == got.attention_bias.shape == (2, 3)


def test_attribution_of_the_last_layer_is_what_removing_it_takes_while_the_norm_holds_still():
    model, trace = lively(DecoderLM(SMALL)), Trace()
    model(IDS, trace=trace)
    head = trace.heads[2][:, 1, -1] @ model.decoder.layers[2].attention.w_o.unflatten(0, (4, -1))[1]
    last = trace.states[-1][:, -1]
    scale = torch.sqrt(last.var(dim=-1, correction=0, keepdim=True) + SMALL.norm_eps)
    centred = (head - head.mean(dim=-1, keepdim=True)) / scale * model.decoder.norm.gain
    expected = centred @ model.embedder.tokens.table[5]
    torch.testing.assert_close(direct_attribution(model, IDS, 5).heads[:, 2, 1], expected, rtol=1e-9, atol=1e-9)


def test_attribution_of_the_shipped_writer_adds_up_in_single_precision():
    writer = load_writer()
    ids = torch.tensor([writer.encode("The king is dead, and the queen")])
    attribution = direct_attribution(writer.model, ids, 100, 200)
    assert abs(attribution.total - attribution.logit).max() < 1e-4


def test_lens_ends_in_the_models_own_logits_and_begins_with_the_embeddings():
    model, trace = lively(DecoderLM(SMALL)), Trace()
    logits_BTV = model(IDS, trace=trace)
    seen = logit_lens(model, trace)
    assert len(seen) == 4
    torch.testing.assert_close(seen[-1], logits_BTV)
    torch.testing.assert_close(seen[0], model.head(model.decoder.norm(model.embedder(IDS))))
    skipped = silence([(i, j) for i in range(3) for j in range(4)]) | {
        ("feed_forward", i): torch.zeros_like for i in range(3)
    }
    torch.testing.assert_close(model(IDS, trace=Trace(skipped)), seen[0])


def test_lens_reads_the_decoder_of_two_stacks():
    model, trace = lively(Transformer(SMALL)), Trace()
    logits_BTV = model(IDS, IDS, trace=trace)
    torch.testing.assert_close(logit_lens(model, trace)[-1], logits_BTV)


@pytest.mark.parametrize("make", [DecoderLM, EncoderLM, Transformer])
def test_lens_refuses_post_norm_models(make):
    with pytest.raises(ValueError, match="post-norm .* wanted a pre-norm model"):
        logit_lens(make(SMALL.but(pre_norm=False)), Trace())


def test_lens_refuses_a_trace_of_no_pass_or_of_two():
    model, trace = lively(DecoderLM(SMALL)), Trace()
    with pytest.raises(ValueError, match="holds 0 states; one pass through 3 layers leaves 4"):
        logit_lens(model, trace)
    model(IDS, trace=trace)
    model(IDS, trace=trace)
    with pytest.raises(ValueError, match="holds 8 states"):
        logit_lens(model, trace)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"pre_norm": False}, {"token": 5}, "post-norm"),
        ({"mlm_transform": True}, {"token": 5}, "a layer of its own"),
        ({"dropout": 0.1}, {"token": 5}, r"drops 0.1 of its numbers; call eval\(\)"),
        ({}, {"token": V}, "token 13 is not in the vocabulary of 13"),
        ({}, {"token": 5, "other": -1}, "token -1 is not"),
        ({}, {"token": 5, "position": 5}, "position 5 is not in texts of 5 tokens"),
    ],
)
def test_attribution_refuses_what_does_not_add_up(change, options, message):
    with pytest.raises(ValueError, match=message):
        direct_attribution(EncoderLM(SMALL.but(**change)), IDS, **options)
