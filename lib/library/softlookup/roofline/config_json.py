"""What the config.json of a published model says of it: parameters, cache, operations for a token, layers.

The entries are those of Hugging Face's transformers, and so is what a missing one or null means. The model_types of
``softlookup.describing.read_layers.DECODERS`` are counted; others, and entries that are not understood, are refused by
name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from softlookup.describing.filled_entries import FilledEntries, decoder_defaults
from softlookup.describing.layer_sizes import DenseSizes, ExpertsSizes, ModelLayers, PlainSizes
from softlookup.describing.read_layers import DECODERS, read_layers
from softlookup.roofline.layer_counts import CacheRows, PartCounts, part_counts

Config = Mapping[str, Any]

SAME_AS = {"kimi_k2": "deepseek_v3"}
"""Names that published files give to an architecture which has another name in transformers."""

_NOT_COUNTED = frozenset(
    # Positions without parameters, activations, and numbers that are added, divided by or cut off at.
    "rope_theta rope_scaling rope_parameters rope_local_base_freq rope_interleave rope_interleaved "
    "max_position_embeddings initial_context_length hidden_act hidden_activation rms_norm_eps query_pre_attn_scalar "
    "attn_logit_softcapping final_logit_softcapping swiglu_alpha swiglu_limit "
    # How gates are made of the router's scores.
    "norm_topk_prob routed_scaling_factor scoring_func topk_method n_group topk_group "
    # How weights are stored and cut; layers that predict further tokens, which stand beside the model; its code.
    "quantization_config num_nextn_predict_layers num_mtp_layers auto_map "
    # The same of families that only counts read: factors, thresholds, kernels, and what training begins with.
    "partial_rotary_factor mlp_multipliers ssm_multipliers key_multiplier lm_head_multiplier embedding_multiplier "
    "attention_in_multiplier attention_out_multiplier ssm_in_multiplier ssm_out_multiplier attention_multiplier "
    "residual_multiplier logits_scaling logit_scale route_scale router_scaling_factor mup_enabled scale_emb "
    "dim_model_base scale_depth attn_scale attn_temperature_tuning floor_scale clip_qkv attention_value_scale "
    "layer_norm_eps layer_norm_epsilon norm_eps norm_epsilon mixer_rms_eps mamba_hidden_act mlp_hidden_act "
    "activation_sparsity_pattern altup_active_idx altup_coef_clip logits_soft_cap full_attn_alpha_factor "
    "full_attn_beta_factor linear_attn_alpha_factor linear_attn_beta_factor mlp_alpha_factor mlp_beta_factor "
    "moe_renormalize num_expert_group model_max_length original_max_position_embeddings rotary_dim moe_norm_min "
    "use_expert_bias expert_selection_fn enable_moe_fp32_combine kda_safe_gate kda_lower_bound hc_eps "
    "hc_sinkhorn_iters "
    "layer_rope_theta output_multiplier post_norm_eps qk_scale_factor "
    "hc_magnitude learnable_sink_init compress_rope_theta expert_dtype "
    "shared_expert_combination_strategy "
    "time_step_min time_step_max time_step_floor time_step_limit time_step_scale time_step_init_scheme "
    "rescale_prenorm_residual residual_in_fp32 chunk_size mamba_chunk_size block_size use_mamba_kernels use_mambapy "
    "use_associative_scan mamba_ssm_cache_dtype mamba_norm_before_gate moe_shared_expert_overlap num_logits_to_keep "
    "hidden_dropout resid_pdrop residual_dropout embedding_dropout z_loss_coefficient final_w_init_variance_scale "
    "w_init_variance_scale embedding_initializer_range mtp_layers_block_type mtp_loss_scaling_factor "
    "linear_allow_neg_eigval linear_a_log_min linear_a_log_max linear_dt_min linear_dt_max linear_dt_init_floor "
    "position_embedding_type rope_interleave input_jitter_noise".split()
)
"""Entries that change what is computed, but no count."""

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
    "Llama 2 7B": {
        "model_type": "llama",
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 32,
        "intermediate_size": 11_008,
        "vocab_size": 32_000,
        "tie_word_embeddings": False,
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
"""Nine published configs by the model's name, as facts: the entries that fix sizes and layers.

Source: the config.json beside each model's weights; tests build them with transformers and compare all counts.
"""


@dataclass(frozen=True)
class Sizes:
    """How many parameters a model has, by where they are.

    Attributes:
        embedding: The table of tokens, V times D.
        output: The output matrix; 0 where it is the table.
        attention: All that mixes positions: attention matrices with norms on queries and keys, biases and sinks, linear
            attention, state spaces, short convolutions.
        feed_forward: All feed-forward networks, routers and experts, and what else stands beside the mixers.
        norms: Norms of the residual stream.
        unchosen: Of the experts, those that one token does not pass through.
        added: Biases, gains and sinks, which are added or multiplied and stand in no matrix product.
        tables: Further tables that are looked up, as with embeddings for each layer.
    """

    embedding: int
    output: int
    attention: int
    feed_forward: int
    norms: int
    unchosen: int
    added: int
    tables: int = 0

    @property
    def total(self) -> int:
        """All parameters."""
        return self.embedding + self.output + self.attention + self.feed_forward + self.norms + self.tables

    @property
    def active(self) -> int:
        """Parameters that one token meets: all but the experts that are not chosen for it."""
        return self.total - self.unchosen

    @property
    def in_products(self) -> int:
        """Weights that one token is multiplied by, the output matrix among them and the table of tokens not."""
        looked_up = self.tables + (self.embedding if self.output else 0)
        return self.active - looked_up - self.norms - self.added


def layers(config: Config | ModelLayers) -> ModelLayers:
    """Read a config of any decoder that is known, layer by layer.

    Args:
        config: The entries of a config.json, or what this function has made of them. Of a model of text and images its
            ``text_config`` is read, with the word of the whole on whether the output matrix is the table of tokens.

    Returns:
        What each layer is made of.

    Raises:
        TypeError: If config or its text_config is no mapping.
        ValueError: If its model_type is unknown, an entry that is needed is missing, or an entry or its value is not
            understood; the message names it.
    """
    if isinstance(config, ModelLayers):
        return config
    model_type = config.get("model_type") if isinstance(config, Mapping) else None
    if isinstance(model_type, str):
        inner = config.get("text_config")
        if model_type not in DECODERS and isinstance(inner, Mapping):
            return replace(layers(_with_tie(config, inner)), wrapped_in=model_type)
        if model_type in decoder_defaults()["wrappers"]:
            raise TypeError(f"text_config is {inner!r}; wanted a mapping, the description of the text decoder")
        config = {**config, "model_type": SAME_AS.get(model_type, model_type)}
    entries = FilledEntries(config, DECODERS)
    model = read_layers(entries)
    # Tokens of one image see each other then; text is read as elsewhere.
    by_image = isinstance(config, Mapping) and config.get("use_bidirectional_attention") == "vision"
    entries.refuse_the_rest(_NOT_COUNTED | {"use_bidirectional_attention"} if by_image else _NOT_COUNTED)
    return model


def _with_tie(whole: Config, inner: Config) -> Config:
    """A text_config with the word of the whole on whether the output matrix is the table of tokens."""
    model_type, tied = whole["model_type"], whole.get("tie_word_embeddings")
    inner_kind = inner.get("model_type")
    if isinstance(inner_kind, str) and SAME_AS.get(inner_kind, inner_kind) not in DECODERS:
        return inner  # read next, and refused by its model_type
    if tied is None:
        tied = decoder_defaults()["wrappers"].get(model_type)
        if tied is None or inner.get("tie_word_embeddings", tied) != tied:
            raise ValueError(
                f"the description has no tie_word_embeddings beside text_config, and {model_type!r} does not say"
            )
    return {**inner, "tie_word_embeddings": tied}


def sizes(config: Config | ModelLayers) -> Sizes:
    """Count a model's parameters.

    Args:
        config: The entries of a config.json, as in ``QUOTED``, or what ``layers`` read of them.

    Returns:
        The counts by part, with their sums.

    Raises:
        ValueError: If the config cannot be read; the message names the entry.
    """
    model = layers(config)
    table = model.vocab_size * model.d_model
    mixers: list[PartCounts] = []
    networks = [part_counts(part, model.d_model) for part in model.beside]
    for layer in model.layers:
        for part in layer.parts:
            group = networks if isinstance(part, _NETWORKS) else mixers
            group.append(part_counts(part, model.d_model))
    return Sizes(
        embedding=table,
        output=0 if model.tied else table,
        attention=sum(counts.parameters for counts in mixers),
        feed_forward=sum(counts.parameters for counts in networks),
        norms=sum(layer.norms for layer in model.layers) + model.last_norms,
        unchosen=sum(counts.unchosen for counts in networks),
        added=sum(counts.added for counts in (*mixers, *networks)),
        tables=model.tables,
    )


_NETWORKS = (DenseSizes, ExpertsSizes, PlainSizes)


def _parts(model: ModelLayers) -> list[PartCounts]:
    return [part_counts(part, model.d_model) for layer in model.layers for part in layer.parts]


def cache_rows(config: Config | ModelLayers) -> list[CacheRows]:
    """The caches of all layers, in order.

    One for each layer with attention, and one for its indexer and for compressed positions, if it has them. ``config``
    is as in ``sizes``; ValueError, which names the entry, if it cannot be read.
    """
    return [rows for counts in _parts(layers(config)) for rows in counts.caches]


def cache_bytes(config: Config | ModelLayers, length: int, bytes_each: int = 2) -> int:
    """Count the bytes of the KV cache of one sequence.

    Args:
        config: As in ``sizes``.
        length: Tokens in the cache.
        bytes_each: Bytes of a number; 2 in half precision.

    Returns:
        Bytes, of all layers together.

    Raises:
        ValueError: If length is below 0 or bytes_each below 1, or the config cannot be read.
    """
    if length < 0 or bytes_each < 1:
        raise ValueError(f"wanted length >= 0 and bytes_each >= 1; got {length} and {bytes_each}")
    return bytes_each * sum(rows.numbers * rows.rows(length) for rows in cache_rows(config))


def state_numbers(config: Config | ModelLayers) -> int:
    """How many numbers the recurrent states of all layers hold, however long the text is.

    Args:
        config: As in ``sizes``.

    Returns:
        Numbers of linear attention, state spaces and short convolutions; 0 where there are none.

    Raises:
        ValueError: If the config cannot be read; the message names the entry.
    """
    return sum(counts.state for counts in _parts(layers(config)))


def token_operations(config: Config | ModelLayers, length: int) -> tuple[int, int]:
    """Count the floating-point operations of one decoding step, a multiply-add counted as two.

    A latent cache is attended to as it is, with the matrices on the query's side.

    Args:
        config: As in ``sizes``.
        length: Positions that the new token can attend to at most, its own included.

    Returns:
        Operations with weights, and operations of scores, mixing and recurrent states. Of a recurrent state its
        reading and writing count, a multiply-add for each entry; its decay does not.

    Raises:
        ValueError: If the config cannot be read; the message names the entry.
    """
    model = layers(config)
    states = sum(counts.state_products for counts in _parts(model))
    mixing = sum(rows.mixed * rows.attended(length) for rows in cache_rows(model))
    return 2 * sizes(model).in_products, 2 * (mixing + states)
