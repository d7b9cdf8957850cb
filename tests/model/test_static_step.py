"""Writing with a cache of fixed size: the same tokens as generate writes, on a GPU by one recorded graph a token."""

import pytest
import torch

from softlookup.model import Config, DecoderLM, Transformer, generate
from softlookup.model.decoding.static_step import StaticStep

V = 50
SMALL = Config(V, d_model=32, n_heads=4, n_layers=2, d_hidden=48, max_length=100, pre_norm=True)
KINDS = {
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
    model = DecoderLM(SMALL.but(**changes)).eval().to(device, torch.float64)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
    return model


@pytest.mark.one_in(2)
@pytest.mark.parametrize("changes", KINDS.values(), ids=KINDS)
def test_it_writes_what_generate_writes_again_and_again(changes, device):
    model = a_model(device, **changes)
    ids = torch.randint(4, V, (3, 7)).to(device)  # the same on every device
    step = StaticStep(model, batch=3, room=60)
    for prompt, new_tokens in ((ids, 50), (ids[:, :2], 9), (ids, 1)):
        expected = generate(model, prompt, max_new_tokens=new_tokens).ids
        got = step.write(prompt, new_tokens)
        assert torch.equal(got, expected)
        assert (
            new_tokens < 9 or len(got[0, prompt.shape[1] :].unique()) > 1
        )  # it does not write one token over and over


def test_what_it_returned_stays_when_it_writes_again(device):
    model = a_model(device)
    step = StaticStep(model, room=30)
    first = step.write(torch.full((1, 3), 7, device=device), 5)
    before = first.clone()
    step.write(torch.full((1, 3), 9, device=device), 20)
    assert torch.equal(first, before)


def test_models_and_sizes_that_it_cannot_write_with_are_refused(unchecked):
    model = DecoderLM(SMALL)
    with pytest.raises(ValueError, match=r"training mode.*call eval\(\) first"):
        StaticStep(model, room=10)
    model.eval()
    with pytest.raises(ValueError, match="room 101; wanted at least one text, and 1 to 100 positions"):
        StaticStep(model, room=101)
    with pytest.raises(ValueError, match="window"):
        StaticStep(DecoderLM(SMALL.but(window=3)).eval(), room=10)
    with pytest.raises(ValueError, match="alibi"):
        StaticStep(DecoderLM(SMALL.but(positions="alibi")).eval(), room=10)
    with pytest.raises(TypeError, match="model is a Transformer; wanted a DecoderLM"):
        StaticStep(Transformer(SMALL).eval(), room=10)
    step = StaticStep(model, room=10)
    for shape, new_tokens in (((2, 3), 1), ((1, 8), 3), ((1, 0), 3)):
        with pytest.raises(ValueError, match="no more than 10 together"):
            step.write(torch.ones(shape, dtype=torch.int64), new_tokens)
