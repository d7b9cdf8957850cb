"""Right answers in other words to the tasks that read a config.json."""

import numpy as np


def parameters_of_shapes(config):
    d, heads = config["hidden_size"], config["num_attention_heads"]
    width = config.get("head_dim") or d // heads
    q, kv = heads * width, config["num_key_value_heads"] * width
    expert = 3 * d * (config["moe_intermediate_size"] if "num_experts" in config else config["intermediate_size"])
    fixed = d * (q + kv + kv + q) + 2 * d + d * config.get("num_experts", 0)
    ends = d + sum(config["vocab_size"] * d for _ in range(2 - int(config["tie_word_embeddings"])))
    return [
        ends + config["num_hidden_layers"] * (fixed + expert * many)
        for many in (config.get("num_experts", 1), config.get("num_experts_per_tok", 1))
    ]


def parameters_by_layer(config):
    d, vocab = config["hidden_size"], config["vocab_size"]
    head = config.get("head_dim", d // config["num_attention_heads"])
    total = met = vocab * d if config["tie_word_embeddings"] else 2 * vocab * d
    for _ in range(config["num_hidden_layers"]):
        layer = 2 * d + 2 * d * head * (config["num_attention_heads"] + config["num_key_value_heads"])
        if config.get("num_experts"):
            expert = 3 * d * config["moe_intermediate_size"]
            layer += d * config["num_experts"]
            total += layer + config["num_experts"] * expert
            met += layer + config["num_experts_per_tok"] * expert
        else:
            total += layer + 3 * d * config["intermediate_size"]
            met += layer + 3 * d * config["intermediate_size"]
    return np.int64(total + d), np.int64(met + d)


def _seen(config, length):
    return [
        min(length, config["sliding_window"]) if kind.startswith("sliding") else length
        for kind in config["layer_types"]
    ]


def cache_layers(config, length, bytes_each):
    latent = config.get("kv_lora_rank")
    total = 0
    for cached in _seen(config, length):
        if latent is None:
            total += cached * (config["num_key_value_heads"] * config["head_dim"] * 2)
        else:
            total += cached * (latent + config["qk_rope_head_dim"])
    return total * bytes_each


def cache_numpy(config, length, bytes_each):
    narrow = np.array([kind == "sliding_attention" for kind in config["layer_types"]])
    cached = np.where(narrow, min(config.get("sliding_window", length), length), length)
    each = 2 * config["num_key_value_heads"] * config["head_dim"]
    if "kv_lora_rank" in config:
        each = config["kv_lora_rank"] + config["qk_rope_head_dim"]
    return cached.sum() * each * bytes_each


def cache_counted(config, length, bytes_each):
    full = config["layer_types"].count("full_attention")
    narrow = len(config["layer_types"]) - full
    cached = full * length + (narrow * min(length, config["sliding_window"]) if narrow else 0)
    try:
        each = config["kv_lora_rank"] + config["qk_rope_head_dim"]
    except KeyError:
        each = config["head_dim"] * (config["num_key_value_heads"] + config["num_key_value_heads"])
    return int(cached * each * bytes_each)


def operations_layers(config, weights, length):
    width = config["head_dim"] * config["num_attention_heads"]
    return weights * 2 + sum(2 * 2 * width * keys for keys in _seen(config, length))


def operations_numpy(config, weights, length):
    keys = np.array(_seen(config, length), dtype=np.int64)
    return np.int64(2) * (weights + 2 * config["num_attention_heads"] * config["head_dim"] * keys.sum())


def hybrid_layers(config, length, bytes_each):
    keys = config["linear_key_head_dim"] * config["linear_num_key_heads"]
    totals = {"caches": 0, "states": 0}
    for layer in config["layer_types"]:
        if layer.startswith("linear"):
            heads, width = config["linear_num_value_heads"], config["linear_value_head_dim"]
            totals["states"] += heads * width * config["linear_key_head_dim"] * 4
            totals["states"] += (heads * width + keys + keys) * config["linear_conv_kernel_dim"] * bytes_each
        else:
            rows = min(length, config["sliding_window"] if layer.startswith("sliding") else length)
            totals["caches"] += rows * config["num_key_value_heads"] * config["head_dim"] * 2 * bytes_each
    return list(totals.values())


def hybrid_numpy(config, length, bytes_each):
    kinds = np.array(config["layer_types"])
    most = np.select(
        [kinds == "full_attention", kinds == "sliding_attention"], [length, min(length, config["sliding_window"])], 0
    )
    row = np.array([2, config["num_key_value_heads"], config["head_dim"], bytes_each]).prod()
    names = ("linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim")
    state = 4 * np.array([config[name] for name in names]).prod()
    channels = 2 * config[names[1]] * config["linear_num_key_heads"] + config[names[2]] * config[names[0]]
    each = state + channels * config["linear_conv_kernel_dim"] * bytes_each
    return most.sum() * row, each * (kinds == "linear_attention").sum()


def hybrid_counted(config, length, bytes_each):
    full, sliding, linear = (
        sum(kind == name for kind in config["layer_types"])
        for name in ("full_attention", "sliding_attention", "linear_attention")
    )
    window = length if length < config["sliding_window"] else config["sliding_window"]
    cache = (full * length + sliding * window) * 2 * config["num_key_value_heads"] * config["head_dim"]
    each_key, each_value = config["linear_key_head_dim"], config["linear_value_head_dim"]
    per_position = 2 * config["linear_num_key_heads"] * each_key + config["linear_num_value_heads"] * each_value
    states = linear * config["linear_num_value_heads"] * each_key * each_value * 4
    return cache * bytes_each, states + linear * per_position * config["linear_conv_kernel_dim"] * bytes_each


CONFIGS = {
    "15.parameters": [parameters_of_shapes, parameters_by_layer],
    "15.cache": [cache_layers, cache_numpy, cache_counted],
    "15.hybrid-bytes": [hybrid_layers, hybrid_numpy, hybrid_counted],
    "15.operations": [operations_layers, operations_numpy],
}
