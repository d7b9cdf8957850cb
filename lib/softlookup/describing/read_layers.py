"""Reads the layers of any decoder that is known, from its config.json."""

from collections.abc import Iterable, Mapping
from typing import Any

from softlookup.describing.decoders import KINDS, DecoderDescription
from softlookup.describing.families import FAMILIES
from softlookup.describing.filled_entries import FilledEntries
from softlookup.describing.layer_sizes import (
    AttentionSizes,
    DenseSizes,
    ExpertsSizes,
    LatentSizes,
    LayerSizes,
    MixerSizes,
    ModelLayers,
    NetworkSizes,
)
from softlookup.describing.unusual_families import UNUSUAL
from softlookup.describing.usual_layers import usual_layers

FILLED = tuple(sorted({*FAMILIES, *UNUSUAL}))
"""The model_types whose defaults are on file."""
DECODERS = tuple(sorted({*KINDS, *FILLED}))
"""The model_types of all decoders that are read."""


def filled_layers(config: Mapping[str, Any], without_effect: Iterable[str]) -> ModelLayers:
    """Read a config of a model_type whose defaults are on file.

    Args:
        config: Its entries.
        without_effect: Entries that change no count.

    Returns:
        The model's layers.

    Raises:
        ValueError: If model_type is unknown, an entry that is needed is missing, or an entry or its value is not
            understood; the message names it.

    Book: 15_what_changed_more.html#config-names.
    """
    entries = FilledEntries(config, FILLED)
    model = UNUSUAL[entries.model_type](entries) if entries.model_type in UNUSUAL else usual_layers(entries)
    entries.refuse_the_rest(without_effect)
    return model


def decoder_layers(model: DecoderDescription) -> ModelLayers:
    """Say the same of a description in layers.

    Args:
        model: What ``softlookup.describing.decoders.decoder`` read.

    Returns:
        Its layers.

    Book: 15_what_changed_more.html#config-names.
    """
    d = model.d_model
    routed = (False,) * model.n_layers if model.experts is None else model.experts.layers
    layers = tuple(
        LayerSizes((_mixer(model, window), _network(model, sparse)), model.norms * d)
        for window, sparse in zip(model.windows, routed, strict=True)
    )
    return ModelLayers(model.model_type, d, model.vocab_size, model.tied, layers, last_norms=d)


def _mixer(model: DecoderDescription, window: int | None) -> MixerSizes:
    if (latent := model.latent) is not None:
        return LatentSizes(
            heads=model.n_heads,
            width=latent.width,
            rotary=latent.rotary,
            query=latent.query,
            plain=latent.plain,
            value=latent.value,
            bias=model.qkv_bias,
        )
    return AttentionSizes(
        heads=model.n_heads,
        kv_heads=model.n_kv_heads,
        width=model.head_width,
        value_width=model.head_width,
        window=window,
        qkv_bias=model.qkv_bias,
        output_bias=model.output_bias,
        gains=2 * model.head_width if model.qk_norm else 0,
        sinks=model.sinks,
    )


def _network(model: DecoderDescription, sparse: bool) -> NetworkSizes:
    if not sparse or model.experts is None:
        return DenseSizes(model.d_hidden, bias=model.hidden_bias)
    of = model.experts
    return ExpertsSizes(
        total=of.total,
        chosen=of.chosen,
        hidden=of.width,
        shared=of.shared_width,
        shared_gate=of.shared_gate,
        bias=of.biases,
    )
