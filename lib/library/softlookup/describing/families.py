"""The families of decoders that are read: one table.

A row says how a family's config.json differs from a Llama's. Families whose layers are built otherwise have a function
in ``unusual_families.py``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from softlookup.describing import layer_kinds as kinds
from softlookup.describing.filled_entries import FilledEntries
from softlookup.describing.layer_kinds import Sparse, Types
from softlookup.describing.layer_sizes import MixerSizes
from softlookup.describing.linear_mixers import gated_delta, kimi_delta, lightning, mamba2


@dataclass(frozen=True)
class DecoderFamily:
    """What tells one family from a Llama.

    Attributes:
        types: The layers' types where layer_types does not say them.
        rotary: Which layers have rotary positions; None where no entry says so.
        linear: What a layer of the type linear_attention is.
        latent: Whether attention is latent attention.
        window: The entry with the window of all layers, where layers have no types.
        qkv_bias: Whether queries, keys and values have biases, or the entry that says so.
        output_bias: The same for the output of attention.
        gains: Norms of queries and keys: none, one gain for all "heads", or gains of "each" head.
        gains_switch: The entry that turns these norms on; None where they are always there.
        gate: A gate on attention's output: for each head, for each of its values, or the same as a second half of the
            queries' projection.
        sinks: On which layers' types heads have sinks.
        norms: Norms of a layer.
        sparse_norms: Further norms of a layer with experts.
        norm: "rms" (a gain), "layer" (a gain and a shift) or "none" (nothing learned).
        gated: Whether feed-forward networks have a gate.
        hidden_bias: Whether they have biases, or the entry that says so.
        hidden: The entry with the width of dense networks.
        sparse: Which layers have experts; None without experts.
        expert_hidden: The entry with the hidden width of an expert.
        expert_bias: Whether experts and their router have biases.
        shared: The entry with the number of shared experts, or with their width.
        shared_gate: Whether a number for each token scales the shared experts.
        balance: Whether the router has a learned number for each expert.
        added: Learned numbers of a dense network besides, of the model's width and the hidden width.
        output_switch: Whether the output matrix has a bias, or the entry that says so.
        more_norms: The entry that gives a layer a norm behind attention and one behind the network.
        parallel: The entry that lets attention and network share a norm.
    """

    types: Types = lambda entries, n_layers: ["full_attention"] * n_layers
    rotary: Sparse | None = None
    linear: Callable[[FilledEntries], MixerSizes] | None = None
    latent: bool = False
    window: str | None = None
    qkv_bias: str | bool = "attention_bias"
    output_bias: str | bool = "attention_bias"
    gains: Literal["none", "heads", "each"] = "none"
    gains_switch: str | None = None
    gate: Literal["none", "head", "value", "query"] = "none"
    sinks: tuple[str, ...] = ()
    norms: int = 2
    sparse_norms: int = 0
    norm: Literal["rms", "layer", "none"] = "rms"
    gated: bool = True
    hidden_bias: str | bool = "mlp_bias"
    hidden: str = "intermediate_size"
    sparse: Sparse | None = None
    expert_hidden: str = "moe_intermediate_size"
    expert_bias: bool = False
    shared: str | None = None
    shared_gate: bool = False
    balance: bool = False
    added: Callable[[int, int], int] = lambda d_model, hidden: 0
    output_switch: str | bool = False
    parallel: str | None = None
    more_norms: str | None = None


_MISTRAL = DecoderFamily(window="sliding_window", qkv_bias=False, output_bias=False)
_MLA = DecoderFamily(latent=True)
_DEEPSEEK = replace(_MLA, sparse=kinds.from_layer("first_k_dense_replace"), shared="n_shared_experts")
_DSA = DecoderFamily(
    latent=True,
    types=kinds.always("indexed_attention"),
    sparse=kinds.by_type("first_k_dense_replace"),
    shared="n_shared_experts",
)
_QWEN_NEXT = DecoderFamily(
    types=kinds.every("full_attention_interval", other="linear_attention"),
    linear=gated_delta,
    gains="heads",
    gate="query",
)
_PLAIN_NORMS = DecoderFamily(norm="layer", gated=False)


FAMILIES: Mapping[str, DecoderFamily] = MappingProxyType(
    {
        "afmoe": DecoderFamily(
            types=kinds.every("global_attn_every_n_layers"),
            gains="heads",
            gate="value",
            norms=4,
            sparse=kinds.from_layer("num_dense_layers"),
            shared="num_shared_experts",
            balance=True,
        ),
        "apertus": DecoderFamily(gains="heads", gated=False, added=lambda d_model, hidden: 2),
        "arcee": DecoderFamily(gated=False),
        "axk1": replace(_MLA, sparse=kinds.by_type(), shared="n_shared_experts", sparse_norms=1),
        "bailing_hybrid": replace(
            _MLA,
            types=kinds.every("layer_group_size", other="linear_attention"),
            linear=kimi_delta("channel"),
            gate="head",
            sparse=kinds.by_type("first_k_dense_replace"),
            shared="num_shared_experts",
        ),
        "bamba": DecoderFamily(types=kinds.bamba_types, linear=mamba2),
        "bitnet": DecoderFamily(added=lambda d_model, hidden: d_model + hidden),
        "cohere": DecoderFamily(norms=1, gains="each", gains_switch="use_qk_norm"),
        "cohere2": DecoderFamily(types=kinds.every("sliding_window_pattern"), norms=1),
        "cohere2_moe": DecoderFamily(
            types=kinds.every("sliding_window_pattern"),
            norms=1,
            hidden="prefix_dense_intermediate_size",
            sparse=kinds.by_type(0),
            expert_hidden="intermediate_size",
            shared="num_shared_experts",
        ),
        "cwm": DecoderFamily(types=kinds.cwm_types, qkv_bias=False, output_bias=False),
        "deepseek_v2": _DEEPSEEK,
        "deepseek_v3": _DEEPSEEK,
        "deepseek_v32": _DSA,
        "dots1": DecoderFamily(
            types=kinds.slide_after,
            gains="heads",
            sparse=kinds.from_layer("first_k_dense_replace"),
            shared="n_shared_experts",
        ),
        "ernie4_5": DecoderFamily(qkv_bias="use_bias", output_bias="use_bias", hidden_bias="use_bias"),
        "exaone4": DecoderFamily(types=kinds.exaone_types, gains="heads", qkv_bias=False, output_bias=False),
        "exaone_moe": DecoderFamily(
            types=kinds.exaone_types,
            gains="heads",
            qkv_bias=False,
            output_bias=False,
            sparse=kinds.by_type("first_k_dense_replace"),
            shared="num_shared_experts",
        ),
        "flex_olmo": DecoderFamily(gains="each", sparse=kinds.in_all, expert_hidden="intermediate_size"),
        "gemma": DecoderFamily(),
        "gemma2": DecoderFamily(types=kinds.even_slide, norms=4),
        "gemma3_text": DecoderFamily(types=kinds.every("sliding_window_pattern", 6), gains="heads", norms=4),
        "glm": DecoderFamily(output_bias=False),
        "glm4": DecoderFamily(output_bias=False, norms=4),
        "glm4_moe": DecoderFamily(
            output_bias=False,
            gains="heads",
            gains_switch="use_qk_norm",
            sparse=kinds.from_layer("first_k_dense_replace"),
            shared="n_shared_experts",
        ),
        "glm4_moe_lite": replace(_MLA, sparse=kinds.by_type(), shared="n_shared_experts"),
        "glm_moe_dsa": _DSA,
        "gpt_oss": DecoderFamily(
            types=kinds.even_slide,
            sinks=("full_attention", "sliding_attention"),
            sparse=kinds.in_all,
            expert_hidden="intermediate_size",
            expert_bias=True,
        ),
        "granite": DecoderFamily(),
        "granite_swa": DecoderFamily(types=kinds.cwm_types, sinks=("full_attention", "sliding_attention")),
        "granitemoe": DecoderFamily(sparse=kinds.in_all, expert_hidden="intermediate_size"),
        "granitemoehybrid": DecoderFamily(
            types=kinds.always("linear_attention"),
            linear=mamba2,
            sparse=lambda entries, n_layers: [entries.size("num_local_experts", least=0) > 0] * n_layers,
            hidden="shared_intermediate_size",
            expert_hidden="intermediate_size",
            shared="shared_intermediate_size",
        ),
        "granitemoeshared": DecoderFamily(
            sparse=kinds.in_all, expert_hidden="intermediate_size", shared="shared_intermediate_size"
        ),
        "helium": DecoderFamily(output_bias=False),
        "hyperclovax": DecoderFamily(more_norms="use_post_norm"),
        "internlm3": DecoderFamily(output_bias=False),
        "iquestcoder": DecoderFamily(),
        "jais2": _PLAIN_NORMS,
        "mellum": DecoderFamily(gains="heads", sparse=kinds.by_type(0)),
        "qwen3_vl_text": DecoderFamily(gains="heads"),
        "qwen3_vl_moe_text": DecoderFamily(gains="heads", sparse=kinds.by_step),
        "glm4v_text": DecoderFamily(qkv_bias=True, output_bias=False, norms=4),
        "glm4v_moe_text": DecoderFamily(
            output_bias=False,
            sparse=kinds.from_layer("first_k_dense_replace"),
            shared="n_shared_experts",
        ),
        "hunyuan_v1_dense": DecoderFamily(gains="heads"),
        "hunyuan_v1_moe": DecoderFamily(
            gains="heads", sparse=kinds.in_all, expert_hidden="intermediate_size", shared="intermediate_size"
        ),
        "hy_v3": DecoderFamily(gains="heads", sparse=kinds.by_type(), shared="num_shared_experts"),
        "kimi_linear": replace(
            _MLA,
            types=kinds.kimi_types,
            linear=kimi_delta("low rank"),
            sparse=kinds.by_type(),
            shared="num_shared_experts",
        ),
        "kolibri1": DecoderFamily(
            types=kinds.every(5),
            gains="heads",
            qkv_bias=False,
            output_bias=False,
            norms=4,
            sparse=kinds.in_all,
            shared="shared_expert_intermediate_size",
        ),
        "lfm2": DecoderFamily(types=kinds.lfm2_types, gains="heads", qkv_bias=False, output_bias=False),
        "lfm2_moe": DecoderFamily(
            types=kinds.stated_types,
            gains="heads",
            qkv_bias=False,
            output_bias=False,
            sparse=kinds.from_layer("num_dense_layers"),
        ),
        "lfm3": DecoderFamily(types=kinds.lfm3_types, gains="heads", gate="head", norms=4),
        "llama": DecoderFamily(),
        "llama4_text": DecoderFamily(
            types=kinds.chunked_types,
            hidden="intermediate_size_mlp",
            sparse=kinds.llama4_experts,
            expert_hidden="intermediate_size",
            shared="intermediate_size",
        ),
        "mimo_v2_flash": DecoderFamily(
            types=kinds.mimo_types, output_bias=False, sinks=("sliding_attention",), sparse=kinds.by_type()
        ),
        "minicpm3": _MLA,
        "minimax": DecoderFamily(
            types=kinds.minimax_types,
            linear=lightning,
            qkv_bias=False,
            output_bias=False,
            sparse=kinds.in_all,
            expert_hidden="intermediate_size",
        ),
        "minimax_m2": DecoderFamily(
            gains="each", qkv_bias=False, output_bias=False, sparse=kinds.in_all, expert_hidden="intermediate_size"
        ),
        "minimax_m3_vl_text": DecoderFamily(
            gains="heads",
            qkv_bias=False,
            output_bias=False,
            hidden="dense_intermediate_size",
            sparse=kinds.by_type(0),
            expert_hidden="intermediate_size",
            shared="shared_intermediate_size",
        ),
        "ministral": DecoderFamily(types=kinds.all_slide, qkv_bias=False, output_bias=False),
        "ministral3": _MISTRAL,
        "mistral": _MISTRAL,
        "mistral4": _DEEPSEEK,
        "mixtral": replace(_MISTRAL, sparse=kinds.in_all, expert_hidden="intermediate_size"),
        "muse_glimmer_text": DecoderFamily(types=kinds.muse_types, gate="value", norms=4),
        "nanochat": DecoderFamily(norm="none", gated=False),
        "nemotron": _PLAIN_NORMS,
        "olmo": DecoderFamily(norm="none"),
        "olmo2": DecoderFamily(gains="each"),
        "olmo3": DecoderFamily(types=kinds.every(4), gains="each"),
        "olmo_hybrid": DecoderFamily(types=kinds.olmo_types, linear=gated_delta, gains="each"),
        "olmoe": DecoderFamily(gains="each", sparse=kinds.in_all, expert_hidden="intermediate_size"),
        "phi": replace(
            _PLAIN_NORMS,
            qkv_bias=True,
            output_bias=True,
            hidden_bias=True,
            gains="heads",
            gains_switch="qk_layernorm",
            norms=1,
            output_switch=True,
        ),
        "phi3": _MISTRAL,
        "phimoe": DecoderFamily(
            window="sliding_window",
            norm="layer",
            sparse=kinds.in_all,
            expert_hidden="intermediate_size",
            output_switch="lm_head_bias",
        ),
        "qwen2": DecoderFamily(types=kinds.slide_after, qkv_bias=True, output_bias=False),
        "qwen2_moe": DecoderFamily(
            types=kinds.even_slide_before,
            qkv_bias="qkv_bias",
            output_bias=False,
            sparse=kinds.by_step,
            shared="shared_expert_intermediate_size",
            shared_gate=True,
        ),
        "qwen3": DecoderFamily(types=kinds.slide_after, gains="heads"),
        "qwen3_moe": DecoderFamily(window="sliding_window", gains="heads", sparse=kinds.by_step),
        "qwen3_5_text": _QWEN_NEXT,
        "qwen3_5_moe_text": replace(
            _QWEN_NEXT, sparse=kinds.in_all, shared="shared_expert_intermediate_size", shared_gate=True
        ),
        "qwen3_next": replace(
            _QWEN_NEXT, sparse=kinds.by_step, shared="shared_expert_intermediate_size", shared_gate=True
        ),
        "seed_oss": DecoderFamily(output_bias="attention_out_bias"),
        "smollm3": DecoderFamily(types=kinds.smollm3_types, rotary=kinds.rotary_layers),
        "solar_open": DecoderFamily(output_bias=False, sparse=kinds.in_all, shared="n_shared_experts"),
        "stablelm": DecoderFamily(
            norm="layer",
            qkv_bias="use_qkv_bias",
            output_bias=False,
            gains="each",
            gains_switch="qk_layernorm",
            parallel="use_parallel_residual",
        ),
        "starcoder2": replace(
            _PLAIN_NORMS, window="sliding_window", qkv_bias="use_bias", output_bias="use_bias", hidden_bias="use_bias"
        ),
        "vaultgemma": DecoderFamily(types=kinds.even_slide),
        "youtu": _MLA,
    }
)
"""The families that differ from a Llama by entries; tests hold each against the model that transformers builds."""
