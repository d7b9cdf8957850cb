"""Tasks about the whole encoder: a sentence's vector without padding, and the stack."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch07_encoder.layer import layer_args, real_tokens, torch_layer
from softlookup_judge.chapters.ch07_encoder.residuals import WHOLE_LAYERS
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


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
        Case(
            "gradients of the tokens",
            double,
            gradients=(0,),
            upstream=normal(rng, 2, 3, dtype="float64"),
            part="gradient",
        ),
    ]


def _pooling(x: Any, mask: Any) -> Any:
    """Sequence by sequence, on its real tokens alone."""
    import torch

    return torch.stack([tokens[real].mean(dim=0) for tokens, real in zip(x, mask, strict=True)])


POOLING = described("07.pooling", cases=_pooling_cases, oracle=_pooling, parts={"core": 0.9, "gradient": 0.1})

STACKED = ("attention", "w_1", "b_1", "w_2", "b_2", "norms")


def _stack_args(
    rng: Rng, n_layers: int, b: int, t: int, d: int, f: int, n: int, pre_norm: bool, dtype: str = "float32"
) -> tuple[Any, ...]:
    """D, N, F, L, the order; the weights of all layers; with pre-LN the last norm's; tokens."""
    layers = [layer_args(rng, b, t, d, f, n, pre_norm, dtype) for _ in range(n_layers)]
    weights = tuple(np.stack(kind) for kind in zip(*(layer[1:7] for layer in layers), strict=True))
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
        case(
            "gradients of the weights",
            double,
            gradients=(5, 6, 10),
            upstream=normal(rng, 2, 3, 6, dtype="float64"),
            part="gradient",
        ),
    ]


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
    *rest: Any,
) -> Any:
    """One of torch's own encoder layers after the other."""
    import torch.nn.functional as F

    last: Any = rest[:2] if pre_norm else ()
    x, *mask = rest[2:] if pre_norm else rest
    for weights in zip(attention, w_1, b_1, w_2, b_2, norms, strict=True):
        of_layer: Any = (x, *weights, n_heads, pre_norm, *mask)
        x = torch_layer(*of_layer)
    return F.layer_norm(x, (d_model,), *last) if pre_norm else x


ENCODER = described(
    "07.encoder",
    cases=_stack_cases,
    oracle=_stack,
    called_with=("x", "mask"),
    parts={"core": 0.6, "mask": 0.3, "gradient": 0.1},
    forbids=WHOLE_LAYERS,
)
