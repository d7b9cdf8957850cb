"""Clocking several ways of doing the same, in turn, so that whatever else the machine does disturbs all alike."""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.measures import wait


@dataclass(frozen=True)
class Raced:
    """What several ways came to.

    Attributes:
        results: What each way gave at its first call, by name.
        seconds: How long each took in every round, by the clock.
        cpu_seconds: How long the calling thread was running in it: on a busy machine it has to wait for its turn, too.
    """

    results: Mapping[str, Tensor]
    seconds: Mapping[str, list[float]]
    cpu_seconds: Mapping[str, list[float]]

    @property
    def equal(self) -> bool:
        """Whether all gave the same."""
        first, *others = self.results.values()
        return all(torch.equal(first, other) for other in others)

    def ms(self, parts: int, ending: str) -> dict[str, float]:
        """Give the median milliseconds of each way for each of so many equal parts of a call, such as tokens.

        ``ending`` follows the way's name in the result.
        """
        return {name + ending: 1e3 * statistics.median(each) / parts for name, each in self.seconds.items()}

    def ratio(self, slow: str, fast: str, name: str = "ratio") -> dict[str, float]:
        """Say how many times as long ``slow`` takes as ``fast``, under ``name``.

        The median over the rounds, the least, the most, and the median by the seconds that the thread was running.
        """
        ratios = [a / b for a, b in zip(self.seconds[slow], self.seconds[fast], strict=True)]
        of_cpu = [a / b for a, b in zip(self.cpu_seconds[slow], self.cpu_seconds[fast], strict=True)]
        return {
            name: statistics.median(ratios),
            f"{name}_least": min(ratios),
            f"{name}_most": max(ratios),
            f"{name}_cpu_time": statistics.median(of_cpu),
        }


def race(ways: Mapping[str, Callable[[], Tensor]], rounds: int) -> Raced:
    """Do the same in several ways, in turn: A B C, A B C, ...

    Each is called once before the clock starts, and clocked in each of the rounds: below 1 it is a ValueError.
    """
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1; got {rounds}")
    raced = Raced({name: way() for name, way in ways.items()}, {n: [] for n in ways}, {n: [] for n in ways})
    for name in [*ways] * rounds:
        _, seconds, cpu_seconds = clocked(ways[name])
        raced.seconds[name].append(seconds)
        raced.cpu_seconds[name].append(cpu_seconds)
    return raced


def clocked(way: Callable[[], Tensor]) -> tuple[Tensor, float, float]:
    """Clock one call: the result, the seconds by the clock, and those that the calling thread was running.

    A GPU is waited for; nothing should be left to do on it from before.
    """
    begun_s, begun_cpu_s = time.perf_counter(), time.thread_time()
    result = way()
    wait(result)
    return result, time.perf_counter() - begun_s, time.thread_time() - begun_cpu_s
