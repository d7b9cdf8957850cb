"""The encoder-decoder: its size, who sees whom, what padding may not change, how it begins, what it refuses."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lively_weights import lively
from torch import nn

from softlookup.model.parts.config import Config, Positions
from softlookup.model.parts.layers import Layer
from softlookup.model.parts.trace import Trace
from softlookup.model.whole.language import DecoderLM
from softlookup.model.whole.stack import Decoder
from softlookup.model.whole.transformer import Transformer
from tests.refusing import refused

EXACT = {"rtol": 1e-10, "atol": 1e-10}
V, D, N, F = 11, 16, 4, 20
SMALL = Config(
    vocab_size=V, d_model=D, n_heads=N, n_layers=2, n_decoder_layers=3, d_hidden=F, max_length=24, dropout=0.0
)
SOURCE = torch.tensor([[4, 5, 6, 7], [8, 3, 0, 0]])
TARGET = torch.tensor([[2, 9, 10, 4, 4], [2, 7, 0, 0, 0]])


@pytest.fixture(scope="module")
def models():
    torch.manual_seed(0)
    return {positions: lively(Transformer(SMALL.but(positions=positions))) for positions in Positions.__args__}


def count(module):
    return sum(weight.numel() for weight in module.parameters())


def test_the_base_model_has_63_million_weights():
    # Without biases in attention and without one for the output, as in the paper's equations; the feed-forward
    # network has its two (equation 2), each norm a gain and a shift, one table serves three times. The paper
    # says 65 million, with a vocabulary of "about 37000".
    with torch.device("meta"):
        base = Transformer(Config(vocab_size=37000))
        biased = Transformer(Config(vocab_size=37000, attention_bias=True))
    d, f, layers = 512, 2048, 6
    network = 2 * d * f + f + d
    encoder = 4 * d * d + network + 2 * (2 * d)
    decoder = 8 * d * d + network + 3 * (2 * d)
    assert count(base) == 37000 * d + layers * (encoder + decoder) == 63_045_632
    assert count(biased) - count(base) == layers * 3 * 4 * d


def test_the_two_stacks_have_the_layers_they_were_given():
    assert len(Transformer(SMALL.but(n_decoder_layers=None)).decoder.layers) == 2
    assert len(DecoderLM(SMALL).decoder.layers) == 2  # alone, a decoder is the stack


def test_tied_tables_are_one_weight_under_one_name():
    names = set(Transformer(SMALL).state_dict())
    assert "embedder.tokens.table" in names and not any(name.startswith("head.") for name in names)
    assert set(Transformer(SMALL.but(tied=False, output_bias=True)).state_dict()) - names == {
        "head.w_out",
        "head.b_out",
    }


def test_every_weight_learns():
    for positions in ("sinusoidal", "learned", "t5", "shaw", "transformer_xl"):
        model = Transformer(SMALL.but(positions=positions, attention_bias=True, output_bias=True, max_length=5))
        logits = model(SOURCE, TARGET)
        (logits * torch.randn_like(logits)).sum().backward()
        for name, weight in model.named_parameters():
            # A key's bias adds the same to all scores of a query, which softmax does not see.
            assert (weight.grad.abs().max() > 1e-6) or name.endswith("b_k"), name


@settings(max_examples=15)
@given(st.sampled_from(Positions.__args__), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.integers(0, 3))
def test_padding_changes_nothing_that_is_said_of_words(models, positions, s, t, n_source, n_target):
    model = models[positions]
    generator = torch.Generator().manual_seed(s)
    source, target = (torch.randint(1, V, (2, length), generator=generator) for length in (s, t))
    with torch.no_grad():
        got = model(nn.functional.pad(source, (0, n_source)), nn.functional.pad(target, (0, n_target)))
        torch.testing.assert_close(got[:, :t], model(source, target), **EXACT)


def test_targets_may_begin_with_the_id_of_padding():
    # As T5's do: the first position has to see itself, and its row of the table has to learn.
    model = lively(Transformer(SMALL.but(start_id=0, tied=False)))
    trace = Trace()
    target = torch.tensor([[0, 5, 6]])
    model(SOURCE[:1], target, trace=trace)[0, 2].sum().backward()
    for weights in trace.weights:
        assert bool((weights[0, :, :, 0] > 0).all())
    assert model.embedder.tokens.table.grad[0].abs().max() > 1e-6


def test_a_trace_holds_the_decoders_states_and_both_kinds_of_weights(device):
    model = lively(Transformer(SMALL.but(n_kv_heads=2))).to(device)
    source, target = SOURCE.to(device), TARGET.to(device)
    trace, encoder_trace = Trace(), Trace()
    torch.testing.assert_close(model(source, target, trace=trace), model(source, target), **EXACT)
    memory, memory_mask = model.encode(source, trace=encoder_trace)
    torch.testing.assert_close(memory, model.encode(source)[0], **EXACT)
    assert memory_mask.tolist() == [[[[True] * 4]], [[[True, True, False, False]]]]
    assert [tuple(x.shape) for x in trace.states] == [(2, 5, D)] * 4
    assert [tuple(w.shape) for w in trace.weights] == [(2, N, 5, 5)] * 3
    assert [tuple(w.shape) for w in trace.cross_weights] == [(2, N, 5, 4)] * 3
    assert [tuple(x.shape) for x in encoder_trace.states] == [(2, 4, D)] * 3
    assert [tuple(w.shape) for w in encoder_trace.weights] == [(2, N, 4, 4)] * 2 and not encoder_trace.cross_weights
    for weights in trace.cross_weights:
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]), **EXACT)
        assert bool((weights[1, :, :, 2:] == 0).all())
    assert all(bool((weights.triu(1) == 0).all()) for weights in trace.weights)
    step_trace = Trace()
    model.step(target, model.start(source), trace=step_trace)
    for got, expected in zip(step_trace.cross_weights, trace.cross_weights, strict=True):
        torch.testing.assert_close(got, expected, **EXACT)


def test_dropout_stands_behind_every_sublayer_and_behind_both_embeddings(monkeypatch):
    seen = []
    dropout = nn.functional.dropout

    def counted(x, p, *args, **kwargs):
        if p > 0:
            seen.append(x.shape[1])
        return dropout(x, p, *args, **kwargs)

    monkeypatch.setattr(nn.functional, "dropout", counted)
    Transformer(SMALL.but(dropout=0.1)).train()(SOURCE, TARGET)
    # Section 5.4 of the paper: the sums of embeddings and positions, in both stacks, and each sublayer's output.
    assert seen == [4] * (1 + 2 * 2) + [5] * (1 + 3 * 3)


@pytest.mark.parametrize("pre_norm", [False, True], ids=["post-LN", "pre-LN"])
def test_a_fresh_models_logits_have_about_unit_scale(pre_norm):
    config = Config(vocab_size=500, d_model=64, n_heads=4, n_layers=4, d_hidden=256, pre_norm=pre_norm, dropout=0.0)
    source, target = torch.randint(1, 500, (8, 12)), torch.randint(1, 500, (8, 12))
    logits = Transformer(config)(source, target).detach()
    assert 0.5 < logits.std() < 2 and logits.mean().abs() < 0.2
    # So the first loss is near that of a guess among V words; tied logits favour the word just read.
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), torch.randint(1, 500, (96,)))
    assert loss.item() == pytest.approx(torch.tensor(500.0).log().item(), abs=1.0)


def test_a_deep_pre_ln_model_needs_no_smaller_first_weights():
    config = Config(vocab_size=50, d_model=32, n_heads=4, n_layers=32, d_hidden=64, pre_norm=True, dropout=0.0)
    model = DecoderLM(config)
    trace = Trace()
    model(torch.randint(1, 50, (4, 10)), trace=trace).square().mean().backward()
    # Each sublayer adds about the same variance to the stream: it grows with depth, not with its power.
    sizes = [x.std().item() for x in trace.states]
    assert sizes[-1] < sizes[0] * (2 * 32) ** 0.5
    norms = [layer.feed_forward.w_1.grad.norm().item() for layer in model.decoder.layers]
    assert max(norms) / min(norms) < 30


test_ids_that_are_none_are_refused = refused(
    (lambda: Transformer(SMALL)(SOURCE, TARGET[:1]), "2 sources beside 1 targets: give one for each"),
    (lambda: Transformer(SMALL)(SOURCE + 7, TARGET), r"ids holds id 15 at \(1, 0\); the vocabulary has ids 0 to 10"),
    (lambda: Transformer(SMALL)(SOURCE, TARGET - 1), r"ids holds id -1 at \(1, 2\); the vocabulary has ids 0 to 10"),
    (lambda: Transformer(SMALL)(SOURCE.repeat(1, 7), TARGET), "28 tokens from position 0 on; the model has .* for 24"),
    (lambda: Transformer(SMALL)(SOURCE, TARGET.repeat(1, 5)), "25 tokens from position 0 on; the model has .* for 24"),
    (lambda: Transformer(SMALL)(SOURCE[0], TARGET[0]), r"wanted two axes, \(B, S\)|unequal|sources"),
)


def test_memory_that_is_missing_or_does_not_fit_is_refused(unchecked):
    decoder, x = Decoder(SMALL), torch.ones(2, 3, D)
    with pytest.raises(ValueError, match="memory is missing, but this layer looks at an encoder's output"):
        decoder(x)
    with pytest.raises(ValueError, match="memory is given, but this layer has no cross-attention"):
        Layer(SMALL)(x, memory=x)
    with pytest.raises(ValueError, match="x has 2 sequences, x_kv has 3: they must be equal"):
        decoder(x, torch.ones(3, 4, D))
    with pytest.raises(ValueError, match=rf"x_kv has shape \(2, 4, 8\); wanted \(B, S, D\) with D = {D}"):
        decoder(x, torch.ones(2, 4, 8))
    with pytest.raises(TypeError, match="x_kv has dtype torch.float64, the layer's weights torch.float32"):
        decoder(x, torch.ones(2, 4, D).double())
    with pytest.raises(ValueError, match=r"mask has shape \(2, 1, 1, 3\); the scores have \(2, 4, 3, 4\)"):
        decoder(x, torch.ones(2, 4, D), memory_mask=torch.ones(2, 1, 1, 3, dtype=torch.bool))
    with pytest.raises(TypeError, match="mask has dtype torch.float32; wanted torch.bool"):
        decoder(x, torch.ones(2, 4, D), memory_mask=torch.ones(2, 1, 1, 4))
    with pytest.raises(TypeError, match="a mask has dtype torch.int64; wanted torch.bool"):
        decoder(x, torch.ones(2, 4, D), mask=torch.ones(2, 1, 1, 3, dtype=torch.int64))


def test_a_source_of_nothing_but_padding_gives_no_nan():
    source = torch.tensor([[4, 5], [0, 0]])
    model = lively(Transformer(SMALL))
    logits = model(source, TARGET)
    logits.sum().backward()
    assert bool(logits.isfinite().all())
    assert all(bool(weight.grad.isfinite().all()) for weight in model.parameters())


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_it_runs_in_every_dtype_on_every_device(device, dtype):
    model = Transformer(SMALL.but(positions="rotary", n_kv_heads=2)).to(device, dtype).eval()
    logits = model(SOURCE.to(device), TARGET.to(device))
    assert logits.dtype == dtype and logits.device.type == device.type and logits.shape == (2, 5, V)
    logits.float().sum().backward()
    assert all(bool(weight.grad.isfinite().all()) for weight in model.parameters())
    row, _ = model.step(TARGET.to(device), model.start(SOURCE.to(device)))
    tolerance = {torch.float64: 1e-10, torch.float32: 1e-4, torch.bfloat16: 0.1}[dtype]
    torch.testing.assert_close(row, logits[:, -1], rtol=tolerance, atol=tolerance)


def test_it_runs_under_autocast(device):
    model = lively(Transformer(SMALL.but(positions="t5", pre_norm=True))).float().to(device)
    source, target = SOURCE.to(device), TARGET.to(device)
    expected = model(source, target)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        got = model(source, target)
        step, _ = model.step(target, model.start(source))
    for half, whole in ((got, expected), (step, expected[:, -1])):
        assert (half.float() - whole).abs().max() < 0.1 * whole.abs().max()
    got.float().square().mean().backward()
    assert all(weight.grad is not None and weight.grad.dtype == torch.float32 for weight in model.parameters())
