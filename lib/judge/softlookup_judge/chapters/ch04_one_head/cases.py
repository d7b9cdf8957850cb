"""The questions that the weights and the whole attention have in common."""

import numpy as np

from softlookup_inside.asking.case import Arrays, Case
from softlookup_judge.chapters.draws import (
    FAR_BELOW,
    LARGE_TOLERANCE,
    Rng,
    blind_mask,
    large_logits,
    normal,
    qkv,
    seeing_mask,
)


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
    """A property of the gradients: none is NaN where a query sees nothing.

    Args:
        case: The question; masks are its arrays of booleans.
        arrays: The gradients.

    Returns:
        What is wrong; None if nothing is.
    """
    masks = [arg for arg in case.args if isinstance(arg, np.ndarray) and arg.dtype == bool]
    is_blind = any(not mask.any(axis=-1).all() for mask in masks)
    if not case.gradients or not is_blind or not any(np.isnan(array).any() for array in arrays):
        return None
    return (
        "A query sees nothing, and gradients are NaN: the softmax of its row of -inf is NaN and flows back to q and k, "
        "even where the result is filled in later. Set masked scores by `masked_fill` or `torch.where`: nothing flows "
        "back where they wrote."
    )
