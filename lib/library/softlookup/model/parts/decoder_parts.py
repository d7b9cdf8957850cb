"""What only some recent decoders are made of: the parts beside the sizes of `Config`, in one nested description."""

from dataclasses import dataclass
from typing import Literal

NormPlace = Literal["before", "after", "both", "shared"]


@dataclass(frozen=True)
class RoutedLayers:
    """Which layers have experts, and how their router and their shared expert work.

    Attributes:
        layers: Whether each layer has experts; the others have one network.
        dense_hidden: F of those others.
        renormalise: Whether the gates of the chosen experts are divided by their sum.
        factor: What they are multiplied by in the end.
        groups: Into how many groups the experts are cut, of which a token chooses some first (DeepSeek-V3).
        chosen_groups: How many of them.
        shared_width: The hidden width of the network that all tokens pass through besides; 0 for none.
        shared_gate: Whether a number for each token scales what that network gives (Qwen).
        clamp: Where gates and values are cut off in gpt-oss's experts, which have biases; None for plain experts.

    Source: Dai et al. 2024 (DeepSeekMoE); DeepSeek-AI 2024 (DeepSeek-V3); OpenAI 2025 (gpt-oss).
    """

    layers: tuple[bool, ...]
    dense_hidden: int
    renormalise: bool = True
    factor: float = 1.0
    groups: int = 1
    chosen_groups: int = 1
    shared_width: int = 0
    shared_gate: bool = False
    clamp: float | None = None


@dataclass(frozen=True)
class DeltaLayers:
    """Which layers have linear attention by the gated delta rule in place of attention, and its sizes.

    Attributes:
        layers: Whether each layer has it.
        key_heads: Heads of queries and keys.
        heads: Heads of values, a multiple of key_heads.
        key_width: Of a query and a key.
        value_width: Of a value.
        kernel: Positions of the short convolution.

    Source: Yang et al. 2024 (arXiv 2412.06464).
    """

    layers: tuple[bool, ...]
    key_heads: int
    heads: int
    key_width: int
    value_width: int
    kernel: int


@dataclass(frozen=True)
class DecoderParts:
    """The parts of recent decoders that few models have; the defaults change nothing.

    Attributes:
        norm_place: Where a sublayer's norms stand, none of them on the residual stream: before it, after it (OLMo 2),
            on both sides (Gemma 2), or before attention, shared by the network, which runs beside it (Cohere).
        norm_shift: Whether LayerNorm has a shift beside its gain.
        residual_scale: What a sublayer's output is multiplied by before it is added (Granite).
        embedding_scale: What embeddings are multiplied by; None leaves it to scale_embeddings.
        score_cap: c, where scores s become c tanh(s/c) before the softmax (Gemma 2); None for none.
        logit_cap: The same for the logits.
        qkv_bias: Whether the projections to queries, keys and values have a bias, and the output none (Qwen2).
        norm_turned: Whether queries and keys are normalised after rotary positions, not before.
        output_gate: Whether a sigmoid gate, made from the state, multiplies the heads' outputs (Qwen3-Next).
        value_width: The width of a value of latent attention; None means that of a query without positions.
        windows: The window of each layer, None for none, where they differ; empty leaves it to Config.
        turned_layers: Whether each layer has rotary positions; empty leaves it to Config.
        turned_width: How many of a head's numbers are turned, the first ones; None for all.
        local_base: The base of rotary positions in layers with a window, which are not scaled (Gemma 3); None: as all.
        experts: Of models with experts in some layers, or a router other than Config's.
        delta: Of models with linear attention in some layers.
    """

    norm_place: NormPlace = "before"
    norm_shift: bool = True
    residual_scale: float = 1.0
    embedding_scale: float | None = None
    score_cap: float | None = None
    logit_cap: float | None = None
    qkv_bias: bool = False
    norm_turned: bool = False
    output_gate: bool = False
    value_width: int | None = None
    windows: tuple[int | None, ...] = ()
    turned_layers: tuple[bool, ...] = ()
    turned_width: int | None = None
    local_base: float | None = None
    experts: RoutedLayers | None = None
    delta: DeltaLayers | None = None
