"""The fast ways to write give what the plain model gives, whatever the model is made of."""

import pytest
import torch

from softlookup.model.decoding.beam import beam_search
from softlookup.model.decoding.fast_step import FastStep, _packing_pays
from softlookup.model.decoding.generate import generate
from softlookup.model.decoding.static_step import StaticStep
from softlookup.model.parts.cache import KVCache
from softlookup.model.parts.config import Config
from softlookup.model.whole.language import DecoderLM, EncoderLM
from softlookup.model.whole.transformer import Transformer

SMALL = Config(11, d_model=12, n_heads=2, n_layers=2, d_hidden=20, max_length=40, dropout=0.3)
ALL_BIASES = {"attention_bias": True, "hidden_bias": True, "output_bias": True}
CONFIGS = {
    "the paper's": {},
    "pre-norm": {"pre_norm": True},
    "GPT-2's": {"pre_norm": True, "positions": "learned", "activation": "gelu_tanh", **ALL_BIASES},
    "Llama's": {
        "pre_norm": True,
        "norm": "rms",
        "positions": "rotary_halves",
        "activation": "swiglu",
        "hidden_bias": False,
        "tied": False,
    },
    "rotary, grouped": {"positions": "rotary", "n_heads": 4, "n_kv_heads": 2, "head_width": 6, **ALL_BIASES},
    "multi-query, ALiBi": {"positions": "alibi", "n_heads": 4, "n_kv_heads": 1, "norm_eps": 0.1},
    "T5's": {
        "pre_norm": True,
        "norm": "rms",
        "norm_eps": 0.1,
        "positions": "t5",
        "attention_scale": 1.0,
        "activation": "geglu_tanh",
        "tied_scale": 0.5,
        "embedding_norm": True,
    },
    "no positions": {"positions": "none", "activation": "silu", "n_decoder_layers": 3},
}


def made(kind, changes, device="cpu", dtype=torch.float64):
    """Make a model all of whose numbers are drawn, so that no bias or gain hides as 0 or 1."""
    model = kind(SMALL.but(**changes)).to(device, dtype).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def sources(device="cpu"):
    """Two sentences, the second filled up."""
    return torch.tensor([[4, 5, 6, 7], [8, 9, 0, 0]], device=device)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("kind", [DecoderLM, Transformer])
@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize(("dtype", "limit"), [(torch.float64, 1e-12), (torch.float32, 1e-4)])
@torch.no_grad()
def test_every_step_gives_the_plain_models_logits_and_cache(kind, changes, device, dtype, limit):
    model = made(kind, changes, device, dtype)
    fast = FastStep(model)
    arguments = (sources(device),) if kind is Transformer else ()
    state, plain_state = fast.start(*arguments), model.start(*arguments)
    text = torch.randint(1, 11, (2, 20), device=device)
    for start, end in [(0, 3), *((n, n + 1) for n in range(3, 18)), (18, 20)]:
        logits, state = fast.step(text[:, start:end], state)
        expected, plain_state = model.step(text[:, start:end], plain_state)
        torch.testing.assert_close(logits, expected, rtol=limit, atol=limit)
    for cache, plain_cache in zip(state.layers, plain_state.layers, strict=True):
        torch.testing.assert_close(cache.k, plain_cache.k, rtol=limit, atol=limit)
        torch.testing.assert_close(cache.v, plain_cache.v, rtol=limit, atol=limit)


@pytest.mark.parametrize("name", ["GPT-2's", "Llama's", "multi-query, ALiBi"])
def test_the_same_text_is_written(name, device):
    model = made(DecoderLM, CONFIGS[name], device)
    prompts = torch.randint(1, 11, (3, 2), device=device)
    mask = torch.tensor([[False, True], [True, True], [True, True]], device=device)
    for prompt_mask in (None, mask):
        settings = {"max_new_tokens": 20, "end_id": 3, "prompt_mask": prompt_mask}
        got, expected = generate(FastStep(model), prompts, **settings), generate(model, prompts, **settings)
        assert torch.equal(got.ids, expected.ids)
        torch.testing.assert_close(got.log_probabilities, expected.log_probabilities)


def test_the_same_translations_are_found(device):
    model = made(Transformer, {"pre_norm": True, "n_heads": 4, "n_kv_heads": 2}, device)
    start = torch.full((2, 1), 2, device=device)
    settings = {"beams": 3, "max_new_tokens": 12, "end_id": 3, "keep": 2}
    got, expected = (
        beam_search(step, start, state=step.start(sources(device)), **settings) for step in (FastStep(model), model)
    )
    assert torch.equal(got.ids, expected.ids)
    torch.testing.assert_close(got.scores, expected.scores)


def test_a_source_of_nothing_but_padding_gives_what_the_model_gives():
    model = made(Transformer, {})
    source, ids = torch.zeros(1, 3, dtype=torch.int64), torch.tensor([[2]])
    fast = FastStep(model)
    state, plain_state = fast.step(ids, fast.start(source))[1], model.step(ids, model.start(source))[1]
    torch.testing.assert_close(fast.step(ids, state)[0], model.step(ids, plain_state)[0].detach())


def test_single_tokens_alone_go_the_short_way(monkeypatch):
    model = made(DecoderLM, {})
    calls, plain = [], model.step

    def counted(ids, state):
        calls.append(ids.shape[1])
        return plain(ids, state)

    monkeypatch.setattr(model, "step", counted)
    generate(FastStep(model), torch.tensor([[4, 5]]), max_new_tokens=5)
    assert calls == [2]


@pytest.mark.parametrize("positions", ["rotary", "rotary_halves"])
def test_positions_turn_short_floats_as_the_plain_model_does(positions):
    model = made(DecoderLM, {"positions": positions}, dtype=torch.bfloat16)
    fast, text = FastStep(model), torch.tensor([[4, 5, 6, 7]])
    state = fast.step(text[:, :3])[1]
    torch.testing.assert_close(fast.step(text[:, 3:], state)[0], model(text)[:, -1], atol=0.1, rtol=0.1)


@pytest.mark.parametrize("pays", [True, False])
def test_weights_are_packed_for_several_rows_in_float32_where_that_pays(device, monkeypatch, pays):
    monkeypatch.setattr("softlookup.model.decoding.fast_step._packing_pays", lambda: pays)
    for dtype, rows in ((torch.float32, 1), (torch.float32, 2), (torch.float64, 2)):
        model = made(DecoderLM, {}, device, dtype)
        fast = FastStep(model)
        prompts = torch.full((rows, 1), 4, device=device)
        written = generate(fast, prompts, max_new_tokens=3)
        packed = fast._layers[0].qkv.packed is not None
        can = device.type == "cpu" and torch.backends.mkldnn.is_available()
        assert packed == (pays and can and rows > 1 and dtype == torch.float32)
        assert torch.equal(written.ids, generate(model, prompts, max_new_tokens=3).ids)


@pytest.mark.parametrize("gone", ["_reorder_linear_weight", "_linear_pointwise"])
def test_where_torchs_own_operation_is_gone_nothing_is_packed_and_the_text_is_the_same(gone, monkeypatch):
    model, prompts = made(DecoderLM, CONFIGS["Llama's"], dtype=torch.float32), torch.tensor([[4, 5], [6, 7]])
    expected = generate(model, prompts, max_new_tokens=4).ids

    def none(*arguments):
        raise AttributeError(f"'_OpNamespace' 'mkldnn' object has no attribute '{gone}'")

    monkeypatch.setattr(torch.ops.mkldnn, gone, none)
    _packing_pays.cache_clear()
    assert not _packing_pays()
    assert torch.equal(generate(FastStep(model), prompts, max_new_tokens=4).ids, expected)
    _packing_pays.cache_clear()


def test_the_model_goes_on_from_the_fast_ways_state_without_gradient():
    model = made(DecoderLM, CONFIGS["GPT-2's"])
    fast, text = FastStep(model), torch.tensor([[4, 5, 6, 7]])
    _, state = fast.step(text[:, :2])
    logits, state = fast.step(text[:, 2:3], state)
    assert not logits.requires_grad and state.length == 3
    torch.testing.assert_close(model.step(text[:, 3:], state)[0], model(text)[:, -1])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"window": 3}, r"window in \(None,\); the model has 3"),
        ({"window": 3, "global_every": 2}, r"window in \(None,\); the model has 3"),
        ({"positions": "shaw"}, "positions in .*; the model has 'shaw'"),
        ({"positions": "transformer_xl"}, "positions in .*; the model has 'transformer_xl'"),
        ({"qk_norm": "head"}, r"qk_norm in \('none',\); the model has 'head'"),
        ({"attention_sinks": True}, r"attention_sinks in \(False,\); the model has True"),
        ({"positions": "rotary", "no_rotary_every": 2}, r"no_rotary_every in \(None,\); the model has 2"),
        ({"n_experts": 3, "activation": "swiglu", "hidden_bias": False}, r"n_experts in \(0,\); the model has 3"),
    ],
)
def test_parts_that_it_does_not_know_are_refused(changes, says, unchecked):
    with pytest.raises(ValueError, match=f"this path knows {says}"):
        FastStep(DecoderLM(SMALL.but(**changes)).eval())


def test_models_that_it_does_not_know_are_refused(unchecked):
    with pytest.raises(TypeError, match="model is a EncoderLM; wanted a DecoderLM or a Transformer"):
        FastStep(EncoderLM(SMALL).eval())
    with pytest.raises(ValueError, match=r"training mode, and this path drops nothing: call eval\(\) first"):
        FastStep(DecoderLM(SMALL))


def test_bad_input_is_refused_on_the_way():
    fast = FastStep(made(DecoderLM, {}))
    _, state = fast.step(torch.tensor([[4]]))
    with pytest.raises(ValueError, match=r"ids holds id 11 at \(0, 0\)"):
        fast.step(torch.tensor([[11]]), state)
    with pytest.raises(ValueError, match="beside kept ones"):
        fast.step(torch.tensor([[4], [5]]), state)
    with pytest.raises(ValueError, match="1 tokens from position 40 on; the model has positions for 40"):
        fast.step(torch.tensor([[4]]), fast.step(torch.full((1, 40), 4))[1])


def test_a_state_of_another_model_is_refused():
    fast = FastStep(made(DecoderLM, {}))
    other = FastStep(made(Transformer, {}))
    _, crossed = other.step(torch.tensor([[2]]), other.start(torch.tensor([[4, 5]])))
    with pytest.raises(ValueError, match="the state, of 2 layers, comes from another kind of model"):
        fast.step(torch.tensor([[4]]), crossed)
    _, deeper = FastStep(made(DecoderLM, {"n_layers": 3})).step(torch.tensor([[4]]))
    with pytest.raises(ValueError, match="the state, of 3 layers"):
        fast.step(torch.tensor([[4]]), deeper)
    with pytest.raises(TypeError, match="source_ids"):
        other.step(torch.tensor([[2]]))
    with pytest.raises(ValueError, match=r"make it with start\(source_ids\)"):
        other.step(torch.tensor([[2]]), KVCache(2))


# A cache of fixed size: on a GPU by one recorded graph a token.


STATIC_V = 50
STATIC = Config(STATIC_V, d_model=32, n_heads=4, n_layers=2, d_hidden=48, max_length=100, pre_norm=True)
STATIC_KINDS = {
    "sinusoidal": {},
    "GPT-2's parts": {"positions": "learned", "attention_bias": True, "activation": "gelu_tanh"},
    "Llama's parts": {
        "positions": "rotary_halves", "n_kv_heads": 2, "norm": "rms", "activation": "swiglu", "hidden_bias": False,
        "tied": False, "qk_norm": "head",
    },
    "layers without positions": {"positions": "rotary", "no_rotary_every": 2, "output_bias": True},
}  # fmt: skip


def a_model(device, **changes):
    """A model of large weights, which does not write one token over and over."""
    torch.manual_seed(3)
    model = DecoderLM(STATIC.but(**changes)).eval().to(device, torch.float64)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
    return model


@pytest.mark.one_in(4)
@pytest.mark.parametrize("changes", STATIC_KINDS.values(), ids=STATIC_KINDS)
def test_static_step_writes_what_generate_writes_again_and_again(changes, device):
    model = a_model(device, **changes)
    ids = torch.randint(4, STATIC_V, (3, 7)).to(device)  # the same on every device
    step = StaticStep(model, batch=3, room=60)
    for prompt, new_tokens in ((ids, 50), (ids[:, :2], 9), (ids, 1)):
        expected = generate(model, prompt, max_new_tokens=new_tokens).ids
        got = step.write(prompt, new_tokens)
        assert torch.equal(got, expected)
        assert (
            new_tokens < 9 or len(got[0, prompt.shape[1] :].unique()) > 1
        )  # it does not write one token over and over


def test_what_a_static_step_returned_stays_when_it_writes_again(device):
    model = a_model(device)
    step = StaticStep(model, room=30)
    first = step.write(torch.full((1, 3), 7, device=device), 5)
    before = first.clone()
    step.write(torch.full((1, 3), 9, device=device), 20)
    assert torch.equal(first, before)


def test_models_and_sizes_that_a_static_step_cannot_write_with_are_refused(unchecked):
    model = DecoderLM(STATIC)
    with pytest.raises(ValueError, match=r"training mode.*call eval\(\) first"):
        StaticStep(model, room=10)
    model.eval()
    with pytest.raises(ValueError, match="room 101; wanted at least one text, and 1 to 100 positions"):
        StaticStep(model, room=101)
    with pytest.raises(ValueError, match="window"):
        StaticStep(DecoderLM(STATIC.but(window=3)).eval(), room=10)
    with pytest.raises(ValueError, match="alibi"):
        StaticStep(DecoderLM(STATIC.but(positions="alibi")).eval(), room=10)
    with pytest.raises(TypeError, match="model is a Transformer; wanted a DecoderLM"):
        StaticStep(Transformer(STATIC).eval(), room=10)
    step = StaticStep(model, room=10)
    for shape, new_tokens in (((2, 3), 1), ((1, 8), 3), ((1, 0), 3)):
        with pytest.raises(ValueError, match="no more than 10 together"):
            step.write(torch.ones(shape, dtype=torch.int64), new_tokens)
