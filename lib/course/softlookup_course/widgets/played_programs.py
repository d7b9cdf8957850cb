"""The parallel programs that the figure of chapter 19 plays, with what their ranks begin with.

Letters of its own: P ranks of a world.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

WORLDS = (2, 4, 8)
"""Numbers of ranks to choose from."""


def tree_broadcast(x: np.ndarray, dist: Any) -> np.ndarray:
    """Hand the array of rank 0 on: whoever has it sends it to a rank that has not."""
    rank, world, reach = dist.get_rank(), dist.get_world_size(), 1
    while reach < world:
        if reach <= rank < 2 * reach:
            dist.recv(x, rank - reach)
        elif rank < reach and rank + reach < world:
            dist.send(x, rank + reach)
        reach *= 2
    return x


def root_broadcast(x: np.ndarray, dist: Any) -> np.ndarray:
    """Send the array of rank 0 to everybody, one after the other."""
    if dist.get_rank():
        dist.recv(x, 0)
    else:
        for rank in range(1, dist.get_world_size()):
            dist.send(x, rank)
    return x


def ring_all_reduce(x: np.ndarray, dist: Any) -> np.ndarray:
    """Send parts round the ring: once to add, once to hand the sums on."""
    rank, world = dist.get_rank(), dist.get_world_size()
    parts = [part.copy() for part in np.array_split(x, world)]
    for step in range(2 * (world - 1)):
        leaves, comes = (rank - step) % world, (rank - step - 1) % world
        received = np.empty_like(parts[comes])
        sent = dist.isend(parts[leaves], (rank + 1) % world)
        dist.recv(received, (rank - 1) % world)
        sent.wait()
        parts[comes] = parts[comes] + received if step < world - 1 else received
    return np.concatenate(parts)


def gathered_all_reduce(x: np.ndarray, dist: Any) -> np.ndarray:
    """Send the whole array to everybody, and add what comes."""
    rank, world = dist.get_rank(), dist.get_world_size()
    total = x.copy()
    for distance in range(1, world):
        received = np.empty_like(x)
        sent = dist.isend(x, (rank + distance) % world)
        dist.recv(received, (rank - distance) % world)
        sent.wait()
        total += received
    return total


def ring_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, dist: Any) -> np.ndarray:
    """Send blocks of keys and values round the ring; each rank keeps its queries, and a running softmax."""
    rank, world = dist.get_rank(), dist.get_world_size()
    largest, total, mixed = np.full((len(q), 1), -np.inf), np.zeros((len(q), 1)), np.zeros_like(q)
    block = np.stack([k, v])
    for step in range(world):
        scores = q @ block[0].T / np.sqrt(q.shape[1])
        before, largest = largest, np.maximum(largest, scores.max(axis=1, keepdims=True))
        weights, shrink = np.exp(scores - largest), np.exp(before - largest)
        total, mixed = total * shrink + weights.sum(axis=1, keepdims=True), mixed * shrink + weights @ block[1]
        if step < world - 1:
            received = np.empty_like(block)
            sent = dist.isend(block, (rank + 1) % world)
            dist.recv(received, (rank - 1) % world)
            sent.wait()
            block = received
    return mixed / total


@dataclass(frozen=True)
class PlayedProgram:
    """A program, and what its ranks begin with."""

    title: str  # what it does
    function: Callable[..., Any]  # what one rank does
    # What a rank has of the numbers that travel: "all" of its own, "root" where rank 0 alone has them, or "block",
    # one block of an array that lies over all ranks:
    begins: str
    array: str  # what the size is of, in words
    # The rank's inputs, from the array that travels:
    arguments: Callable[[np.ndarray], tuple[Any, ...]] = lambda x: (x,)


def _of_attention(x: np.ndarray) -> tuple[Any, ...]:
    k, v = x.reshape(2, 1, 1)
    return np.ones((1, 1)), k, v


PROGRAMS = {
    "ring": PlayedProgram("all-reduce, in a ring", ring_all_reduce, "all", "the array of each rank"),
    "gather": PlayedProgram("all-reduce, all to all", gathered_all_reduce, "all", "the array of each rank"),
    "tree": PlayedProgram("broadcast, along a tree", tree_broadcast, "root", "the array of rank 0"),
    "root": PlayedProgram("broadcast, the root to all", root_broadcast, "root", "the array of rank 0"),
    "attention": PlayedProgram(
        "ring attention", ring_attention, "block", "the keys and values of each rank", _of_attention
    ),
}
"""By their names; ``rank_player.RankPlayer`` takes them."""
