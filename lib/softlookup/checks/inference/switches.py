"""The layer of chapter 10 in numpy with switches: each known mistake is a name in ``flags`` that changes one step.

With no flag it is right. Inputs keep their dtype.
"""

import numpy as np

from softlookup.checks.inference.page import Flags
from softlookup.checks.many_heads import switches as heads

Array = np.ndarray

NONE: Flags = frozenset()


def extend(flags: Flags, k: Array, v: Array, new_k: Array, new_v: Array, rows: Array) -> tuple[Array, Array]:
    """Chosen rows of a cache, and the newest keys and values behind them."""
    axis = next((a for slug, a in (("along-heads", 1), ("along-width", -1), ("along-batch", 0)) if slug in flags), 2)

    def joined(old: Array, new: Array, stays: bool) -> Array:
        chosen = old if stays else old[rows]
        if "stale" in flags:
            return chosen
        if "old-forgotten" in flags:
            return new
        return np.concatenate((new, chosen) if "new-in-front" in flags else (chosen, new), axis=axis)

    stays = "not-reordered" in flags
    all_k = joined(k, new_k, stays)
    if "values-from-keys" in flags:
        return all_k, all_k
    return all_k, joined(v, new_v, stays or "values-not-reordered" in flags)


def attend(flags: Flags, q: Array, k: Array, v: Array) -> Array:
    """Causal attention of the newest queries, key-value heads shared by neighbours."""
    n_new, n_all = q.shape[2], k.shape[2]
    ahead = np.arange(n_all)[None, :] - np.arange(n_new)[:, None] - (0 if "top-left" in flags else n_all - n_new)
    may = ahead <= ("one-ahead" in flags)
    if "newest-only" in flags:
        may = may & (np.arange(n_all) >= n_all - n_new)[None, :]
    if "no-mask" in flags:
        may = np.ones_like(may)
    k, v = heads.share(flags, k, q.shape[1]), heads.share(flags, v, q.shape[1])
    return heads.attend(flags, q, k, v, may)


def layer(
    flags: Flags,
    x: Array,
    w_q: Array,
    w_k: Array,
    w_v: Array,
    w_o: Array,
    n_heads: int,
    n_kv_heads: int,
    k: Array,
    v: Array,
) -> tuple[Array, Array, Array]:
    """A layer of self-attention with a cache."""
    q = heads.split(NONE, x @ w_q, n_heads)
    new_k = heads.split(NONE, x @ w_k, n_kv_heads)
    new_v = heads.split(NONE, x @ (w_k if "values-from-keys" in flags else w_v), n_kv_heads)
    rows = np.arange(len(x))
    all_k, all_v = extend(flags & {"new-in-front"}, k, v, new_k, new_v, rows)
    seen_k, seen_v = (new_k, new_v) if "cache-not-read" in flags else (all_k, all_v)
    z = attend(flags & {"top-left", "no-mask"}, q, seen_k, seen_v)
    y = heads.merge(NONE, z)
    y = y if "output-missing" in flags else y @ w_o
    if "old-cache-returned" in flags:
        return y, k, v
    if "new-alone-returned" in flags:
        return y, new_k, new_v
    return y, all_k, all_v
