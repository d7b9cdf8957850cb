"""A tiny model of drawn weights for the parts of open models of 2026, and runs in float64, of `transformers` too."""

import contextlib

import torch
from lively_weights import lively
from test_against_huggingface import in_double

from softlookup.model.parts.config import Config
from softlookup.model.whole.language import DecoderLM

V, D, N, K, H, L = 40, 24, 4, 2, 6, 4
EXACT = {"rtol": 1e-9, "atol": 1e-9}
OURS = Config(
    V, d_model=D, n_heads=N, n_kv_heads=K, head_width=H, n_layers=L, d_hidden=20, max_length=64, dropout=0.0,
    positions="rotary_halves", norm="rms", norm_eps=1e-4, pre_norm=True, activation="swiglu", hidden_bias=False,
    scale_embeddings=False, tied=False,
)  # fmt: skip


@contextlib.contextmanager
def all_in_float64():
    """Let what is made inside be float64, and their code stay there where it asks for float32."""
    torch.set_default_dtype(torch.float64)
    try:
        with in_double():
            yield
    finally:
        torch.set_default_dtype(torch.float32)


def made(**changes):
    return lively(DecoderLM(OURS.but(**changes)))


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
