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
        neighbours: Whether rotary positions turn neighbouring numbers, not those of two halves.
        without_turning: Which layers go without rotary positions: none, those without a window ("full"), or the same
            in a model with a sliding_window alone ("beside windows").
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
        renamed: Words in the names of tensors, and what Llama, Gemma 2 or DeepSeek say there; nothing drops a word.
    """

    neighbours: bool = False
    without_turning: Literal["none", "full", "beside windows"] = "none"
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


_GEMMA = RunnableDecoder(unit_gains=True, scaled_embeddings=True)
_OLMO2 = RunnableDecoder(norm_place="after")
_COHERE = RunnableDecoder(neighbours=True, norm_place="shared", norm="layer", norm_shift=False)
_LAYER_NORM = RunnableDecoder(norm="layer")
_DEEPSEEK = RunnableDecoder(neighbours=True, gate="sigmoid")
_QWEN_NEXT = RunnableDecoder(unit_gains=True, renamed={"shared_expert": "shared_experts"})
_HUNYUAN = RunnableDecoder(
    norm_turned=True,
    renamed={"query_layernorm": "q_norm", "key_layernorm": "k_norm", "shared_mlp": "shared_experts", "wg": ""},
)
_GRANITE_MOE = RunnableDecoder(
    renamed={"block_sparse_moe": "mlp", "router": "gate", "shared_mlp": "mlp.shared_experts"}
    | {"input_linear": "gate_up_proj", "output_linear": "down_proj"}
)
_GLM4_NORMS = {
    "post_self_attn_layernorm": "post_attention_layernorm",
    "post_attention_layernorm": "pre_feedforward_layernorm",
    "post_mlp_layernorm": "post_feedforward_layernorm",
}
_AFMOE = {
    "pre_mlp_layernorm": "pre_feedforward_layernorm",
    "post_mlp_layernorm": "post_feedforward_layernorm",
    "router": "",
    "expert_bias": "gate.e_score_correction_bias",
}
_HYPERCLOVAX_NORMS = {
    "post_norm1": "post_attention_layernorm",
    "post_attention_layernorm": "pre_feedforward_layernorm",
    "post_norm2": "post_feedforward_layernorm",
}

_PLAIN = (
    "arcee cwm granite internlm3 iquestcoder llama mellum ministral mistral mixtral olmoe phi3 qwen2 qwen3 "
    "qwen3_moe seed_oss smollm3"
).split()

RUNNABLE: Mapping[str, RunnableDecoder] = MappingProxyType(
    {
        **dict.fromkeys(_PLAIN, RunnableDecoder()),
        "afmoe": RunnableDecoder(gate="sigmoid", without_turning="full", norm_place="both", renamed=_AFMOE),
        "cohere": _COHERE,
        "cohere2": replace(_COHERE, without_turning="full"),
        "deepseek_v2": RunnableDecoder(neighbours=True),
        "deepseek_v3": _DEEPSEEK,
        "dots1": RunnableDecoder(gate="sigmoid"),
        "ernie4_5": RunnableDecoder(neighbours=True),
        "exaone4": replace(_OLMO2, without_turning="beside windows"),
        "exaone_moe": RunnableDecoder(gate="sigmoid", without_turning="beside windows"),
        "flex_olmo": _OLMO2,
        "gemma": _GEMMA,
        "gemma2": replace(_GEMMA, norm_place="both"),
        "gemma3_text": replace(_GEMMA, norm_place="both"),
        "glm": RunnableDecoder(neighbours=True),
        "glm4": RunnableDecoder(neighbours=True, norm_place="both", renamed=_GLM4_NORMS),
        "glm4_moe": RunnableDecoder(gate="sigmoid"),
        "glm4_moe_lite": _DEEPSEEK,
        "gpt_oss": RunnableDecoder(renamed={"router": "gate"}),
        "granitemoe": _GRANITE_MOE,
        "granitemoeshared": _GRANITE_MOE,
        "helium": RunnableDecoder(neighbours=True),
        "hunyuan_v1_dense": _HUNYUAN,
        "hunyuan_v1_moe": _HUNYUAN,
        "hyperclovax": RunnableDecoder(norm_place="both", renamed=_HYPERCLOVAX_NORMS),
        "jais2": _LAYER_NORM,
        "minimax_m2": RunnableDecoder(
            gate="sigmoid", renamed={"e_score_correction_bias": "gate.e_score_correction_bias"}
        ),
        "nemotron": replace(_LAYER_NORM, unit_gains=True),
        "olmo": replace(_LAYER_NORM, norm_shift=False),
        "olmo2": _OLMO2,
        "olmo3": _OLMO2,
        "phi": RunnableDecoder(
            norm="layer",
            output_bias=True,
            norm_place="shared",
            renamed={"dense": "o_proj", "fc1": "up_proj", "fc2": "down_proj", "final_layernorm": "norm"},
        ),
        "qwen2_moe": RunnableDecoder(renamed={"shared_expert": "shared_experts"}),
        "qwen3_5_text": _QWEN_NEXT,
        "qwen3_5_moe_text": _QWEN_NEXT,
        "qwen3_next": _QWEN_NEXT,
        "solar_open": RunnableDecoder(gate="sigmoid"),
        "stablelm": _LAYER_NORM,
        "starcoder2": replace(_LAYER_NORM, renamed={"c_fc": "up_proj", "c_proj": "down_proj"}),
        "vaultgemma": replace(_GEMMA, renamed={"pre_feedforward_layernorm": "post_attention_layernorm"}),
        "youtu": _DEEPSEEK,
    }
)
"""The model_types that run; tests hold the logits of each against transformers."""

TURN_PART_OF_A_HEAD = frozenset(
    "glm glm4 glm4_moe minimax_m2 nemotron phi phi3 qwen3_5_text qwen3_5_moe_text qwen3_next stablelm".split()
)
"""Of these the model_types that follow partial_rotary_factor; in transformers the others pass it by, or fail."""

_PARTS = (AttentionSizes, LatentSizes, DeltaSizes, DenseSizes, ExpertsSizes)


def missing_part(model: ModelLayers) -> str | None:
    """Name a part of a model that ``softlookup.model`` does not have; None where every part is there."""
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
