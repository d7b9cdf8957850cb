"""Entries that published files have though their model_type does not know them, and what they may say there.

transformers passes them by. Here they are passed by where they say what the layers are anyway, and refused otherwise.
"""

from collections.abc import Callable, Mapping
from typing import Any

Allowed = Callable[[Any, Mapping[str, Any]], bool]


def _is(*values: object) -> Allowed:
    return lambda value, config: any(value == allowed and type(value) is type(allowed) for allowed in values)


def _as(name: str) -> Allowed:
    return lambda value, config: value == config.get(name)


def _anything(value: Any, config: Mapping[str, Any]) -> bool:
    return True


def _ones(value: Any, config: Mapping[str, Any]) -> bool:
    return isinstance(value, list) and all(entry == 1 for entry in value)


_ANYWHERE: dict[str, Allowed] = {
    **dict.fromkeys(
        ("attention_bias", "mlp_bias", "qkv_bias", "lm_head_bias", "use_sliding_window", "use_mtp", "use_qk_norm"),
        _is(False),
    ),
    "moe_layer_freq": _is(1),
    "mlp_only_layers": _is([]),
    "shared_intermediate_size": _is(0),
    "normalization_function": _is("rmsnorm"),
    "mamba_use_mlp": _is(True),
    **dict.fromkeys(
        # Of positions, of how the router's scores are used, of how weights were drawn, and layers beside the model.
        "full_attn_mod interpolate_factor theta use_pos_enc for_llm_compressor init_method time_step_rank "
        "mla_use_nope moe_router_activation_func use_grouped_topk use_routing_bias mlp_expansion_factor "
        "block_mlp_init_scale block_out_init_scale block_use_xavier_init conv_use_xavier_init block_norm_eps "
        "mtp_num_hidden_layers mtp_use_dedicated_embeddings mamba_ssm_dtype "
        "mtp_transformer_layers num_mtp_modules layernorm_full_attention_alpha layernorm_full_attention_beta "
        "layernorm_linear_attention_alpha layernorm_linear_attention_beta "
        "layernorm_mlp_alpha layernorm_mlp_beta".split(),
        _anything,
    ),
}
_OF_FAMILIES: dict[str, dict[str, Allowed]] = {
    "lfm2": {
        "block_dim": _as("hidden_size"),
        "conv_dim": _as("hidden_size"),
        "conv_dim_out": _as("hidden_size"),
        "num_heads": _as("num_attention_heads"),
        "block_use_swiglu": _is(True),
    },
    "minimax_m2": {
        "attn_type_list": _ones,
        "qk_norm_type": _is("per_layer"),
        "use_qk_norm": _is(True),
        "use_mtp": _is(True, False),
    },
}
_OF_FAMILIES["qwen3_5_text"] = _OF_FAMILIES["qwen3_5_moe_text"] = {"attn_output_gate": _is(True)}
_OF_FAMILIES["glm_moe_dsa"] = {"indexer_rope_interleave": _anything}
_OF_FAMILIES["deepseek_v4"] = {"num_hash_layers": _anything}  # experts that are chosen by hash have the same weights
_OF_FAMILIES["gpt_oss"] = {"experts_per_token": _as("num_experts_per_tok")}
_OF_FAMILIES["lfm2_moe"] = _OF_FAMILIES["lfm2"]


def passed_by(model_type: str, config: Mapping[str, Any], known: Mapping[str, Any]) -> set[str]:
    """Find the entries that a file has beside those ``known`` for its model_type, and that say nothing else."""
    rules = _ANYWHERE | _OF_FAMILIES.get(model_type, {})
    return {
        name for name, value in config.items() if name in rules and name not in known and rules[name](value, config)
    }
