"""Models with one stack: who sees whom, what padding may not change, what a trace shows, what is refused."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lively_weights import lively
from torch import nn

from softlookup.model.parts.config import Config, Positions
from softlookup.model.parts.layers import Layer
from softlookup.model.parts.trace import Trace
from softlookup.model.whole.language import DecoderLM, EncoderLM
from softlookup.model.whole.transformer import Transformer

POSITIONS = list(Positions.__args__)
EXACT = {"rtol": 1e-10, "atol": 1e-10}
V, D, N, L = 11, 16, 4, 2
SMALL = Config(vocab_size=V, d_model=D, n_heads=N, n_layers=L, d_hidden=20, max_length=24, dropout=0.0)


@pytest.fixture(scope="module")
def decoders():
    torch.manual_seed(0)
    return {positions: lively(DecoderLM(SMALL.but(positions=positions))) for positions in POSITIONS}


@pytest.fixture(scope="module")
def encoders():
    torch.manual_seed(0)
    return {positions: lively(EncoderLM(SMALL.but(positions=positions, n_segments=3))) for positions in POSITIONS}


@settings(max_examples=15)
@given(st.sampled_from(POSITIONS), st.lists(st.integers(0, V - 1), min_size=2, max_size=9), st.data())
def test_no_later_token_changes_what_a_decoder_says(decoders, positions, ids, data):
    last = data.draw(st.integers(0, len(ids) - 2))
    changed = ids[: last + 1] + data.draw(
        st.lists(st.integers(0, V - 1), min_size=len(ids) - last - 1, max_size=len(ids) - last - 1)
    )
    with torch.no_grad():
        got = decoders[positions](torch.tensor([ids, changed]))
    torch.testing.assert_close(got[0, : last + 1], got[1, : last + 1], **EXACT)


def test_every_earlier_token_changes_what_a_decoder_says(decoders):
    ids = torch.randint(V, (1, 6))
    changed = (ids + torch.eye(6, dtype=torch.int64)) % V  # row i: another token at i
    for model in decoders.values():
        with torch.no_grad():
            differs = (model(changed)[:, 5] - model(ids)[:, 5]).abs().amax(dim=-1)
        assert bool((differs > 1e-6).all())


def padded(ids, n, left, filler):
    filling = torch.full((ids.shape[0], n), filler)
    real = torch.ones_like(ids, dtype=torch.bool)
    pieces = [(filling, torch.zeros_like(filling, dtype=torch.bool)), (ids, real)]
    pieces = pieces if left else pieces[::-1]
    return torch.cat([p[0] for p in pieces], dim=1), torch.cat([p[1] for p in pieces], dim=1)


@settings(max_examples=15)
@given(st.sampled_from(POSITIONS), st.integers(1, 6), st.integers(1, 5), st.booleans(), st.integers(0, V - 1))
def test_padding_on_either_side_changes_nothing_a_decoder_says(decoders, positions, length, n, left, filler):
    model = decoders[positions]
    ids = torch.randint(V, (2, length), generator=torch.Generator().manual_seed(length))
    long, mask = padded(ids, n, left, filler)
    with torch.no_grad():
        got = model(long, mask)[mask].unflatten(0, (2, length))
        torch.testing.assert_close(got, model(ids), **EXACT)
        if left:  # and written on from there, one token at a time
            more = torch.randint(V, (2, 2), generator=torch.Generator().manual_seed(n))
            expected = model(torch.cat((ids, more), dim=1))
            logits, state = model.step(long, model.start(mask))
            torch.testing.assert_close(logits, expected[:, length - 1], **EXACT)
            for i in range(2):
                logits, state = model.step(more[:, i : i + 1], state)
                torch.testing.assert_close(logits, expected[:, length + i], **EXACT)


@pytest.mark.parametrize("positions", POSITIONS)
def test_a_gap_between_tokens_is_refused_and_padding_at_both_ends_is_not(decoders, positions):
    model, ids = decoders[positions], torch.tensor([[3, 1, 2, 3, 1]])
    with pytest.raises(ValueError, match="mask has a gap in row 0"):
        model(ids, torch.tensor([[False, True, True, False, True]]))
    with torch.no_grad():
        for mask in ([False, True, True, True, False], [True] * 5):
            real = torch.tensor([mask])
            torch.testing.assert_close(model(ids, real)[real], model(ids[real][None])[0], **EXACT)
        assert model(ids, torch.zeros(1, 5, dtype=torch.bool)).shape == (1, 5, V)


def test_a_window_hides_what_is_farther_back():
    # One layer: with two, what is hidden here has been seen there.
    model = lively(DecoderLM(SMALL.but(window=3, n_layers=1, positions="rotary")))
    ids = torch.randint(V, (1, 7))
    for earlier in range(7):
        changed = ids.clone()
        changed[0, earlier] = (ids[0, earlier] + 1) % V
        with torch.no_grad():
            differs = (model(changed) - model(ids)).abs().amax(dim=-1)[0] > 1e-9
        assert differs.tolist() == [earlier <= t < earlier + 3 for t in range(7)]


@settings(max_examples=15)
@given(st.sampled_from(POSITIONS), st.integers(1, 7), st.integers(1, 5))
def test_padding_changes_nothing_an_encoder_says_of_words(encoders, positions, length, n):
    model = encoders[positions]
    ids = torch.randint(1, V, (2, length), generator=torch.Generator().manual_seed(length))
    segments = torch.randint(3, (2, length), generator=torch.Generator().manual_seed(n))
    filled = nn.functional.pad(ids, (0, n), value=model.config.pad_id)
    with torch.no_grad():
        got = model(filled, nn.functional.pad(segments, (0, n), value=2))
        torch.testing.assert_close(got[:, :length], model(ids, segments), **EXACT)


@settings(max_examples=15)
@given(st.permutations(range(6)))
def test_an_encoder_without_positions_does_not_know_the_order(encoders, order):
    ids = torch.randint(1, V, (2, 6), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        torch.testing.assert_close(
            encoders["none"].states(ids[:, order]), encoders["none"].states(ids)[:, order], **EXACT
        )


@pytest.mark.parametrize("positions", [kind for kind in POSITIONS if kind != "none"])
def test_an_encoder_with_positions_knows_the_order(encoders, positions):
    # Not the reverse: ALiBi, whose numbers are the same to both sides, does not know that from the order itself.
    order = [1, 0, 2, 3]
    ids = torch.tensor([[3, 4, 5, 6]])
    states, other = (encoders[positions].states(x).detach() for x in (ids, ids[:, order]))
    assert (states[:, order] - other).abs().max() > 1e-3


def test_an_encoder_with_alibi_does_not_know_left_from_right(encoders):
    ids = torch.tensor([[3, 4, 5, 6]])
    torch.testing.assert_close(encoders["alibi"].states(ids.flip(1)), encoders["alibi"].states(ids).flip(1), **EXACT)


def test_every_token_of_an_encoder_sees_every_other(encoders):
    ids = torch.randint(1, V - 1, (1, 5))
    changed = ids + torch.eye(5, dtype=torch.int64)  # row i: another token at i
    for name, model in encoders.items():
        differs = (model(changed) - model(ids)).abs().amax(dim=-1)
        assert bool((differs > 1e-6).all()), name


def test_segments_count_and_are_0_if_none_are_given(encoders):
    model = encoders["learned"]
    ids = torch.randint(1, V, (2, 4))
    assert torch.equal(model(ids), model(ids, torch.zeros_like(ids)))
    assert (model(ids) - model(ids, torch.full_like(ids, 2))).abs().max() > 1e-3


@pytest.mark.parametrize("pre_norm", [False, True], ids=["post-LN", "pre-LN"])
@pytest.mark.parametrize("n_kv_heads", [4, 2])
def test_a_trace_holds_every_state_and_weight_and_changes_nothing(pre_norm, n_kv_heads, device):
    config = SMALL.but(pre_norm=pre_norm, n_kv_heads=n_kv_heads, positions="alibi")
    ids = torch.randint(1, V, (3, 5), device=device)
    ids[1, 3:] = 0
    for model, real in ((DecoderLM(config), ids >= 0), (EncoderLM(config), ids != 0)):
        model = lively(model).to(device)
        trace = Trace()
        torch.testing.assert_close(model(ids, trace=trace), model(ids), **EXACT)
        assert [tuple(x.shape) for x in trace.states] == [(3, 5, D)] * (L + 1)
        assert [tuple(w.shape) for w in trace.weights] == [(3, N, 5, 5)] * L and trace.cross_weights == []
        # The first state is what was embedded, the last what the head (behind the last norm) is given.
        torch.testing.assert_close(trace.states[0], model.embedder(ids), **EXACT)
        stack = model.decoder if isinstance(model, DecoderLM) else model.encoder
        last = trace.states[-1] if stack.norm is None else stack.norm(trace.states[-1])
        torch.testing.assert_close(model.head(last), model(ids), **EXACT)
        for weights in trace.weights:
            torch.testing.assert_close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]), **EXACT)
            assert bool((weights.transpose(1, 3)[~real] == 0).all())  # nobody looks at padding
            if isinstance(model, DecoderLM):
                assert bool((weights.triu(1) == 0).all())


def test_a_trace_of_a_step_has_the_newest_token_alone():
    model = lively(DecoderLM(SMALL))
    ids = torch.randint(V, (2, 5))
    _, state = model.step(ids[:, :4])
    trace, whole = Trace(), Trace()
    model.step(ids[:, 4:], state, trace=trace)
    model(ids, trace=whole)
    for got, expected in zip(trace.weights, whole.weights, strict=True):
        torch.testing.assert_close(got, expected[:, :, 4:], **EXACT)
    for got, expected in zip(trace.states, whole.states, strict=True):
        torch.testing.assert_close(got, expected[:, 4:], **EXACT)


def test_dropout_acts_while_training_alone_and_keeps_the_mean():
    model = lively(DecoderLM(SMALL.but(dropout=0.3)))
    ids = torch.randint(V, (2, 5))
    assert torch.equal(model(ids), model(ids))
    model.train()
    assert not torch.equal(model(ids), model(ids))
    embedded = model.embedder(ids.repeat(4000, 1)).unflatten(0, (4000, 2))
    expected = model.eval().embedder(ids)
    # A number is x/0.7 with probability 0.7: deviation |x| sqrt(0.3/0.7), over the root of 4000; four of those.
    assert bool(
        ((embedded.mean(dim=0) - expected).abs() <= 4.5 * expected.abs() * (0.3 / 0.7 / 4000) ** 0.5 + 1e-9).all()
    )
    assert (embedded == 0).double().mean() == pytest.approx(0.3, abs=0.01)


def test_dropout_falls_on_what_a_sublayer_gives_not_on_what_passes_beside_it():
    for pre_norm in (False, True):
        layer = Layer(SMALL.but(dropout=0.9999999, pre_norm=pre_norm)).double().train()
        x = torch.randn(1, 3, D, dtype=torch.float64)
        norm = nn.functional.layer_norm
        expected = x if pre_norm else norm(norm(x, (D,)), (D,))
        torch.testing.assert_close(layer(x), expected, rtol=1e-4, atol=1e-4)


def test_a_row_that_padding_shares_with_a_real_token_learns():
    ids = torch.tensor([[0, 4, 5]])
    gradients = {}
    for end_id in (3, 0):
        model = DecoderLM(SMALL.but(end_id=end_id, tied=False))
        model(ids).sum().backward()
        gradients[end_id] = model.embedder.tokens.table.grad[0].abs().max()
    assert gradients[3] == 0 and gradients[0] > 0


@pytest.mark.parametrize(
    ("ids", "kind", "message"),
    [
        (torch.tensor([[1, 11]]), ValueError, r"ids holds id 11 at \(0, 1\); the vocabulary has ids 0 to 10"),
        (torch.tensor([[1, -1]]), ValueError, r"ids holds id -1 at \(0, 1\); the vocabulary has ids 0 to 10"),
        (
            torch.ones(1, 25, dtype=torch.int64),
            ValueError,
            "25 tokens from position 0 on; the model has positions for 24",
        ),
        (torch.ones(0, 3, dtype=torch.int64), ValueError, r"ids has shape \(0, 3\): an empty batch"),
        (torch.ones(2, 0, dtype=torch.int64), ValueError, r"ids has shape \(2, 0\): an empty batch"),
        (torch.ones(3, dtype=torch.int64), ValueError, r"ids has shape \(3,\); wanted \(B, T\)"),
        (torch.ones(1, 3), TypeError, "ids has dtype torch.float32; wanted whole numbers"),
    ],
    ids=["too-high", "negative", "too-long", "no-rows", "no-tokens", "one-axis", "floats"],
)
def test_ids_that_are_none_are_refused(unchecked, ids, kind, message):
    for model in (DecoderLM(SMALL), EncoderLM(SMALL.but(positions="rotary"))):
        with pytest.raises(kind, match=message):
            model(ids)


def test_masks_and_segments_that_do_not_fit_are_refused(unchecked):
    ids = torch.ones(2, 3, dtype=torch.int64)
    model = DecoderLM(SMALL)
    with pytest.raises(TypeError, match="mask has dtype torch.int64; wanted torch.bool, where True means: a token"):
        model(ids, ids)
    with pytest.raises(ValueError, match=r"mask has shape \(2, 2\); the ids have \(2, 3\): they must be equal"):
        model(ids, ids[:, :2] > 0)
    with pytest.raises(TypeError, match="mask has dtype torch.float32"):
        model.start(torch.ones(2, 3))
    with pytest.raises(ValueError, match="mask is False in its last column; prompts are filled up on the left"):
        model.start(torch.tensor([[True, True], [True, False]]))
    with pytest.raises(ValueError, match="mask has a gap in row 1: False between two tokens. Fill rows up at the ends"):
        model.start(torch.tensor([[False, True, True, True], [True, True, False, True]]))
    with pytest.raises(ValueError, match=r"the prompts' mask has shape \(2, 2\); the ids have \(2, 3\)"):
        model.step(ids, model.start(ids[:, :2] > 0))
    with pytest.raises(ValueError, match=r"segments are given, but the model has no embeddings for them"):
        EncoderLM(SMALL)(ids, ids)
    encoder = EncoderLM(SMALL.but(n_segments=2))
    with pytest.raises(ValueError, match=r"segments have shape \(1, 3\); the ids have \(2, 3\)"):
        encoder(ids, ids[:1])
    with pytest.raises(ValueError, match=r"ids holds id 2 at \(0, 0\); the vocabulary has ids 0 to 1"):
        encoder(ids, 2 * ids)


def test_states_that_do_not_fit_a_stack_are_refused(unchecked):
    model = DecoderLM(SMALL)
    for shape in ((2, 3, D + 1), (2, D), (2, 0, D)):
        with pytest.raises(ValueError, match=rf"wanted \(B, T, D\) with D = {D}, none empty"):
            model.decoder(torch.ones(shape))
    with pytest.raises(TypeError, match="x has dtype torch.float64, the layer's weights torch.float32"):
        model.decoder(torch.ones(2, 3, D, dtype=torch.float64))
    with pytest.raises(TypeError, match="mask has dtype torch.float32"):
        EncoderLM(SMALL).encoder(torch.ones(2, 3, D), torch.ones(2, 1, 1, 3))
    with pytest.raises(ValueError, match=r"mask has shape \(2, 1, 1, 4\); the scores have \(2, 4, 3, 3\)"):
        EncoderLM(SMALL).encoder(torch.ones(2, 3, D), torch.ones(2, 1, 1, 4, dtype=torch.bool))


@pytest.mark.gpu
def test_things_on_two_devices_are_refused(unchecked):
    ids = torch.ones(2, 3, dtype=torch.int64)
    with pytest.raises(ValueError, match="ids is on cpu, the table on cuda:0: move one to the other"):
        DecoderLM(SMALL).cuda()(ids)
    with pytest.raises(ValueError, match="x is on cpu, the layer's weights on cuda:0: move one to the other"):
        DecoderLM(SMALL.but(pre_norm=False)).cuda().decoder(torch.ones(2, 3, D))
    with pytest.raises(ValueError, match="mask is on cpu, x on cuda:0|masks are on"):
        EncoderLM(SMALL).cuda().encoder(torch.ones(2, 3, D).cuda(), torch.ones(2, 1, 1, 3, dtype=torch.bool))


# Of the whole, as a length: single gradients that nearly cancel may be off by more in bfloat16.
TOLERANCES = {torch.float64: 1e-10, torch.float32: 1e-5, torch.bfloat16: 0.1}


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("positions", POSITIONS)
def test_models_say_and_learn_the_same_on_a_gpu(dtype, positions):
    ids = torch.randint(1, V, (3, 8))
    ids[1, 5:] = 0
    config = SMALL.but(positions=positions, n_kv_heads=2, pre_norm=True)
    for kind, inputs in ((DecoderLM, (ids, ids != 0)), (EncoderLM, (ids,)), (Transformer, (ids.flip(0), ids))):
        weights = lively(kind(config)).to(dtype).state_dict()
        results = []
        for device in ("cpu", "cuda"):
            model = kind(config).to(device, dtype).eval()
            model.load_state_dict(weights)
            logits = model(*(x.to(device) for x in inputs))[(ids != 0).to(device)]
            logits.double().square().mean().backward()
            gradients = torch.cat([weight.grad.flatten() for weight in model.parameters()])
            results.append((logits.detach().cpu().double(), gradients.cpu().double()))
        for expected, got in zip(*results, strict=True):
            assert (got - expected).norm() <= TOLERANCES[dtype] * expected.norm()
