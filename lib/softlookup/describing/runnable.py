"""The decoders that ``softlookup.model`` runs: one row for each model_type, with what its config.json does not say."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from softlookup.describing.layer_sizes import (
    AttentionSizes,
    DeltaSizes,
    DenseSizes,
    ExpertsSizes,
    LatentSizes,
    ModelLayers,
)


@dataclass(frozen=True)
class RunnableDecoder:
    """What a model_type does without an entry that says so.

    Attributes:
        base: Of rotary positions, where a description has none.
        local_base: The same in layers with a window, where theirs is another.
        neighbours: Whether rotary positions turn neighbouring numbers, not those of two halves.
        turned: The share of a head's numbers that is turned, where a description does not say it.
        without_turning: Which layers go without rotary positions: none, or those without a window.
        norm_place: Where the norms of a layer stand: before a sublayer, after it, on both sides, or before attention,
            and shared by the network.
        norm: RMSNorm or LayerNorm.
        norm_shift: Whether LayerNorm has a shift.
        output_bias: Whether the logits add a bias.
        unit_gains: Whether a norm's gain is 1 + the weight on file.
        norm_turned: Whether queries and keys are normalised after they are turned.
        scaled_embeddings: Whether embeddings are multiplied by the root of the width.
        gate: What makes gates of the router's scores.
        renormalise: Whether chosen gates are divided by their sum, where there is no norm_topk_prob.
        renamed: Parts of the tensors' names, and what Llama, OLMo 2 or DeepSeek call these parts.
    """

    base: float = 1e4
    local_base: float | None = None
    neighbours: bool = False
    turned: float = 1.0
    without_turning: Literal["none", "full"] = "none"
    norm_place: Literal["before", "after", "both", "shared"] = "before"
    norm: Literal["rms", "layer"] = "rms"
    norm_shift: bool = True
    output_bias: bool = False
    unit_gains: bool = False
    norm_turned: bool = False
    scaled_embeddings: bool = False
    gate: Literal["softmax", "sigmoid"] = "softmax"
    renormalise: bool = True
    renamed: Mapping[str, str] = field(default_factory=dict)


_LLAMA = RunnableDecoder()
_GEMMA = RunnableDecoder(unit_gains=True, scaled_embeddings=True)
_OLMO2 = RunnableDecoder(norm_place="after")
_COHERE = RunnableDecoder(neighbours=True, norm_place="shared", norm="layer", norm_shift=False)
_LAYER_NORM = RunnableDecoder(norm="layer")
_DEEPSEEK = RunnableDecoder(neighbours=True, gate="sigmoid")
_QWEN_NEXT = RunnableDecoder(turned=0.25, unit_gains=True)
_HUNYUAN = RunnableDecoder(norm_turned=True, renamed={"query_layernorm": "q_norm", "key_layernorm": "k_norm"})
_GLM4_NORMS = {
    "post_self_attn_layernorm": "post_attention_layernorm",
    "post_attention_layernorm": "pre_feedforward_layernorm",
    "post_mlp_layernorm": "post_feedforward_layernorm",
}

RUNNABLE: Mapping[str, RunnableDecoder] = MappingProxyType(
    {
        "arcee": _LLAMA,
        "cohere": replace(_COHERE, base=5e5),
        "cohere2": replace(_COHERE, without_turning="full"),
        "cwm": replace(_LLAMA, base=1e6),
        "deepseek_v3": _DEEPSEEK,
        "dots1": replace(_LLAMA, gate="sigmoid"),
        "ernie4_5": RunnableDecoder(base=5e5, neighbours=True),
        "exaone4": replace(_OLMO2, without_turning="full"),
        "exaone_moe": RunnableDecoder(gate="sigmoid", without_turning="full"),
        "flex_olmo": replace(_OLMO2, base=5e5),
        "gemma": _GEMMA,
        "gemma2": replace(_GEMMA, norm_place="both"),
        "gemma3_text": replace(_GEMMA, base=1e6, local_base=1e4, norm_place="both"),
        "glm": RunnableDecoder(neighbours=True, turned=0.5),
        "glm4": RunnableDecoder(neighbours=True, turned=0.5, norm_place="both", renamed=_GLM4_NORMS),
        "glm4_moe": RunnableDecoder(turned=0.5, gate="sigmoid"),
        "glm4_moe_lite": _DEEPSEEK,
        "gpt_oss": RunnableDecoder(base=1.5e5, renamed={"router": "gate"}),
        "granite": _LLAMA,
        "granitemoe": RunnableDecoder(renamed={"block_sparse_moe": "mlp", "router": "gate"}),
        "helium": RunnableDecoder(base=1e5, neighbours=True),
        "hunyuan_v1_dense": _HUNYUAN,
        "hyperclovax": _LLAMA,
        "internlm3": _LLAMA,
        "iquestcoder": _LLAMA,
        "jais2": _LAYER_NORM,
        "llama": _LLAMA,
        "mellum": _LLAMA,
        "minimax_m2": RunnableDecoder(base=5e6, gate="sigmoid"),
        "ministral": _LLAMA,
        "ministral3": _LLAMA,
        "mistral": _LLAMA,
        "mixtral": RunnableDecoder(base=1e6),
        "nemotron": replace(_LAYER_NORM, turned=0.5, unit_gains=True),
        "olmo": replace(_LAYER_NORM, norm_shift=False),
        "olmo2": _OLMO2,
        "olmo3": replace(_OLMO2, base=5e5),
        "olmoe": _LLAMA,
        "phi": RunnableDecoder(
            norm="layer",
            output_bias=True,
            turned=0.5,
            norm_place="shared",
            renamed={"dense": "o_proj", "fc1": "up_proj", "fc2": "down_proj", "final_layernorm": "norm"},
        ),
        "phi3": _LLAMA,
        "qwen2": _LLAMA,
        "qwen2_moe": RunnableDecoder(renamed={"shared_expert": "shared_experts"}),
        "qwen3": _LLAMA,
        "qwen3_moe": _LLAMA,
        "qwen3_5_text": _QWEN_NEXT,
        "qwen3_5_moe_text": replace(_QWEN_NEXT, renamed={"shared_expert": "shared_experts"}),
        "qwen3_next": replace(_QWEN_NEXT, renamed={"shared_expert": "shared_experts"}),
        "seed_oss": _LLAMA,
        "smollm3": RunnableDecoder(base=2e6),
        "solar_open": replace(_LLAMA, gate="sigmoid"),
        "stablelm": replace(_LAYER_NORM, turned=0.25),
        "starcoder2": replace(_LAYER_NORM, renamed={"c_fc": "up_proj", "c_proj": "down_proj"}),
        "vaultgemma": replace(_GEMMA, renamed={"pre_feedforward_layernorm": "post_attention_layernorm"}),
        "youtu": _DEEPSEEK,
    }
)
"""The model_types that run; tests hold the logits of each against transformers."""

_PARTS = (AttentionSizes, LatentSizes, DeltaSizes, DenseSizes, ExpertsSizes)


def missing_part(model: ModelLayers) -> str | None:
    """Name a part of a model that ``softlookup.model`` does not have.

    Args:
        model: Its layers.

    Returns:
        The part in words; None where every part is there.

    Book: 15_what_changed_more.html#config-names.
    """
    for layer in model.layers:
        for part in layer.parts:
            name = part.words.split(",")[0]
            if not isinstance(part, _PARTS):
                return name
            if isinstance(part, DeltaSizes) and part.gates != "head":
                return name
            if isinstance(part, LatentSizes | AttentionSizes) and part.indexer is not None:
                return "an indexer"
            if isinstance(part, AttentionSizes) and (part.chunked or not part.own_cache or not part.own_values):
                return part.words
            if isinstance(part, LatentSizes) and (part.bias or part.gate or part.sinks):
                return f"{name} with biases, a gate or sinks"
            if isinstance(part, ExpertsSizes) and part.latent is not None:
                return "experts of a narrower width"
    if model.tables or model.beside:
        return "embeddings for each layer"
    return None if model.model_type in RUNNABLE else f"the model_type {model.model_type!r}"
