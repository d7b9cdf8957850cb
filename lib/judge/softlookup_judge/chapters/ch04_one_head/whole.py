"""The whole of attention, and the whole head: values, masks, gradients, dtype; and the questions that weights share."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Arrays, Case
from softlookup_judge.chapters import draws
from softlookup_judge.chapters.cases import DTYPE, LARGE, backward, graded
from softlookup_judge.chapters.draws import (
    FAR_BELOW,
    LARGE_TOLERANCE,
    Rng,
    blind_mask,
    doubles,
    large_logits,
    normal,
    qkv,
    seeing_mask,
)
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.chapters.oracles import attended, torch
from softlookup_judge.data.published import described


def attention_cases(rng: Rng, arity: int) -> list[Case]:
    """Questions for weights (arity 2: q, k) or for the whole attention (arity 3: q, k, v)."""

    def case(label: str, tensors: tuple[np.ndarray, ...], mask: np.ndarray | None = None, part: str = "core") -> Case:
        args = tensors[:arity] if mask is None else (*tensors[:arity], mask)
        return Case(
            label,
            args,
            part=part,
            tolerance=LARGE_TOLERANCE if part == "large" else None,
            exact_zeros=mask is not None and arity == 2,
        )

    q_big, k_big = large_logits(rng, 3, 5)
    # What the first and the last query may see lies far below what they may not: for the first one near 0, for the
    # last one near -10240, which is also below any small number that one might fill in for -inf.
    q_far, k_far = q_big.copy(), k_big.copy()
    q_far[-1, 0], k_far[1, 0] = FAR_BELOW, 0.0
    hidden = np.ones((3, 5), dtype=bool)
    hidden[0, [0, 2, 3]] = hidden[-1, [1, 4]] = False
    zero = qkv(rng, (), 4, 4, 4, 4)
    zero[0][0] = 0.0  # scores of exactly 0 are scores, too
    scattered = blind_mask(rng, 2, 5, 4)
    scattered[1, 0] = False
    padded = seeing_mask(rng, 2, 1, 4)
    padded[1] = False
    return [
        case("three queries, five keys, two sequences", qkv(rng, (2,), 3, 5, 4, 6)),
        case("four tokens of width four", qkv(rng, (), 4, 4, 4, 4)),
        case("four axes (B, N, T, H)", qkv(rng, (2, 3), 5, 4, 6, 2)),
        case("four axes of equal sizes", qkv(rng, (3, 3), 3, 3, 3, 3)),
        case("one token alone", qkv(rng, (), 1, 1, 3, 2)),
        case("a mask, unequal sizes", qkv(rng, (2,), 3, 5, 4, 6), seeing_mask(rng, 3, 5), "mask"),
        case("a square mask and a query of zeros", zero, seeing_mask(rng, 4, 4), "mask"),
        case("a padding mask (B, 1, S)", qkv(rng, (2,), 4, 3, 2, 5), seeing_mask(rng, 2, 1, 3), "mask"),
        case("a mask for each sequence (B, T, S)", qkv(rng, (2,), 3, 5, 4, 6), seeing_mask(rng, 2, 3, 5), "mask"),
        case("four axes and one mask (T, S)", qkv(rng, (2, 3), 4, 5, 3, 2), seeing_mask(rng, 4, 5), "mask"),
        case("four axes and a mask (B, 1, 1, S)", qkv(rng, (2, 3), 4, 5, 3, 2), seeing_mask(rng, 2, 1, 1, 5), "mask"),
        case("a mask for each head (B, N, T, S)", qkv(rng, (2, 3), 4, 5, 3, 2), seeing_mask(rng, 2, 3, 4, 5), "mask"),
        case("a query that may attend to nothing", qkv(rng, (), 5, 4, 3, 2), blind_mask(rng, 5, 4), "blind"),
        case(
            "queries of two sequences that may attend to nothing",
            qkv(rng, (2,), 5, 4, 3, 2),
            blind_mask(rng, 5, 4),
            "blind",
        ),
        case("a mask for each sequence, with queries that see nothing", qkv(rng, (2,), 5, 4, 3, 2), scattered, "blind"),
        case("a sequence that is all padding", qkv(rng, (2,), 3, 4, 3, 2), padded, "blind"),
        case("scores in the thousands", (q_big, k_big, normal(rng, 5, 3)), None, "large"),
        case("scores in the thousands, the largest ones masked", (q_far, k_far, normal(rng, 5, 3)), hidden, "large"),
    ]


def no_nan_sent_back(case: Case, arrays: Arrays) -> str | None:
    """A property of the gradients: none is NaN where a query sees nothing."""
    masks = [arg for arg in case.args if isinstance(arg, np.ndarray) and arg.dtype == bool]
    is_blind = any(not mask.any(axis=-1).all() for mask in masks)
    if not case.gradients or not is_blind or not any(np.isnan(array).any() for array in arrays):
        return None
    return (
        "A query sees nothing, and gradients are NaN: the softmax of its row of -inf is NaN and flows back to q and k, "
        "even where the result is filled in later. Set masked scores by `masked_fill` or `torch.where`: nothing flows "
        "back where they wrote."
    )


def _attention_cases(rng: Rng) -> list[Case]:
    q, k, v = draws.qkv(rng, (2,), 3, 5, 4, 6, dtype="float64")
    blind = draws.blind_mask(rng, 3, 5)
    upstream = doubles(rng, 2, 3, 6)
    # Hidden scores lie thousands above those that may be seen: what is infinite there must not come back as NaN.
    q_big, k_big = (a.astype("float64") for a in draws.large_logits(rng, 3, 5))
    q_big[-1, 0], k_big[1, 0] = draws.FAR_BELOW, 0.0
    hidden = np.ones((3, 5), dtype=bool)
    hidden[0, [0, 2, 3]] = hidden[-1, [1, 4]] = False
    return [
        *attention_cases(rng, 3),
        Case("float64 inputs", (q, k, v), **DTYPE),
        Case("float32 inputs and a mask", (*draws.qkv(rng, (2,), 3, 5, 4, 6), blind), **DTYPE),
        Case("gradients of q, k and v", (q, k, v), **backward(upstream, 0, 1, 2)),
        Case("gradients where a query sees nothing", (q, k, v, blind), **backward(upstream, 0, 1, 2)),
        Case(
            "gradients with scores in the thousands, the largest ones masked",
            (q_big, k_big, doubles(rng, 5, 2), hidden),
            tolerance=1e-6,
            **backward(doubles(rng, 3, 2), 0, 1, 2),
        ),
    ]


ATTENTION = described(
    "04.attention",
    _attention_cases,
    attended,
    parts={"core": 0.4, "mask": 0.2, "blind": 0.1, "large": 0.1, "gradient": 0.1, "dtype": 0.1},
    properties=(no_nan_sent_back,),
    forbids=ATTENTIONS,
)


def _head_cases(rng: Rng) -> list[Case]:
    def args(lead: tuple[int, ...], t: int, d: int, h: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
        return (normal(rng, *lead, t, d, dtype=dtype), *(normal(rng, d, h, dtype=dtype) for _ in range(3)))

    double = args((2,), 3, 5, 4, "float64")
    upstream = doubles(rng, 2, 3, 4)
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
        Case("a mask for each sequence, with tokens that see nothing", (*args((2,), 4, 5, 3), scattered), part="blind"),
        Case("a sequence that is all padding", (*args((2,), 4, 3, 2), padded), part="blind"),
        Case("a token that may attend to nothing", (*args((2,), 5, 4, 3), draws.blind_mask(rng, 5, 5)), part="blind"),
        # One large entry in each row, exact in float32, makes scores of thousands.
        Case("scores in the thousands", large, **LARGE),
        Case("scores in the thousands, the largest ones masked", (*large, hidden), **LARGE),
        Case("float64 inputs", double, **DTYPE),
        Case("float32 inputs and a mask", (*args((2,), 4, 5, 3), draws.blind_mask(rng, 4, 4)), **DTYPE),
        Case("gradients of the three weights", double, **backward(upstream, 1, 2, 3)),
        Case(
            "gradients where a token sees nothing",
            (*double, draws.blind_mask(rng, 3, 3)),
            **backward(upstream, 0, 1, 2, 3),
        ),
        Case(
            "gradients with scores in the thousands, the largest ones masked",
            (*(a.astype("float64") for a in large), hidden),
            tolerance=1e-6,
            **backward(doubles(rng, 4, 4), 0, 1, 2, 3),
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


@graded(
    "04.head",
    _head_cases,
    parts={"core": 0.5, "mask": 0.2, "blind": 0.1, "gradient": 0.1, "dtype": 0.05, "large": 0.05},
    properties=(no_nan_sent_back,),
    forbids=ATTENTIONS,
)
def _head(x: Any, w_q: Any, w_k: Any, w_v: Any, mask: Any = None) -> Any:
    q, k, v = (torch.nn.functional.linear(x, w.mT) for w in (w_q, w_k, w_v))
    return attended(q, k, v, mask)
