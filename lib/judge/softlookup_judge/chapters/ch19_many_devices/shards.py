"""Tasks on training: gradients of all batches, ZeRO's memory, a step with shards, and two by two ranks."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Arrays, Case
from softlookup_judge.chapters.cases import graded, variants_by
from softlookup_judge.chapters.ch19_many_devices.worlds import ask_world, rank_task
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.judging.ranks import on_all_ranks


def _gradient_cases(rng: Rng, factor: float, loss: str) -> list[Case]:
    def ask(
        label: str, batches: tuple[int, ...], width: int, dtype: str = "float32", limited: bool = False
    ) -> Case:  # fmt: skip
        world = len(batches)
        x = [normal(rng, batch, width, dtype=dtype) for batch in batches]
        y = [normal(rng, batch, dtype=dtype) for batch in batches]
        # An all-reduce in a ring has 2 (P - 1) messages for each rank, here of equal parts of `width + 1` float64.
        limits = (2 * 2 * (world - 1) * 8 * (width + 1) // world, 2 * 2 * (world - 1) * world) if limited else None
        args = (normal(rng, width, dtype=dtype), x, y)
        return ask_world(label, args, world, offers=("all_reduce",), limits=limits)

    return [
        ask("two ranks, equal batches", (3, 3), 2),
        ask("batches of 1, 4 and 2 examples", (1, 4, 2), 3),
        ask("batches of 2, 0 and 3 examples", (2, 0, 3), 2),
        ask("one rank", (4,), 3),
        # The examples are more numbers than two gradients: it does not pay to send them, even in 6 bits.
        ask("traffic of three ranks", (12, 7, 10), 5, limited=True),
        ask("traffic of three ranks, all digits of float64", (7, 12, 9), 4, "float64", limited=True),
    ]


@rank_task(
    "19.gradient",
    _gradient_cases,
    finished=True,
    variants=(
        {"factor": 2.0, "loss": "`mean((x @ w - y) ** 2)`"},
        {"factor": 1.0, "loss": "`mean((x @ w - y) ** 2) / 2`"},
    ),
)
def _gradient(w: np.ndarray, x: Sequence[np.ndarray], y: Sequence[np.ndarray], factor: float, loss: str) -> Arrays:
    every, targets = np.concatenate(x), np.concatenate(y)
    of_each = np.einsum("b,bd->bd", every @ w - targets, every)
    return on_all_ranks([factor * of_each.mean(axis=0)] * len(x))


def _memory_cases(rng: Rng, optimiser_bytes: int, optimiser: str) -> list[Case]:
    sizes = [
        *((64, 4, stage) for stage in range(4)),
        *((int(rng.integers(30, 40)) * 7 + 3, 7, stage) for stage in range(4)),
        (7_500_000_000, 64, 3),
        (100, 1, 3),
        (5, 8, 3),
        # A tolerance for floats would be some bytes wide here.
        *((7_500_000_000 + int(rng.integers(1, 64)), 64, stage) for stage in (1, 2, 3)),
        (405_853_388_800 + int(rng.integers(1, 1021)), 1021, 3),
    ]
    return [
        Case(f"{parameters:,} parameters, {world} ranks, stage {stage}", (parameters, world, stage))
        for parameters, world, stage in sizes
    ]


@graded(
    "19.memory",
    _memory_cases,
    frame="plain",
    variants=(
        {"optimiser_bytes": 12, "optimiser": "12 bytes (a float32 weight and Adam's two moments)"},
        {"optimiser_bytes": 8, "optimiser": "8 bytes (a float32 weight and a momentum)"},
        {"optimiser_bytes": 6, "optimiser": "6 bytes (a float32 weight and Adam's two moments in 8 bits)"},
    ),
)
def _memory(parameters: int, world: int, stage: int, optimiser_bytes: int, optimiser: str) -> tuple[int, int]:
    shard_size = math.ceil(parameters / world)
    per_parameter = (optimiser_bytes, 2, 2)  # in the order in which the stages shard them
    kept_bytes = sum(shard_size * n for n in per_parameter[:stage]) + sum(parameters * n for n in per_parameter[stage:])
    collectives = 2 + stage // 3
    return kept_bytes, 2 * shard_size * collectives * (world - 1)


def _fsdp_cases(rng: Rng, beta: float) -> list[Case]:
    def ask(
        label: str, world: int, m: int, batch: int, dtype: str = "float32", limited: bool = False
    ) -> Case:  # fmt: skip
        shards = [[normal(rng, m, dtype=dtype) for _ in range(world)] for _ in range(2)]
        x = [normal(rng, batch, world * m, dtype=dtype) for _ in range(world)]
        y = [normal(rng, batch, dtype=dtype) for _ in range(world)]
        rate = float(rng.choice([0.05, 0.1, 0.2]))
        n_bytes = 2 * (world - 1) * shards[0][0].nbytes
        limits = (n_bytes, None, None, n_bytes) if limited else None
        return ask_world(label, (*shards, x, y, rate), world, offers=_OFFERS, limits=limits)

    return [
        ask("two ranks", 2, 2, 3),
        ask("three ranks, shards of one number", 3, 1, 2),
        ask("three ranks, batches of one example", 3, 2, 1),
        ask("one rank", 1, 4, 3),
        ask("bytes of four ranks", 4, 3, 2, limited=True),
        ask("bytes of three ranks, all digits of float64", 3, 4, 3, "float64", limited=True),
    ]


_OFFERS = ("all_gather_into_tensor", "reduce_scatter_tensor", "all_reduce")


@rank_task("19.fsdp", _fsdp_cases, finished=True, variants=variants_by(beta=(0.9, 0.5, 0.8)))
def _fsdp(
    shard: Sequence[Any], velocity: Sequence[Any], x: Sequence[Any], y: Sequence[Any], rate: float, beta: float
) -> Arrays:
    w, state = np.concatenate(shard), np.concatenate(velocity)
    every, targets = np.concatenate(x), np.concatenate(y)
    state = beta * state + 2 * np.mean((every @ w - targets)[:, None] * every, axis=0)
    return on_all_ranks(np.split(w - rate * state, len(shard)), np.split(state, len(shard)))


PerRank = list[np.ndarray]

_SAME_BATCH, _SAME_HALF = [[0, 1], [2, 3]], [[0, 2], [1, 3]]

_BYTES = 8
"""Of one number, in float64."""


def _train_cases(rng: Rng, decay: float) -> list[Case]:
    def ask(
        label: str,
        batches: tuple[int, int],
        sizes: tuple[int, int, int],
        steps: int,
        rate: float,
        limited: bool = False,
        is_large: bool = False,
    ) -> Case:
        d, f, c = sizes
        x: PerRank = [np.empty(0)] * 4
        labels, w_in, w_out = list(x), list(x), list(x)
        for pair, count in zip(_SAME_BATCH, batches, strict=True):
            some, classes = doubles(rng, count, d), rng.integers(is_large, c, count)
            for rank in pair:
                x[rank], labels[rank] = some, classes
        for pair in _SAME_HALF:
            half_in = doubles(rng, d, f, scale=d**-0.5)
            half_out = doubles(rng, f, c, scale=f**-0.5)
            if is_large:  # logits of a thousand and more, and class 0, which no example has, far below the others
                half_out += 400.0
                half_out[:, 0] -= 2400.0
            for rank in pair:
                w_in[rank], w_out[rank] = half_in, half_out
        # In each step the logits cross one link and the gradients another, with a few single numbers.
        most = max(max(batches) * c, d * f + f * c + 3) * steps + 3
        return ask_world(
            label,
            (x, labels, w_in, w_out, rate, steps),
            4,
            offers=("all_reduce", "new_group"),
            limits=(_BYTES * most, None, None) if limited else None,
            tolerance=1e-12 if limited else 1e-5,
        )

    return [
        ask("two steps, batches of five and three", (5, 3), (3, 2, 4), 2, 0.5),
        ask("three steps, batches of two and six", (2, 6), (4, 3, 3), 3, 0.3),
        ask("batches of four each", (4, 4), (2, 3, 2), 2, 0.4),
        ask("logits of some thousands", (4, 3), (3, 3, 4), 2, 0.1, is_large=True),
        ask("one step", (3, 1), (2, 1, 3), 1, 1.0),
        # Inputs are wide: it does not pay to exchange examples, even by halves and in float32.
        ask("bytes where the logits are most", (15, 12), (60, 1, 5), 2, 0.2, limited=True),
        ask("bytes where the gradients are most", (2, 3), (6, 4, 3), 2, 0.2, limited=True),
    ]


@rank_task("19.two-by-two", _train_cases, finished=True, variants=variants_by(decay=(0.1, 0.3)))
def _train(
    x: PerRank, labels: PerRank, w_in: PerRank, w_out: PerRank, rate: float, steps: int, decay: float
) -> tuple[np.ndarray, ...]:
    """One device with all weights and examples; the gradient by the chain rule, example by example."""
    examples = np.concatenate([x[pair[0]] for pair in _SAME_BATCH])
    classes = np.concatenate([labels[pair[0]] for pair in _SAME_BATCH]).astype(int)
    first = np.concatenate([w_in[pair[0]] for pair in _SAME_HALF], axis=1)
    second = np.concatenate([w_out[pair[0]] for pair in _SAME_HALF], axis=0)
    losses = []
    for _ in range(steps):
        loss, d_first, d_second = 0.0, np.zeros(first.shape), np.zeros(second.shape)
        for example, label in zip(examples, classes, strict=True):
            z = example @ first
            logits = np.where(z > 0, z, 0) @ second
            log_shares = logits - np.logaddexp.reduce(logits)
            loss -= log_shares[label]
            slope = np.exp(log_shares)
            slope[label] -= 1
            d_second += np.outer(np.where(z > 0, z, 0), slope)
            d_first += np.outer(example, np.where(z > 0, second @ slope, 0))
        losses.append(loss / len(examples))
        first = (1 - rate * decay) * first - rate * d_first / len(examples)
        second = (1 - rate * decay) * second - rate * d_second / len(examples)
    halves_in, halves_out = np.split(first, 2, axis=1), np.split(second, 2, axis=0)
    half_of = {rank: half for half, pair in enumerate(_SAME_HALF) for rank in pair}
    return on_all_ranks(
        [np.array(losses)] * 4,
        [halves_in[half_of[rank]] for rank in range(4)],
        [halves_out[half_of[rank]] for rank in range(4)],
    )
