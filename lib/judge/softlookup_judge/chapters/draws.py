"""Inputs that let mistakes show: unequal sizes, random and not symmetric, large logits, masks with full rows hidden."""

import numpy as np

Rng = np.random.Generator

LARGE_TOLERANCE = 1e-3
"""For float32 logits of a few thousand: |logit| * eps is 5e-4 there, and a right answer may round on the way."""


def normal(rng: Rng, *shape: int, dtype: str = "float32", scale: float = 1.0) -> np.ndarray:
    """Independent normal numbers."""
    return (scale * rng.standard_normal(shape)).astype(dtype)


def doubles(rng: Rng, *shape: int, scale: float = 1.0) -> np.ndarray:
    """Independent normal numbers in float64."""
    return normal(rng, *shape, dtype="float64", scale=scale)


def of_many_lengths(rng: Rng, vectors: np.ndarray) -> np.ndarray:
    """The same vectors, each times another number from 0.001 to 1000: what is added to a length shows."""
    factors = 10.0 ** rng.permutation(np.linspace(-3, 3, vectors[..., 0].size))
    return (vectors * factors.reshape(*vectors.shape[:-1], 1)).astype(vectors.dtype)


def softmax(scores: np.ndarray, axis: int | None = -1) -> np.ndarray:
    """Softmax along one axis."""
    raised = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.asarray(raised / raised.sum(axis=axis, keepdims=True))


def qkv(
    rng: Rng, lead: tuple[int, ...], t: int, s: int, h: int, hv: int, dtype: str = "float32"
) -> tuple[np.ndarray, ...]:
    """Random queries (lead, T, H), keys (lead, S, H) and values (lead, S, H')."""
    return (
        normal(rng, *lead, t, h, dtype=dtype),
        normal(rng, *lead, s, h, dtype=dtype),
        normal(rng, *lead, s, hv, dtype=dtype),
    )


def sentences(rng: Rng, lengths: tuple[int, ...], n_words: int, pad_id: int, total: int | None = None) -> np.ndarray:
    """Ids of sentences, filled up behind to the longest or to ``total``; no real token has the id of padding."""
    free = [n for n in range(n_words) if n != pad_id]
    ids = np.full((len(lengths), total or max(lengths)), pad_id)
    for row, length in zip(ids, lengths, strict=True):
        row[:length] = rng.choice(free, size=length)
    return ids


def far_from_zero(rng: Rng, *shape: int) -> np.ndarray:
    """Rows of four or eight numbers near 4096: what a float32 holds of their squares is coarser than their variance."""
    # They are multiples of 1/8, so that sums, means and deviations are exact in every order.
    return (4096.0 + np.round(8 * np.clip(rng.standard_normal(shape), -2, 2)) / 8).astype("float32")


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


FAR_BELOW = -320.0
"""In place of 64 in a query or a key of ``large_logits``: its scores are near -10240, where -1e4 hides nothing."""


def far_below(q: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same queries and keys, of width 4, with all scores near -10240: in float32 as exact as ``large_logits``."""
    q, k = (np.round(4 * np.clip(array, -1, 1)) / 4 for array in (q, k))
    q[..., -1], k[..., -1] = FAR_BELOW, 64.0
    return q, k


def hidden_far_above(k: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Keys of ``far_below``, of which the hidden ones have scores near +10240: -1e4 leaves them the largest."""
    k = k.copy()
    k[..., -1][hidden] = -64.0
    return k


def large_logits(rng: Rng, t: int, s: int, h: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Queries and keys whose scores are thousands, exact in float32, most of them a few units apart."""
    # Multiples of 1/4 whose sums stay below 2**15: every order of summation gives the same float32.
    q = np.round(4 * rng.uniform(-1, 1, (t, h))) / 4
    k = np.round(4 * rng.uniform(-1, 1, (s, h))) / 4
    q[:, 0], k[:, 0] = 64.0, 64.0
    # A row of small scores and a row and a column of the other sign: neither one maximum for the whole table nor a
    # row's mean or minimum can take the maximum's place.
    q[-1, 0], k[-1, 0] = -64.0, -64.0
    q[t // 2, 0] = 0.0
    return q.astype("float32"), k.astype("float32")
