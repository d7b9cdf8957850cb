"""What the config.json of a decoder-only language model says of its layers: one table of the accepted model_types.

A missing entry is read as transformers reads it: as that model_type's default, which the table holds. So is null, but
for the few entries where transformers reads null as *none*.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from softlookup.describing.entries import Entries

Named = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """What tells one model_type from the others.

    Attributes:
        entries: Entries that a description may leave out, and what transformers takes then. An entry that is not
            here is not one of this model_type's, and is refused.
        window: Which layers have the sliding window: none, all, or those named by layer_types.
        slides: Which layers have it where layer_types does not say so: of the values of ``entries`` and a layer's
            number, from 0.
        qkv_bias: Whether queries, keys and values have biases, and the output none, though no entry says so.
        qk_norm: Whether the queries and keys of each head are normalised.
        sinks: Whether each head has a learned sink.
        norms: Norms of a layer: 4 where each sublayer has one before and one after it.
        expert_width: The entry with the hidden width of an expert; None without experts.
        expert_biases: Whether experts and their router have biases.
        latent: Whether keys and values come from a latent vector.
    """

    entries: Named
    window: Literal["none", "all", "named"] = "none"
    slides: Callable[[Named, int], bool] = lambda stated, layer: False
    qkv_bias: bool = False
    qk_norm: bool = False
    sinks: bool = False
    norms: int = 2
    expert_width: str | None = None
    expert_biases: bool = False
    latent: bool = False


def _after(stated: Named, layer: int) -> bool:
    return stated["sliding_window"] is not None and layer >= stated["max_window_layers"]


def _every_other(stated: Named, layer: int) -> bool:
    return layer % 2 == 0


def _every_other_before(stated: Named, layer: int) -> bool:
    return stated["sliding_window"] is not None and layer % 2 == 0 and layer < stated["max_window_layers"]


def _but_every_nth(stated: Named, layer: int) -> bool:
    return (layer + 1) % stated["sliding_window_pattern"] != 0


def _without_rotary(stated: Named, layer: int) -> bool:
    return stated["sliding_window"] is not None and not stated["no_rope_layers"][layer]


_PLAIN: dict[str, Any] = {"num_key_value_heads": None, "head_dim": None, "tie_word_embeddings": False}
_SWITCHED = {"use_sliding_window": False, "sliding_window": 4096}
_SPARSE = {"decoder_sparse_step": 1, "mlp_only_layers": ()}
_GEMMA: dict[str, Any] = {"tie_word_embeddings": True, "head_dim": 256, "attention_bias": False}
_GEMMA |= {"sliding_window": 4096, "layer_types": None}

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "llama": Kind(_PLAIN | {"attention_bias": False, "mlp_bias": False}),
        "mistral": Kind(_PLAIN | {"num_key_value_heads": 8, "sliding_window": 4096}, window="all"),
        "mixtral": Kind(
            _PLAIN | {"num_key_value_heads": 8, "sliding_window": None},
            window="all",
            expert_width="intermediate_size",
        ),
        "qwen2": Kind(
            _PLAIN | _SWITCHED | {"num_key_value_heads": 32, "max_window_layers": 28, "layer_types": None},
            window="named",
            slides=_after,
            qkv_bias=True,
        ),
        "qwen2_moe": Kind(
            _PLAIN
            | _SWITCHED
            | _SPARSE
            | {"num_key_value_heads": 16, "max_window_layers": 28, "layer_types": None, "qkv_bias": True}
            | {"shared_expert_intermediate_size": 5632},
            window="named",
            slides=_every_other_before,
            expert_width="moe_intermediate_size",
        ),
        "qwen3": Kind(
            _PLAIN
            | _SWITCHED
            | {"num_key_value_heads": 32, "head_dim": 128, "attention_bias": False}
            | {"max_window_layers": 28, "layer_types": None},
            window="named",
            slides=_after,
            qk_norm=True,
        ),
        "qwen3_moe": Kind(
            _PLAIN | _SWITCHED | _SPARSE | {"num_key_value_heads": 4, "attention_bias": False},
            window="all",
            qk_norm=True,
            expert_width="moe_intermediate_size",
        ),
        "gemma2": Kind(_GEMMA | {"num_key_value_heads": 4}, window="named", slides=_every_other, norms=4),
        "gemma3_text": Kind(
            _GEMMA
            | {"num_key_value_heads": 4, "sliding_window_pattern": 6}
            | {"num_attention_heads": 8, "vocab_size": 262_208},  # the published files leave these out
            window="named",
            slides=_but_every_nth,
            qk_norm=True,
            norms=4,
        ),
        "smollm3": Kind(
            _PLAIN
            | {"num_key_value_heads": 4, "tie_word_embeddings": True, "attention_bias": False, "mlp_bias": False}
            | {"use_sliding_window": False, "sliding_window": None, "layer_types": None}
            | {"no_rope_layers": None, "no_rope_layer_interval": 4},
            window="named",
            slides=_without_rotary,
        ),
        "gpt_oss": Kind(
            _PLAIN
            | {"num_key_value_heads": 8, "head_dim": 64, "attention_bias": True}
            | {"sliding_window": 128, "layer_types": None},
            window="named",
            slides=_every_other,
            sinks=True,
            expert_width="intermediate_size",
            expert_biases=True,
        ),
        "deepseek_v3": Kind(
            {"num_key_value_heads": 128, "tie_word_embeddings": False, "attention_bias": False}
            | {"q_lora_rank": 1536, "first_k_dense_replace": 3, "n_shared_experts": 1},
            expert_width="moe_intermediate_size",
            latent=True,
        ),
    }
)
"""The model_types that are read. Tests hold every row against the classes of transformers."""

_NULL_IS_NONE = ("num_key_value_heads", "sliding_window", "q_lora_rank")
"""Where null is no default: as many key-value heads as heads, no window, no latent of queries."""

_FROM_ZERO = ("first_k_dense_replace", "n_shared_experts", "max_window_layers")
_LISTS = ("layer_types", "no_rope_layers", "mlp_only_layers")
_ALSO = {"sliding_window_pattern": "_sliding_window_pattern"}


@dataclass(frozen=True)
class Latent:
    """The widths of attention with a latent vector (DeepSeek).

    Attributes:
        width: Of the vector that is cached.
        rotary: Of the rotary key that is cached beside it.
        query: Of the queries' own latent vector; None without one.
        plain: Of the part of a head's query and key without positions.
        value: Of a head's value.
    """

    width: int
    rotary: int
    query: int | None
    plain: int
    value: int


@dataclass(frozen=True)
class ExpertsDescription:
    """The routed experts of some layers.

    Attributes:
        total: In each of these layers.
        chosen: For each token.
        width: The hidden width of one.
        shared_width: The hidden width of what all tokens pass through besides; 0 without it.
        shared_gate: Whether a number for each token scales what that gives.
        biases: Whether experts and router have biases.
        layers: Which layers have experts.
    """

    total: int
    chosen: int
    width: int
    shared_width: int
    shared_gate: bool
    biases: bool
    layers: tuple[bool, ...]


@dataclass(frozen=True)
class DecoderDescription:
    """A decoder-only language model, as its config.json describes it.

    Attributes:
        model_type: Of the description.
        d_model: D.
        n_layers: L.
        n_heads: N.
        n_kv_heads: K.
        head_width: H.
        d_hidden: F, of a layer without experts.
        vocab_size: V.
        tied: Whether the output matrix is the table of tokens.
        windows: How many positions each layer attends to at most, its own included; None where there is no limit.
        rotary: Which layers have rotary positions.
        qkv_bias: Whether the projections to queries, keys and values have biases.
        output_bias: Whether attention's output projection has a bias.
        hidden_bias: Whether the feed-forward network has biases.
        qk_norm: Whether the queries and keys of each head are normalised.
        sinks: Whether each head has a learned sink.
        norms: Norms of a layer.
        latent: The widths of latent attention, where the model has it.
        experts: The routed experts, where the model has them.
    """

    model_type: str
    d_model: int
    n_layers: int
    n_heads: int
    n_kv_heads: int
    head_width: int
    d_hidden: int
    vocab_size: int
    tied: bool
    windows: tuple[int | None, ...]
    rotary: tuple[bool, ...]
    qkv_bias: bool
    output_bias: bool
    hidden_bias: bool
    qk_norm: bool
    sinks: bool
    norms: int
    latent: Latent | None = None
    experts: ExpertsDescription | None = None


def decoder(entries: Entries) -> DecoderDescription:
    """Read what a description says of the model's parts; the caller refuses the rest.

    Returns:
        The same in our words.

    Raises:
        ValueError: If an entry is missing, or has a value that is not understood; the message names it.
    """
    kind = KINDS[entries.model_type]
    stated = _said(entries, kind)
    n_layers, d_model = entries.size("num_hidden_layers"), entries.size("hidden_size")
    n_heads = entries.size("num_attention_heads", stated.get("num_attention_heads"))
    n_kv_heads = stated["num_key_value_heads"] or n_heads
    stated["no_rope_layers"] = rotary = _rotary(stated, n_layers)
    latent = _latent(entries, stated) if kind.latent else None
    head_width = stated.get("head_dim") or d_model // n_heads
    if not stated.get("head_dim") and d_model % n_heads:
        raise ValueError(f"hidden_size {d_model} does not divide by {n_heads} heads; give the heads' width as head_dim")
    if n_heads % n_kv_heads:
        raise ValueError(f"num_attention_heads {n_heads} does not divide by num_key_value_heads {n_kv_heads}")
    biased = stated.get("attention_bias", False)
    return DecoderDescription(
        model_type=entries.model_type,
        d_model=d_model,
        n_layers=n_layers,
        n_heads=n_heads,
        n_kv_heads=n_kv_heads,
        head_width=head_width,
        d_hidden=entries.size("intermediate_size"),
        vocab_size=entries.size("vocab_size", stated.get("vocab_size")),
        tied=stated["tie_word_embeddings"],
        windows=_windows(kind, stated, n_layers),
        rotary=rotary,
        qkv_bias=biased or stated.get("qkv_bias", False) or kind.qkv_bias,
        output_bias=biased,
        hidden_bias=stated.get("mlp_bias", False),
        qk_norm=kind.qk_norm,
        sinks=kind.sinks,
        norms=kind.norms,
        latent=latent,
        experts=_experts(entries, kind, stated, n_layers),
    )


def _said(entries: Entries, kind: Kind) -> dict[str, Any]:
    """Read the entries that a description of this kind may leave out; those that it does leave out have the default."""
    stated: dict[str, Any] = {}
    for name, default in kind.entries.items():
        entry_name = entries.same(name, _ALSO.get(name, name))
        null = name in _NULL_IS_NONE and entries.says(entry_name) and entries.get(entry_name) is None
        off = name == "sliding_window" and not stated.get(
            "use_sliding_window", True
        )  # then its value stands for nothing
        if null or off or (default is None and entries.get(entry_name) is None):
            stated[name] = None
        elif name in _LISTS:
            stated[name] = value = entries.get(entry_name, default)
            if not isinstance(value, list | tuple):
                raise ValueError(f"{name} is {value!r}; wanted a list")
        elif isinstance(default, bool):
            stated[name] = entries.flag(entry_name, default)
        else:
            stated[name] = entries.size(entry_name, default, least=0 if name in _FROM_ZERO else 1)
    return stated


def _windows(kind: Kind, stated: Named, n_layers: int) -> tuple[int | None, ...]:
    window = stated.get("sliding_window")
    if kind.window != "named":
        return (window if kind.window == "all" else None,) * n_layers
    known = {"full_attention": False, "sliding_attention": True}
    types = stated["layer_types"]
    if types is None:
        slides = [kind.slides(stated, layer) for layer in range(n_layers)]
    else:
        _one_for_each("layer_types", types, n_layers)
        if strange := sorted({str(layer_type) for layer_type in types} - known.keys()):
            raise ValueError(f"layer_types has {', '.join(strange)}; this library has {' and '.join(known)} alone")
        slides = [known[str(layer_type)] for layer_type in types]
    if any(slides) and window is None:
        first = slides.index(True)
        switch = " (use_sliding_window is false)" if stated.get("use_sliding_window") is False else ""
        raise ValueError(f"layer {first} has sliding_attention, but there is no sliding_window{switch}; give its size")
    return tuple(window if is_sliding else None for is_sliding in slides)


def _rotary(stated: Named, n_layers: int) -> tuple[bool, ...]:
    if "no_rope_layers" not in stated:
        return (True,) * n_layers
    if (listed := stated["no_rope_layers"]) is None:
        return tuple((layer + 1) % stated["no_rope_layer_interval"] != 0 for layer in range(n_layers))
    _one_for_each("no_rope_layers", listed[:n_layers], n_layers)  # transformers takes a longer list
    return tuple(bool(flag) for flag in listed[:n_layers])


def _one_for_each(name: str, listed: Sequence[object], n_layers: int) -> None:
    if len(listed) != n_layers:
        raise ValueError(f"{name} has {len(listed)} values; wanted {n_layers}, one for each layer")


def _latent(entries: Entries, stated: Named) -> Latent:
    plain, rotary = entries.size("qk_nope_head_dim"), entries.size("qk_rope_head_dim")
    entries.only(qk_head_dim=plain + rotary, head_dim=rotary)
    return Latent(entries.size("kv_lora_rank"), rotary, stated["q_lora_rank"], plain, entries.size("v_head_dim"))


def _experts(entries: Entries, kind: Kind, stated: Named, n_layers: int) -> ExpertsDescription | None:
    if kind.expert_width is None:
        return None
    total = entries.size(entries.same("num_experts", "num_local_experts", "n_routed_experts"))
    chosen = entries.size(entries.same("num_experts_per_tok", "experts_per_token"))
    if chosen > total:
        raise ValueError(f"num_experts_per_tok is {chosen}; wanted at most {total}, the number of experts")
    width = entries.size(kind.expert_width)
    entries.only(moe_layer_freq=1)
    dense, every = stated.get("first_k_dense_replace", 0), stated.get("decoder_sparse_step", 1)
    layers = [
        layer >= dense and (layer + 1) % every == 0 and layer not in stated.get("mlp_only_layers", ())
        for layer in range(n_layers)
    ]
    return ExpertsDescription(
        total=total,
        chosen=chosen,
        width=width,
        shared_width=stated.get("shared_expert_intermediate_size") or stated.get("n_shared_experts", 0) * width,
        shared_gate="shared_expert_intermediate_size" in stated,
        biases=kind.expert_biases,
        layers=tuple(layers),
    )
