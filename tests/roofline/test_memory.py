"""Memory beside other people's formulas, and beside tensors themselves."""

import pytest
import torch

from softlookup import model
from softlookup import roofline as rl

LLAMA = rl.MODELS["Llama 2 7B"]


@pytest.mark.parametrize("name", ["GPT-3 175B", "GPT-2 XL"])
def test_kept_activations_are_those_of_korthikanti_s_formula(name):
    """Korthikanti et al. 2022, equation 1: s b h (34 + 5 a s / h) bytes for each layer."""
    sizes, b, s = rl.MODELS[name], 3, 1024
    tensors = rl.activations(sizes, b, s, dropout=True)
    assert sum(tensor.bytes for tensor in tensors) == s * b * sizes.D * 34 + 5 * sizes.N * s * s * b
    fused = rl.activations(sizes, b, s, dropout=True, fused=True)
    assert sum(tensor.bytes for tensor in fused) == 34 * s * b * sizes.D


def test_states_are_those_of_zero():
    """Rajbhandari et al. 2020, section 3.1: 16 bytes for each parameter, at least 24 GB for 1.5 billion."""
    assert sum(rl.state_bytes(1_500_000_000).values()) == 24e9
    assert {name: recipe.bytes for name, recipe in rl.RECIPES.items()} == {
        "float32": 16,
        "master": 16,
        "autocast": 16,
        "half": 8,
        "sgd": 8,
    }
    with pytest.raises(KeyError, match="no recipe 'fp8'; there are float32, master"):
        rl.state_bytes(1, "fp8")


def test_states_of_torch_s_own_adam_are_eight_bytes_for_each_parameter():
    layer = torch.nn.Linear(30, 20)
    optimiser = torch.optim.Adam(layer.parameters())
    layer(torch.ones(1, 30)).sum().backward()
    optimiser.step()
    optimizer_bytes = sum(t.nbytes for state in optimiser.state.values() for t in state.values() if t.ndim)
    n = sum(p.numel() for p in layer.parameters())
    expected = rl.state_bytes(n, "float32")
    assert (
        optimizer_bytes == expected["optimizer"]
        and sum(p.grad.nbytes for p in layer.parameters()) == expected["gradients"]
    )


def test_cache_bytes_are_those_of_a_cache_that_was_filled():
    config = model.Config(20, d_model=24, n_heads=6, n_kv_heads=2, head_width=5, n_layers=3, d_hidden=8, dropout=0.0)
    lm = model.DecoderLM(config)
    sizes = LLAMA.but(D=24, N=6, K=2, H=5, F=8, V=20, L=3)
    cache = lm.start()
    with torch.no_grad():
        lm.step(torch.ones(4, 7, dtype=torch.long), cache)
    cached_bytes = sum(t.nbytes for layer in cache.layers for t in (layer.k, layer.v))
    assert rl.cache_bytes(sizes, 4, 7, number_bytes=4) == cached_bytes
    assert (
        rl.cache_bytes(rl.MODELS["Llama 2 70B"], 1, 4096)
        == rl.cache_bytes(rl.MODELS["Llama 2 70B"].but(K=64), 1, 4096) // 8
    )


def test_inference_memory_of_llama_2_7b():
    memory = rl.inference_memory(LLAMA, 1, 4096)
    assert memory == {"weights": 2 * 6_738_415_616, "cache": 2 * 2**30}


def test_training_memory_adds_up_and_recomputing_keeps_one_layer():
    memory = rl.training_memory(LLAMA, 2, 512)
    assert sum(memory[name] for name in ("weights", "gradients", "master", "optimizer")) == 16 * 6_738_415_616
    layer_bytes = sum(tensor.bytes for tensor in rl.activations(LLAMA, 2, 512, fused=True))
    assert memory["activations"] == 32 * layer_bytes
    assert rl.training_memory(LLAMA, 2, 512, recompute=True)["activations"] == 32 * 2 * 512 * 4096 * 2 + layer_bytes


def test_product_refuses_factors_that_do_not_meet():
    with pytest.raises(ValueError, match=r"q sums over 5, but w is \(4, 6\)"):
        rl.product("q", rl.Moved("x", (3, 5)), rl.Moved("w", (4, 6)), rl.Moved("y", (3, 6)), 5)
