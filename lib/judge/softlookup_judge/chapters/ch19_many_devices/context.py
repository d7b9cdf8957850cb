"""A sequence cut into blocks: keys and values travel round the ring, past queries that stay."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch19_many_devices.worlds import ask_world, rank_task
from softlookup_judge.chapters.draws import Rng, far_below, hidden_far_above, normal, softmax
from softlookup_judge.data.variant import Expression
from softlookup_judge.judging.ranks import on_all_ranks

PerRank = list[np.ndarray]

_BLOCKS, _STRIPES = "block after block, so that rank `r` has", "in stripes, so that rank `r` has"


def _ring_cases(rng: Rng, cut: str, place: str, at: str) -> list[Case]:
    def ask(
        label: str,
        world: int,
        b: int,
        h: int,
        dtype: str = "float32",
        limited: bool = False,
        is_low: bool = False,
    ) -> Case:
        whole_q, whole_k, whole_v = (normal(rng, world * b, h, dtype=dtype) for _ in range(3))
        if is_low:
            whole_q, whole_k = far_below(whole_q, whole_k)
            # The last key is hidden for all queries but its own.
            whole_k = hidden_far_above(whole_k, np.arange(world * b) == world * b - 1)
        q, k, v = (np.split(each.astype(dtype), world) for each in (whole_q, whole_k, whole_v))
        # Keys and values of all other ranks come by each link once.
        n_bytes = (world - 1) * 2 * k[0].nbytes
        limits = (n_bytes, None, None, n_bytes) if limited else None
        # In float32 the logarithm of such a sum is rounded to a thousandth.
        return ask_world(label, (q, k, v), world, limits=limits, tolerance=4e-3 if is_low else None)

    return [
        ask("two ranks", 2, 3, 4),
        ask("three ranks with two queries each", 3, 2, 5),
        ask("one query on each of five ranks", 5, 1, 3),
        ask("scores of minus ten thousand", 3, 3, 4, is_low=True),
        ask("one rank", 1, 5, 3),
        ask("bytes of four ranks", 4, 3, 2, limited=True),
        ask("bytes of three ranks, all digits of float64", 3, 2, 4, "float64", limited=True),
    ]


def _ring_attention(q: PerRank, k: PerRank, v: PerRank, cut: str, place: str, at: str) -> tuple[np.ndarray, ...]:
    """The whole sequence at once, in its order; its rows are dealt out again."""
    world, (block, width) = len(q), q[0].shape
    ranks = np.arange(world * block).reshape(world, block)
    order = ranks if cut == _BLOCKS else ranks.reshape(block, world).T
    whole_q, whole_k, whole_v = (np.empty((world * block, width)) for _ in range(3))
    for whole, parts in ((whole_q, q), (whole_k, k), (whole_v, v)):
        whole[order.reshape(-1)] = np.concatenate(parts)
    scores = np.einsum("th,sh->ts", whole_q, whole_k) * width**-0.5
    scores[np.triu_indices(world * block, 1)] = -np.inf
    out = np.einsum("ts,sh->th", softmax(scores), whole_v)
    return on_all_ranks([out[positions] for positions in order])


RING_ATTENTION = rank_task(
    "19.ring-attention",
    _ring_cases,
    _ring_attention,
    variants=(
        {"cut": _BLOCKS, "place": "r * B + i", "at": Expression("owner * block + np.arange(block)")},
        {"cut": _STRIPES, "place": "i * P + r", "at": Expression("np.arange(block) * world + owner")},
    ),
)
