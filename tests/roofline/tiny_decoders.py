"""A tiny config of unequal sizes for each family of decoders, and what transformers makes of it."""

import logging
from contextlib import contextmanager

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from softlookup.describing.filled_entries import decoder_defaults
from softlookup.describing.read_layers import DECODERS

SIZES = {
    "hidden_size": 48, "num_hidden_layers": 5, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 10,
    "intermediate_size": 40, "intermediate_size_mlp": 44, "dense_intermediate_size": 36, "vocab_size": 51,
    "moe_intermediate_size": 12, "num_experts": 5, "num_local_experts": 5, "n_routed_experts": 5, "moe_num_experts": 5,
    "num_experts_per_tok": 2, "num_experts_per_token": 2, "moe_topk": 2, "moe_k": 2, "n_group": 1,
    "num_expert_group": 1, "topk_group": 1, "n_shared_experts": 2, "num_shared_experts": 2,
    "moe_num_shared_experts": 2, "shared_expert_intermediate_size": 14, "shared_intermediate_size": 13,
    "moe_shared_expert_intermediate_size": 11, "num_dense_layers": 2, "first_k_dense_replace": 1,
    "kv_lora_rank": 14, "q_lora_rank": 18, "qk_nope_head_dim": 6, "qk_rope_head_dim": 4, "v_head_dim": 8,
    "sliding_window": 7, "attention_chunk_size": 7, "max_window_layers": 2,
    "linear_key_head_dim": 6, "linear_value_head_dim": 9, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
    "linear_conv_kernel_dim": 3, "linear_head_dim": 8, "linear_num_heads": 3, "short_conv_kernel_size": 3,
    "mamba_d_state": 11, "mamba_n_heads": 12, "mamba_d_head": 8, "mamba_n_groups": 2, "mamba_d_conv": 3,
    "mamba_expand": 2, "mamba_dt_rank": 5, "conv_L_cache": 3,
    "index_n_heads": 2, "index_head_dim": 8, "index_topk": 4,
    "hidden_size_per_layer_input": 5, "vocab_size_per_layer_input": 51, "laurel_rank": 3,
}  # fmt: skip
TYPES = {
    "linear": ["linear_attention", "full_attention", "linear_attention", "linear_attention", "full_attention"],
    "conv": ["conv", "full_attention", "conv", "conv", "full_attention"],
}
OWN = {
    "bailing_hybrid": {"layer_types": TYPES["linear"]},
    "bamba": {"attn_layer_indices": [1, 4]},
    "deepseek_v4": {
        "layer_types": ["sliding_attention", "heavily_compressed_attention", "compressed_sparse_attention"],
        "num_hidden_layers": 3, "num_key_value_heads": 1, "n_shared_experts": 1, "head_dim": 16, "o_groups": 2,
        "o_lora_rank": 9, "hc_mult": 3, "partial_rotary_factor": 0.25,
        "compress_rates": {"compressed_sparse_attention": 2, "heavily_compressed_attention": 4},
    },
    "ernie4_5_moe": {"moe_layer_end_index": 4},
    "falcon_h1": {"mamba_d_ssm": 96},
    "falcon_mamba": {"expand": 2, "state_size": 11, "conv_kernel": 3, "time_step_rank": 5},
    "gemma3n_text": {
        "num_kv_shared_layers": 1, "layer_types": ["sliding_attention", "full_attention"] * 2 + ["full_attention"],
    },
    "gemma4_text": {
        "num_kv_shared_layers": 2, "layer_types": ["sliding_attention", "full_attention"] * 2 + ["full_attention"],
        "use_double_wide_mlp": True, "global_head_dim": 14,
    },
    "glm_moe_dsa": {"indexer_types": ["full", "shared", "full", "full", "shared"]},
    "granitemoehybrid": {"layer_types": TYPES["linear"]},
    "hy_v4": {"hc_mult": 3},
    "helium": {"head_dim": 8},
    "jamba": {"attn_layer_period": 3, "attn_layer_offset": 1, "mamba_d_state": 11},
    "kimi_linear": {"layer_types": TYPES["linear"]},
    "lfm2": {"layer_types": TYPES["conv"], "block_multiple_of": 8},
    "lfm2_moe": {"layer_types": TYPES["conv"]},
    "mamba": {"expand": 2, "state_size": 11, "conv_kernel": 3, "time_step_rank": 5, "intermediate_size": 96},
    "mamba2": {"expand": 2, "state_size": 11, "conv_kernel": 3, "num_heads": 12, "head_dim": 8, "n_groups": 2},
    "mimo_v2_flash": {"num_key_value_heads": 3},
    "minicpm3": {"num_key_value_heads": 6},
    "minimax": {"block_size": 4, "sliding_window": None},
    "minimax_m3_vl_text": {
        "layer_types": ["full_attention", "minimax_m3_sparse"] * 2 + ["full_attention"],
        "index_block_size": 2, "index_topk_blocks": 2, "rotary_dim": 4,
    },
    "nemotron_h": {
        "layers_block_type": ["linear_attention", "moe", "full_attention", "mlp", "linear_attention"],
        "num_hidden_layers": None, "mamba_num_heads": 12, "mamba_head_dim": 8, "ssm_state_size": 11, "n_groups": 2,
        "conv_kernel": 3, "moe_latent_size": 20, "sliding_window": None,
    },
    "recurrent_gemma": {"attention_window_size": 7, "lru_width": 42, "conv1d_width": 3, "head_dim": 8},
}  # fmt: skip
OWN["falcon_mamba"]["intermediate_size"] = 96


def tiny(model_type):
    """The entries of a config of five layers or less."""
    entries = decoder_defaults()["families"][model_type]["entries"]
    plain = {name: value for name, value in SIZES.items() if name in entries}
    special = OWN.get(model_type, {})
    if "kv_lora_rank" in entries:  # as many keys as heads
        plain |= {"num_key_value_heads": 6}
    ends = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    config = {"model_type": model_type} | plain | special | ends
    return {name: value for name, value in config.items() if value is not None}


@contextmanager
def quietly():
    """Without the remarks of transformers."""
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def build(config, device="meta"):
    """The model that transformers makes of a config."""
    with quietly(), torch.device(device):
        description = AutoConfig.for_model(**config)
        return AutoModelForCausalLM.from_config(
            description, attn_implementation="eager", experts_implementation="eager"
        )


INSIDE = ("glm4v_moe_text", "glm4v_text", "mistral4", "muse_glimmer_text", "qwen3_vl_moe_text", "qwen3_vl_text")
"""Those that transformers builds without an output matrix, as the text decoders of models of text and images."""
TEXT_ALONE = [name for name in DECODERS if name not in INSIDE]
"""The others."""
NEEDED = {
    "deepseek_v2": {"num_experts_per_tok": 6},
    "dots1": {"n_routed_experts": 8, "n_shared_experts": 1, "num_experts_per_tok": 2},
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128, "num_experts": 4},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 16},
    "ministral": {"head_dim": 128},
    "nemotron": {"num_key_value_heads": 8},
}
"""What transformers cannot do without, though its own defaults lack it."""
