"""Reads the layers of the families of ``families.py`` from a config.json."""

from softlookup.describing.families import FAMILIES, DecoderFamily
from softlookup.describing.filled_entries import FilledEntries
from softlookup.describing.layer_kinds import Types, window_size
from softlookup.describing.layer_sizes import (
    AttentionSizes,
    ConvolutionSizes,
    DenseSizes,
    ExpertsSizes,
    IndexerSizes,
    LatentSizes,
    LayerSizes,
    MixerSizes,
    ModelLayers,
    NetworkSizes,
)

OLD_TYPES = {
    "attention": "full_attention",
    "mamba": "linear_attention",
    "deepseek_sparse_attention": "indexed_attention",
}
"""Names of layer types in older files."""


def ties_output(entries: FilledEntries) -> bool:
    """Whether the output matrix is the table of tokens, as the file or its model_type says."""
    if entries.model_type.startswith("lfm2") and entries.says("tie_embedding"):
        entries.get("tie_word_embeddings")
        return entries.flag("tie_embedding", False)
    if not entries.knows("tie_word_embeddings") and entries.get("tie_word_embeddings") is None:
        raise ValueError(f"the description has no tie_word_embeddings, and {entries.model_type!r} has no default")
    return entries.flag("tie_word_embeddings", False)


_OF_SOME_LAYERS = (
    "intermediate_size moe_intermediate_size num_experts num_local_experts n_routed_experts moe_num_experts "
    "num_experts_per_tok num_experts_per_token moe_topk moe_k n_shared_experts num_shared_experts "
    "moe_num_shared_experts shared_expert_intermediate_size shared_intermediate_size prefix_dense_intermediate_size "
    "num_attention_heads intermediate_size_mlp dense_intermediate_size prefix_dense_sliding_window_pattern "
    "num_key_value_heads head_dim attention_bias mlp_bias sliding_window attention_chunk_size sliding_window_pattern "
    "max_window_layers use_sliding_window global_attn_every_n_layers layer_group_size no_rope_layers "
    "no_rope_layer_interval interleave_moe_layer_step first_k_dense_replace decoder_sparse_step mlp_only_layers "
    "attn_layer_indices full_attn_idxs conv_L_cache conv_bias index_n_heads index_head_dim index_topk index_block_size "
    "index_topk_blocks "
    "index_local_blocks linear_conv_kernel_dim linear_key_head_dim linear_num_key_heads linear_num_value_heads "
    "linear_value_head_dim linear_head_dim linear_num_heads short_conv_kernel_size kv_lora_rank q_lora_rank "
    "qk_nope_head_dim qk_rope_head_dim v_head_dim use_qk_norm qk_layernorm mamba_d_conv mamba_d_head mamba_d_state "
    "mamba_expand mamba_n_groups mamba_n_heads mamba_conv_bias mamba_proj_bias indexer_types"
).split()
"""Entries that count where a layer of their kind is, and nowhere else."""


def usual_layers(entries: FilledEntries) -> ModelLayers:
    """Read a config of one of ``FAMILIES``; the caller refuses the entries that are left."""
    family = FAMILIES[entries.model_type]
    n_layers, d_model = entries.size("num_hidden_layers"), entries.size("hidden_size")
    types = layer_types(entries, family.types, n_layers)
    sparse = family.sparse(entries, n_layers) if family.sparse else [False] * n_layers
    _refuse_what_is_not_built(entries, family)
    norm = {"rms": 1, "layer": 2, "none": 0}[family.norm] * d_model
    vocab_size = entries.size("vocab_size")
    layers = []
    for layer, (layer_type, is_sparse) in enumerate(zip(types, sparse, strict=True)):
        network = experts(entries, family) if is_sparse else _dense(entries, family, d_model)
        norms = family.norms + (family.sparse_norms if is_sparse else 0)
        norms += 2 if family.more_norms is not None and entries.switch(family.more_norms) else 0
        norms -= 1 if family.parallel is not None and entries.switch(family.parallel) else 0
        layers.append(LayerSizes((_mixer(entries, family, layer_type, layer), network), norms * norm))
    rotary = () if family.rotary is None else tuple(family.rotary(entries, n_layers))
    output_bias = vocab_size if entries.switch(family.output_switch) else 0
    for name in _OF_SOME_LAYERS:
        if entries.knows(name):
            entries.get(name)
    return ModelLayers(
        model_type=entries.model_type,
        d_model=d_model,
        vocab_size=vocab_size,
        tied=ties_output(entries),
        layers=tuple(layers),
        last_norms=norm + output_bias,
        rotary=rotary,
    )


def _refuse_what_is_not_built(entries: FilledEntries, family: DecoderFamily) -> None:
    """Refuse values with which transformers builds a model that is not what the entry says."""
    if family.latent:
        entries.get("qk_head_dim")
    if family.sparse is not None:
        entries.only(mlp_bias=False)
    if entries.model_type in ("bailing_hybrid", "kimi_linear"):
        entries.only(tie_word_embeddings=False)
    if entries.model_type == "helium":
        entries.only(hidden_size=entries.size("head_dim") * entries.size("num_attention_heads"))


def layer_types(entries: FilledEntries, otherwise: Types, n_layers: int) -> list[str]:
    """The types of the layers, under their newest names; ``otherwise`` says them where layer_types does not."""
    if entries.get("layer_types") is None:
        return otherwise(entries, n_layers)
    for pattern in ("full_attention_interval", "sliding_window_pattern", "_sliding_window_pattern"):
        entries.get(pattern)  # the list goes before
    return [OLD_TYPES.get(str(name), str(name)) for name in entries.for_each("layer_types", n_layers)]


def _mixer(entries: FilledEntries, family: DecoderFamily, layer_type: str, layer: int) -> MixerSizes:
    if layer_type == "linear_attention" and family.linear is not None:
        return family.linear(entries)
    if layer_type == "conv" and entries.knows("conv_L_cache"):
        return ConvolutionSizes(entries.size("conv_L_cache"), entries.flag("conv_bias", False))
    if family.latent and layer_type in ("full_attention", "indexed_attention"):
        return latent(entries, family, layer_type == "indexed_attention", layer)
    window = None if family.window is None else window_size(entries, family.window)
    if layer_type == "sliding_attention" and entries.knows("sliding_window"):
        if (window := window_size(entries)) is None:
            off = " (use_sliding_window is false)" if entries.knows("use_sliding_window") else ""
            raise ValueError(f"layer {layer} has sliding_attention, but there is no sliding_window{off}; give its size")
    elif layer_type == "chunked_attention" and entries.knows("attention_chunk_size"):
        window = entries.size("attention_chunk_size")
    elif layer_type != "full_attention" and not (
        layer_type == "minimax_m3_sparse" and entries.knows("index_topk_blocks")
    ):
        raise ValueError(f"layer_types has {layer_type}, which is not understood for {entries.model_type!r}")
    return attention(entries, family, layer_type, window)


def attention(
    entries: FilledEntries, family: DecoderFamily, layer_type: str = "full_attention", window: int | None = None
) -> AttentionSizes:
    """Read the sizes of attention with keys and values.

    ``family`` is the row of the config's family, ``window`` the number of positions that a token attends to at most.
    """
    n, d_model = entries.size("num_attention_heads"), entries.size("hidden_size")
    k = entries.maybe("num_key_value_heads") or n
    width = entries.size("head_dim") if entries.has_default("head_dim") else entries.maybe("head_dim") or d_model // n
    # transformers rounds the width of some down.
    if not entries.get("head_dim") and d_model % n and "glm4" not in entries.model_type:
        raise ValueError(f"hidden_size {d_model} does not divide by {n} heads; give the heads' width as head_dim")
    if entries.model_type == "mimo_v2_flash" and layer_type == "sliding_attention":
        k *= 2
    if n % k:
        raise ValueError(f"num_attention_heads {n} does not divide by num_key_value_heads {k}")
    indexer = None
    if layer_type == "minimax_m3_sparse":
        block = entries.size("index_block_size")
        chosen = entries.size("index_topk_blocks") * block
        indexer = IndexerSizes(entries.size("index_n_heads"), entries.size("index_head_dim"), chosen)
    value_width = (entries.maybe("v_head_dim") if entries.knows("v_head_dim") else None) or width
    with_gains = family.gains != "none" and (family.gains_switch is None or entries.switch(family.gains_switch))
    return AttentionSizes(
        heads=n,
        kv_heads=k,
        width=width,
        value_width=value_width,
        window=window,
        chunked=layer_type == "chunked_attention",
        qkv_bias=entries.switch(family.qkv_bias),
        output_bias=entries.switch(family.output_bias),
        gains=_gains(family, n, k, width) if with_gains else 0,
        sinks=layer_type in family.sinks,
        gate={"none": 0, "head": n}.get(family.gate, n * value_width),
        gate_bias=family.gate == "query",
        indexer=indexer,
    )


def _gains(family: DecoderFamily, n: int, k: int, width: int) -> int:
    if family.gains == "each":
        return (n + k) * width
    return 2 * width * (2 if family.norm == "layer" else 1)


def latent(entries: FilledEntries, family: DecoderFamily, indexed: bool, layer: int) -> LatentSizes:
    """Read the sizes of latent attention in one layer; ``indexed`` where an indexer chooses positions."""
    n, plain, rotary = (entries.size(name) for name in ("num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim"))
    entries.only(qk_head_dim=plain + rotary)
    entries.get("head_dim")  # what rotary positions are made for
    entries.get("num_key_value_heads")  # latent attention has no groups
    indexer = None
    if indexed:
        indexer = IndexerSizes(
            heads=entries.size("index_n_heads"),
            width=entries.size("index_head_dim"),
            chosen=entries.size("index_topk"),
            chooses=_choosing(entries, entries.size("num_hidden_layers"))[layer],
        )
    value = entries.maybe("v_head_dim") or entries.size("hidden_size") // n
    return LatentSizes(
        heads=n,
        width=entries.size("kv_lora_rank"),
        rotary=rotary,
        query=entries.maybe("q_lora_rank") if entries.knows("q_lora_rank") else None,
        plain=plain,
        value=value,
        bias=entries.switch("attention_bias"),
        gate={"none": 0, "head": n, "value": n * value}[family.gate],
        indexer=indexer,
    )


def _choosing(entries: FilledEntries, n_layers: int) -> list[bool]:
    """Which layers have an indexer; the others use the choice of an earlier layer."""
    if not entries.knows("indexer_types"):
        return [True] * n_layers
    every_nth = entries.maybe("index_topk_freq") or 1
    offset = entries.size("index_skip_topk_offset", 2, least=0) if entries.says("index_skip_topk_offset") else 2
    pattern = entries.get("index_topk_pattern")
    if entries.get("indexer_types") is not None:
        return [name == "full" for name in entries.for_each("indexer_types", n_layers)]
    if pattern is not None:
        if not isinstance(pattern, str) or len(pattern) != n_layers or set(pattern) - {"F", "S"}:
            raise ValueError(f"index_topk_pattern is {pattern!r}; wanted {n_layers} letters, F or S")
        return [letter == "F" for letter in pattern]
    return [max(layer - offset + 1, 0) % every_nth == 0 for layer in range(n_layers)]


def _dense(entries: FilledEntries, family: DecoderFamily, d_model: int) -> NetworkSizes:
    hidden = entries.size(family.hidden)
    if entries.model_type == "lfm2":
        hidden = _adjusted(entries, hidden)
    return DenseSizes(
        hidden=hidden,
        gated=family.gated,
        bias=entries.switch(family.hidden_bias),
        added=family.added(d_model, hidden),
    )


def _adjusted(entries: FilledEntries, hidden: int) -> int:
    """Round the width as LFM2 does: two thirds, times a factor, up to a multiple."""
    hidden = entries.maybe("block_ff_dim") or hidden
    if not entries.flag("block_auto_adjust_ff_dim", True):
        return hidden
    hidden = int(2 * hidden / 3)
    if entries.get("block_ffn_dim_multiplier") is None:
        return hidden
    multiple = entries.size("block_multiple_of")
    return -(-int(entries.number("block_ffn_dim_multiplier", 1.0) * hidden) // multiple) * multiple


def experts(entries: FilledEntries, family: DecoderFamily) -> NetworkSizes:
    """Read the sizes of a layer with experts."""
    total = entries.size(entries.first("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"))
    chosen = entries.size(entries.first("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k"))
    if chosen > total:
        raise ValueError(f"num_experts_per_tok is {chosen}; wanted at most {total}, the number of experts")
    hidden, shared = entries.size(family.expert_hidden), 0
    if family.shared is not None:
        least = 1 if entries.model_type == "hy_v3" else 0  # there 0 means the width of a dense network
        shared = entries.maybe(family.shared, least=least) or 0
        shared *= hidden if family.shared.startswith(("n_", "num_", "moe_num_")) else 1
    return ExpertsSizes(
        total=total,
        chosen=chosen,
        hidden=hidden,
        gated=family.gated,
        shared=shared,
        shared_gate=family.shared_gate,
        bias=family.expert_bias,
        router_added=total if family.balance else 0,
    )
