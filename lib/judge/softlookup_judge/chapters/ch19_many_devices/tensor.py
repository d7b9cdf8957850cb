"""Layers cut in pieces: by columns and heads, a sequence in a ring, and one expert on each rank."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch19_many_devices.worlds import ask_world, rank_task
from softlookup_judge.chapters.draws import Rng, far_below, hidden_far_above, normal, softmax
from softlookup_judge.data.variant import Expression
from softlookup_judge.judging.ranks import on_all_ranks

Limits = tuple[int | None, int | None, int | None]
PerRank = list[np.ndarray]

_OFFERS = ("all_reduce", "all_gather_into_tensor")


def ring_limits(world: int, n_bytes: int) -> Limits:
    """Bytes on a link, messages and steps of one all-reduce by a ring, whose numbers can be cut into equal parts."""
    return 2 * (world - 1) * n_bytes // world, 2 * world * (world - 1), 2 * (world - 1)


def _feed_forward_cases(rng: Rng, activation: str, a: str) -> list[Case]:
    def ask(
        label: str, world: int, t: int, d: int, f: int, dtype: str = "float32", limited: bool = False
    ) -> Case:  # fmt: skip
        w_in = [normal(rng, d, f, dtype=dtype, scale=d**-0.5) for _ in range(world)]
        b_in = [normal(rng, f, dtype=dtype) for _ in range(world)]
        w_out = [normal(rng, f, d, dtype=dtype, scale=(f * world) ** -0.5) for _ in range(world)]
        x = normal(rng, t, d, dtype=dtype)
        args = (x, w_in, b_in, w_out, normal(rng, d, dtype=dtype))
        limits = ring_limits(world, x.nbytes) if limited else None
        return ask_world(label, args, world, offers=_OFFERS, limits=limits)

    return [
        ask("two ranks", 2, 3, 4, 5),
        ask("three ranks, a single token", 3, 1, 5, 2),
        ask("five ranks with one hidden number each", 5, 2, 3, 1),
        ask("one rank", 1, 3, 2, 4),
        ask("traffic of four ranks", 4, 6, 8, 3, limited=True),
        ask("traffic of four ranks, all digits of float64", 4, 2, 6, 3, "float64", limited=True),
    ]


_ACTIVATED = {
    "ReLU": lambda z: (z + np.abs(z)) / 2,
    "ReLU squared": lambda z: np.square((z + np.abs(z)) / 2),
    "leaky ReLU, 0.1 times its input below 0": lambda z: 0.55 * z + 0.45 * np.abs(z),
}


@rank_task(
    "19.feed-forward",
    _feed_forward_cases,
    finished=True,
    variants=tuple(
        {"activation": activation, "a": Expression(a)}
        for activation, a in zip(
            _ACTIVATED, ("np.maximum(z, 0.0)", "np.maximum(z, 0.0) ** 2", "np.where(z > 0, z, 0.1 * z)"), strict=True
        )
    ),
)
def _feed_forward(
    x: np.ndarray, w_in: PerRank, b_in: PerRank, w_out: PerRank, b_out: np.ndarray, activation: str, a: str
) -> tuple[np.ndarray, ...]:
    """The layer in one piece, token by token."""
    whole_in, whole_out = np.concatenate(w_in, axis=1), np.concatenate(w_out, axis=0)
    z = np.einsum("td,df->tf", x, whole_in) + np.concatenate(b_in)
    y = np.einsum("tf,fd->td", _ACTIVATED[activation](z), whole_out) + b_out
    return on_all_ranks([y] * len(w_in))


def _heads_cases(rng: Rng) -> list[Case]:
    def ask(
        label: str,
        world: int,
        t: int,
        d: int,
        h: int,
        heads: int,
        dtype: str = "float32",
        limited: bool = False,
        sharp: float = 1,
    ) -> Case:
        projections = [
            [normal(rng, d, heads * h, dtype=dtype, scale=2 * d**-0.5) for _ in range(world)] for _ in range(3)
        ]  # fmt: skip
        for w_q in projections[0]:
            w_q[:, :h] *= np.float32(sharp)  # the first head alone: one maximum for all heads is too large for others
        w_o = [normal(rng, heads * h, d, dtype=dtype, scale=(heads * h * world) ** -0.5) for _ in range(world)]
        x = normal(rng, t, d, dtype=dtype)
        limits = ring_limits(world, x.nbytes) if limited else None
        return ask_world(label, (x, *projections, w_o, heads), world, offers=_OFFERS, limits=limits)

    return [
        ask("two ranks with two heads each", 2, 5, 6, 3, 2),
        ask("three ranks with three heads each", 3, 4, 5, 2, 3),
        ask("one head on each of two ranks", 2, 3, 4, 5, 1),
        ask("one rank with two heads", 1, 4, 3, 2, 2),
        ask("scores of some hundreds", 2, 5, 4, 3, 2, sharp=40),
        ask("traffic of three ranks", 3, 6, 8, 3, 2, limited=True),
        ask("traffic of four ranks, all digits of float64", 4, 2, 6, 2, 2, "float64", limited=True),
    ]


@rank_task("19.heads", _heads_cases, finished=True)
def _heads(
    x: np.ndarray, w_q: PerRank, w_k: PerRank, w_v: PerRank, w_o: PerRank, heads: int
) -> tuple[np.ndarray, ...]:  # fmt: skip
    """All heads of all ranks in one layer: those of rank 0 first, each with columns of its own."""
    whole = [np.concatenate(each, axis=1) for each in (w_q, w_k, w_v)]
    count = heads * len(w_q)
    q, k, v = (np.einsum("td,dnh->nth", x, w.reshape(x.shape[1], count, -1)) for w in whole)
    weights = softmax(np.einsum("nth,nsh->nts", q, k) * q.shape[-1] ** -0.5)
    out = np.concatenate(w_o, axis=0).reshape(count, -1, x.shape[1])
    return on_all_ranks([np.einsum("nts,nsh,nhd->td", weights, v, out)] * len(w_q))


_BLOCKS, _STRIPES = "block after block, so that rank `r` has", "in stripes, so that rank `r` has"


def _ring_cases(rng: Rng, cut: str, position: str, at: str) -> list[Case]:
    def ask(
        label: str, world: int, b: int, h: int, dtype: str = "float32", limited: bool = False, is_low: bool = False
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


@rank_task(
    "19.ring-attention",
    _ring_cases,
    variants=(
        {"cut": _BLOCKS, "position": "r * B + i", "at": Expression("owner * block + np.arange(block)")},
        {"cut": _STRIPES, "position": "i * P + r", "at": Expression("np.arange(block) * world + owner")},
    ),
)
def _ring_attention(q: PerRank, k: PerRank, v: PerRank, cut: str, position: str, at: str) -> tuple[np.ndarray, ...]:
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


_SOFTMAX, _SIGMOID = "its part of the softmax of the token's scores", "the sigmoid of its score alone"


def _experts_cases(rng: Rng, gate: str, gates: str) -> list[Case]:
    def ask(
        label: str,
        tokens: list[int],
        d: int,
        f: int,
        capacity: int,
        dtype: str = "float32",
        limited: bool = False,
        lean: float = 0,
        sharp: float = 1,
    ) -> Case:
        world = len(tokens)
        w_router = normal(rng, d, world, dtype=dtype, scale=sharp)
        x = [normal(rng, t, d, dtype=dtype) for t in tokens]
        # Some tokens lean towards the last expert, which is then full.
        x = [each + lean * w_router[:, -1] for each in x]
        w_in = [normal(rng, d, f, dtype=dtype) for _ in range(world)]
        w_out = [normal(rng, f, d, dtype=dtype, scale=f**-0.5) for _ in range(world)]
        limits = (2 * capacity * d * x[0].itemsize, 2 * world * (world - 1), None) if limited else None
        args = (x, w_router, w_in, w_out, capacity)
        return ask_world(label, args, world, offers=("all_to_all_single", "all_gather_into_tensor"), limits=limits)

    return [
        ask("two ranks, room for all", [5, 5], 3, 4, 5),
        ask("three ranks, an expert is full", [7, 7, 7], 4, 3, 2, lean=0.4),
        ask("one place on each expert", [6, 4, 5], 3, 5, 1),
        ask("unequal numbers of tokens, one rank without any", [6, 0, 3, 8], 3, 2, 2),
        ask("all tokens for one expert", [5, 6], 4, 3, 3, lean=20.0),
        ask("scores of some hundreds", [5, 4, 3], 3, 2, 3, sharp=150),
        ask("one rank", [4], 3, 2, 3),
        # An expert's weights are more bytes than its tokens: it does not pay to send them.
        ask("traffic of four ranks", [9, 9, 9, 9], 4, 6, 3, limited=True),
        ask("traffic of three ranks, all digits of float64", [6, 7, 5], 4, 5, 3, "float64", limited=True),
    ]


@rank_task(
    "19.experts",
    _experts_cases,
    finished=True,
    variants=(
        {"gate": _SOFTMAX, "gates": Expression("e / e.sum(axis=-1, keepdims=True)")},
        {"gate": _SIGMOID, "gates": Expression("np.exp(-np.logaddexp(0, -scores))")},
    ),
)
def _experts(
    x: PerRank, w_router: np.ndarray, w_in: PerRank, w_out: PerRank, capacity: int, gate: str, gates: str
) -> tuple[np.ndarray, ...]:
    """Expert by expert, without any messages: the first tokens of a rank that choose it, and no more."""
    results = []
    for tokens in x:
        scores = np.einsum("td,de->te", tokens, w_router)
        chances = softmax(scores) if gate == _SOFTMAX else (1 + np.tanh(scores / 2)) / 2
        y = np.zeros(tokens.shape)
        for expert in range(len(x)):
            chosen = np.flatnonzero((scores == scores.max(axis=-1, keepdims=True, initial=-np.inf))[:, expert])
            for t in chosen[:capacity]:
                hidden = np.einsum("d,df->f", tokens[t], w_in[expert])
                y[t] = chances[t, expert] * np.einsum("f,fd->d", np.where(hidden > 0, hidden, 0), w_out[expert])
        results.append(y)
    return on_all_ranks(results)
