"""A feed-forward network on two ranks, both of its matrices cut into columns or into rows, and what has to be sent.

Letters of its own: P ranks of a world. Numbers are whole and small, so that every product can be checked by hand.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import traitlets

from softlookup.ranks import run_here
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

CUTS = ("columns", "rows")
WORLD = 2
"""P; the script draws two ranks side by side."""
X = ((1, 2), (3, -1))
W_IN = ((2, -1, 0, 1), (-1, 1, 2, -1))
W_OUT = ((1, -1), (2, 0), (1, 1), (0, 2))
BETWEEN = {
    ("columns", "rows"): "nothing",
    ("columns", "columns"): "all-gather",
    ("rows", "rows"): "reduce-scatter",
    ("rows", "columns"): "all-reduce",
}
"""What brings each rank what its second product needs, by both cuts: the collective that sends fewest bytes."""
AFTER = {"columns": "all-gather", "rows": "all-reduce"}
"""What finishes the layer, by the second cut."""


def cut(matrix: np.ndarray, way: str) -> list[np.ndarray]:
    """Cut a matrix into a part for each rank."""
    return np.split(matrix, WORLD, axis=1 if way == "columns" else 0)


def send(part: np.ndarray, collective: str, dist: Any) -> np.ndarray:
    """Give what a collective makes of the parts of all ranks; columns of a matrix lie on the ranks in their order."""
    world = dist.get_world_size()
    if collective == "nothing":
        return part
    if collective == "all-gather":
        parts = [np.empty_like(part) for _ in range(world)]
        dist.all_gather(parts, part)
        return np.concatenate(parts, axis=1)
    if collective == "reduce-scatter":
        blocks = [np.ascontiguousarray(block) for block in cut(part, "columns")]
        columns = np.empty_like(blocks[0])
        dist.reduce_scatter(columns, blocks)
        return columns
    total = part.copy()
    dist.all_reduce(total)
    return total


def step(x: np.ndarray, w: np.ndarray, collective: str, dist: Any) -> tuple[np.ndarray, np.ndarray]:
    """Multiply on one rank, then send: the rank's own product, and what it has afterwards."""
    computed = x @ w
    return computed, send(computed, collective, dist)


def describe(first: str, second: str) -> dict[str, Any]:
    """Run the network with one cut of each matrix: what each rank holds and computes, and what it sends, in bytes."""
    x, w_in, w_out = (np.array(matrix, np.float32) for matrix in (X, W_IN, W_OUT))
    x_parts = [x] * WORLD if first == "columns" else cut(x, "columns")
    between, after = BETWEEN[first, second], AFTER[second]
    into = run_here(step, [(*parts, between) for parts in zip(x_parts, cut(w_in, first), strict=True)])
    hidden = [np.maximum(ready, 0) for _, ready in into.results]
    out = run_here(step, [(*parts, after) for parts in zip(hidden, cut(w_out, second), strict=True)])
    return {
        "cuts": [first, second],
        "between": {"collective": between, "bytes": into.traffic.busiest_rank_bytes},
        "after": {"collective": after, "bytes": out.traffic.busiest_rank_bytes},
        "z": [_whole_numbers(computed) for computed, _ in into.results],
        "h": [_whole_numbers(each) for each in hidden],
        "y": [_whole_numbers(computed) for computed, _ in out.results],
        "output": _whole_numbers(out.results[0][1]),
    }


def _whole_numbers(matrix: np.ndarray) -> list[list[int]]:
    return [[int(entry) for entry in row] for row in matrix]


def static_table(runs: Sequence[dict[str, Any]]) -> str:
    """Write what each choice sends as HTML, for readers whose browser runs no script."""
    head = ("first matrix, second matrix", "between", "at the end", "bytes that a rank sends")
    rows = (
        (
            ", ".join(run["cuts"]),
            run["between"]["collective"],
            run["after"]["collective"],
            run["between"]["bytes"] + run["after"]["bytes"],
        )
        for run in runs
    )
    sentence = "<p>A small feed-forward network on two ranks, with a 2 × 4 and a 4 × 2 matrix, for two tokens.</p>"
    return sentence + plain_table(head, rows)


class TensorParallelCut(InteractiveFigure):
    """Cut both matrices of a feed-forward network into columns or rows, and see what two ranks compute and send."""

    runs = traitlets.List(traitlets.Dict(), help="what describe gives, for each choice").tag(sync=True)
    matrices = traitlets.Dict(help="X and both weight matrices, whole").tag(sync=True)

    def __init__(self) -> None:
        runs = [describe(*ways) for ways in product(CUTS, CUTS)]
        matrices = {name: [list(row) for row in rows] for name, rows in (("x", X), ("in", W_IN), ("out", W_OUT))}
        super().__init__(runs=runs, matrices=matrices, fallback=static_table(runs))
