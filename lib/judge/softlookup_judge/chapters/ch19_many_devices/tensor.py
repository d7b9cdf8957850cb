"""Layers cut in pieces: a feed-forward network by columns and rows, and attention by heads."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch19_many_devices.worlds import ask_world, rank_task
from softlookup_judge.chapters.draws import Rng, normal, softmax
from softlookup_judge.data.variant import Expression
from softlookup_judge.judging.ranks import on_all_ranks

Limits = tuple[int | None, int | None, int | None]
PerRank = list[np.ndarray]

_OFFERS = ("all_reduce", "all_gather_into_tensor")


def ring_limits(world: int, n_bytes: int) -> Limits:
    """What one all-reduce by a ring costs: bytes on a link, messages, steps.

    Args:
        world: How many ranks there are.
        n_bytes: What is summed; its numbers can be cut into as many equal parts.
    """
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


def _feed_forward(
    x: np.ndarray, w_in: PerRank, b_in: PerRank, w_out: PerRank, b_out: np.ndarray, activation: str, a: str
) -> tuple[np.ndarray, ...]:
    """The layer in one piece, token by token."""
    whole_in, whole_out = np.concatenate(w_in, axis=1), np.concatenate(w_out, axis=0)
    z = np.einsum("td,df->tf", x, whole_in) + np.concatenate(b_in)
    y = np.einsum("tf,fd->td", _ACTIVATED[activation](z), whole_out) + b_out
    return on_all_ranks([y] * len(w_in))


_ACTIVATED = {
    "ReLU": lambda z: (z + np.abs(z)) / 2,
    "ReLU squared": lambda z: np.square((z + np.abs(z)) / 2),
    "leaky ReLU, 0.1 times its input below 0": lambda z: 0.55 * z + 0.45 * np.abs(z),
}

FEED_FORWARD = rank_task(
    "19.feed-forward",
    _feed_forward_cases,
    _feed_forward,
    finished=True,
    variants=tuple(
        {"activation": activation, "a": Expression(a)}
        for activation, a in zip(
            _ACTIVATED,
            ("np.maximum(z, 0.0)", "np.maximum(z, 0.0) ** 2", "np.where(z > 0, z, 0.1 * z)"),
            strict=True,
        )
    ),
)


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


HEADS = rank_task("19.heads", _heads_cases, _heads, finished=True)
