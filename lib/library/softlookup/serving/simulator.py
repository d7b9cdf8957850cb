"""Latencies predicted before they are measured: the same loop, with the cost of a step in place of the model."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from softlookup.serving.blocks import Blocks
from softlookup.serving.request import Request
from softlookup.serving.scheduler import Rules
from softlookup.serving.server import Server

Step = Sequence[tuple[int, int]]


class StepCosts(Protocol):
    """Whatever says how long a step takes: costs fitted to measured steps, or least times."""

    def seconds(self, step: Step) -> float:
        """What one step takes, in seconds."""


@dataclass(frozen=True)
class Costs:
    """What a step takes, in seconds.

    Attributes:
        chunk: For each chunk of a prompt: the weights are read.
        token: For each token of a chunk.
        pair: For each of a chunk's tokens and each token that stands in the cache after it.
        batch: For the pass in which all answers grow by one token.
        row: For each answer in that pass.
        slot: For each position that the pass reads: rows times the longest of them.
    """

    chunk: float
    token: float
    pair: float
    batch: float
    row: float
    slot: float

    def seconds(self, step: Step) -> float:
        """What one step takes.

        Args:
            step: For each request, how many tokens it computes, and how many stand in its cache after that.

        Returns:
            Seconds.
        """
        return float(_features(step) @ np.array([self.chunk, self.token, self.pair, self.batch, self.row, self.slot]))

    @classmethod
    def fitted(cls, steps: Sequence[tuple[Step, float]]) -> "Costs":
        """Find the costs that explain measured steps, none of them below 0.

        Args:
            steps: What each computed, and how many seconds it took, as Server.steps has it.

        Returns:
            Those with the smallest squared relative errors.

        Raises:
            ValueError: If no step is given.
        """
        if not steps:
            raise ValueError("no step is given; wanted measured ones")
        features = np.stack([_features(step) for step, _ in steps])
        seconds = np.array([duration_s for _, duration_s in steps])
        rows = features / seconds[:, None]
        sizes = np.maximum(np.abs(rows).max(axis=0), 1e-300)
        used = list(range(6))
        while True:  # a cost that would be negative is 0: the others are fitted without it
            solution = np.linalg.lstsq((rows / sizes)[:, used], np.ones(len(rows)), rcond=None)[0]
            if (solution >= 0).all():
                break
            del used[int(solution.argmin())]
        costs = np.zeros(6)
        costs[used] = solution / sizes[used]
        return cls(*costs.tolist())


class CostRunner:
    """Stands in for a model: a step takes what it costs, on a clock of its own.

    Args:
        costs: What steps take.
    """

    def __init__(self, costs: StepCosts) -> None:
        self.costs, self._now_s = costs, 0.0

    def now(self) -> float:
        """Seconds on the made-up clock."""
        return self._now_s

    def wait_until(self, moment_s: float) -> None:
        """Move the clock on to a moment."""
        self._now_s = max(self._now_s, moment_s)

    def run(self, plan: Sequence[tuple[Request, int]]) -> list[int]:
        """Let the step's time pass, and give a token 0 for each request.

        Raises:
            ValueError: If the costs of the step are no seconds of at least 0.
        """
        seconds = self.costs.seconds([(new, request.computed + new) for request, new in plan])
        if not 0 <= seconds < math.inf:
            raise ValueError(f"a step costs {seconds} seconds; wanted a finite number of at least 0")
        self._now_s += seconds
        return [0] * len(plan)


def simulate(requests: Sequence[Request], costs: StepCosts, blocks: Blocks, rules: Rules) -> Server:
    """Serve requests with costs in place of a model.

    Args:
        requests: They are filled in as a real server would: when each token came.
        costs: What steps take.
        blocks: A cache of the size of the real one. Its numbers are never read.
        rules: How steps are shared.

    Returns:
        The server after all have ended.
    """
    server = Server(CostRunner(costs), blocks, rules)
    server.serve(requests)
    return server


def poisson_arrivals(n: int, rate: float, *, seed: int) -> list[float]:
    """Draw when requests arrive, if each comes by itself: the waits between them are exponential.

    Args:
        n: How many.
        rate: Requests a second, on average.
        seed: Where the luck comes from.

    Returns:
        Seconds, rising.

    Raises:
        ValueError: If the rate is not above 0, or not finite.
    """
    if not 0 < rate < math.inf:
        raise ValueError(f"rate is {rate}; wanted requests a second, above 0")
    return np.cumsum(np.random.default_rng(seed).exponential(1 / rate, n)).tolist()


def _features(step: Step) -> np.ndarray:
    chunks = [(new, after) for new, after in step if new > 1]
    rows = [after for new, after in step if new == 1]
    return np.array(
        [
            len(chunks),
            sum(new for new, _ in chunks),
            sum(new * after for new, after in chunks),
            bool(rows),
            len(rows),
            len(rows) * max(rows, default=0),
        ],
        dtype=float,
    )
