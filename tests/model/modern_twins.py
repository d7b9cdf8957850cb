"""Tiny models of `transformers` with random weights and ours with the same, for the parts of open models of 2026.

Nothing is downloaded. All runs in float64, theirs too where it asks for float32.
"""

import contextlib

import torch
from test_against_huggingface import in_double

from softlookup.model.parts.config import Config
from softlookup.model.published._decoder_weights import _NORMS, _WHOLE, LAYER_NAMES
from softlookup.model.published._renaming import layers, shapes, spread, translated
from softlookup.model.published.families import llama_config, llama_weights
from softlookup.model.whole.language import DecoderLM

V, D, N, K, H, L = 40, 24, 4, 2, 6, 4
EXACT = {"rtol": 1e-9, "atol": 1e-9}
OURS = Config(
    V, d_model=D, n_heads=N, n_kv_heads=K, head_width=H, n_layers=L, d_hidden=20, max_length=64, dropout=0.0,
    positions="rotary_halves", norm="rms", norm_eps=1e-4, pre_norm=True, activation="swiglu", hidden_bias=False,
    scale_embeddings=False, tied=False,
)  # fmt: skip
THEIRS = {
    "vocab_size": V, "hidden_size": D, "num_attention_heads": N, "num_key_value_heads": K, "head_dim": H,
    "num_hidden_layers": L, "intermediate_size": 20, "max_position_embeddings": 64, "rms_norm_eps": 1e-4,
    "tie_word_embeddings": False, "attention_bias": False, "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
}  # fmt: skip
NAMES = spread(_WHOLE) | layers(L, "decoder.layers", "model.layers", LAYER_NAMES | _NORMS["before"])


@contextlib.contextmanager
def all_in_float64():
    """Let what is made inside be float64, and their code stay there where it asks for float32."""
    torch.set_default_dtype(torch.float64)
    try:
        with in_double():
            yield
    finally:
        torch.set_default_dtype(torch.float32)


def lively(module):
    """Draw all weights away from zeros and ones, lest they hide a part that is not there."""
    with torch.no_grad():
        for weight in module.parameters():
            first = weight.nan_to_num().clamp(-3, 3)  # some of theirs are made empty
            weight.copy_(first + 0.3 * torch.randn_like(weight))
    return module.double().eval()


def made(**changes):
    return lively(DecoderLM(OURS.but(**changes)))


def twins(hf, name, changes, read=True, **description):
    """Make a whole model of theirs and ours with the same weights, from its description where that is read."""
    described = getattr(hf, f"{name}Config")(**(THEIRS | description))
    hf_model = lively(getattr(hf, f"{name}ForCausalLM")._from_config(described, attn_implementation="eager"))
    config = OURS.but(**changes)
    assert not read or config == llama_config(described)
    model = DecoderLM(config).double().eval()
    model.load_state_dict(llama_weights(hf_model.state_dict(), config))
    return model, hf_model


def rows():
    """Three rows of 15 tokens, filled up on the left; and which are real."""
    real = torch.arange(15) >= torch.tensor([[0], [6], [2]])
    return torch.randint(4, V, (3, 15)).masked_fill(~real, 0), real


def step_by_step(model, ids, real=None, prompt=7):
    """Feed a prompt, then one token at a time; give the logits of the prompt's last position and of all after it."""
    state = model.start(*(() if real is None else (real[:, :prompt],)))
    logits, state = model.step(ids[:, :prompt], state)
    all_logits = [logits]
    for t in range(prompt, ids.shape[1]):
        logits, state = model.step(ids[:, t : t + 1], state)
        all_logits.append(logits)
    return torch.stack(all_logits, dim=1), state


def assert_twins(model, hf_model):
    """Whole and cached, filled up on the left, the logits and their gradients are theirs."""
    ids, real = rows()
    places = (real.long().cumsum(dim=1) - 1).clamp(min=0)
    expected = hf_model(input_ids=ids, attention_mask=real, position_ids=places).logits
    got = model(ids, real)
    assert expected[real].std() > 0.3
    torch.testing.assert_close(got[real], expected[real], **EXACT)
    torch.testing.assert_close(step_by_step(model, ids, real)[0].detach(), expected[:, 6:].detach(), **EXACT)
    weights = torch.randn_like(got[real])
    (got[real] * weights).sum().backward()
    (expected[real] * weights).sum().backward()
    gradients = {name: weight.grad for name, weight in hf_model.named_parameters()}
    for name, expected in translated(gradients, shapes(DecoderLM, model.config), NAMES, same={}).items():
        torch.testing.assert_close(model.get_parameter(name).grad, expected, rtol=1e-7, atol=1e-8)
