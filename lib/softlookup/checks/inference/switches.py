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
        if "new-chosen-too" in flags:
            return np.concatenate((old, new), axis=axis)[rows]
        chosen = old if stays else old[rows]
        if "other-way-round" in flags:
            chosen = old[rows.argsort(kind="stable")]
        if "stale" in flags:
            return chosen
        if "old-forgotten" in flags:
            return new
        return np.concatenate((new, chosen) if "new-in-front" in flags else (chosen, new), axis=axis)

    stays = "not-reordered" in flags
    all_k = joined(k, new_k, stays or "keys-not-reordered" in flags)
    if "values-from-keys" in flags:
        return all_k, all_k
    all_v = joined(v, new_v, stays or "values-not-reordered" in flags)
    if "values-stale" in flags:
        all_v = v[rows]
    return (all_v, all_k) if "exchanged" in flags else (all_k, all_v)


def attend(flags: Flags, q: Array, k: Array, v: Array) -> Array:
    """Causal attention of the newest queries, key-value heads shared by neighbours."""
    n_new, n_all = q.shape[2], k.shape[2]
    ahead = np.arange(n_all)[None, :] - np.arange(n_new)[:, None] - (0 if "top-left" in flags else n_all - n_new)
    may = ahead <= ("one-ahead" in flags)
    if "own-hidden" in flags:
        may = ahead < 0
    if "newest-only" in flags:
        may = may & (np.arange(n_all) >= n_all - n_new)[None, :]
    if "no-mask" in flags:
        may = np.ones_like(may)
    k = heads.share(flags, k, q.shape[1])
    v = heads.share(flags | {"tiled"} if "values-tiled" in flags else flags, v, q.shape[1])
    # A row with nothing to see gives NaN here: none may come up, and where one does, a mistake made it.
    return heads.attend(flags | {"nan-rows"}, q, k, v, may, q.shape[1] * q.shape[3])


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
    cut = flags & {"reshape-alone"}
    q = heads.split(cut, x @ w_q, n_heads)
    new_k = heads.split(cut, x @ w_k, n_kv_heads)
    new_v = heads.split(cut, x @ (w_k if "values-from-keys" in flags else w_v), n_kv_heads)
    rows = np.arange(len(x))
    all_k, all_v = extend(flags & {"new-in-front"}, k, v, new_k, new_v, rows)
    seen_k, seen_v = (new_k, new_v) if "cache-not-read" in flags else (all_k, all_v)
    z = attend(flags & {"top-left", "no-mask", "tiled"}, q, seen_k, seen_v)
    y = heads.merge(flags & {"merged-without-transpose"}, z)
    y = y if "output-missing" in flags else y @ w_o
    if "residual-added" in flags:
        y = x + y
    if "last-alone" in flags:
        y = y[:, -1:]
    if "shared-out-and-kept" in flags:
        all_k, all_v = heads.share(NONE, all_k, n_heads), heads.share(NONE, all_v, n_heads)
    if "old-cache-returned" in flags:
        return y, k, v
    if "new-alone-returned" in flags:
        return y, new_k, new_v
    return (y, all_v, all_k) if "exchanged" in flags else (y, all_k, all_v)
