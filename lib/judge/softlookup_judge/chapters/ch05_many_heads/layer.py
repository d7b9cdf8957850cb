"""The whole layer: a class with four parameters, which the judge fills with weights of its own."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters import draws
from softlookup_judge.chapters.ch05_many_heads.attending import heads_oracle
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.data.published import described

WEIGHTS = ("w_q", "w_k", "w_v", "w_o")


def _args(rng: Rng, b: int, t: int, d: int, n: int, k: int, h: int, dtype: str = "float32") -> tuple[Any, ...]:
    """D, N, K, H; the four weights; tokens. The weights are drawn so that no number grows on its way."""
    shapes = ((d, n * h), (d, k * h), (d, k * h), (n * h, d))
    weights = tuple(normal(rng, *shape, dtype=dtype, scale=shape[0] ** -0.5) for shape in shapes)
    return (d, n, k, h, *weights, normal(rng, b, t, d, dtype=dtype))


def _cases(rng: Rng) -> list[Case]:
    def case(label: str, args: tuple[Any, ...], mask: np.ndarray | None = None, **more: Any) -> Case:
        with_mask = args if mask is None else (*args, mask)
        return Case(label, with_mask, sizes=4, parameters=WEIGHTS, **more)

    def mask(*shape: int) -> np.ndarray:
        return draws.seeing_mask(rng, *shape)

    double = _args(rng, 2, 3, 5, 4, 2, 3, "float64")
    upstream = normal(rng, 2, 3, 5, dtype="float64")
    scattered = mask(2, 3, 3)
    scattered[0, 1] = scattered[1, 2] = False
    return [
        case("B = 2, T = 3, D = 5, N = 4, K = 2, H = 3", _args(rng, 2, 3, 5, 4, 2, 3)),
        case("small sizes: T = 8, D = 4, N = K = 2, H = 2", _args(rng, 1, 8, 4, 2, 2, 2)),
        case("N·H is not D: T = 2, D = 4, N = K = 5, H = 3", _args(rng, 1, 2, 4, 5, 5, 3)),
        case("B = T = N = K = H = 3, D = 9", _args(rng, 3, 3, 9, 3, 3, 3)),
        case("D = N*H = 12, N = 6, K = 3, H = 2", _args(rng, 2, 4, 12, 6, 3, 2)),
        case("multi-query: N = 3, K = 1, H = 2", _args(rng, 1, 5, 6, 3, 1, 2)),
        case("one head", _args(rng, 2, 3, 4, 1, 1, 3)),
        case("one token", _args(rng, 2, 1, 4, 2, 2, 3)),
        case("one mask (T, T) for all", _args(rng, 2, 4, 5, 3, 3, 2), mask(4, 4), part="mask"),
        case("a mask for each sequence, B = N = 2", _args(rng, 2, 4, 5, 2, 2, 3), mask(2, 4, 4), part="mask"),
        case("a mask for each sequence, B = 2, N = 4, K = 2", _args(rng, 2, 3, 5, 4, 2, 3), mask(2, 3, 3), part="mask"),
        case("a mask for each sequence, T = N = 4", _args(rng, 2, 4, 5, 4, 2, 3), mask(2, 4, 4), part="mask"),
        case("padding: a mask (B, 1, T)", _args(rng, 3, 4, 5, 2, 1, 3), mask(3, 1, 4), part="mask"),
        case(
            "a token that may attend to nothing",
            _args(rng, 2, 5, 4, 2, 2, 3),
            draws.blind_mask(rng, 5, 5),
            part="blind",
        ),
        case("tokens here and there that see nothing", _args(rng, 2, 3, 5, 4, 2, 3), scattered, part="blind"),
        case("float64 weights and tokens", double, keeps_dtype=True, part="dtype"),
        case("float32 and a mask", _args(rng, 2, 4, 5, 3, 3, 2), mask(4, 4), keeps_dtype=True, part="dtype"),
        case(
            "gradients of the weights and the tokens",
            double,
            gradients=(4, 5, 6, 7, 8),
            upstream=upstream,
            part="gradient",
        ),
        case(
            "gradients where tokens see nothing",
            double,
            scattered,
            gradients=(4, 5, 6, 7, 8),
            upstream=upstream,
            part="gradient",
        ),
    ]


def _layer(
    d_model: int,
    n_heads: int,
    n_kv_heads: int,
    head_width: int,
    w_q: Any,
    w_k: Any,
    w_v: Any,
    w_o: Any,
    x: Any,
    mask: Any = None,
) -> Any:
    """Head by head, with torch's own attention; no axis is ever split or merged."""
    import torch

    def columns(w: Any, i: int) -> Any:
        return w[:, i * head_width : (i + 1) * head_width]

    y = torch.zeros_like(x)
    for i in range(n_heads):
        j = i * n_kv_heads // n_heads
        q, k, v = x @ columns(w_q, i), x @ columns(w_k, j), x @ columns(w_v, j)
        z = heads_oracle(q[:, None], k[:, None], v[:, None], mask)[:, 0]
        y = y + z @ w_o[i * head_width : (i + 1) * head_width]
    return y


MULTI_HEAD = described(
    "05.multi-head",
    cases=_cases,
    oracle=_layer,
    called_with=("x", "mask"),
    parts={"core": 0.5, "mask": 0.2, "blind": 0.1, "gradient": 0.1, "dtype": 0.1},
    forbids=ATTENTIONS,
)
