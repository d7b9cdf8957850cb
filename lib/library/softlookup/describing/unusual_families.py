"""Families whose layers a row of ``families.py`` does not describe: a function for each."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from softlookup.describing import layer_kinds as kinds
from softlookup.describing.families import DecoderFamily
from softlookup.describing.filled_entries import FilledEntries
from softlookup.describing.layer_sizes import (
    AttentionSizes,
    CompressedSizes,
    DenseSizes,
    ExpertsSizes,
    IndexerSizes,
    LayerSizes,
    Mamba1Sizes,
    Mamba2Sizes,
    ModelLayers,
    PartSizes,
    PlainSizes,
    RecurrenceSizes,
)
from softlookup.describing.linear_mixers import mamba2
from softlookup.describing.usual_layers import OLD_TYPES, attention, experts, latent, layer_types, ties_output

_NO_BIAS = DecoderFamily(qkv_bias=False, output_bias=False)


def _model(entries: FilledEntries, layers: list[LayerSizes], last_norms: int, **more: Any) -> ModelLayers:
    return ModelLayers(
        model_type=entries.model_type,
        d_model=entries.size("hidden_size"),
        vocab_size=entries.size("vocab_size"),
        tied=ties_output(entries),
        layers=tuple(layers),
        last_norms=last_norms,
        **more,
    )


def _step_rank(entries: FilledEntries, name: str, d_model: int) -> int:
    return -(-d_model // 16) if entries.get(name, "auto") == "auto" else entries.size(name)


def _mamba(entries: FilledEntries) -> ModelLayers:
    d_model, n_layers = entries.size("hidden_size"), entries.size("num_hidden_layers")
    channels = entries.size("expand") * d_model
    entries.only(intermediate_size=channels)
    mixer = Mamba1Sizes(
        channels=channels,
        state=entries.size("state_size"),
        rank=_step_rank(entries, "time_step_rank", d_model),
        kernel=entries.size("conv_kernel"),
        convolution_bias=entries.flag("use_conv_bias", True),
        bias=entries.flag("use_bias", False),
    )
    return _model(entries, [LayerSizes((mixer,), d_model)] * n_layers, d_model)


def _mamba2(entries: FilledEntries) -> ModelLayers:
    d_model, n_layers = entries.size("hidden_size"), entries.size("num_hidden_layers")
    heads, width = entries.size("num_heads"), entries.size("head_dim")
    if heads * width != entries.size("expand") * d_model:
        raise ValueError(f"num_heads {heads} times head_dim {width} is not expand times hidden_size {d_model}")
    mixer = Mamba2Sizes(
        heads=heads,
        width=width,
        state=entries.size("state_size"),
        groups=entries.size("n_groups"),
        kernel=entries.size("conv_kernel"),
        convolution_bias=entries.flag("use_conv_bias", True),
        bias=entries.flag("use_bias", False),
    )
    entries.get("time_step_rank")  # Mamba-2 has no such projection
    return _model(entries, [LayerSizes((mixer,), d_model)] * n_layers, d_model)


def _falcon_h1(entries: FilledEntries) -> ModelLayers:
    d_model, n_layers = entries.size("hidden_size"), entries.size("num_hidden_layers")
    parts = (
        attention(entries, DecoderFamily()),
        mamba2(entries),
        DenseSizes(entries.size("intermediate_size"), bias=entries.flag("mlp_bias", False)),
    )
    entries.only(projectors_bias=False, mamba_proj_bias=False)
    entries.get("mamba_expand")  # where the width of the state is an entry of its own
    return _model(entries, [LayerSizes(parts, 2 * d_model)] * n_layers, d_model)


def _jamba(entries: FilledEntries) -> ModelLayers:
    d_model, n_layers = entries.size("hidden_size"), entries.size("num_hidden_layers")
    mamba = Mamba1Sizes(
        channels=entries.size("mamba_expand") * d_model,
        state=entries.size("mamba_d_state"),
        rank=_step_rank(entries, "mamba_dt_rank", d_model),
        kernel=entries.size("mamba_d_conv"),
        convolution_bias=entries.flag("mamba_conv_bias", True),
        bias=False,
        norms=True,
    )
    entries.only(mamba_proj_bias=False)
    softmax = attention(entries, _NO_BIAS)
    routed = experts(entries, DecoderFamily(expert_hidden="intermediate_size"))
    dense = DenseSizes(entries.size("intermediate_size"))
    has_experts = entries.size("num_experts") > 1
    period, offset = entries.size("attn_layer_period"), entries.size("attn_layer_offset", least=0)
    every, first = entries.size("expert_layer_period"), entries.size("expert_layer_offset", least=0)
    layers = [
        LayerSizes(
            (
                softmax if layer % period == offset else mamba,
                routed if has_experts and layer % every == first else dense,
            ),
            2 * d_model,
        )
        for layer in range(n_layers)
    ]
    return _model(entries, layers, d_model)


_LETTERS = {"M": "linear_attention", "E": "moe", "*": "full_attention", "-": "mlp"}


def _nemotron_h(entries: FilledEntries) -> ModelLayers:
    d_model = entries.size("hidden_size")
    types = entries.names("layers_block_type")
    pattern = entries.get("hybrid_override_pattern", "ME*-")
    if types is None:
        types = list(pattern) if isinstance(pattern, str) else [repr(pattern)]
    entries.get("num_hidden_layers")  # the list of types says it
    types = [_LETTERS.get(name, OLD_TYPES.get(name, name)) for name in types]
    if strange := sorted(set(types) - set(_LETTERS.values())):
        raise ValueError(
            f"the layers' types have {', '.join(strange)}; this library has {', '.join(_LETTERS.values())}"
        )
    bias = entries.flag("mlp_bias", False)
    if bias and "moe" in types:
        raise ValueError("mlp_bias is True; this library has experts without biases alone")
    routed = ExpertsSizes(
        total=entries.size("n_routed_experts"),
        chosen=entries.size("num_experts_per_tok"),
        hidden=entries.size("moe_intermediate_size"),
        gated=False,
        shared=entries.size("moe_shared_expert_intermediate_size"),
        latent=entries.maybe("moe_latent_size"),
    )
    entries.only(tie_word_embeddings=False, attention_bias=False)  # transformers builds neither here
    entries.get("n_shared_experts")  # their width together is an entry of its own
    entries.get("expand")  # the heads' number and width say it
    parts: dict[str, PartSizes] = {
        "linear_attention": Mamba2Sizes(
            heads=entries.size("mamba_num_heads"),
            width=entries.size("mamba_head_dim"),
            state=entries.size("ssm_state_size"),
            groups=entries.size(_either(entries, "mamba_n_groups", "n_groups")),
            kernel=entries.size(_either(entries, "mamba_d_conv", "conv_kernel")),
            convolution_bias=entries.flag(_either(entries, "mamba_conv_bias", "use_conv_bias"), True),
            bias=entries.flag("use_bias", False),
        ),
        "full_attention": attention(entries, _NO_BIAS, window=entries.maybe("sliding_window")),
        "mlp": DenseSizes(entries.size("intermediate_size"), gated=False, bias=bias),
        "moe": routed,
    }
    entries.get("mamba_proj_bias")  # transformers reads use_bias
    return _model(entries, [LayerSizes((parts[name],), d_model) for name in types], d_model)


def _either(entries: FilledEntries, old: str, new: str) -> str:
    return old if entries.says(old) else new


def _recurrent_gemma(entries: FilledEntries) -> ModelLayers:
    d_model, n_layers = entries.size("hidden_size"), entries.size("num_hidden_layers")
    width = entries.maybe("lru_width") or d_model
    parts: dict[str, PartSizes] = {
        "attention": attention(
            entries, DecoderFamily(output_bias=True), "sliding_attention", entries.size("attention_window_size")
        ),
        "recurrent": RecurrenceSizes(width, entries.size("num_attention_heads"), entries.size("conv1d_width")),
    }
    if width % entries.size("num_attention_heads"):
        raise ValueError(
            f"lru_width {width} does not divide by the {entries['num_attention_heads']} blocks of its gates"
        )
    network = DenseSizes(entries.size("intermediate_size") // 2, bias=True)
    pattern = entries.names("block_types")
    if not pattern or set(pattern) - set(parts):
        raise ValueError(f"block_types is {pattern!r}; wanted a list of {' and '.join(parts)}")
    layers = [LayerSizes((parts[pattern[i % len(pattern)]], network), 2 * d_model) for i in range(n_layers)]
    return _model(entries, layers, d_model)


def _shared_caches(entries: FilledEntries, n_layers: int) -> list[bool]:
    """Which layers make keys and values of their own: all but the last few."""
    first = n_layers - entries.size("num_kv_shared_layers", least=0)
    return [layer < first for layer in range(n_layers)]


def _gemma_attention(
    entries: FilledEntries, layer_type: str, width: int, k: int, *, own_cache: bool, own_values: bool = True
) -> AttentionSizes:
    n, bias = entries.size("num_attention_heads"), entries.flag("attention_bias", False)
    if n % k:
        raise ValueError(f"num_attention_heads {n} does not divide by num_key_value_heads {k}")
    return AttentionSizes(
        heads=n,
        kv_heads=k,
        width=width,
        value_width=width,
        window=entries.size("sliding_window") if layer_type == "sliding_attention" else None,
        qkv_bias=bias,
        output_bias=bias,
        gains=2 * width if own_cache else width,
        own_values=own_values,
        own_cache=own_cache,
    )


def _tables(entries: FilledEntries, d_model: int, n_layers: int) -> dict[str, Any]:
    """The embeddings for each layer, and the projection beside them."""
    width = entries.maybe("hidden_size_per_layer_input", least=0)
    if not width:
        return {}
    wide = n_layers * width
    return {
        "tables": entries.size("vocab_size_per_layer_input") * wide,
        "beside": (PlainSizes("projection to per-layer embeddings", d_model * wide, width),),
    }


def _by_window(entries: FilledEntries, every: int, n_layers: int) -> list[str]:
    types = layer_types(entries, kinds.every(every), n_layers)
    if strange := sorted(set(types) - {"full_attention", "sliding_attention"}):
        raise ValueError(f"layer_types has {', '.join(strange)}, which is not understood for {entries.model_type!r}")
    return types


def _gemma3n(entries: FilledEntries) -> ModelLayers:
    d_model, n_layers, m = (entries.size(n) for n in ("hidden_size", "num_hidden_layers", "altup_num_inputs"))
    hidden = entries["intermediate_size"]
    widths = list(hidden) if isinstance(hidden, list | tuple) else [entries.size("intermediate_size")] * n_layers
    if len(widths) != n_layers:
        raise ValueError(f"intermediate_size is a list of {len(widths)}; wanted {n_layers}, a width for each layer")
    rank, inner = entries.size("laurel_rank"), entries.size("hidden_size_per_layer_input")
    beside = PlainSizes(
        "low-rank and per-layer branches, mixed streams",
        2 * d_model * (rank + inner) + m * (m * m + m + d_model),
        4 * d_model,
        (m * m + m) * d_model,
    )
    types, owns = _by_window(entries, 5, n_layers), _shared_caches(entries, n_layers)
    layers = [
        LayerSizes(
            (
                _gemma_attention(
                    entries, types[i], entries.size("head_dim"), entries.size("num_key_value_heads"), own_cache=owns[i]
                ),
                DenseSizes(widths[i]),
                beside,
            ),
            4 * d_model,
        )
        for i in range(n_layers)
    ]
    more = _tables(entries, d_model, n_layers)
    more["beside"] += (PlainSizes("projections of the streams", 2 * (m - 1) * d_model * d_model),)
    entries.flag("altup_correct_scale", True)
    return _model(entries, layers, d_model, **more)


def _gemma4(entries: FilledEntries) -> ModelLayers:
    d_model, n_layers = entries.size("hidden_size"), entries.size("num_hidden_layers")
    types, owns = _by_window(entries, 6, n_layers), _shared_caches(entries, n_layers)
    types[-1] = "full_attention"  # as transformers sets it
    same_values = entries.switch("attention_k_eq_v")
    hidden, inner = entries.size("intermediate_size"), entries.maybe("hidden_size_per_layer_input", least=0)
    changes = _per_layer(entries, types, same_values)
    layers = []
    for i, layer_type in enumerate(types):
        width = changes.get(i, {}).get("head_dim", entries.size("head_dim"))
        k = changes.get(i, {}).get("num_key_value_heads", entries.size("num_key_value_heads"))
        mixer = _gemma_attention(
            entries,
            layer_type,
            width,
            k,
            own_cache=owns[i],
            own_values=not (same_values and layer_type == "full_attention"),
        )
        wider = 2 if entries.switch("use_double_wide_mlp") and not owns[i] else 1
        parts: list[PartSizes] = [mixer, DenseSizes(wider * hidden)]
        norms = 4
        for name in ("num_experts", "top_k_experts", "moe_intermediate_size"):
            entries.get(name)
        if entries.switch("enable_moe_block"):
            total = entries.size("num_experts")
            parts.append(
                ExpertsSizes(
                    total,
                    entries.size("top_k_experts"),
                    entries.size("moe_intermediate_size"),
                    router_added=d_model + total,
                )
            )
            norms += 3
        if inner:
            parts.append(PlainSizes("per-layer embedding, gated", 2 * d_model * inner))
            norms += 1
        layers.append(LayerSizes(tuple(parts), norms * d_model))
    return _model(entries, layers, d_model, **_tables(entries, d_model, n_layers))


def _per_layer(entries: FilledEntries, types: list[str], same_values: bool) -> dict[int, dict[str, int]]:
    """What differs in single layers: per_layer_config, or the entries of older files."""
    if (stated := entries.get("per_layer_config")) is not None and entries.says("per_layer_config"):
        known = isinstance(stated, Mapping) and all(
            str(layer).isdecimal()
            and isinstance(change, Mapping)
            and set(change) <= _CHANGES
            and all(type(size) is int and size > 0 for size in change.values())
            for layer, change in stated.items()
        )
        if not known:
            raise ValueError(
                f"per_layer_config is {stated!r}; wanted sizes by layer, of {' and '.join(sorted(_CHANGES))} alone"
            )
        return {int(layer): dict(change) for layer, change in stated.items()}
    k = entries.maybe("num_global_key_value_heads")
    change = {"head_dim": entries.maybe("global_head_dim") or 512}
    if same_values and k is not None:
        change["num_key_value_heads"] = k
    return {layer: change for layer, name in enumerate(types) if name == "full_attention"}


_CHANGES = {"head_dim", "num_key_value_heads"}

_RATES = {"compressed_sparse_attention": 4, "heavily_compressed_attention": 128}
_BY_RATIO = {0: "sliding_attention", 4: "compressed_sparse_attention", 128: "heavily_compressed_attention"}


def _deepseek_v4(entries: FilledEntries) -> ModelLayers:
    d_model, n_layers, m = (entries.size(n) for n in ("hidden_size", "num_hidden_layers", "hc_mult"))
    stated = entries.inside("compress_rates")
    rates = {name: stated.size(name, rate) for name, rate in _RATES.items()}
    for name, older in zip(_RATES, ("compress_rate_csa", "compress_rate_hca"), strict=True):
        rates[name] = entries.maybe(older) or rates[name]
    types, ratios = entries.names("layer_types"), entries.a_list("compress_ratios")
    if types is None and ratios:
        types = [_BY_RATIO.get(ratio, str(ratio)) for ratio in ratios]
    elif types is None:
        types = [
            "compressed_sparse_attention" if i % 2 and i > 1 else "heavily_compressed_attention"
            for i in range(n_layers)
        ]
    types = types[:n_layers]
    known = {*rates, "sliding_attention"}
    if len(types) != n_layers or set(types) - known:
        raise ValueError(f"the layers' types are {types!r}; wanted {n_layers} of {', '.join(sorted(known))}")
    networks = entries.names("mlp_layer_types")  # experts that are chosen by hash have the same weights
    if set(networks or ()) - {"moe", "hash_moe"}:
        raise ValueError(f"mlp_layer_types is {networks!r}; this library has moe and hash_moe")
    entries.only(n_shared_experts=1)
    if entries.size("num_attention_heads") * entries.size("head_dim") % entries.size("o_groups"):
        raise ValueError(f"o_groups is {entries['o_groups']}; wanted a divisor of the heads' width together")
    entries.get("qk_rope_head_dim")  # a part of the heads, with their width
    entries.only(num_key_value_heads=1, attention_bias=False, mlp_bias=False)
    indexer = IndexerSizes(entries.size("index_n_heads"), entries.size("index_head_dim"), entries.size("index_topk"))
    routed = experts(entries, DecoderFamily(shared="n_shared_experts"))
    streams = PlainSizes("hyper-connections", 2 * m * (m + 2) * m * d_model, 2 * (m * (m + 2) + 3))
    layers = []
    for name in types:
        mixer = CompressedSizes(
            heads=entries.size("num_attention_heads"),
            width=entries.size("head_dim"),
            query=entries.size("q_lora_rank"),
            window=entries.size("sliding_window"),
            rate=rates.get(name),
            groups=entries.size("o_groups"),
            group_width=entries.size("o_lora_rank"),
            indexer=indexer if name == "compressed_sparse_attention" else None,
        )
        layers.append(LayerSizes((mixer, routed, streams), 2 * d_model))
    return _model(entries, layers, d_model, beside=(_last_streams(m, d_model),))


def _last_streams(m: int, d_model: int) -> PlainSizes:
    return PlainSizes("hyper-connections behind the last layer", m * m * d_model, m + 1)


def _hy_v4(entries: FilledEntries) -> ModelLayers:
    d_model, n_layers, m = (entries.size(n) for n in ("hidden_size", "num_hidden_layers", "hc_mult"))
    types = layer_types(entries, kinds.always("indexed_attention"), n_layers)
    if set(types) != {"indexed_attention"}:
        raise ValueError(
            f"layer_types has {sorted(set(types))}; this library has indexed_attention for this model_type"
        )
    family = DecoderFamily(latent=True, gate="value", shared="n_shared_experts")
    chosen_by = entries.get("indexer_types")
    chooses = [layer == 0 or (layer - 1) % 4 == 0 for layer in range(n_layers)]
    if chosen_by is not None:
        chooses = [name == "full" for name in entries.for_each("indexer_types", n_layers)]
    streams = PlainSizes("hyper-connections", 2 * 2 * m * m * d_model, 2 * (2 * m + 2))
    layers = []
    for layer, sparse in enumerate(kinds.by_type()(entries, n_layers)):
        mixer = latent(entries, family, True, layer)
        assert mixer.indexer is not None
        mixer = replace(mixer, sinks=True, indexer=replace(mixer.indexer, chooses=chooses[layer]))
        network = experts(entries, family) if sparse else DenseSizes(entries.size("intermediate_size"))
        layers.append(LayerSizes((mixer, network, streams), 2 * d_model))
    return _model(entries, layers, d_model, beside=(_last_streams(m, d_model),))


def _ernie_moe(entries: FilledEntries) -> ModelLayers:
    d_model, n_layers = entries.size("hidden_size"), entries.size("num_hidden_layers")
    entries.only(use_bias=False)
    family = DecoderFamily(qkv_bias=False, output_bias=False, shared="moe_num_shared_experts", balance=True)
    dense = DenseSizes(entries.size("intermediate_size"))
    mixer, routed = attention(entries, family), experts(entries, family)
    layers = [
        LayerSizes((mixer, routed if sparse else dense), 2 * d_model)
        for sparse in kinds.ernie_experts(entries, n_layers)
    ]
    return _model(entries, layers, d_model)


UNUSUAL: Mapping[str, Callable[[FilledEntries], ModelLayers]] = MappingProxyType(
    {
        "deepseek_v4": _deepseek_v4,
        "ernie4_5_moe": _ernie_moe,
        "falcon_h1": _falcon_h1,
        "falcon_mamba": _mamba,
        "gemma3n_text": _gemma3n,
        "gemma4_text": _gemma4,
        "hy_v4": _hy_v4,
        "jamba": _jamba,
        "mamba": _mamba,
        "mamba2": _mamba2,
        "nemotron_h": _nemotron_h,
        "recurrent_gemma": _recurrent_gemma,
    }
)
"""Functions that read a config of a model_type."""
