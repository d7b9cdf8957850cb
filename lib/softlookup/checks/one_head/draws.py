"""Inputs that let mistakes show: unequal sizes, random and not symmetric, large logits, masks with blind rows."""

import numpy as np

from softlookup.checks.task import Case

Rng = np.random.Generator

LARGE_TOLERANCE = 1e-3
"""For float32 logits of a few thousand: |logit| * eps is 5e-4 there, and a right answer may round on the way."""


def normal(rng: Rng, *shape: int, dtype: str = "float32", scale: float = 1.0) -> np.ndarray:
    """Independent normal numbers."""
    return (scale * rng.standard_normal(shape)).astype(dtype)


def qkv(
    rng: Rng, lead: tuple[int, ...], t: int, s: int, h: int, hv: int, dtype: str = "float32"
) -> tuple[np.ndarray, ...]:
    """Random queries (lead, T, H), keys (lead, S, H) and values (lead, S, H')."""
    return (
        normal(rng, *lead, t, h, dtype=dtype),
        normal(rng, *lead, s, h, dtype=dtype),
        normal(rng, *lead, s, hv, dtype=dtype),
    )


def seeing_mask(rng: Rng, *shape: int) -> np.ndarray:
    """A random mask, not symmetric, in which every query sees something and not everything."""
    mask = rng.random(shape) < 0.55
    width = shape[-1]
    rows = mask.reshape(-1, width)
    for i, row in enumerate(rows):
        row[i % width] = True
        row[(i + 1) % width] = False
    if len(shape) >= 2 and shape[-1] == shape[-2] and np.array_equal(mask, np.swapaxes(mask, -2, -1)):
        mask[..., 0, -1] ^= True
    return mask


def blind_mask(rng: Rng, *shape: int) -> np.ndarray:
    """A random mask with a row in the middle that sees nothing."""
    mask = seeing_mask(rng, *shape)
    mask[..., shape[-2] // 2, :] = False
    return mask


def large_logits(rng: Rng, t: int, s: int, h: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Queries and keys whose scores are thousands, exact in float32, most of them a few units apart.

    All entries are multiples of 1/4 and the sums stay below 2**14, so every order of summation gives the same float32.
    """
    q = np.round(4 * rng.uniform(-1, 1, (t, h))) / 4
    k = np.round(4 * rng.uniform(-1, 1, (s, h))) / 4
    q[:, 0], k[:, 0] = 64.0, 64.0
    # A row of small scores and a row and a column of the other sign: neither one maximum for the whole table nor a
    # row's mean or minimum can take the maximum's place.
    q[-1, 0], k[-1, 0] = -64.0, -64.0
    q[t // 2, 0] = 0.0
    return q.astype("float32"), k.astype("float32")


def attention_cases(rng: Rng, arity: int) -> list[Case]:
    """Questions for weights (arity 2: q, k) or for the whole attention (arity 3: q, k, v)."""

    def case(label: str, tensors: tuple[np.ndarray, ...], mask: np.ndarray | None = None, part: str = "core") -> Case:
        args = tensors[:arity] if mask is None else (*tensors[:arity], mask)
        return Case(label, args, part=part, tolerance=LARGE_TOLERANCE if part == "large" else None)

    q_big, k_big = large_logits(rng, 3, 5)
    # What the first and the last query may see lies far below what they may not: for the first one near 0, for the
    # last one near -2000, which is also below any small number that one might fill in for -inf.
    k_far = k_big.copy()
    k_far[1, 0] = 0.0
    hidden = np.ones((3, 5), dtype=bool)
    hidden[0, [0, 2, 3]] = hidden[-1, [1, 4]] = False
    padded = seeing_mask(rng, 2, 1, 4)
    padded[1] = False
    return [
        case("three queries, five keys, two sequences", qkv(rng, (2,), 3, 5, 4, 6)),
        case("four tokens of width four", qkv(rng, (), 4, 4, 4, 4)),
        case("four axes (B, N, T, H)", qkv(rng, (2, 3), 5, 4, 6, 2)),
        case("four axes of equal sizes", qkv(rng, (3, 3), 3, 3, 3, 3)),
        case("one token alone", qkv(rng, (), 1, 1, 3, 2)),
        case("a mask, unequal sizes", qkv(rng, (2,), 3, 5, 4, 6), seeing_mask(rng, 3, 5), "mask"),
        case("a square mask", qkv(rng, (), 4, 4, 4, 4), seeing_mask(rng, 4, 4), "mask"),
        case("a padding mask (B, 1, S)", qkv(rng, (2,), 4, 3, 2, 5), seeing_mask(rng, 2, 1, 3), "mask"),
        case("a mask for each sequence (B, T, S)", qkv(rng, (2,), 3, 5, 4, 6), seeing_mask(rng, 2, 3, 5), "mask"),
        case("four axes and one mask (T, S)", qkv(rng, (2, 3), 4, 5, 3, 2), seeing_mask(rng, 4, 5), "mask"),
        case("four axes and a mask (B, 1, 1, S)", qkv(rng, (2, 3), 4, 5, 3, 2), seeing_mask(rng, 2, 1, 1, 5), "mask"),
        case("a query that may look at nothing", qkv(rng, (), 5, 4, 3, 2), blind_mask(rng, 5, 4), "blind"),
        case(
            "queries of two sequences that may look at nothing",
            qkv(rng, (2,), 5, 4, 3, 2),
            blind_mask(rng, 5, 4),
            "blind",
        ),
        case("a sequence that is all padding", qkv(rng, (2,), 3, 4, 3, 2), padded, "blind"),
        case("scores in the thousands", (q_big, k_big, normal(rng, 5, 3)), None, "large"),
        case("scores in the thousands, the largest ones masked", (q_big, k_far, normal(rng, 5, 3)), hidden, "large"),
    ]
