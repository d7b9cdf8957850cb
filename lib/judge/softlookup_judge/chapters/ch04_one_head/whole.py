"""The whole of attention, and the whole head: values, masks, gradients, dtype."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters import draws
from softlookup_judge.chapters.ch04_one_head.cases import attention_cases, no_nan_sent_back
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.data.published import described


def _attention(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    import torch

    fused = torch.nn.functional.scaled_dot_product_attention
    if mask is None:
        return fused(q, k, v)
    # torch's paths disagree on rows with nothing to see: let those see everything, then cut them off, gradients too.
    seen = mask.any(dim=-1, keepdim=True)
    while mask.ndim < q.ndim:
        mask, seen = mask[None], seen[None]
    return torch.where(seen, fused(q, k, v, attn_mask=mask | ~seen), 0.0)


def _attention_cases(rng: Rng) -> list[Case]:
    q, k, v = draws.qkv(rng, (2,), 3, 5, 4, 6, dtype="float64")
    blind = draws.blind_mask(rng, 3, 5)
    upstream = normal(rng, 2, 3, 6, dtype="float64")
    # Hidden scores lie thousands above those that may be seen: what is infinite there must not come back as NaN.
    q_big, k_big = (a.astype("float64") for a in draws.large_logits(rng, 3, 5))
    q_big[-1, 0], k_big[1, 0] = draws.FAR_BELOW, 0.0
    hidden = np.ones((3, 5), dtype=bool)
    hidden[0, [0, 2, 3]] = hidden[-1, [1, 4]] = False
    return [
        *attention_cases(rng, 3),
        Case("float64 inputs", (q, k, v), keeps_dtype=True, part="dtype"),
        Case("float32 inputs and a mask", (*draws.qkv(rng, (2,), 3, 5, 4, 6), blind), keeps_dtype=True, part="dtype"),
        Case("gradients of q, k and v", (q, k, v), gradients=(0, 1, 2), upstream=upstream, part="gradient"),
        Case(
            "gradients where a query sees nothing",
            (q, k, v, blind),
            gradients=(0, 1, 2),
            upstream=upstream,
            part="gradient",
        ),
        Case(
            "gradients with scores in the thousands, the largest ones masked",
            (q_big, k_big, normal(rng, 5, 2, dtype="float64"), hidden),
            gradients=(0, 1, 2),
            upstream=normal(rng, 3, 2, dtype="float64"),
            part="gradient",
            tolerance=1e-6,
        ),
    ]


ATTENTION = described(
    "04.attention",
    cases=_attention_cases,
    oracle=_attention,
    parts={"core": 0.4, "mask": 0.2, "blind": 0.1, "large": 0.1, "gradient": 0.1, "dtype": 0.1},
    properties=(no_nan_sent_back,),
    forbids=ATTENTIONS,
)


def _head(x: Any, w_q: Any, w_k: Any, w_v: Any, mask: Any = None) -> Any:
    import torch

    linear = torch.nn.functional.linear
    return _attention(linear(x, w_q.mT), linear(x, w_k.mT), linear(x, w_v.mT), mask)


def _head_cases(rng: Rng) -> list[Case]:
    def args(lead: tuple[int, ...], t: int, d: int, h: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
        return (normal(rng, *lead, t, d, dtype=dtype), *(normal(rng, d, h, dtype=dtype) for _ in range(3)))

    double = args((2,), 3, 5, 4, "float64")
    upstream = normal(rng, 2, 3, 4, dtype="float64")
    zero = args((), 4, 5, 3)
    zero[0][0] = 0.0  # scores of exactly 0 are scores, too
    scattered = draws.blind_mask(rng, 2, 4, 4)
    scattered[1, 0] = False
    padded = draws.seeing_mask(rng, 2, 1, 4)
    padded[1] = False
    large = _large_head(args((), 4, 3, 4))
    # What the first and the last token may see lies far below what they may not: near 0 for the first, near -10240 for
    # the last.
    hidden = np.ones((4, 4), dtype=bool)
    hidden[0, [0, 2]] = hidden[3, [1, 3]] = False
    return [
        Case("two sequences of three tokens, D = 5, H = 4", args((2,), 3, 5, 4)),
        Case("four tokens, D = H = 4", args((), 4, 4, 4)),
        Case("four tokens, D = 2, H = 6", args((), 4, 2, 6)),
        Case("four axes", args((2, 2), 3, 4, 3)),
        Case("four axes of equal sizes", args((3, 3), 3, 3, 3)),
        Case("one token alone", args((), 1, 3, 2)),
        Case("a square mask and a token of zeros", (*zero, draws.seeing_mask(rng, 4, 4)), part="mask"),
        Case("four axes and a mask", (*args((2, 2), 3, 4, 3), draws.seeing_mask(rng, 2, 1, 3, 3)), part="mask"),
        Case("a mask, D = H = 4", (*args((), 4, 4, 4), draws.seeing_mask(rng, 4, 4)), part="mask"),
        Case(
            "a mask for each sequence (B, T, T)", (*args((2,), 3, 5, 4), draws.seeing_mask(rng, 2, 3, 3)), part="mask"
        ),
        Case("a padding mask (B, 1, S)", (*args((2,), 3, 5, 4), draws.seeing_mask(rng, 2, 1, 3)), part="mask"),
        Case(
            "one sequence, a token that may attend to nothing",
            (*args((), 5, 4, 3), draws.blind_mask(rng, 5, 5)),
            part="blind",
        ),
        Case(
            "a mask for each sequence, with tokens that see nothing",
            (*args((2,), 4, 5, 3), scattered),
            part="blind",
        ),
        Case("a sequence that is all padding", (*args((2,), 4, 3, 2), padded), part="blind"),
        Case("a token that may attend to nothing", (*args((2,), 5, 4, 3), draws.blind_mask(rng, 5, 5)), part="blind"),
        # One large entry in each row, exact in float32, makes scores of thousands.
        Case("scores in the thousands", large, part="large", tolerance=draws.LARGE_TOLERANCE),
        Case(
            "scores in the thousands, the largest ones masked",
            (*large, hidden),
            part="large",
            tolerance=draws.LARGE_TOLERANCE,
        ),
        Case("float64 inputs", double, keeps_dtype=True, part="dtype"),
        Case(
            "float32 inputs and a mask",
            (*args((2,), 4, 5, 3), draws.blind_mask(rng, 4, 4)),
            keeps_dtype=True,
            part="dtype",
        ),
        Case("gradients of the three weights", double, gradients=(1, 2, 3), upstream=upstream, part="gradient"),
        Case(
            "gradients where a token sees nothing",
            (*double, draws.blind_mask(rng, 3, 3)),
            gradients=(0, 1, 2, 3),
            upstream=upstream,
            part="gradient",
        ),
        Case(
            "gradients with scores in the thousands, the largest ones masked",
            (*(a.astype("float64") for a in large), hidden),
            gradients=(0, 1, 2, 3),
            upstream=normal(rng, 4, 4, dtype="float64"),
            part="gradient",
            tolerance=1e-6,
        ),
    ]


def _large_head(args: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """The same head with queries and keys rounded to quarters and scores up to 10240: float32 is exact there."""
    x, w_q, w_k, w_v = args
    x = np.round(4 * np.clip(x, -1, 1)) / 4
    x[:, 0], x[1, 0], x[-1, 0] = 1.0, 0.0, -1.0
    w_q, w_k = np.round(4 * np.clip(w_q, -1, 1)) / 4, np.round(4 * np.clip(w_k, -1, 1)) / 4
    w_q[:, 0] = w_k[:, 0] = 0.0
    w_q[0, 0], w_k[0, 0] = -draws.FAR_BELOW, 64.0
    return x.astype("float32"), w_q.astype("float32"), w_k.astype("float32"), w_v


HEAD = described(
    "04.head",
    cases=_head_cases,
    oracle=_head,
    parts={"core": 0.5, "mask": 0.2, "blind": 0.1, "gradient": 0.1, "dtype": 0.05, "large": 0.05},
    properties=(no_nan_sent_back,),
    forbids=ATTENTIONS,
)
