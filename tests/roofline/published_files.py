"""The config.json of published models as they are published, strays and all, but for rope_scaling and token ids."""

MAMBA = ["mamba"]

# fmt: off
FILES = {
    "Phi-4-mini 3.84B": {
        "architectures": ["Phi3ForCausalLM"], "attention_bias": False, "auto_map": {}, "embd_pdrop": 0.0,
        "full_attn_mod": 1, "hidden_act": "silu", "hidden_size": 3072, "intermediate_size": 8192,
        "interpolate_factor": 1, "lm_head_bias": False, "max_position_embeddings": 131072, "mlp_bias": False,
        "model_type": "phi3", "num_attention_heads": 24, "num_hidden_layers": 32, "num_key_value_heads": 8,
        "original_max_position_embeddings": 4096, "partial_rotary_factor": 0.75, "resid_pdrop": 0.0, "rms_norm_eps":
        1e-05, "rope_theta": 10000.0, "sliding_window": 262144, "tie_word_embeddings": True, "vocab_size": 200064,
    },
    "Qwen3-Next 80B": {
        "architectures": ["Qwen3NextForCausalLM"], "attention_bias": False, "decoder_sparse_step": 1,
        "full_attention_interval": 4, "head_dim": 256, "hidden_act": "silu", "hidden_size": 2048,
        "intermediate_size": 5120, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads":
        16, "linear_num_value_heads": 32, "linear_value_head_dim": 128, "max_position_embeddings": 262144,
        "mlp_only_layers": [], "model_type": "qwen3_next", "moe_intermediate_size": 512, "norm_topk_prob": True,
        "num_attention_heads": 16, "num_experts": 512, "num_experts_per_tok": 10, "num_hidden_layers": 48,
        "num_key_value_heads": 2, "output_router_logits": False, "partial_rotary_factor": 0.25, "rms_norm_eps":
        1e-06, "rope_theta": 10000000, "router_aux_loss_coef": 0.001, "shared_expert_intermediate_size": 512,
        "tie_word_embeddings": False, "use_sliding_window": False, "vocab_size": 151936,
    },
    "GLM-4.5 355B": {
        "architectures": ["Glm4MoeForCausalLM"], "attention_bias": True, "head_dim": 128, "hidden_act": "silu",
        "hidden_size": 5120, "partial_rotary_factor": 0.5, "intermediate_size": 12288, "max_position_embeddings":
        131072, "model_type": "glm4_moe", "moe_intermediate_size": 1536, "norm_topk_prob": True,
        "num_attention_heads": 96, "n_group": 1, "topk_group": 1, "n_routed_experts": 160, "n_shared_experts": 1,
        "routed_scaling_factor": 2.5, "num_experts_per_tok": 8, "first_k_dense_replace": 3, "num_hidden_layers": 92,
        "num_key_value_heads": 8, "rms_norm_eps": 1e-05, "rope_theta": 1000000, "num_nextn_predict_layers": 1,
        "tie_word_embeddings": False, "use_qk_norm": True, "vocab_size": 151552,
    },
    "DeepSeek-V2-Lite 15.7B": {
        "architectures": ["DeepseekV2ForCausalLM"], "attention_bias": False, "auto_map": {}, "aux_loss_alpha":
        0.001, "first_k_dense_replace": 1, "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 10944,
        "kv_lora_rank": 512, "max_position_embeddings": 163840, "model_type": "deepseek_v2",
        "moe_intermediate_size": 1408, "moe_layer_freq": 1, "n_group": 1, "n_routed_experts": 64,
        "n_shared_experts": 2, "norm_topk_prob": False, "num_attention_heads": 16, "num_experts_per_tok": 6,
        "num_hidden_layers": 27, "num_key_value_heads": 16, "pretraining_tp": 1, "q_lora_rank": None,
        "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "rms_norm_eps": 1e-06, "rope_theta": 10000,
        "routed_scaling_factor": 1.0, "scoring_func": "softmax", "seq_aux": True, "tie_word_embeddings": False,
        "topk_group": 1, "topk_method": "greedy", "v_head_dim": 128, "vocab_size": 102400,
    },
    "Kimi K2 1T": {
        "architectures": ["DeepseekV3ForCausalLM"], "attention_bias": False, "auto_map": {}, "aux_loss_alpha":
        0.001, "ep_size": 1, "first_k_dense_replace": 1, "hidden_act": "silu", "hidden_size": 7168,
        "intermediate_size": 18432, "kv_lora_rank": 512, "max_position_embeddings": 131072, "model_type": "kimi_k2",
        "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_group": 1, "n_routed_experts": 384,
        "n_shared_experts": 1, "norm_topk_prob": True, "num_attention_heads": 64, "num_experts_per_tok": 8,
        "num_hidden_layers": 61, "num_key_value_heads": 64, "num_nextn_predict_layers": 0, "pretraining_tp": 1,
        "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "quantization_config": {},
        "rms_norm_eps": 1e-06, "rope_theta": 50000.0, "routed_scaling_factor": 2.827, "scoring_func": "sigmoid",
        "seq_aux": True, "tie_word_embeddings": False, "topk_group": 1, "topk_method": "noaux_tc", "v_head_dim":
        128, "vocab_size": 163840,
    },
    "Llama 4 Scout 109B": {
        "architectures": ["Llama4ForConditionalGeneration"], "model_type": "llama4", "text_config":
        {"attention_bias": False, "attention_chunk_size": 8192, "for_llm_compressor": False, "head_dim": 128,
        "hidden_act": "silu", "hidden_size": 5120, "interleave_moe_layer_step": 1, "intermediate_size": 8192,
        "intermediate_size_mlp": 16384, "max_position_embeddings": 10485760, "model_type": "llama4_text",
        "no_rope_layers": [], "num_attention_heads": 40, "num_experts_per_tok": 1, "num_hidden_layers": 48,
        "num_key_value_heads": 8, "num_local_experts": 16, "output_router_logits": False, "rms_norm_eps": 1e-05,
        "rope_theta": 500000.0, "router_aux_loss_coef": 0.001, "router_jitter_noise": 0.0, "use_qk_norm": True,
        "vocab_size": 202048}, "vision_config": {},
    },
    "Nemotron Nano v2 9B": {
        "architectures": ["NemotronHForCausalLM"], "attention_bias": False, "auto_map": {}, "chunk_size": 128,
        "conv_kernel": 4, "head_dim": 128, "hidden_dropout": 0.0, "hidden_size": 4480, "hybrid_override_pattern":
        "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-", "intermediate_size": 15680,
        "layer_norm_epsilon": 1e-05, "mamba_head_dim": 80, "mamba_hidden_act": "silu", "mamba_num_heads": 128,
        "mamba_proj_bias": False, "max_position_embeddings": 131072, "mlp_bias": False, "mlp_hidden_act": "relu2",
        "model_type": "nemotron_h", "n_groups": 8, "num_attention_heads": 40, "num_hidden_layers": 56,
        "num_key_value_heads": 8, "num_logits_to_keep": 1, "rescale_prenorm_residual": True, "residual_in_fp32":
        False, "rms_norm_eps": 1e-05, "sliding_window": None, "ssm_state_size": 128, "tie_word_embeddings": False,
        "time_step_floor": 0.0001, "time_step_limit": [0.0, float("inf")], "time_step_max": 0.1, "time_step_min":
        0.001, "time_step_rank": 256, "use_bias": False, "use_conv_bias": True, "use_mamba_kernels": True,
        "vocab_size": 131072, "expand": 2,
    },
    "Granite 4 H tiny 6.9B": {
        "architectures": ["GraniteMoeHybridForCausalLM"], "attention_bias": False, "attention_multiplier":
        0.0078125, "embedding_multiplier": 12, "hidden_act": "silu", "hidden_size": 1536, "init_method": "mup",
        "intermediate_size": 512, "layer_types": [*MAMBA * 5, "attention", *[*MAMBA * 9, "attention"] * 3, *MAMBA *
        4], "logits_scaling": 6, "mamba_chunk_size": 256, "mamba_conv_bias": True, "mamba_d_conv": 4,
        "mamba_d_head": 64, "mamba_d_state": 128, "mamba_expand": 2, "mamba_n_groups": 1, "mamba_n_heads": 48,
        "mamba_proj_bias": False, "max_position_embeddings": 131072, "model_type": "granitemoehybrid",
        "normalization_function": "rmsnorm", "num_attention_heads": 12, "num_experts_per_tok": 6,
        "num_hidden_layers": 40, "num_key_value_heads": 4, "num_local_experts": 64, "output_router_logits": False,
        "position_embedding_type": "nope", "residual_multiplier": 0.22, "rms_norm_eps": 1e-05, "rope_theta": 10000,
        "router_aux_loss_coef": 0.0001, "shared_intermediate_size": 1024, "tie_word_embeddings": True, "vocab_size":
        100352,
    },
    "LFM2 1.2B": {
        "architectures": ["Lfm2ForCausalLM"], "block_auto_adjust_ff_dim": True, "block_dim": 2048, "block_ff_dim":
        12288, "block_ffn_dim_multiplier": 1.0, "block_mlp_init_scale": 1.0, "block_multiple_of": 256,
        "block_norm_eps": 1e-05, "block_out_init_scale": 1.0, "block_use_swiglu": True, "block_use_xavier_init":
        True, "conv_L_cache": 3, "conv_bias": False, "conv_dim": 2048, "conv_dim_out": 2048, "conv_use_xavier_init":
        True, "hidden_size": 2048, "layer_types": ["conv", "conv", "full_attention", "conv", "conv",
        "full_attention", "conv", "conv", "full_attention", "conv", "full_attention", "conv", "full_attention",
        "conv", "full_attention", "conv"], "max_position_embeddings": 128000, "model_type": "lfm2", "norm_eps":
        1e-05, "num_attention_heads": 32, "num_heads": 32, "num_hidden_layers": 16, "num_key_value_heads": 8,
        "rope_theta": 1000000.0, "theta": 1000000.0, "tie_embedding": True, "use_pos_enc": True, "vocab_size":
        65536,
    },
    "Kimi Linear 48B": {
        "architectures": ["KimiLinearForCausalLM"], "auto_map": {}, "first_k_dense_replace": 1, "head_dim": 72,
        "hidden_act": "silu", "hidden_size": 2304, "intermediate_size": 9216, "kv_lora_rank": 512,
        "linear_attn_config": {"full_attn_layers": [4, 8, 12, 16, 20, 24, 27], "head_dim": 128, "kda_layers": [1, 2,
        3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26], "num_heads": 32,
        "short_conv_kernel_size": 4}, "mla_use_nope": True, "model_max_length": 1048576, "model_type":
        "kimi_linear", "moe_intermediate_size": 1024, "moe_layer_freq": 1, "moe_renormalize": True,
        "moe_router_activation_func": "sigmoid", "num_attention_heads": 32, "num_expert_group": 1, "num_experts":
        256, "num_experts_per_token": 8, "num_hidden_layers": 27, "num_key_value_heads": 32,
        "num_nextn_predict_layers": 0, "num_shared_experts": 1, "q_lora_rank": None, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "routed_scaling_factor": 2.446,
        "tie_word_embeddings": False, "topk_group": 1, "use_grouped_topk": True, "v_head_dim": 128, "vocab_size":
        163840,
    },
    "OLMo 2 7B": {
        "architectures": ["Olmo2ForCausalLM"], "attention_bias": False, "hidden_act": "silu", "hidden_size": 4096,
        "intermediate_size": 11008, "max_position_embeddings": 4096, "model_type": "olmo2", "num_attention_heads":
        32, "num_hidden_layers": 32, "num_key_value_heads": 32, "rms_norm_eps": 1e-06, "rope_theta": 500000,
        "tie_word_embeddings": False, "vocab_size": 100352,
    },
    "MiniMax-M2 230B": {
        "architectures": ["MiniMaxM2ForCausalLM"], "attn_type_list": [1] * 62, "head_dim": 128, "hidden_act":
        "silu", "hidden_size": 3072, "intermediate_size": 1536, "layernorm_full_attention_beta": 1.0,
        "max_position_embeddings": 196608, "model_type": "minimax_m2", "mtp_transformer_layers": 1,
        "num_attention_heads": 48, "num_experts_per_tok": 8, "num_hidden_layers": 62, "num_key_value_heads": 8,
        "num_local_experts": 256, "num_mtp_modules": 3, "output_router_logits": False, "qk_norm_type": "per_layer",
        "rms_norm_eps": 1e-06, "rope_theta": 5000000, "rotary_dim": 64, "router_aux_loss_coef": 0.001,
        "router_jitter_noise": 0.0, "scoring_func": "sigmoid", "shared_intermediate_size": 0, "sliding_window":
        None, "tie_word_embeddings": False, "use_mtp": True, "use_qk_norm": True, "use_routing_bias": True,
        "vocab_size": 200064,
    },
    "Falcon-H1 0.5B": {
        "architectures": ["FalconH1ForCausalLM"], "attention_bias": False, "attention_in_multiplier": 1.0,
        "attention_out_multiplier": 1.0, "attn_layer_indices": None, "embedding_multiplier": 5.6, "head_dim": 64,
        "hidden_act": "silu", "hidden_size": 1024, "intermediate_size": 2048, "key_multiplier": 0.39,
        "lm_head_multiplier": 0.03, "mamba_chunk_size": 128, "mamba_conv_bias": True, "mamba_d_conv": 4,
        "mamba_d_head": 64, "mamba_d_ssm": 1536, "mamba_d_state": 128, "mamba_expand": 2, "mamba_n_groups": 1,
        "mamba_n_heads": 24, "mamba_norm_before_gate": False, "mamba_proj_bias": False, "mamba_rms_norm": False,
        "mamba_use_mlp": True, "max_position_embeddings": 16384, "mlp_bias": False, "mlp_expansion_factor": 8,
        "mlp_multipliers": [0.8, 0.3], "model_type": "falcon_h1", "num_attention_heads": 8, "num_hidden_layers": 36,
        "num_key_value_heads": 2, "num_logits_to_keep": 1, "projectors_bias": False, "rms_norm_eps": 1e-05,
        "rope_theta": 100000000000.0, "ssm_in_multiplier": 1.25, "ssm_multipliers": [0.3, 0.2, 0.1, 0.4, 0.5],
        "ssm_out_multiplier": 0.2, "tie_word_embeddings": False, "vocab_size": 32784,
    },
    "DeepSeek-V3.2 671B": {
        "architectures": ["DeepseekV3ForCausalLM"], "attention_bias": False, "auto_map": {}, "aux_loss_alpha":
        0.001, "ep_size": 1, "first_k_dense_replace": 3, "hidden_act": "silu", "hidden_size": 7168,
        "intermediate_size": 18432, "kv_lora_rank": 512, "max_position_embeddings": 131072, "model_type":
        "deepseek_v32", "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_group": 8, "n_routed_experts": 256,
        "n_shared_experts": 1, "norm_topk_prob": True, "num_attention_heads": 128, "num_experts_per_tok": 8,
        "num_hidden_layers": 61, "num_key_value_heads": 128, "num_nextn_predict_layers": 1, "pretraining_tp": 1,
        "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "quantization_config": {},
        "rms_norm_eps": 1e-06, "rope_theta": 50000.0, "routed_scaling_factor": 2.827, "scoring_func": "sigmoid",
        "seq_aux": True, "tie_word_embeddings": False, "topk_group": 4, "topk_method": "noaux_tc", "v_head_dim":
        128, "vocab_size": 129280, "index_head_dim": 128, "index_n_heads": 64, "index_topk": 2048,
    },
}
# fmt: on
