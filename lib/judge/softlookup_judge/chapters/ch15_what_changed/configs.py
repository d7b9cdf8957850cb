"""Tasks on a published config.json: parameters, bytes of caches and states, operations for a token."""

from typing import Any

import numpy as np

from softlookup.roofline.config_json import QUOTED
from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.chapters.oracles import torch

FULL, SLIDING = "full_attention", "sliding_attention"


def _quoted(name: str, *left_out: str) -> dict[str, Any]:
    return {key: value for key, value in QUOTED[name].items() if key not in ("model_type", *left_out)}


def _parameter_cases(rng: Rng) -> list[Case]:
    d, f, v = (int(rng.integers(low, high)) * 4 for low, high in ((5, 20), (21, 60), (61, 99)))
    small = {"hidden_size": d, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2}
    dense = {**small, "head_dim": d, "intermediate_size": f, "vocab_size": v, "tie_word_embeddings": True}
    routed = {"num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 7, "tie_word_embeddings": False}
    configs = {
        "SmolLM2 135M: tied, no head_dim": _quoted("SmolLM2 135M"),
        "Llama 3 8B: not tied": _quoted("Llama 3 8B"),
        "Qwen3 30B-A3B, its norms on queries and keys left out": _quoted("Qwen3 30B-A3B"),
        "a small model with wide heads": dense,
        "a small one with six experts": {**dense, **routed, "num_attention_heads": 8},
        "experts, and tied": {**dense, **routed, "num_experts": 5, "tie_word_embeddings": True},
    }
    return [Case(label, (config,)) for label, config in configs.items()]


@graded("15.parameters", _parameter_cases, frame="text")
def _parameters(config: dict[str, Any]) -> tuple[int, int]:
    """Counted on torch's own modules, on the device that holds no numbers; one expert, times how many there are."""
    from torch import nn

    d, n = config["hidden_size"], config["num_attention_heads"]
    h = config.get("head_dim", d // n)
    narrow = config["num_key_value_heads"] * h
    experts = config.get("num_experts", 0)
    hidden = config["moe_intermediate_size"] if experts else config["intermediate_size"]
    with torch.device("meta"):
        attention = [nn.Linear(*shape, bias=False) for shape in ((d, n * h), (d, narrow), (d, narrow), (n * h, d))]
        network = nn.ModuleList([nn.Linear(*shape, bias=False) for shape in ((d, hidden), (d, hidden), (hidden, d))])
        router = [nn.Linear(d, experts, bias=False)] if experts else []
        per_layer = nn.ModuleList([*attention, *router, nn.RMSNorm(d), nn.RMSNorm(d)])
        table, last = nn.Embedding(config["vocab_size"], d), nn.Linear(d, config["vocab_size"], bias=False)
        if config["tie_word_embeddings"]:
            last.weight = table.weight
        ends = nn.ModuleList([table, last, nn.RMSNorm(d)])
    counts = [sum(p.numel() for p in part.parameters()) for part in (ends, per_layer, network)]
    layers = config["num_hidden_layers"]
    met = [
        counts[0] + layers * (counts[1] + counts[2] * many)
        for many in (experts or 1, config.get("num_experts_per_tok", 1))
    ]
    return met[0], met[1]


def _types(layers: int, every: int | None) -> list[str]:
    return [SLIDING if every and (layer + 1) % every else FULL for layer in range(layers)]


def _llama() -> dict[str, Any]:
    return {**_quoted("Llama 3 8B"), "head_dim": 128, "layer_types": _types(32, None)}


def _small(layer_types: list[str], window: int) -> dict[str, Any]:
    small = {"hidden_size": 40, "num_attention_heads": 6, "num_key_value_heads": 3, "head_dim": 5}
    return {**small, "num_hidden_layers": len(layer_types), "layer_types": layer_types, "sliding_window": window}


def _gemma() -> dict[str, Any]:
    return {**_quoted("Gemma 3 1B", "sliding_window_pattern"), "layer_types": _types(26, 6)}


def _latent() -> dict[str, Any]:
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "kv_lora_rank")
    deepseek = QUOTED["DeepSeek-V3"]
    return {
        **{key: deepseek[key] for key in (*names, "qk_rope_head_dim")},
        "head_dim": 64,
        "layer_types": _types(61, None),
    }


def _cache_cases(rng: Rng) -> list[Case]:
    random_length = int(rng.integers(600, 5000))
    small = {"kv_lora_rank": 96, "qk_rope_head_dim": 24, "layer_types": _types(12, 4), "sliding_window": 100}
    cases = {
        "Llama 3 8B, 8,192 tokens": (_llama(), 8192, 2),
        "Gemma 3 1B, 4,000 tokens": (_gemma(), 4000, 2),
        "DeepSeek-V3, 1,000 tokens in 8 bits": (_latent(), 1000, 1),
        "gpt-oss 20B": (_quoted("gpt-oss 20B"), random_length, 2),
        "a text shorter than the window": (_small(_types(6, 3), 50), 20, 4),
        "layers with windows alone": (_small([SLIDING] * 4, 7), 30, 2),
        "a window of one position, and numbers of two bytes": (_small(_types(5, 2), 1), 9, 2),
        "latents, and windows in some layers": ({**_latent(), **small}, random_length, 2),
    }
    return [Case(label, args) for label, args in cases.items()]


@graded("15.cache", _cache_cases, frame="text")
def _cache(config: dict[str, Any], length: int, bytes_each: int) -> int:
    """By arrays that are there: one for each layer, of one byte an element."""
    if "kv_lora_rank" in config:
        arrays = [np.empty(config["kv_lora_rank"]), np.empty(config["qk_rope_head_dim"])]
    else:
        arrays = [np.empty((config["num_key_value_heads"], config["head_dim"]))] * 2
    most = {FULL: length, SLIDING: config.get("sliding_window", length)}
    positions = sum(len(range(length)[-most[layer_type] :]) for layer_type in config["layer_types"])
    return positions * sum(array.size for array in arrays) * bytes_each


LINEAR = "linear_attention"


def _hybrid_cases(rng: Rng) -> list[Case]:
    qwen = {
        **{"num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "sliding_window": 4096},
        **{"linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_conv_kernel_dim": 4},
        **{"linear_key_head_dim": 128, "linear_value_head_dim": 128},
        "layer_types": [LINEAR, LINEAR, LINEAR, FULL] * 12,
    }
    widths = {"linear_key_head_dim": 5, "linear_value_head_dim": 7, "linear_conv_kernel_dim": 3}
    heads = {"linear_num_key_heads": 2, "linear_num_value_heads": 6, "num_attention_heads": 9}
    small = {**widths, **heads, "num_key_value_heads": 3, "head_dim": 4, "sliding_window": 50}
    random_length = int(rng.integers(600, 5000))
    cases = {
        "Qwen3-Next, 8,192 tokens": (qwen, 8192, 2),
        "linear layers and windows alone": ({**small, "layer_types": [LINEAR, LINEAR, SLIDING] * 2}, random_length, 2),
        "all three types": ({**small, "layer_types": [LINEAR, FULL, SLIDING, LINEAR, FULL]}, random_length, 1),
        "a text shorter than the window": ({**small, "layer_types": [SLIDING, LINEAR, SLIDING, FULL]}, 20, 2),
        "linear layers alone": ({**small, "layer_types": [LINEAR] * 4}, 30, 4),
        "no linear layer": ({**small, "layer_types": [FULL, SLIDING, SLIDING]}, 77, 2),
        "one token": ({**small, "layer_types": [LINEAR, FULL, LINEAR]}, 1, 8),
    }
    return [Case(label, args) for label, args in cases.items()]


@graded("15.hybrid-bytes", _hybrid_cases, frame="text")
def _hybrid_bytes(config: dict[str, Any], length: int, bytes_each: int) -> tuple[int, int]:
    """By arrays of these shapes, which take no memory: the bytes that numpy says they would have."""
    keys, values = ("linear_num_key_heads", "linear_key_head_dim"), ("linear_num_value_heads", "linear_value_head_dim")

    def array_bytes(element: str, *shape: int) -> int:
        return np.broadcast_to(np.empty((), dtype=element), shape).nbytes

    n, h = (config[name] for name in ("num_key_value_heads", "head_dim"))
    kernel = config["linear_conv_kernel_dim"]
    caches = states = 0
    for layer_type in config["layer_types"]:
        if layer_type == LINEAR:
            states += array_bytes("f4", config[values[0]], config[keys[1]], config[values[1]])
            for heads, width in (keys, keys, values):  # queries are as many as keys
                states += array_bytes(f"V{bytes_each}", config[heads], config[width], kernel)
        else:
            n_visible = len(range(length)[-config["sliding_window"] :]) if layer_type == SLIDING else length
            caches += array_bytes(f"V{bytes_each}", 2, n, h, n_visible)
    return caches, states


def _operation_cases(rng: Rng) -> list[Case]:
    random_length = int(rng.integers(600, 5000))
    cases = {
        "Llama 3 8B, 8,192 tokens": (_llama(), 7_504_658_432, 8192),
        "Gemma 3 1B, 4,000 tokens": (_gemma(), 999_751_680, 4000),
        "gpt-oss 20B": (_quoted("gpt-oss 20B"), 3_590_000_000, random_length),
        "a text shorter than the window": (_small(_types(6, 3), 50), 999, 20),
        "layers with windows alone": (_small([SLIDING] * 4, 7), 4321, 30),
    }
    return [Case(label, args) for label, args in cases.items()]


@graded("15.operations", _operation_cases, frame="text")
def _operations(config: dict[str, Any], weights: int, length: int) -> int:
    """The products of one step, counted by torch on the device that holds no numbers; weights as one column."""
    from torch.utils.flop_counter import FlopCounterMode

    n, h = config["num_attention_heads"], config["head_dim"]
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        torch.empty(1, weights) @ torch.empty(weights, 1)
        for layer_type in config["layer_types"]:
            n_visible = min(length, config["sliding_window"]) if layer_type == SLIDING else length
            torch.empty(n, 1, h) @ torch.empty(n, h, n_visible)
            torch.empty(n, 1, n_visible) @ torch.empty(n, n_visible, h)
    return int(counter.get_total_flops())
