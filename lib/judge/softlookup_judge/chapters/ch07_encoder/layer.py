"""Tasks on the encoder: a layer as a function of its weights, pooling, the whole stack, and its parameters."""

from dataclasses import replace
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters import draws
from softlookup_judge.chapters.cases import DTYPE, backward, graded, sized
from softlookup_judge.chapters.ch07_encoder.residuals import WHOLE_LAYERS, hidden_weights, norm_weights
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.oracles import torch
from softlookup_judge.data.published import described


def layer_args(
    rng: Rng, b: int, t: int, d: int, f: int, n: int, pre_norm: bool, dtype: str = "float32"
) -> tuple[Any, ...]:
    """Tokens, the weights of one layer, N and the order: what the task's function takes, but for the mask."""
    attention = normal(rng, 4, d, d, dtype=dtype, scale=1.4 * d**-0.5)
    weights = hidden_weights(rng, d, f, dtype)
    return (normal(rng, b, t, d, dtype=dtype), attention, *weights, norm_weights(rng, 4, d, dtype), n, pre_norm)


def real_tokens(rng: Rng, b: int, t: int) -> np.ndarray:
    """Rows that end in padding, of different lengths; the first token is always real, and some row is padded."""
    lengths = rng.integers(1, t + 1, size=b)
    lengths[0] = min(lengths[0], t - 1)
    if b > 1:
        lengths[1] = t if lengths[0] != t else 1
    return np.arange(t) < lengths[:, None]


LOUD_MASK = np.arange(5) < np.array([[1], [2], [5]])


def _layer_cases(rng: Rng) -> list[Case]:
    def args(b: int, t: int, d: int, f: int, n: int, pre: bool, **facts: Any) -> tuple[Any, ...]:
        return layer_args(rng, b, t, d, f, n, pre, **facts)

    scattered = draws.seeing_mask(rng, 2, 5)
    double = args(2, 3, 6, 7, 3, False, dtype="float64")
    double_pre = args(2, 3, 4, 5, 2, True, dtype="float64")
    # Real scores far below any finite number that might be put for -inf.
    loud = layer_args(rng, 3, 5, 6, 7, 2, False, dtype="float64")
    loud = (1000.0 * loud[0], *loud[1:])
    upstream = doubles(rng, 2, 3, 6)
    differentiated = (0, 1, 2, 3, 4, 5, 6)
    cases = [
        Case("post-LN, B = 2, T = 3, D = 6, F = 8, N = 2", args(2, 3, 6, 8, 2, False)),
        Case("pre-LN, B = 2, T = 3, D = 6, F = 8, N = 2", args(2, 3, 6, 8, 2, True)),
        Case("post-LN, small sizes: T = 8, D = 4, F = 16, N = 2", args(1, 8, 4, 16, 2, False)),
        Case("pre-LN, B = T = D = F = 4, N = 2", args(4, 4, 4, 4, 2, True)),
        Case("one token, three heads, pre-LN", args(2, 1, 6, 5, 3, True)),
        Case("padding, post-LN, B = 3, T = 5", (*args(3, 5, 6, 7, 2, False), real_tokens(rng, 3, 5)), part="mask"),
        Case("padding, pre-LN, B = T = N = 2", (*args(2, 2, 4, 7, 2, True), real_tokens(rng, 2, 2)), part="mask"),
        Case("padding, post-LN, B = T = 4", (*args(4, 4, 6, 5, 3, False), real_tokens(rng, 4, 4)), part="mask"),
        Case("padding here and there, pre-LN", (*args(2, 5, 6, 7, 2, True), scattered), part="mask"),
        Case("padding, large numbers", (*loud, LOUD_MASK.copy()), part="mask"),
        Case("float64", double, **DTYPE),
        Case("gradients, post-LN", double, **backward(upstream, *differentiated)),
        Case(
            "gradients, pre-LN and padding",
            (*double_pre, real_tokens(rng, 2, 3)),
            **backward(doubles(rng, 2, 3, 4), *differentiated),
        ),
    ]
    # Rounding adds up on the way: in float32, right answers in another order need some room.
    return [replace(case, tolerance=3e-5) if case.dtype == np.float32 else case for case in cases]


def torch_layer(
    x: Any,
    attention: Any,
    w_1: Any,
    b_1: Any,
    w_2: Any,
    b_2: Any,
    norms: Any,
    n_heads: int,
    pre_norm: bool,
    mask: Any = None,
) -> Any:
    """Run torch's own nn.TransformerEncoderLayer with these weights; its padding mask says True where there is none."""
    d, f = w_1.shape
    layer = torch.nn.TransformerEncoderLayer(
        d, n_heads, f, dropout=0.0, batch_first=True, norm_first=pre_norm, dtype=x.dtype
    )
    nothing = x.new_zeros(d)
    weights: dict[str, Any] = {
        "self_attn.in_proj_weight": torch.cat([w.mT for w in attention[:3]]),
        "self_attn.in_proj_bias": x.new_zeros(3 * d),
        "self_attn.out_proj.weight": attention[3].mT,
        "self_attn.out_proj.bias": nothing,
        "linear1.weight": w_1.mT,
        "linear1.bias": b_1,
        "linear2.weight": w_2.mT,
        "linear2.bias": b_2,
        "norm1.weight": norms[0],
        "norm1.bias": norms[1],
        "norm2.weight": norms[2],
        "norm2.bias": norms[3],
    }
    padding = None if mask is None else ~mask
    return torch.func.functional_call(layer, weights, (x,), {"src_key_padding_mask": padding})


ENCODER_LAYER = described(
    "07.encoder-layer",
    _layer_cases,
    torch_layer,
    parts={"core": 0.5, "mask": 0.3, "gradient": 0.1, "dtype": 0.1},
    forbids=WHOLE_LAYERS,
)


def _pooling_cases(rng: Rng) -> list[Case]:
    def args(b: int, t: int, d: int, dtype: str = "float32") -> tuple[np.ndarray, np.ndarray]:
        return normal(rng, b, t, d, dtype=dtype) + np.dtype(dtype).type(0.5), real_tokens(rng, b, t)

    x, mask = args(3, 4, 5)
    loud = np.where(mask[..., None], x, np.float32(1e6))
    double = args(2, 5, 3, "float64")
    scattered = np.array([[False, True, True, False, True], [False, False, True, True, True]])
    blank = normal(rng, 2, 5, 4)
    blank[0, 1] = 0.0
    return [
        Case("B = 3, T = 5, D = 4", args(3, 5, 4)),
        Case("B = T = D = 4", args(4, 4, 4)),
        Case("padding with large numbers in it", (loud, mask)),
        Case("padding in front and in between, a real token of zeros", (blank, scattered)),
        Case("padding of zeros", (np.where(mask[..., None], x, np.float32(0)), mask)),
        Case("one sequence without padding", (normal(rng, 1, 3, 4), np.ones((1, 3), dtype=bool))),
        Case("float64", double),
        Case("gradients of the tokens", double, **backward(doubles(rng, 2, 3), 0)),
    ]


@graded("07.pooling", _pooling_cases, parts={"core": 0.9, "gradient": 0.1})
def _pooling(x: Any, mask: Any) -> Any:
    """Sequence by sequence, on its real tokens alone."""
    return torch.stack([tokens[real].mean(dim=0) for tokens, real in zip(x, mask, strict=True)])


STACKED = ("attention", "w_1", "b_1", "w_2", "b_2", "norms")


def _stack_args(
    rng: Rng, n_layers: int, b: int, t: int, d: int, f: int, n: int, pre_norm: bool, dtype: str = "float32"
) -> tuple[Any, ...]:
    """D, N, F, L, the order; the weights of all layers; with pre-LN the last norm's; tokens."""
    layers = [layer_args(rng, b, t, d, f, n, pre_norm, dtype) for _ in range(n_layers)]
    weights = tuple(np.stack(matrices) for matrices in zip(*(layer[1:7] for layer in layers), strict=True))
    gain = normal(rng, d, dtype=dtype, scale=0.5) + np.dtype(dtype).type(1.3)
    last = (gain, normal(rng, d, dtype=dtype)) if pre_norm else ()
    return (d, n, f, n_layers, pre_norm, *weights, *last, layers[0][0])


def _stack_cases(rng: Rng) -> list[Case]:
    def case(label: str, args: tuple[Any, ...], mask: np.ndarray | None = None, **more: Any) -> Case:
        names = (*STACKED, "gain", "shift") if args[4] else STACKED
        # Rounding adds up from layer to layer: in float32, right answers in another order need some room.
        tolerance = 1e-4 if args[5].dtype == np.float32 else None
        all_args = args if mask is None else (*args, mask)
        return Case(label, all_args, sizes=5, parameters=names, tolerance=tolerance, **more)

    double = _stack_args(rng, 2, 2, 3, 6, 5, 2, True, "float64")
    return [
        case("post-LN, L = 3, B = 2, T = 4, D = 6, F = 5, N = 2", _stack_args(rng, 3, 2, 4, 6, 5, 2, False)),
        case("pre-LN, L = 3, B = 2, T = 4, D = 6, F = 5, N = 3", _stack_args(rng, 3, 2, 4, 6, 5, 3, True)),
        case("one layer, post-LN, small sizes", _stack_args(rng, 1, 1, 8, 4, 16, 2, False)),
        case("L = B = T = D = F = 4, pre-LN", _stack_args(rng, 4, 4, 4, 4, 4, 2, True)),
        case("padding, post-LN", _stack_args(rng, 2, 3, 5, 6, 7, 2, False), real_tokens(rng, 3, 5), part="mask"),
        case("padding, pre-LN", _stack_args(rng, 3, 2, 4, 4, 7, 2, True), real_tokens(rng, 2, 4), part="mask"),
        case("gradients of the weights", double, **backward(doubles(rng, 2, 3, 6), 5, 6, 10)),
    ]


@graded(
    "07.encoder",
    _stack_cases,
    called_with=("x", "mask"),
    parts={"core": 0.6, "mask": 0.3, "gradient": 0.1},
    forbids=WHOLE_LAYERS,
)
def _stack(
    d_model: int,
    n_heads: int,
    d_hidden: int,
    n_layers: int,
    pre_norm: bool,
    attention: Any,
    w_1: Any,
    b_1: Any,
    w_2: Any,
    b_2: Any,
    norms: Any,
    *tensors: Any,
) -> Any:
    """One of torch's own encoder layers after the other."""
    last: Any = tensors[:2] if pre_norm else ()
    x, *mask = tensors[2:] if pre_norm else tensors
    for weights in zip(attention, w_1, b_1, w_2, b_2, norms, strict=True):
        of_layer: Any = (x, *weights, n_heads, pre_norm, *mask)
        x = torch_layer(*of_layer)
    return torch.nn.functional.layer_norm(x, (d_model,), *last) if pre_norm else x


def _parameter_cases(rng: Rng) -> list[Case]:
    return sized(
        "D, F, L, gated, bias, pre_norm",
        (512, 2048, 6, False, False, False),
        (512, 2048, 6, False, False, True),
        (768, 3072, 12, False, True, False),
        (4, 16, 1, True, False, True),
        (6, 10, 3, True, True, True),
        (int(rng.integers(5, 90)), int(rng.integers(91, 300)), 5, False, True, True),
    )


@graded("07.parameters", _parameter_cases, frame="plain")
def _parameters(d_model: int, d_hidden: int, n_layers: int, gated: bool, bias: bool, pre_norm: bool) -> int:
    """Counted on torch's own modules, on the device that holds no numbers."""
    from torch import nn

    with torch.device("meta"):
        layers = [
            nn.ModuleList(
                [
                    *(nn.Linear(d_model, d_model, bias=bias) for _ in range(4)),
                    *(nn.Linear(d_model, d_hidden, bias=bias) for _ in range(1 + gated)),
                    nn.Linear(d_hidden, d_model, bias=bias),
                    nn.LayerNorm(d_model),
                    nn.LayerNorm(d_model),
                ]
            )
            for _ in range(n_layers)
        ]
        last = [nn.LayerNorm(d_model)] if pre_norm else []
    return sum(p.numel() for p in nn.ModuleList([*layers, *last]).parameters())
