"""What collectives cost between processes of this machine: ``softlookup bench collectives``.

gloo's all-reduce is clocked for some sizes. Latency and bandwidth are fitted to it by the formula of a ring, and with
these two numbers the formulas of ``softlookup.ranks.links`` predict a message (half of a ping-pong) and other
collectives, which are clocked in the same rounds. Where gloo goes another way than the formula, the ratio shows it.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import torch
import torch.distributed as dist

from benchmarks.harness import benchmark
from softlookup.ranks.links import LinkSpeed
from softlookup.training.devices import run_on_ranks

WAYS = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "point_to_point")


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench."""

    worlds: tuple[int, ...] = (2, 4)
    sizes: tuple[int, ...] = (1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 24)
    rounds: int = 40


@dataclass(frozen=True)
class WorldCosts:
    """Collectives between so many ranks: least seconds by way and size, and predicted over measured.

    ``ratios`` of all_reduce are those of the sizes that were fitted; the others were not looked at by the fit.
    """

    ranks: int
    latency_s: float
    bytes_per_s: float
    seconds: dict[str, list[float]]
    ratios: dict[str, list[float]]


@dataclass(frozen=True)
class CollectivesResult:
    """Medians of what was not fitted: ``ratio`` of predicted over measured, ``error`` of that ratio's distance to 1."""

    ratio: float
    ratio_of: str
    error: float
    backend: str
    sizes: tuple[int, ...]
    rounds: int
    worlds: list[WorldCosts]


@benchmark("collectives", _Plan(), quick=_Plan((2,), (1 << 10, 1 << 23), 2))
def bench_collectives(sizes: _Plan) -> CollectivesResult:
    """Clock collectives, fit a link to the all-reduce, and predict the others."""
    worlds = [_world(ranks, sizes) for ranks in sizes.worlds]
    unseen = [ratio for world in worlds for way in WAYS[1:] for ratio in world.ratios[way]]
    about = "predicted seconds to measured, of collectives that latency and bandwidth were not fitted to"
    error = median(abs(ratio - 1) for ratio in unseen)
    return CollectivesResult(_short(median(unseen)), about, _short(error), "gloo", sizes.sizes, sizes.rounds, worlds)


def _world(ranks: int, sizes: _Plan) -> WorldCosts:
    measured = run_on_ranks(partial(_clocked, sizes), ranks, "cpu", lambda content: None)
    link = fitted_link(sizes.sizes, measured["all_reduce"], ranks)
    ratios = {
        way: [
            _short(predicted_s(link, way, n_bytes, ranks) / seconds)
            for n_bytes, seconds in zip(sizes.sizes, measured[way], strict=True)
        ]
        for way in WAYS
    }
    rounded = {way: [_short(seconds) for seconds in each] for way, each in measured.items()}
    return WorldCosts(ranks, _short(link.latency_s), _short(link.bytes_per_s), rounded, ratios)


def predicted_s(link: LinkSpeed, way: str, n_bytes: int, ranks: int) -> float:
    """What a formula says for one of WAYS, in seconds.

    The bytes are of the array, or of the message, the ranks are P.
    """
    if way == "point_to_point":
        return link.point_to_point_s(n_bytes)
    if way == "broadcast":  # by a binary tree, ceil(log2 P) whole messages one after the other
        return (ranks - 1).bit_length() * link.point_to_point_s(n_bytes)
    return float(getattr(link, f"{way}_s")(n_bytes, ranks))


def fitted_link(sizes: Sequence[int], seconds: Sequence[float], ranks: int) -> LinkSpeed:
    """Fit latency and bandwidth to the times of an all-reduce by a ring, each time weighing by its relative error.

    ``sizes`` are bytes. A latency that would be below 0 is 0. If longer arrays took no more time than short ones, so
    that there is no bandwidth, it is a ValueError.
    """
    steps = 2 * (ranks - 1)
    # seconds = steps * latency + steps / ranks * n_bytes / bandwidth, divided by seconds on both sides.
    rows = torch.tensor(
        [[steps / s, steps * n / ranks / s] for n, s in zip(sizes, seconds, strict=True)], dtype=torch.float64
    )
    scale = rows.abs().amax(dim=0)
    solved = torch.linalg.lstsq(rows / scale, torch.ones(len(rows), 1, dtype=torch.float64)).solution[:, 0] / scale
    latency_s, s_per_byte = map(float, solved)
    if not s_per_byte > 0:
        raise ValueError(f"all-reduces of {sizes[0]} to {sizes[-1]} bytes show no bandwidth: measure longer arrays")
    return LinkSpeed(max(0.0, latency_s), 1 / s_per_byte, "gloo", "fitted")


def _clocked(sizes: _Plan, device: torch.device, tell: Callable[[Any], None]) -> dict[str, list[float]]:
    """On one rank: the least seconds of each way and size, the ways in turn.

    What else a machine does only adds to a time, and with two ranks and more on its cores it adds much.
    """
    times: dict[str, list[list[float]]] = {way: [[] for _ in sizes.sizes] for way in WAYS}
    ranks = dist.get_world_size()
    # torch 2.13 has begun to rename them.
    scatter = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor
    gather = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
    for repeat in range(sizes.rounds + 1):
        for index, n_bytes in enumerate(sizes.sizes):
            whole = torch.ones(n_bytes // 4)
            part = torch.ones(n_bytes // 4 // ranks)
            calls: dict[str, Callable[[], Any]] = {
                "all_reduce": partial(dist.all_reduce, whole),
                "reduce_scatter": partial(scatter, part, whole),
                "all_gather": partial(gather, whole, part),
                "all_to_all": partial(dist.all_to_all_single, torch.ones_like(whole), whole),
                "broadcast": partial(dist.broadcast, whole, 0),
                "point_to_point": partial(_ping_pong, whole),
            }
            for way, call in calls.items():
                dist.barrier()
                begun_s = time.perf_counter()
                call()
                # The slowest rank's time: a broadcast's root is done when it has sent.
                seconds = torch.tensor(time.perf_counter() - begun_s, dtype=torch.float64)
                if way == "point_to_point":
                    seconds /= 2
                dist.all_reduce(seconds, dist.ReduceOp.MAX)
                if repeat:  # the first round makes connections
                    times[way][index].append(float(seconds))
    return {way: [min(each) for each in rows] for way, rows in times.items()}


def _ping_pong(array: torch.Tensor) -> None:
    """From rank 0 to rank 1 and back; other ranks wait."""
    rank = dist.get_rank()
    for sender in (0, 1):
        if rank == sender:
            dist.send(array, 1 - rank)
        elif rank == 1 - sender:
            dist.recv(array, sender)


def _short(number: float) -> float:
    return float(f"{number:.4g}")
