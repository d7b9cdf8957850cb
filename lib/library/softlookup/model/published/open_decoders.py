"""The description of any open decoder whose parts this library has, as a `Config`.

`softlookup.describing` reads what the layers are; here the entries that change no count are read, and both become one
description. A model is then run in two lines:

    model = DecoderLM(decoder_config(description))
    model.load_state_dict(decoder_weights(tensors, model.config, description["model_type"]))
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from softlookup.describing.entries import finite_number
from softlookup.describing.filled_entries import FilledEntries
from softlookup.describing.layer_sizes import (
    AttentionSizes,
    DeltaSizes,
    DenseSizes,
    ExpertsSizes,
    LatentSizes,
    ModelLayers,
)
from softlookup.describing.read_layers import DECODERS, read_layers
from softlookup.describing.runnable import RUNNABLE, TURN_PART_OF_A_HEAD, RunnableDecoder, missing_part
from softlookup.model.parts.config import Activation, Config
from softlookup.model.parts.decoder_parts import DecoderParts, DeltaLayers, RoutedLayers
from softlookup.model.parts.rotary_scaling import RotaryScaling
from softlookup.model.published._renaming import ACTIVATIONS

Part = TypeVar("Part")

_GATED: dict[str, Activation] = {"silu": "swiglu", "gelu_pytorch_tanh": "geglu_tanh", "gelu_new": "geglu_tanh"}
_PLAIN: dict[str, Activation] = ACTIVATIONS | {"relu2": "relu2"}
_EPS = ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", "norm_eps")


_WITHOUT_EFFECT = (
    # Layers that predict further tokens, which stand beside the model; how weights are stored (in files of 8 bits there
    # are tensors that decoder_weights names as left over); the name of code; how weights were drawn.
    "num_nextn_predict_layers mtp_num_hidden_layers quantization_config auto_map embedding_initializer_range"
).split()


def decoder_config(description: Any) -> Config:
    """Describe an open decoder for DecoderLM.

    Args:
        description: The model's config.json as a mapping, or a configuration object with to_dict().

    Returns:
        The same model in our words. Where it has no padding or no start, the end token stands in for it.

    Raises:
        TypeError: If the description is neither.
        ValueError: If the model has a part that this library does not have, or the description lacks an entry or has
            one that is not understood; the message names it.
    """
    entries = FilledEntries(description, DECODERS)
    model = read_layers(entries)
    if part := missing_part(model):
        raise ValueError(f"{part} is not in this library")
    row, n_layers = RUNNABLE[entries.model_type], len(model.layers)
    mixers = [layer.parts[0] for layer in model.layers]
    windows = tuple(getattr(mixer, "window", None) for mixer in mixers)
    turned = model.rotary or (True,) * n_layers
    if row.without_turning == "full" or (row.without_turning != "none" and entries.get("sliding_window") is not None):
        turned = tuple(window is not None for window in windows)
    no_rotary_every = _every_nth([not is_turned for is_turned in turned])
    window, global_every, by_layer = _windows(windows)
    attention = _alike(replace(m, window=None) for m in mixers if isinstance(m, AttentionSizes))
    latent = _alike(m for m in mixers if isinstance(m, LatentSizes))
    delta = _alike(m for m in mixers if isinstance(m, DeltaSizes))
    dense = _alike(part for layer in model.layers for part in layer.parts if isinstance(part, DenseSizes))
    experts = _alike(part for layer in model.layers for part in layer.parts if isinstance(part, ExpertsSizes))
    head_width = latent.plain if latent else attention.width if attention else None
    rotary = _rotary(entries, latent, head_width)
    _refuse(entries, attention, row)
    parts = DecoderParts(
        norm_place=_norm_place(entries, row),
        norm_shift=row.norm_shift,
        residual_scale=_number(entries, "residual_multiplier") or 1.0,
        embedding_scale=_number(entries, "embedding_multiplier"),
        score_cap=_number(entries, "attn_logit_softcapping"),
        logit_cap=_number(entries, "final_logit_softcapping"),
        qkv_bias=attention is not None and attention.qkv_bias and not attention.output_bias,
        norm_turned=row.norm_turned,
        output_gate=attention is not None and attention.gate > 0,
        value_width=None if latent is None else latent.value,
        windows=by_layer,
        turned_layers=() if all(turned) or no_rotary_every else turned,
        turned_width=rotary.width,
        local_base=rotary.local_base if any(windows) else None,
        experts=_routed(entries, model, row, experts, dense),
        delta=None if delta is None else _delta(delta, mixers),
    )
    end_id = entries.token_id("eos_token_id", or_first=True)
    config = Config(
        vocab_size=model.vocab_size,
        d_model=model.d_model,
        n_heads=latent.heads if latent else attention.heads if attention else 1,
        n_layers=n_layers,
        d_hidden=experts.hidden if experts else dense.hidden if dense else 1,
        head_width=head_width,
        n_kv_heads=attention.kv_heads if attention else None,
        max_length=entries.size("max_position_embeddings"),
        positions="rotary" if row.neighbours else "rotary_halves",
        rotary_base=rotary.base,
        rotary_scaling=rotary.scaling,
        norm=row.norm,
        norm_eps=next((entries.number(name, 1e-5) for name in _EPS if entries.knows(name)), 1e-5),
        pre_norm=True,
        activation=_activation(entries, dense, experts),
        attention_bias=attention is not None and attention.output_bias,
        hidden_bias=dense is not None and dense.bias,
        attention_scale=_score_scale(entries),
        qk_norm=_qk_norm(attention),
        attention_sinks=attention is not None and attention.sinks,
        latent_width=latent.width if latent else None,
        latent_rotary_width=latent.rotary if latent else 64,
        latent_query_width=latent.query if latent else None,
        n_experts=experts.total if experts else 0,
        experts_per_token=experts.chosen if experts else 2,
        expert_gate=row.gate,
        dropout=0.0,
        scale_embeddings=row.scaled_embeddings or entries.switch("mup_enabled"),
        tied=model.tied,
        tied_scale=_logit_scale(entries),
        output_bias=row.output_bias,
        window=window,
        global_every=global_every,
        no_rotary_every=no_rotary_every,
        parts=None if parts == DecoderParts() else parts,
        pad_id=entries.token_id("pad_token_id", end_id),
        start_id=entries.token_id("bos_token_id", end_id),
        end_id=end_id,
    )
    entries.refuse_the_rest(_WITHOUT_EFFECT)
    return config


Windows = tuple[int | None, ...]


def _windows(windows: Windows) -> tuple[int | None, int | None, Windows]:
    """The window, which layers have none (each n-th), and those of single layers where these two do not say it."""
    sizes, global_every = {*windows} - {None}, _every_nth([size is None for size in windows])
    if len(sizes) > 1 or (sizes and None in windows and global_every is None):
        return None, None, windows
    return next(iter(sizes), None), global_every, ()


def _every_nth(flags: list[bool]) -> int | None:
    """n, at least 2, where each n-th layer is flagged and no other; None where that does not describe them."""
    n = flags.index(True) + 1 if True in flags else 0
    return n if n > 1 and all(flag == ((i + 1) % n == 0) for i, flag in enumerate(flags)) else None


def _alike(parts: Iterable[Part]) -> Part | None:
    kinds = list(dict.fromkeys(parts))
    if len(kinds) > 1:
        raise ValueError(f"layers differ in size: {kinds[0]} and {kinds[1]}; this library has one size of a kind")
    return kinds[0] if kinds else None


class _Rotary(NamedTuple):
    base: float
    scaling: RotaryScaling | None
    width: int | None
    local_base: float | None


def _rotary(entries: FilledEntries, latent: LatentSizes | None, head_width: int | None) -> _Rotary:
    """Read the base, the scaling and the width of rotary positions; newer files have them in one entry."""
    whole: dict[str, Any] = {}
    for name in ("rope_scaling", "rope_parameters"):
        if not isinstance(entry := entries.get(name, {}), Mapping):
            raise ValueError(f"{name} is {entry!r}; wanted a mapping")
        whole |= {key: value for key, value in entry.items() if value is not None}
    for name in ("sliding_attention", "full_attention"):
        if not isinstance(entry := whole.get(name, {}), Mapping):
            raise ValueError(f"rotary positions of {name} are {entry!r}; wanted a mapping")
    usual, in_file = entries.rope, bool(whole)
    whole = whole or dict(usual)
    local = {**usual.get("sliding_attention", {}), **whole.pop("sliding_attention", {})}
    usual = usual.get("full_attention", usual)
    full = whole.pop("full_attention", {})
    rope = {**whole, **full}
    for name, otherwise in (("rope_theta", 1e4), ("partial_rotary_factor", 1.0)):
        if entries.get(name) is not None and not (in_file and name in rope):
            rope[name] = entries[name]
        rope.setdefault(name, usual.get(name, otherwise))
    if entries.says("rotary_dim") and head_width is not None:  # an older entry of the same
        rope["partial_rotary_factor"] = entries.size("rotary_dim") / head_width
    if entries.says("rope_local_base_freq"):
        local["rope_theta"] = entries["rope_local_base_freq"]
    fraction = finite_number("partial_rotary_factor", rope.pop("partial_rotary_factor"))
    if not 0 < fraction <= 1:
        raise ValueError(f"partial_rotary_factor is {fraction:g}; wanted a number above 0 and at most 1")
    for turned in (fraction, local.pop("partial_rotary_factor", fraction)):
        if turned != fraction or (turned != 1 and entries.model_type not in TURN_PART_OF_A_HEAD):
            raise ValueError(
                f"partial_rotary_factor is {turned}; this library turns whole heads for model_type "
                f"{entries.model_type!r}"
            )
    base, scaling = _scaling(entries, rope, latent is not None)
    local_base: float | None = None
    local_base, local_scaling = _scaling(entries, local, False) if local else (base, scaling)
    if (local_base, local_scaling) == (base, scaling):
        local_base = None
    elif local_scaling is not None:
        raise ValueError(f"rotary positions of layers with a window are scaled: {local}; wanted unscaled ones")
    width = None if fraction == 1 or head_width is None or latent is not None else int(head_width * fraction)
    return _Rotary(base, scaling, width, local_base)


def _scaling(entries: FilledEntries, rope: Mapping[str, Any], latent: bool) -> tuple[float, RotaryScaling | None]:
    """Read the base and the scaling of one kind of layers, and refuse what is left."""
    remaining = dict(rope)
    older, newer = remaining.pop("type", None), remaining.pop("rope_type", None)
    rope_type, base = newer or older or "default", remaining.pop("rope_theta", 1e4)
    base = finite_number("rope_theta", base)
    if base <= 0:
        raise ValueError(f"rope_theta is {base:g}; wanted a number above 0")
    if rope_type not in ("default", "linear", "llama3", "yarn"):
        raise ValueError(f"rotary positions are {rope_type!r}; this library has default, linear, llama3 and yarn")
    scaling = None
    if rope_type != "default":
        factor = _needed(remaining, rope_type, "factor")
        if factor < 1:
            raise ValueError(f"factor is {factor:g}; wanted a number of at least 1")
        trained = remaining.pop("original_max_position_embeddings", None)
        trained = entries.size("max_position_embeddings") if trained is None else trained
        if type(trained) is not int or trained < 1:
            raise ValueError(f"original_max_position_embeddings is {trained!r}; wanted a whole number of at least 1")
        if rope_type == "yarn":
            scaling = _yarn(remaining, factor, trained, latent)
        elif rope_type == "llama3":
            turns = {name: _needed(remaining, rope_type, name) for name in ("low_freq_factor", "high_freq_factor")}
            scaling = RotaryScaling("llama3", factor, trained, *_ramp(**turns))
        else:
            scaling = RotaryScaling("linear", factor)
    if remaining:
        raise ValueError(f"rotary positions have {remaining} beside {rope_type}; this library does not have that")
    return base, scaling


def _needed(remaining: dict[str, Any], rope_type: str, name: str) -> float:
    """Take a number that rotary positions of this type cannot do without."""
    if (value := remaining.pop(name, None)) is None:
        raise ValueError(f"rotary positions of type {rope_type!r} have no {name}; give it beside rope_type")
    return finite_number(name, value)


def _ramp(**turns: float) -> tuple[float, float]:
    """The turns of the fast and of the slow end of a ramp, handed in under their names: the slow end first."""
    (slow_name, slow), (fast_name, fast) = turns.items()
    if not 0 < slow < fast:
        raise ValueError(f"{slow_name} is {slow:g}, {fast_name} is {fast:g}; wanted 0 < {slow_name} < {fast_name}")
    return fast, slow


def _yarn(remaining: dict[str, Any], factor: float, trained: int, latent: bool) -> RotaryScaling:
    def read_number(name: str, default: float) -> float:
        value = remaining.pop(name, None)
        return finite_number(name, default if value is None else value)

    mscale, all_dims = read_number("mscale", 0.0), read_number("mscale_all_dim", 0.0)

    def amplitude(times: float) -> float:
        return 0.1 * times * math.log(factor) + 1 if factor > 1 else 1.0

    on_sines = amplitude(mscale) / amplitude(all_dims) if mscale and all_dims else amplitude(1.0)
    if (on_sines := read_number("attention_factor", on_sines)) <= 0:
        raise ValueError(f"attention_factor is {on_sines:g}; wanted a number above 0")
    if latent:  # there sines turn a part of the queries alone, and the factor belongs to all of the scores
        if on_sines != 1:
            raise ValueError(f"YaRN multiplies sines by {on_sines} in latent attention; wanted mscale = mscale_all_dim")
        on_sines = amplitude(all_dims) if all_dims else 1.0
    fast, slow = _ramp(beta_slow=read_number("beta_slow", 0.0) or 1.0, beta_fast=read_number("beta_fast", 0.0) or 32.0)
    if not isinstance(truncate := remaining.pop("truncate", True), bool):
        raise ValueError(f"truncate is {truncate!r}; wanted true or false")
    return RotaryScaling("yarn", factor, trained, fast, slow, on_sines, truncate)


def _refuse(
    entries: FilledEntries,
    attention: AttentionSizes | None,
    row: RunnableDecoder,
) -> None:
    """Refuse values of parts that are there, but not in this shape."""
    older = entries.model_type == "deepseek_v2"
    if older:
        entries.only(n_group=1, norm_topk_prob=False)
    for name, value in (
        ("rope_interleave", True),
        ("topk_method", "greedy" if older else "noaux_tc"),
        ("swiglu_alpha", 1.702),
    ):
        if entries.knows(name) or entries.says(name):
            entries.only(**{name: value})
    if entries.says("scoring_func"):
        entries.only(scoring_func=row.gate)
    if entries.knows("clip_qkv") and entries.get("clip_qkv") is not None:
        raise ValueError("clip_qkv cuts queries, keys and values off; this library does not")
    if attention is None:
        return
    if attention.gains and row.norm == "layer":
        raise ValueError("LayerNorm of queries and keys is not in this library")
    if attention.value_width != attention.width:
        raise ValueError(f"values of {attention.value_width} beside keys of {attention.width} are not in this library")
    whole = attention.heads * attention.value_width
    if attention.gate not in (0, whole) or (attention.gate and attention.qkv_bias and not attention.gate_bias):
        raise ValueError("an output gate for each head, or without the queries' bias, is not in this library")
    if attention.qkv_bias is False and attention.output_bias:
        raise ValueError("a bias of the output of attention alone is not in this library")


def _number(entries: FilledEntries, name: str) -> float | None:
    return entries.number(name, 0.0) if entries.knows(name) and entries.get(name) is not None else None


def _norm_place(entries: FilledEntries, row: RunnableDecoder) -> Any:
    if entries.knows("use_parallel_residual") and entries.flag("use_parallel_residual", False):
        return "shared"
    if entries.knows("use_post_norm"):
        return "both" if entries.flag("use_post_norm", False) else "before"
    return row.norm_place


def _activation(entries: FilledEntries, dense: DenseSizes | None, experts: ExpertsSizes | None) -> Activation:
    name = "hidden_activation" if entries.knows("hidden_activation") else "hidden_act"
    gated = dense.gated if dense else experts is not None and experts.gated
    activation = entries.one_of(name, _GATED if gated else _PLAIN)
    if experts and activation != "swiglu":
        raise ValueError(f"{name} is {activation!r}; this library's experts have silu and a gate")
    return activation


def _score_scale(entries: FilledEntries) -> float | None:
    if (scalar := _number(entries, "query_pre_attn_scalar")) is not None:
        return float(scalar**-0.5)
    return _number(entries, "attention_multiplier")


def _logit_scale(entries: FilledEntries) -> float | None:
    scale = _number(entries, "logit_scale")
    if (divisor := _number(entries, "logits_scaling")) is not None:
        scale = 1 / divisor
    return None if scale == 1 else scale


def _qk_norm(attention: AttentionSizes | None) -> Any:
    if attention is None or not attention.gains:
        return "none"
    return "head" if attention.gains == 2 * attention.width else "width"


def _routed(
    entries: FilledEntries,
    model: ModelLayers,
    row: RunnableDecoder,
    experts: ExpertsSizes | None,
    dense: DenseSizes | None,
) -> RoutedLayers | None:
    if experts is None:
        return None
    knows = entries.knows
    return RoutedLayers(
        layers=tuple(any(isinstance(part, ExpertsSizes) for part in layer.parts) for layer in model.layers),
        dense_hidden=dense.hidden if dense else experts.hidden,
        renormalise=entries.flag("norm_topk_prob", True) if knows("norm_topk_prob") else row.renormalise,
        factor=_number(entries, "routed_scaling_factor") or _number(entries, "route_scale") or 1.0,
        groups=entries.maybe("n_group") or 1 if knows("n_group") else 1,
        chosen_groups=entries.maybe("topk_group") or 1 if knows("topk_group") else 1,
        shared_width=experts.shared,
        shared_gate=experts.shared_gate,
        clamp=_number(entries, "swiglu_limit") if experts.bias else None,
    )


def _delta(delta: DeltaSizes, mixers: list[Any]) -> DeltaLayers:
    return DeltaLayers(
        layers=tuple(isinstance(mixer, DeltaSizes) for mixer in mixers),
        key_heads=delta.key_heads,
        heads=delta.heads,
        key_width=delta.key_width,
        value_width=delta.value_width,
        kernel=delta.kernel,
    )
