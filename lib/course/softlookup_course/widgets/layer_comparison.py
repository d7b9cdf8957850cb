"""One layer of the decoder of 2017 beside one of a model of today, with every difference marked."""

from collections.abc import Mapping
from typing import Any

import traitlets

from softlookup.describing.layer_sizes import AttentionSizes, DeltaSizes, DenseSizes, ExpertsSizes, LatentSizes
from softlookup.roofline.config_json import Config, layers
from softlookup.roofline.glance import LONG, glance
from softlookup.roofline.models import MODELS
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

COSTS = ("memory", "computation", "training")
"""What a change of today lowers; a part that earlier chapters explain has none of them."""
SECTIONS = {
    "norm before the sublayer": ("07_encoder.html#encoder-orders", ""),
    "RMSNorm": ("07_encoder.html#encoder-rms-norm", ""),
    "SwiGLU": ("07_encoder.html#encoder-swiglu", ""),
    "no encoder": ("08_decoder_and_masks.html#decoder-families", ""),
    "rotary positions": ("06_positions.html#positions-rotary", ""),
    "shared heads": ("05_many_heads.html#many-heads-grouped", ""),
    "latent": ("15_what_changed.html#what-changed-latent", "memory"),
    "window": ("15_what_changed.html#what-changed-windows", "memory"),
    "sinks": ("15_what_changed.html#what-changed-sinks", "memory"),
    "delta rule": ("15_what_changed_parts.html#what-changed-delta", "memory"),
    "indexer": ("15_what_changed_parts.html#what-changed-indexer", "computation"),
    "experts": ("15_what_changed.html#what-changed-experts", "computation"),
    "YaRN": ("15_what_changed.html#what-changed-yarn", "training"),
    "norms on queries and keys": ("15_what_changed.html#what-changed-qk-norm", "training"),
    "output gate": ("15_what_changed_more.html#what-changed-more", "training"),
}
"""For each difference the section that explains it, and the cost that it lowers."""
ROWS = ("input", "norm", "attention", "sum", "cross-attention", "cross-sum", "second norm", "network", "last sum")
"""Boxes of a layer, from its input on; the left layer has no norm before a sublayer, the right one no encoder."""
PRE_NORM = frozenset({"llama", "gpt_oss", "glm_moe_dsa", "qwen3_5_moe_text"})
"""Model types whose two norms of a layer are RMSNorms that stand before its sublayers."""


def original() -> dict[str, str]:
    """Name the boxes of the decoder layer of 2017."""
    base = MODELS["Transformer base"]
    heads = f"{base.N} heads of {base.D // base.N}"
    return {
        "input": "token + position",
        "attention": f"self-attention, {heads}",
        "sum": "add, then LayerNorm",
        "cross-attention": f"cross-attention, {heads}",
        "cross-sum": "add, then LayerNorm",
        "network": f"feed-forward {base.F:,}, ReLU",
        "last sum": "add, then LayerNorm",
        "stack": f"{base.decoder_layers} layers",
    }


def describe(config: Config) -> dict[str, Any]:
    """Name the boxes of a layer of a config, its differences from `original` by box, and what the model takes."""
    model, counts = layers(config), glance(config)
    if model.model_type not in PRE_NORM:
        raise ValueError(f"where the norms of {model.model_type!r} stand is not known; known are {sorted(PRE_NORM)}")
    boxes, marks = {"input": "token alone", "norm": "RMSNorm", "second norm": "RMSNorm", "sum": "add"}, {}
    boxes["last sum"], boxes["stack"] = "add", f"{len(model.layers)} layers"
    boxes["attention"], marks["attention"] = _attention([layer.parts[0] for layer in model.layers])
    boxes["network"], marks["network"] = _network([layer.parts[-1] for layer in model.layers])
    marks["input"] = [("rotary positions", "rotary positions"), *_stretched(config)]
    marks["norm"] = [("norm before the sublayer", "norm before the sublayer")]
    marks["second norm"] = [("RMSNorm", "RMSNorm for LayerNorm")]
    marks["cross-attention"] = [("no encoder", "no encoder")]
    return {
        "boxes": boxes,
        "marks": {row: [[text, *SECTIONS[change]] for change, text in marks[row]] for row in ROWS if row in marks},
        "total": counts.total,
        "memory": counts.long_bytes + counts.state_bytes,
    }


def _attention(mixers: list[Any]) -> tuple[str, list[tuple[str, str]]]:
    every = len(mixers)
    attends = [mixer for mixer in mixers if isinstance(mixer, AttentionSizes | LatentSizes)]
    recurrent = sum(isinstance(mixer, DeltaSizes) for mixer in mixers)
    windows = [mixer.window for mixer in attends if isinstance(mixer, AttentionSizes) and mixer.window]
    first = attends[0]
    marks = [("delta rule", f"delta rule in {recurrent} of {every} layers")] if recurrent else []
    if isinstance(first, LatentSizes):
        name = f"self-attention, {first.heads} heads"
        marks.append(("latent", f"latent of {first.width}, rotary key of {first.rotary}"))
    else:
        name = f"self-attention, {first.heads} heads of {first.width}"
        if first.kv_heads < first.heads:
            marks.append(("shared heads", f"{first.kv_heads} key-value heads"))
        if windows:
            marks.append(("window", f"window of {min(windows):,} in {len(windows)} of {every} layers"))
        if first.gains:
            marks.append(("norms on queries and keys", "norms on queries and keys"))
        if first.gate:
            marks.append(("output gate", "gate on the output"))
    if first.sinks:
        marks.append(("sinks", "a sink in each head"))
    if first.indexer is not None:
        marks.append(("indexer", f"{first.indexer.chosen:,} tokens chosen by an indexer"))
    return name, marks


def _network(networks: list[Any]) -> tuple[str, list[tuple[str, str]]]:
    routed = [network for network in networks if isinstance(network, ExpertsSizes)]
    last = networks[-1]
    assert isinstance(last, DenseSizes | ExpertsSizes)
    gate = [("SwiGLU", "SwiGLU for ReLU")] if last.gated else []
    if not isinstance(last, ExpertsSizes):
        return f"feed-forward {last.hidden:,}", gate
    some = f", in {len(routed)} of {len(networks)} layers" if len(routed) < len(networks) else ""
    shared = " and a shared one" if last.shared else ""
    return f"experts of {last.hidden:,}", [("experts", f"{last.chosen} of {last.total} experts{shared}{some}"), *gate]


def _stretched(config: Config) -> list[tuple[str, str]]:
    inner = config.get("text_config") or config
    scaling = inner.get("rope_scaling") or inner.get("rope_parameters") or {}
    rope_type = scaling.get("rope_type", scaling.get("type"))
    return [("YaRN", f"YaRN, {scaling['factor']:g} times as long")] if rope_type == "yarn" else []


def static_table(models: Mapping[str, dict[str, Any]]) -> str:
    """Write the boxes and the differences of each model as HTML, for readers whose browser runs no script."""
    rows = []
    for row in (*ROWS, "stack"):
        cells = [original().get(row, "–")]
        for model in models.values():
            differences = [text for text, *_ in model["marks"].get(row, ())]
            cells.append("; ".join([*([model["boxes"][row]] if row in model["boxes"] else []), *differences]))
        rows.append((row, *cells))
    rows.append((f"GB for {LONG:,} tokens", "–", *(f"{model['memory'] / 1e9:.3g}" for model in models.values())))
    return plain_table(("part", "decoder of 2017", *models), rows)


class LayerComparison(InteractiveFigure):
    """Choose a model, and see how its layer differs from a decoder layer of 2017; marks lead to their sections."""

    original = traitlets.Dict(help="boxes of the layer of 2017").tag(sync=True)
    models = traitlets.List(traitlets.Dict(), help="name, boxes, marks, parameters and memory of each").tag(sync=True)
    first = traitlets.Unicode(help="the model shown first").tag(sync=True)
    rows = traitlets.List(traitlets.Unicode(), list(ROWS), help="boxes from the input on").tag(sync=True)
    costs = traitlets.List(traitlets.Unicode(), list(COSTS), help="costs in the chapter's order").tag(sync=True)
    length = traitlets.Int(LONG, help="tokens of the text").tag(sync=True)

    def __init__(self, configs: Mapping[str, Config], first: str) -> None:
        models = {name: describe(config) for name, config in configs.items()}
        records = [{"name": name, **model} for name, model in models.items()]
        super().__init__(original=original(), models=records, first=first, fallback=static_table(models))
