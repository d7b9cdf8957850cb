"""The encoder-decoder as a class, equal to nn.Transformer between its embeddings and its logits."""

import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case, LayerAnswer
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.ch08_decoder_and_masks import layer
from softlookup_judge.chapters.draws import Rng, normal, sentences
from softlookup_judge.chapters.oracles import torch

SIZES = 6


def shapes(vocab: int, d: int, n_layers: int, hidden: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of all weights, as a state dict would have them."""
    all_shapes: dict[str, tuple[int, ...]] = {"embedding": (vocab, d)}
    for i in range(n_layers):
        encoder_shapes = layer.attention_shapes("attention", d) | layer.think_shapes("feed_forward", d, hidden)
        encoder_shapes |= layer.norm_shapes("norm_1", d) | layer.norm_shapes("norm_2", d)
        all_shapes |= {f"encoder.{i}.{name}": shape for name, shape in encoder_shapes.items()}
    for i in range(n_layers):
        all_shapes |= {f"decoder.{i}.{name}": shape for name, shape in layer.layer_shapes(d, hidden).items()}
    return all_shapes | layer.norm_shapes("encoder_norm", d) | layer.norm_shapes("decoder_norm", d)


NAMES = tuple(name.replace("coder.0.", "coder.*.") for name in shapes(1, 1, 1, 1))
"""The same names for any number of layers."""


def _case(
    rng: Rng,
    label: str,
    sizes: tuple[int, int, int, int, int, int],
    source: tuple[int, ...],
    target: tuple[int, ...],
    totals: tuple[int, int],
    dtype: str = "float32",
    **more: Any,
) -> Case:
    """Sizes are V, D, N, F, L and the id of padding; then the real tokens of each source and target."""
    vocab, d, _, hidden, n_layers, pad_id = sizes
    weight_shapes = shapes(vocab, d, n_layers, hidden)
    weights = layer.random_weights(rng, weight_shapes, dtype)
    weights[0] = normal(rng, vocab, d, dtype=dtype, scale=d**-0.5)
    ids = (sentences(rng, source, vocab, pad_id, totals[0]), sentences(rng, target, vocab, pad_id, totals[1]))
    if more.get("gradients") == "all":
        more["gradients"] = tuple(range(SIZES, SIZES + len(weight_shapes)))
        more["upstream"] = normal(rng, len(source), totals[1], vocab, dtype=dtype)
    return Case(label, (*sizes, *weights, *ids), sizes=SIZES, parameters=tuple(weight_shapes), **more)


def cases(rng: Rng) -> list[Case]:
    """The questions."""
    one_layer, french = (9, 6, 3, 5, 1, 0), (12, 4, 2, 16, 1, 0)
    of_all: dict[str, Any] = {"gradients": "all", "part": "gradient"}
    return [
        _case(rng, "one layer, two sentences, S = 5, T = 4", one_layer, (5, 3), (4, 4), (5, 4), tolerance=3e-5),
        _case(rng, "two layers, D = 4, N = 2", (7, 4, 2, 6, 2, 0), (4, 2), (3, 3), (4, 3), tolerance=3e-5),
        _case(rng, "the French sentence's sizes: S = T = 8, D = 4", french, (7,), (8,), (8, 8), tolerance=3e-5),
        _case(rng, "B = T = S = 3, the pad is 5", (8, 6, 2, 4, 1, 5), (3, 1, 2), (3, 3, 3), (3, 3), tolerance=3e-5),
        _case(rng, "long sentences: S = 67, T = 66", (7, 4, 2, 3, 1, 0), (67,), (66,), (67, 66), tolerance=3e-5),
        _case(rng, "targets filled up too", (8, 4, 1, 4, 1, 0), (3, 4), (2, 5), (4, 5), part="mask", tolerance=3e-5),
        _case(rng, "one word so far", (6, 4, 2, 3, 1, 1), (4, 2), (1, 1), (4, 1), part="mask", tolerance=3e-5),
        _case(rng, "gradients of all weights", (7, 4, 2, 3, 1, 0), (3, 2), (2, 2), (3, 2), "float64", **of_all),
    ]


def _within(weights: Mapping[str, Any], part: str) -> dict[str, Any]:
    """The weights of one part, without its name in front."""
    return {name[len(part) + 1 :]: w for name, w in weights.items() if name.startswith(part + ".")}


@lru_cache(maxsize=16)
def _stacks(thread: int, d_model: int, n_heads: int, d_hidden: int, n_layers: int, dtype: Any) -> tuple[Any, Any]:
    """Torch's own layers, made once for each thread, since that is slow; each call brings weights of its own."""
    from torch import nn

    options: dict[str, Any] = {"dropout": 0.0, "norm_first": True, "batch_first": True, "dtype": dtype}
    norm = nn.LayerNorm(d_model, dtype=dtype)
    encoder_layer = nn.TransformerEncoderLayer(d_model, n_heads, d_hidden, **options)
    decoder_layer = nn.TransformerDecoderLayer(d_model, n_heads, d_hidden, **options)
    encoder = nn.TransformerEncoder(encoder_layer, n_layers, norm, enable_nested_tensor=False)
    return encoder, nn.TransformerDecoder(decoder_layer, n_layers, norm)


@graded(
    "08.transformer",
    cases,
    called_with=("source_ids", "target_ids"),
    parts={"core": 0.65, "mask": 0.2, "gradient": 0.15},
    forbids=layer.PARTS,
    layer=LayerAnswer(SIZES, NAMES, depth=4),
)
def transformer(
    vocab_size: int, d_model: int, n_heads: int, d_hidden: int, n_layers: int, pad_id: int, *tensors: Any
) -> Any:
    """Torch's own encoder and decoder, between embeddings and logits written out."""
    names = tuple(shapes(vocab_size, d_model, n_layers, d_hidden))
    w = dict(zip(names, tensors, strict=False))
    source, target = tensors[len(names) :]
    table = w["embedding"]

    def embedded(ids: Any) -> Any:
        position = torch.arange(ids.shape[1], dtype=table.dtype)[:, None]
        even = torch.arange(0, d_model, 2, dtype=table.dtype)
        angle = position * torch.exp(-even / d_model * np.log(10000.0))
        added = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
        return torch.nn.functional.embedding(ids, table) * d_model**0.5 + added

    def run(stack: Any, part: str, converted: Any, *inputs: Any, **masks: Any) -> Any:
        loaded = {f"norm.{suffix}": w[f"{part}_norm.{suffix}"] for suffix in ("weight", "bias")}
        for i in range(n_layers):
            layer_weights = _within(w, f"{part}.{i}")
            loaded |= {f"layers.{i}.{name}": tensor for name, tensor in converted(layer_weights).items()}
        return torch.func.functional_call(stack, loaded, inputs, masks)

    def encoder_names(weights: dict[str, Any]) -> dict[str, Any]:
        return layer.torch_attention("attention", weights, "self_attn") | layer.torch_rest(weights, 2)

    hidden = source.eq(pad_id)
    encoder, decoder = _stacks(threading.get_ident(), d_model, n_heads, d_hidden, n_layers, table.dtype)
    memory = run(encoder, "encoder", encoder_names, embedded(source), src_key_padding_mask=hidden)
    future = torch.ones(target.shape[1], target.shape[1]).triu(1).bool()
    y = run(
        decoder,
        "decoder",
        layer.torch_decoder_layer,
        embedded(target),
        memory,
        tgt_mask=future,
        memory_key_padding_mask=hidden,
    )
    return y @ table.T
