"""Tasks on shards: what each stage of ZeRO keeps and sends, and a step with weights, gradients and state sharded."""

import math
from collections.abc import Sequence

import numpy as np

from softlookup_inside.asking.case import Arrays, Case
from softlookup_judge.chapters.ch19_many_devices.worlds import ask_world, rank_task
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described
from softlookup_judge.judging.ranks import on_all_ranks


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
        Case(f"{parameters:,} parameters, {world} ranks, stage {stage}", (parameters, world, stage), frame="plain")
        for parameters, world, stage in sizes
    ]


def _memory(parameters: int, world: int, stage: int, optimiser_bytes: int, optimiser: str) -> tuple[int, int]:
    share = math.ceil(parameters / world)
    per_parameter = (optimiser_bytes, 2, 2)  # in the order in which the stages shard them
    kept_bytes = sum(share * n for n in per_parameter[:stage]) + sum(parameters * n for n in per_parameter[stage:])
    collectives = 2 + stage // 3
    return kept_bytes, 2 * share * collectives * (world - 1)


MEMORY = described(
    "19.memory",
    cases=_memory_cases,
    oracle=_memory,
    frame="plain",
    variants=(
        {"optimiser_bytes": 12, "optimiser": "12 bytes (a float32 weight and Adam's two moments)"},
        {"optimiser_bytes": 8, "optimiser": "8 bytes (a float32 weight and a momentum)"},
        {"optimiser_bytes": 6, "optimiser": "6 bytes (a float32 weight and Adam's two moments in 8 bits)"},
    ),
)


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


def _fsdp(
    shard: Sequence[np.ndarray],
    velocity: Sequence[np.ndarray],
    x: Sequence[np.ndarray],
    y: Sequence[np.ndarray],
    rate: float,
    beta: float,
) -> Arrays:
    w, state = np.concatenate(shard), np.concatenate(velocity)
    every, targets = np.concatenate(x), np.concatenate(y)
    state = beta * state + 2 * np.mean((every @ w - targets)[:, None] * every, axis=0)
    return on_all_ranks(np.split(w - rate * state, len(shard)), np.split(state, len(shard)))


FSDP = rank_task(
    "19.fsdp", _fsdp_cases, _fsdp, finished=True, variants=tuple({"beta": beta} for beta in (0.9, 0.5, 0.8))
)
