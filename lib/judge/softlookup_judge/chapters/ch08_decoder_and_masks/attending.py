"""Tasks that use masks: a softmax that obeys one, and attention from one sequence to another."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters import draws
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.data.published import described


def _softmax_cases(rng: Rng) -> list[Case]:
    def mask(*shape: int) -> np.ndarray:
        return draws.seeing_mask(rng, *shape)

    def scores(*shape: int, dtype: str = "float32") -> np.ndarray:
        return normal(rng, *shape, dtype=dtype, scale=2.0)

    blind = draws.blind_mask(rng, 4, 5)
    large = scores(2, 3, 4, 5) + 3000
    hidden = np.ones((4, 5), dtype=bool)
    large[..., 1, 0], large[..., 2, 3] = 0.0, 9000.0
    hidden[1, 1:], hidden[2, 3] = False, False
    large[..., 3, [0, 2]] = -9999.0  # "-1e4 hides it" is not so
    hidden[3, [1, 3, 4]] = False
    upstream = normal(rng, 2, 3, 4, 5, dtype="float64")
    double = scores(2, 3, 4, 5, dtype="float64")
    return [
        Case("B = 2, N = 3, T = 4, S = 5, one mask (T, S)", (scores(2, 3, 4, 5), mask(4, 5))),
        Case("padding: a mask (B, 1, 1, S)", (scores(2, 3, 4, 5), mask(2, 1, 1, 5))),
        Case("a mask for each sequence, all sizes 3", (scores(3, 3, 3, 3), mask(3, 1, 3, 3))),
        Case("T = S = 4, no batch", (scores(4, 4), mask(4, 4))),
        Case("a mask for each head, (N, T, S)", (scores(2, 3, 4, 5), mask(3, 4, 5))),
        Case("a mask of one axis, for all queries", (scores(2, 3, 4, 5), mask(5))),
        Case("everything may be looked at", (scores(2, 1, 3, 4), np.ones((3, 4), dtype=bool))),
        Case("a query that may attend to nothing", (scores(2, 3, 4, 5), blind), part="blind", exact_zeros=True),
        Case(
            "a sequence of nothing but padding",
            (scores(2, 1, 3, 4), np.array([True, False])[:, None, None, None] & np.ones((1, 1, 1, 4), bool)),
            part="blind",
        ),
        Case(
            "scores in the thousands, the largest ones hidden",
            (large, hidden),
            part="large",
            tolerance=draws.LARGE_TOLERANCE,
        ),
        Case("float64", (double, mask(4, 5)), part="dtype", keeps_dtype=True),
        Case("float32", (scores(2, 1, 4, 4), mask(4, 4)), part="dtype", keeps_dtype=True),
        Case("the gradient", (double, mask(4, 5)), gradients=(0,), upstream=upstream, part="gradient"),
        Case("the gradient past a blind query", (double, blind), gradients=(0,), upstream=upstream, part="gradient"),
    ]


def _softmax(s: Any, mask: Any) -> Any:
    """Weights as shares of exponentials, with the hidden ones left out of the sum: no -inf anywhere."""
    import torch

    seen = mask.expand(s.shape)
    largest = torch.where(seen, s, torch.finfo(s.dtype).min).amax(-1, keepdim=True).detach()
    e = torch.where(seen, torch.exp(torch.where(seen, s - largest, 0.0)), 0.0)
    total = e.sum(-1, keepdim=True)
    return e / torch.where(total == 0, 1.0, total)


MASKED_SOFTMAX = described(
    "08.masked-softmax",
    cases=_softmax_cases,
    oracle=_softmax,
    parts={"core": 0.45, "blind": 0.2, "large": 0.1, "gradient": 0.15, "dtype": 0.1},
    forbids=ATTENTIONS,
)


def _cross_args(rng: Rng, b: int, t: int, s: int, d: int, n: int, h: int, dtype: str = "float32") -> tuple[Any, ...]:
    def weight(rows: int, columns: int) -> np.ndarray:
        return normal(rng, rows, columns, dtype=dtype, scale=rows**-0.5)

    return (
        normal(rng, b, t, d, dtype=dtype),
        normal(rng, b, s, d, dtype=dtype),
        *(weight(d, n * h) for _ in range(3)),
        weight(n * h, d),
        n,
    )


def _far(rng: Rng) -> tuple[Any, ...]:
    """Arguments and a mask: hidden keys have by far the largest scores, or all that are seen lie far below 0."""
    args = _cross_args(rng, 2, 3, 4, 5, 2, 3, "float64")
    x, memory, w_q, w_k = args[:4]
    w_q[0] = w_k[0] = 2.0
    x[..., 0], memory[0, :, 0], memory[1, :2, 0], memory[1, 2:, 0] = 40.0, -100.0, 0.1, 30.0
    mask = np.array([[True, True, True, False], [True, True, False, False]])[:, None, None, :]
    return (*args, mask)


def _cross_cases(rng: Rng) -> list[Case]:
    def mask(*shape: int) -> np.ndarray:
        return draws.seeing_mask(rng, *shape)

    double = _cross_args(rng, 2, 3, 4, 5, 2, 3, "float64")
    upstream = normal(rng, 2, 3, 5, dtype="float64")
    padding = np.array([[True, True, True, True], [True, True, False, False]])[:, None, None, :]
    blind = padding.copy()
    blind[1] = False
    drawn = _cross_args(rng, 2, 4, 4, 6, 3, 2)
    alone = drawn[0], drawn[0].copy(), *drawn[2:]
    return [
        Case("B = 2, T = 3, S = 5, D = 4, N = 2, H = 3", _cross_args(rng, 2, 3, 5, 4, 2, 3)),
        Case("small sizes: T = S = 8, D = 4, N = 2, H = 2", _cross_args(rng, 1, 8, 8, 4, 2, 2)),
        Case("B = T = S = N = H = 3, D = 9", _cross_args(rng, 3, 3, 3, 9, 3, 3)),
        Case("one query: a word is being written", _cross_args(rng, 2, 1, 6, 4, 2, 2)),
        Case("more written than read", _cross_args(rng, 1, 7, 2, 6, 1, 4)),
        Case("the source's padding, (B, 1, 1, S)", (*_cross_args(rng, 2, 3, 4, 5, 2, 3), padding), part="mask"),
        Case("B = N = 2, T = S, padding", (*_cross_args(rng, 2, 4, 4, 6, 2, 3), padding), part="mask"),
        Case("self-attention: memory is x, a causal mask", (*alone, np.tri(4, dtype=bool)), part="mask"),
        Case("a mask for each sequence", (*_cross_args(rng, 2, 3, 5, 4, 3, 2), mask(2, 1, 3, 5)), part="mask"),
        Case("a mask for each head of each", (*_cross_args(rng, 2, 3, 5, 4, 3, 2), mask(2, 3, 3, 5)), part="mask"),
        Case("a mask for each head, (N, T, S)", (*_cross_args(rng, 3, 4, 5, 4, 2, 2), mask(2, 4, 5)), part="mask"),
        Case("a mask of one axis, for all queries", (*_cross_args(rng, 2, 3, 5, 4, 3, 2), mask(5)), part="mask"),
        Case("scores far apart, the largest ones hidden", _far(rng), part="mask", tolerance=draws.LARGE_TOLERANCE),
        Case("a source of nothing but padding", (*_cross_args(rng, 2, 3, 4, 5, 2, 3), blind), part="mask"),
        Case(
            "gradients of both sequences and the weights",
            (*double, padding),
            gradients=(0, 1, 2, 3, 4, 5),
            upstream=upstream,
            part="gradient",
        ),
    ]


def _cross(x: Any, memory: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, n_heads: int, mask: Any = None) -> Any:
    """Head by head with torch's own attention; fully masked rows see everything first, and are cut off afterwards."""
    import torch

    b, t, s, h = len(x), x.shape[1], memory.shape[1], w_q.shape[1] // n_heads
    every = torch.ones(b, n_heads, t, s, dtype=torch.bool) if mask is None else mask.expand(b, n_heads, t, s)
    y = torch.zeros_like(x)
    for i in range(n_heads):
        head_slice, may = slice(i * h, i * h + h), every[:, i]
        seen = may.any(-1, keepdim=True)
        q, k, v = x @ w_q[:, head_slice], memory @ w_k[:, head_slice], memory @ w_v[:, head_slice]
        z = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=may | ~seen)
        y = y + torch.where(seen, z, 0.0) @ w_o[head_slice]
    return y


CROSS = described(
    "08.cross-attention",
    cases=_cross_cases,
    oracle=_cross,
    parts={"core": 0.6, "mask": 0.3, "gradient": 0.1},
    forbids=ATTENTIONS,
)
