"""The task on data parallel training: a gradient of batches that lie on several ranks."""

from collections.abc import Sequence

import numpy as np

from softlookup_inside.asking.case import Arrays, Case
from softlookup_judge.chapters.ch19_many_devices.worlds import ask_world, rank_task
from softlookup_judge.chapters.draws import Rng, normal
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


def _gradient(w: np.ndarray, x: Sequence[np.ndarray], y: Sequence[np.ndarray], factor: float, loss: str) -> Arrays:
    every, targets = np.concatenate(x), np.concatenate(y)
    of_each = np.einsum("b,bd->bd", every @ w - targets, every)
    return on_all_ranks([factor * of_each.mean(axis=0)] * len(x))


GRADIENT = rank_task(
    "19.gradient",
    _gradient_cases,
    _gradient,
    finished=True,
    variants=(
        {"factor": 2.0, "loss": "`mean((x @ w - y) ** 2)`"},
        {"factor": 1.0, "loss": "`mean((x @ w - y) ** 2) / 2`"},
    ),
)
