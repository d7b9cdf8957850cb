"""Causal masks by name, and models that become one graph: nothing in them waits for a number, forward or backward."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import torch
from compiled_models import MODELS

from softlookup.model import CausalMask, Config, DecoderLM, MultiHeadAttention
from softlookup.model.parts import attention as attention_module

IDS = torch.tensor([[4, 5, 6, 7, 8], [9, 10, 11, 0, 0]])


QUICK = ("decoder-only, Llama's parts",)
SLOW = tuple(model for model in MODELS if model not in QUICK)


@cache
def compiled(device, names):
    """What became of each model, in a process of its own: torch's compiler does not see through checks of shapes."""
    script = Path(__file__).with_name("compiled_models.py")
    done = subprocess.run([sys.executable, script, str(device), *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "model"),
    [
        *(pytest.param(QUICK, model, id=model) for model in QUICK),
        *(pytest.param(SLOW, model, id=model, marks=pytest.mark.slow) for model in SLOW),
    ],
)
def test_it_is_one_graph_and_gives_the_same_numbers_and_gradients(names, model, device):
    assert compiled(device, names)[model] < 1e-4


@pytest.mark.parametrize("keys", [6, 9])
@pytest.mark.parametrize("with_bias", [False, True])
def test_a_causal_mask_by_name_is_the_matrix(keys, with_bias, device):
    torch.manual_seed(0)
    q = torch.randn(2, 3, 6, 4, device=device, dtype=torch.float64)
    k, v = torch.randn(2, 2, 3, keys, 4, device=device, dtype=torch.float64)
    bias = torch.randn(3, 6, keys, device=device, dtype=torch.float64) if with_bias else None
    matrix = torch.ones(6, keys, dtype=torch.bool, device=device).tril(keys - 6)
    assert torch.equal(CausalMask().matrix(6, keys, device), matrix)
    for form in (attention_module.scaled_dot_product_attention, lambda *a, **b: attention_module.attend(*a, **b)[0]):
        expected = form(q, k, v, matrix, bias=bias)
        torch.testing.assert_close(form(q, k, v, CausalMask(), bias=bias), expected)


def test_a_layer_with_sinks_or_watched_takes_it_by_name_too(device):
    torch.manual_seed(0)
    x = torch.randn(2, 5, 16, device=device)
    matrix = CausalMask().matrix(5, 5, device)
    for sinks in (False, True):
        layer = MultiHeadAttention(16, 4, n_kv_heads=2, sinks=sinks).to(device)
        torch.testing.assert_close(layer(x, mask=CausalMask()), layer(x, mask=matrix), rtol=1e-4, atol=1e-5)
        weights = layer(x, mask=CausalMask(), return_weights=True)[1]
        assert torch.equal(weights, layer(x, mask=matrix, return_weights=True)[1])
        assert weights.triu(1).eq(0).all()


def test_a_decoder_makes_no_matrix_where_causal_alone_is_asked(monkeypatch):
    seen = []
    fused = attention_module.fused_attention

    def watching(q, k, v, mask, **options):
        seen.append(mask)
        return fused(q, k, v, mask, **options)

    monkeypatch.setattr("softlookup.model.parts.multihead.fused_attention", watching)
    model = DecoderLM(Config(50, d_model=16, n_heads=2, n_layers=2, d_hidden=24)).eval()
    model(IDS)
    assert seen == [CausalMask()] * 2
    seen.clear()
    model(IDS, IDS != 0)
    assert all(mask.shape == (2, 1, 5, 5) for mask in seen)


def test_fewer_keys_than_queries_are_refused():
    q = torch.randn(1, 1, 3, 4)
    with pytest.raises(ValueError, match="a causal mask wants a key for each query"):
        attention_module.scaled_dot_product_attention(q, q[:, :, :2], q[:, :, :2], CausalMask())


def test_queries_keys_and_values_from_one_product_are_the_same_on_a_gpu(device):
    torch.manual_seed(0)
    layer = MultiHeadAttention(16, 4, n_kv_heads=2, bias=True).to(device, torch.float64)
    x = torch.randn(4, 9, 16, device=device, dtype=torch.float64)  # so many rows that a GPU joins the matrices
    mask = torch.ones(9, 9, dtype=torch.bool, device=device)
    apart = layer(x, x.clone(), mask)
    together = layer(x, None, mask)
    torch.testing.assert_close(together, apart)
    names = [name for name, _ in layer.named_parameters()]
    for name, a, b in zip(
        names,
        torch.autograd.grad(together.square().sum(), list(layer.parameters())),
        torch.autograd.grad(apart.square().sum(), list(layer.parameters())),
        strict=True,
    ):
        torch.testing.assert_close(a, b, msg=name)
