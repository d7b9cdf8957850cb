"""Attention one tile of keys at a time, with what each query remembers written down after every tile."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Real

from softlookup.reference._sizes import check_mask, check_queries_and_keys, check_values, to_float64


@dataclass(frozen=True, eq=False)
class Tile:
    """What each query knows when it has seen the keys before `stop`, and no others.

    Attributes:
        start: The first key of this tile.
        stop: The first key that is not in it.
        largest: The largest score so far; -inf if nothing could be seen.
        total: The sum of exp(score - largest) so far.
        mixed: The sum of exp(score - largest) * value so far.
    """

    start: int
    stop: int
    largest: Float64[np.ndarray, "*batch T"]
    total: Float64[np.ndarray, "*batch T"]
    mixed: Float64[np.ndarray, "*batch T Hv"]

    @property
    def output(self) -> Float64[np.ndarray, "*batch T Hv"]:
        """What attention to the keys before `stop` alone gives; zeros for queries that could see none of them."""
        return self.mixed / np.where(self.total == 0.0, 1.0, self.total)[..., None]


def tiles_of_attention(
    q: Real[np.ndarray, "*batch T H"],
    k: Real[np.ndarray, "*batch S H"],
    v: Real[np.ndarray, "*batch S Hv"],
    mask: Bool[np.ndarray, "..."] | None = None,
    *,
    causal: bool = False,
    block: int = 64,
) -> list[Tile]:
    """Go through the keys tile by tile, and keep what is known after each.

    Args:
        q: Queries.
        k: Keys.
        v: Values, one for each key.
        mask: Boolean, True = may attend; (T, S), or as many axes as the scores, each 1 or of their size.
        causal: Whether query t sees keys up to t only; T and S must be equal then.
        block: How many keys there are in a tile.

    Returns:
        One entry for each tile; none if there are no keys.

    Raises:
        ValueError: If sizes of q, k, v or mask do not fit together, if causal and T is not S, or if block is below 1.
        TypeError: If the mask is not boolean.

    Source: Milakov & Gimelshein 2018, algorithm 3; Dao et al. 2022, algorithm 1.
    """
    q_TH, k_SH, v_SH = to_float64(q), to_float64(k), to_float64(v)
    check_queries_and_keys(q_TH, k_SH)
    check_values(k_SH, v_SH)
    n_queries, n_keys = q_TH.shape[-2], k_SH.shape[-2]
    scores_shape = (*q_TH.shape[:-1], n_keys)
    mask_TS = (
        np.ones(scores_shape, bool) if mask is None else np.broadcast_to(check_mask(mask, scores_shape), scores_shape)
    )
    if causal:
        if n_queries != n_keys:
            raise ValueError(f"causal attention of {n_queries} queries to {n_keys} keys: their numbers must be equal")
        mask_TS = mask_TS & np.tri(n_keys, dtype=bool)
    if block < 1:
        raise ValueError(f"block must be at least 1 key; got {block}")
    largest_T = np.full(q_TH.shape[:-1], -np.inf)
    total_T = np.zeros(q_TH.shape[:-1])
    mixed_TH = np.zeros((*q_TH.shape[:-1], v_SH.shape[-1]))
    tiles = []
    for start in range(0, n_keys, block):
        stop = min(start + block, n_keys)
        scores_TS = q_TH @ np.swapaxes(k_SH[..., start:stop, :], -1, -2) / np.sqrt(q_TH.shape[-1])
        scores_TS = np.where(mask_TS[..., start:stop], scores_TS, -np.inf)
        new_T = np.maximum(largest_T, scores_TS.max(axis=-1))
        level_T = np.where(np.isneginf(new_T), 0.0, new_T)  # -inf - (-inf) would be NaN
        raised_TS = np.exp(scores_TS - level_T[..., None])
        shrink_T = np.exp(largest_T - level_T)  # brings down what was summed under a smaller largest score
        total_T = total_T * shrink_T + raised_TS.sum(axis=-1)
        mixed_TH = mixed_TH * shrink_T[..., None] + raised_TS @ v_SH[..., start:stop, :]
        largest_T = new_T
        tiles.append(Tile(start, stop, largest_T, total_T, mixed_TH))
    return tiles


def tiled_attention(
    q: Real[np.ndarray, "*batch T H"],
    k: Real[np.ndarray, "*batch S H"],
    v: Real[np.ndarray, "*batch S Hv"],
    mask: Bool[np.ndarray, "..."] | None = None,
    *,
    causal: bool = False,
    block: int = 64,
) -> Float64[np.ndarray, "*batch T Hv"]:
    """Mix the values tile by tile. Equals scaled_dot_product_attention, whatever the block.

    Args:
        q: Queries.
        k: Keys.
        v: Values, one for each key.
        mask: Boolean, True = may attend; (T, S), or as many axes as the scores, each 1 or of their size.
        causal: Whether query t sees keys up to t only; T and S must be equal then.
        block: How many keys there are in a tile.

    Returns:
        For each query, the weighted mean of the values it may see; zeros where it may see none.

    Raises:
        ValueError: If sizes of q, k, v or mask do not fit together, if causal and T is not S, or if block is below 1.
        TypeError: If the mask is not boolean.

    Source: Milakov & Gimelshein 2018, algorithm 3; Dao et al. 2022, algorithm 1.

    >>> tiled_attention(np.zeros((1, 2)), np.ones((2, 2)), np.array([[1.0], [3.0]]), block=1)
    array([[2.]])
    """
    tiles = tiles_of_attention(q, k, v, mask, causal=causal, block=block)
    return tiles[-1].output if tiles else np.zeros((*q.shape[:-1], v.shape[-1]))
