"""The decoder's layer: a class with the parts of a pre-LN layer, which the judge fills with weights of its own."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case, LayerAnswer
from softlookup_judge.chapters import draws
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.data.published import described

MATRICES = ("w_q", "w_k", "w_v", "w_o")
PARTS = (
    *ATTENTIONS,
    "torch.nn.Transformer",
    "torch.nn.TransformerDecoder",
    "torch.nn.TransformerDecoderLayer",
    "torch.nn.TransformerEncoder",
    "torch.nn.TransformerEncoderLayer",
)
"""What must not be called where a layer or a whole model is to be written."""


def attention_shapes(part: str, d: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of one attention's matrices, N*H = D."""
    return {f"{part}.{name}": (d, d) for name in MATRICES}


def think_shapes(part: str, d: int, hidden: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of a feed-forward network's weights."""
    sizes = {"0.weight": (hidden, d), "0.bias": (hidden,), "2.weight": (d, hidden), "2.bias": (d,)}
    return {f"{part}.{name}": shape for name, shape in sizes.items()}


def norm_shapes(part: str, d: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of a norm's gain and bias."""
    return {f"{part}.weight": (d,), f"{part}.bias": (d,)}


def layer_shapes(d: int, hidden: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of all weights of a decoder's layer."""
    shapes = attention_shapes("attention", d) | attention_shapes("cross", d) | think_shapes("feed_forward", d, hidden)
    for i in (1, 2, 3):
        shapes |= norm_shapes(f"norm_{i}", d)
    return shapes


WEIGHTS = tuple(layer_shapes(1, 1))


def drawn(rng: Rng, shapes: dict[str, tuple[int, ...]], dtype: str = "float32") -> list[np.ndarray]:
    """Weights of these shapes: matrices that keep numbers in size, gains around 1, biases around 0."""
    made = []
    for name, shape in shapes.items():
        if len(shape) == 2:
            made.append(normal(rng, *shape, dtype=dtype, scale=shape[0] ** -0.5))
        else:
            made.append((("norm" in name and name.endswith("weight")) + 0.3 * rng.standard_normal(shape)).astype(dtype))
    return made


def _args(rng: Rng, b: int, t: int, s: int, d: int, n: int, hidden: int, dtype: str = "float32") -> tuple[Any, ...]:
    return (
        d,
        n,
        hidden,
        *drawn(rng, layer_shapes(d, hidden), dtype),
        normal(rng, b, t, d, dtype=dtype),
        normal(rng, b, s, d, dtype=dtype),
    )


def _cases(rng: Rng) -> list[Case]:
    def padding(*real: int, s: int) -> np.ndarray:
        return (np.arange(s) < np.array(real)[:, None])[:, None, None, :]

    def case(label: str, args: tuple[Any, ...], memory_mask: np.ndarray, **more: Any) -> Case:
        past = np.tri(args[-2].shape[1], dtype=bool)
        return Case(label, (*args, past, memory_mask), sizes=3, parameters=WEIGHTS, **more)

    double = _args(rng, 2, 3, 4, 6, 2, 5, "float64")
    upstream = normal(rng, 2, 3, 6, dtype="float64")
    window = np.tri(4, dtype=bool) & ~np.tri(4, k=-2, dtype=bool)
    other = _args(rng, 2, 4, 3, 4, 2, 6)
    return [
        case("B = 2, T = 3, S = 5, D = 6, N = 3, F = 8", _args(rng, 2, 3, 5, 6, 3, 8), padding(5, 3, s=5)),
        case("small sizes: T = S = 8, D = 4", _args(rng, 1, 8, 8, 4, 2, 16), padding(7, s=8)),
        case("B = T = S = N = 3, D = F = 9", _args(rng, 3, 3, 3, 9, 3, 9), padding(3, 1, 2, s=3)),
        case("one word so far", _args(rng, 2, 1, 4, 4, 1, 3), padding(4, 2, s=4)),
        case("vectors of tiny spread", _tiny(_args(rng, 2, 3, 4, 6, 2, 5)), padding(4, 3, s=4)),
        Case(
            "another mask for looking back",
            (*other, window, padding(3, 2, s=3)),
            sizes=3,
            parameters=WEIGHTS,
            part="mask",
        ),
        Case(
            "the target's padding too: a mask (B, 1, T, T)",
            (*other, draws.seeing_mask(rng, 2, 1, 4, 4), padding(1, 3, s=3)),
            sizes=3,
            parameters=WEIGHTS,
            part="mask",
        ),
        case(
            "gradients of all weights and both sequences",
            double,
            padding(4, 2, s=4),
            gradients=tuple(range(3, 3 + len(WEIGHTS) + 2)),
            upstream=upstream,
            part="gradient",
        ),
    ]


def _tiny(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same with tokens whose spread is of the size of the root of eps."""
    return (*args[:-2], (args[-2] * 3e-3).astype("float32"), args[-1])


def torch_attention(part: str, w: dict[str, Any], in_torch: str) -> dict[str, Any]:
    """Our four matrices as those of nn.MultiheadAttention."""
    import torch

    q, k, v, o = (w[f"{part}.{name}"] for name in MATRICES)
    return {
        f"{in_torch}.in_proj_weight": torch.cat([q.T, k.T, v.T]),
        f"{in_torch}.out_proj.weight": o.T,
        f"{in_torch}.in_proj_bias": q.new_zeros(3 * len(q)),
        f"{in_torch}.out_proj.bias": q.new_zeros(len(q)),
    }


def torch_rest(w: dict[str, Any], norms: int) -> dict[str, Any]:
    """Feed-forward network and norms in torch's names."""
    named = {"linear1.weight": w["feed_forward.0.weight"], "linear1.bias": w["feed_forward.0.bias"]}
    named |= {"linear2.weight": w["feed_forward.2.weight"], "linear2.bias": w["feed_forward.2.bias"]}
    for i in range(1, norms + 1):
        named |= {f"norm{i}.{kind}": w[f"norm_{i}.{kind}"] for kind in ("weight", "bias")}
    return named


def torch_decoder_layer(w: dict[str, Any]) -> dict[str, Any]:
    """All weights of a decoder's layer in torch's names."""
    return (
        torch_attention("attention", w, "self_attn") | torch_attention("cross", w, "multihead_attn") | torch_rest(w, 3)
    )


def _layer(d_model: int, n_heads: int, d_hidden: int, *tensors: Any) -> Any:
    """Torch's own decoder layer, with the norm first."""
    import torch

    weights = dict(zip(WEIGHTS, tensors, strict=False))
    x, memory, mask, memory_mask = tensors[len(WEIGHTS) :]
    layer = torch.nn.TransformerDecoderLayer(
        d_model, n_heads, d_hidden, dropout=0.0, norm_first=True, batch_first=True, dtype=x.dtype
    )
    per_head = len(x), n_heads, x.shape[1]
    # Any mask that broadcasts is taken: a later answer may hand over one for all rows or all sentences.
    options = {
        "tgt_mask": ~mask.expand(*per_head, x.shape[1]).flatten(0, 1),
        "memory_mask": ~memory_mask.expand(*per_head, memory.shape[1]).flatten(0, 1),
    }
    return torch.func.functional_call(layer, torch_decoder_layer(weights), (x, memory), options)


DECODER_LAYER = described(
    "08.decoder-layer",
    cases=_cases,
    oracle=_layer,
    called_with=("x", "memory", "mask", "memory_mask"),
    parts={"core": 0.6, "mask": 0.2, "gradient": 0.2},
    forbids=PARTS,
    layer=LayerAnswer(3, WEIGHTS),
)
