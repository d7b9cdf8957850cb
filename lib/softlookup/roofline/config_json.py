"""What the config.json of a published model says of it: parameters, cache, operations for a token, layers.

The keys are those of Hugging Face's transformers. What a config does not say is read as a dense, full model: no window,
no experts, one key-value head for each query head.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Config = Mapping[str, Any]

QUOTED: dict[str, dict[str, Any]] = {
    "SmolLM2 135M": {
        "model_type": "llama",
        "hidden_size": 576,
        "num_hidden_layers": 30,
        "num_attention_heads": 9,
        "num_key_value_heads": 3,
        "intermediate_size": 1536,
        "vocab_size": 49_152,
        "tie_word_embeddings": True,
        "rope_theta": 100_000,
    },
    "Gemma 3 1B": {
        "model_type": "gemma3_text",
        "hidden_size": 1152,
        "num_hidden_layers": 26,
        "num_attention_heads": 4,
        "num_key_value_heads": 1,
        "head_dim": 256,
        "intermediate_size": 6912,
        "vocab_size": 262_144,
        "tie_word_embeddings": True,
        "sliding_window": 512,
        "sliding_window_pattern": 6,
    },
    "SmolLM3 3B": {
        "model_type": "smollm3",
        "hidden_size": 2048,
        "num_hidden_layers": 36,
        "num_attention_heads": 16,
        "num_key_value_heads": 4,
        "intermediate_size": 11_008,
        "vocab_size": 128_256,
        "tie_word_embeddings": True,
        "no_rope_layers": [1, 1, 1, 0] * 9,
    },
    "Mistral 7B": {
        "model_type": "mistral",
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 14_336,
        "vocab_size": 32_000,
        "tie_word_embeddings": False,
        "sliding_window": 4096,
    },
    "Llama 3 8B": {
        "model_type": "llama",
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 14_336,
        "vocab_size": 128_256,
        "tie_word_embeddings": False,
        "rope_theta": 500_000,
    },
    "gpt-oss 20B": {
        "model_type": "gpt_oss",
        "hidden_size": 2880,
        "num_hidden_layers": 24,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "head_dim": 64,
        "intermediate_size": 2880,
        "num_local_experts": 32,
        "num_experts_per_tok": 4,
        "vocab_size": 201_088,
        "tie_word_embeddings": False,
        "sliding_window": 128,
        "layer_types": ["sliding_attention", "full_attention"] * 12,
    },
    "Qwen3 30B-A3B": {
        "model_type": "qwen3_moe",
        "hidden_size": 2048,
        "num_hidden_layers": 48,
        "num_attention_heads": 32,
        "num_key_value_heads": 4,
        "head_dim": 128,
        "intermediate_size": 6144,
        "moe_intermediate_size": 768,
        "num_experts": 128,
        "num_experts_per_tok": 8,
        "vocab_size": 151_936,
        "tie_word_embeddings": False,
    },
    "DeepSeek-V3": {
        "model_type": "deepseek_v3",
        "hidden_size": 7168,
        "num_hidden_layers": 61,
        "num_attention_heads": 128,
        "num_key_value_heads": 128,
        "q_lora_rank": 1536,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
        "intermediate_size": 18_432,
        "moe_intermediate_size": 2048,
        "first_k_dense_replace": 3,
        "n_routed_experts": 256,
        "n_shared_experts": 1,
        "num_experts_per_tok": 8,
        "vocab_size": 129_280,
        "tie_word_embeddings": False,
    },
}
"""Eight published configs by the model's name, as facts: the entries that fix sizes and layers.

Source: the config.json beside each model's weights; tests build them with transformers and compare all counts.
Book: 15_what_changed_more.html#config-eight.
"""


@dataclass(frozen=True)
class Sizes:
    """How many parameters a model has, by where they are.

    Attributes:
        embedding: The table of tokens, V times D.
        output: The output matrix; 0 where it is the table.
        attention: All attention matrices, norms on queries and keys, biases and sinks.
        feed_forward: All feed-forward networks, routers and experts.
        norms: Norms of the residual stream.
        unchosen: Of the experts, those that one token does not pass through.
        added: Biases, gains and sinks, which are added or multiplied and stand in no matrix product.

    Book: 15_what_changed_more.html#config-parameters.
    """

    embedding: int
    output: int
    attention: int
    feed_forward: int
    norms: int
    unchosen: int
    added: int

    @property
    def total(self) -> int:
        """All parameters."""
        return self.embedding + self.output + self.attention + self.feed_forward + self.norms

    @property
    def active(self) -> int:
        """Parameters that one token meets: all but the experts that are not chosen for it."""
        return self.total - self.unchosen

    @property
    def in_products(self) -> int:
        """Weights that one token is multiplied by, the output matrix among them and the table of tokens not."""
        return self.active - self.embedding - self.norms - self.added + (0 if self.output else self.embedding)


def head_width(config: Config) -> int:
    """H: the entry head_dim, or the model's width over its heads."""
    return config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]


def n_experts(config: Config) -> int:
    """How many routed experts a layer has; 0 for a dense model. The key has three names."""
    return next((config[key] for key in ("num_experts", "num_local_experts", "n_routed_experts") if key in config), 0)


def windows(config: Config) -> list[int | None]:
    """How many positions each layer attends to at most, its own included; None where there is no limit."""
    layers, window = range(config["num_hidden_layers"]), config.get("sliding_window")
    if window is None:
        return [None for _ in layers]
    if "layer_types" in config:
        return [window if kind == "sliding_attention" else None for kind in config["layer_types"]]
    every = config.get("sliding_window_pattern")
    return [None if every and (layer + 1) % every == 0 else window for layer in layers]


def sizes(config: Config) -> Sizes:
    """Count a model's parameters.

    Args:
        config: The entries of a config.json, as in ``QUOTED``.

    Returns:
        The counts by part, with their sums.

    Raises:
        KeyError: If an entry that every config has is missing.

    Book: 15_what_changed_more.html#config-parameters.
    """
    d, n, layers = config["hidden_size"], config["num_attention_heads"], config["num_hidden_layers"]
    kind, width = config["model_type"], head_width(config)
    kv = config.get("num_key_value_heads", n)
    added = 0
    if "kv_lora_rank" in config:
        latent, query, rotary = config["kv_lora_rank"], config["q_lora_rank"], config["qk_rope_head_dim"]
        plain, value = config["qk_nope_head_dim"], config["v_head_dim"]
        added += query + latent  # the gains of two norms
        products = d * query + query * n * (plain + rotary) + d * (latent + rotary)
        products += latent * n * (plain + value) + n * value * d
    else:
        products = 2 * d * n * width + 2 * d * kv * width
        if kind in {"qwen3", "qwen3_moe", "gemma3_text"}:
            added += 2 * width
        if kind == "gpt_oss":
            added += (n + 2 * kv) * width + d + n  # biases, and a sink for each head
    attention = layers * (products + added)

    experts, chosen = n_experts(config), config.get("num_experts_per_tok", 0)
    dense_layers = config.get("first_k_dense_replace", 0) if experts else layers
    hidden = config.get("moe_intermediate_size") or config["intermediate_size"]
    expert, bias = 3 * d * hidden, 0
    if kind == "gpt_oss":
        bias = 2 * hidden + d
    routed = layers - dense_layers
    shared = config.get("n_shared_experts", 0) * expert
    router_bias = experts if kind == "gpt_oss" else 0
    feed_forward = dense_layers * 3 * d * config["intermediate_size"]
    feed_forward += routed * (experts * (expert + bias) + shared + d * experts + router_bias)

    table = config["vocab_size"] * d
    return Sizes(
        embedding=table,
        output=0 if config["tie_word_embeddings"] else table,
        attention=attention,
        feed_forward=feed_forward,
        norms=((4 if kind == "gemma3_text" else 2) * layers + 1) * d,
        unchosen=routed * (experts - chosen) * (expert + bias),
        added=layers * added + routed * (chosen * bias + router_bias),
    )


def held(config: Config, length: int) -> list[int]:
    """How many positions each layer's cache holds after so many tokens."""
    return [length if window is None else min(window, length) for window in windows(config)]


def cache_bytes(config: Config, length: int, bytes_each: int = 2) -> int:
    """Count the bytes of the KV cache of one sequence.

    Args:
        config: The entries of a config.json.
        length: Tokens in the cache.
        bytes_each: Bytes of a number; 2 in half precision.

    Returns:
        Bytes, of all layers together.

    Raises:
        ValueError: If length is below 0 or bytes_each below 1.

    Book: 15_what_changed_more.html#config-cache.
    """
    if length < 0 or bytes_each < 1:
        raise ValueError(f"wanted length >= 0 and bytes_each >= 1; got {length} and {bytes_each}")
    if "kv_lora_rank" in config:
        numbers = config["kv_lora_rank"] + config["qk_rope_head_dim"]
    else:
        numbers = 2 * config.get("num_key_value_heads", config["num_attention_heads"]) * head_width(config)
    return bytes_each * numbers * sum(held(config, length))


def token_operations(config: Config, length: int) -> tuple[int, int]:
    """Count the floating-point operations of one decoding step, a multiply-add counted as two.

    A latent cache is attended to as it is, with the matrices on the query's side.

    Args:
        config: The entries of a config.json.
        length: Positions that the new token can attend to at most, its own included.

    Returns:
        Operations with weights, and operations of scores and mixing.

    Book: 15_what_changed_more.html#config-operations.
    """
    n, each = config["num_attention_heads"], 2 * head_width(config)
    if "kv_lora_rank" in config:
        each = 2 * config["kv_lora_rank"] + config["qk_rope_head_dim"]
    return 2 * sizes(config).in_products, 2 * n * each * sum(held(config, length))
