"""Collectives by other hands: each is what one rank does, for the world on numpy and for torch.distributed alike."""

from typing import Any

import numpy as np


def ring_all_reduce(x: np.ndarray, dist: Any) -> np.ndarray:
    """Sums travel once round the ring, then the results do."""
    rank, world = dist.get_rank(), dist.get_world_size()
    x = x.copy()
    bounds = [x.size * part // world for part in range(world + 1)]
    for step in range(2 * (world - 1)):
        first, second = (rank - step) % world, (rank - step - 1) % world
        to, into = x[bounds[first] : bounds[first + 1]], x[bounds[second] : bounds[second + 1]]
        received = np.empty_like(into)
        pending = dist.irecv(received, (rank - 1) % world)
        dist.send(to.copy(), (rank + 1) % world) if rank else dist.isend(to.copy(), 1 % world).wait()
        pending.wait()
        into[...] = into + received if step < world - 1 else received
    return x


def tree_broadcast(x: np.ndarray, dist: Any) -> np.ndarray:
    """From rank 0; in each round twice as many know."""
    rank, world = dist.get_rank(), dist.get_world_size()
    x = x.copy()
    for level in reversed(range(world.bit_length())):
        near = 1 << level
        if rank % (2 * near) == 0 and rank + near < world:
            dist.send(x, rank + near)
        elif rank % (2 * near) == near:
            dist.recv(x, rank - near)
    return x


def gather_and_add(x: np.ndarray, dist: Any) -> np.ndarray:
    """Rank 0 gets everything, adds, and sends the sum to all."""
    rank, world = dist.get_rank(), dist.get_world_size()
    if rank:
        dist.send(x, 0)
        dist.recv(x, 0)
        return x
    for other in range(1, world):
        part = np.empty_like(x)
        dist.recv(part, other)
        x = x + part
    for other in range(1, world):
        dist.send(x, other)
    return x


def all_pairs(x: np.ndarray, dist: Any) -> np.ndarray:
    """Everybody sends everything to everybody."""
    rank, world = dist.get_rank(), dist.get_world_size()
    parts = np.empty((world, *x.shape), x.dtype)
    parts[rank] = x
    others = [other for other in range(world) if other != rank]
    pending = [dist.irecv(parts[other], other) for other in others]
    pending += [dist.isend(x, other) for other in others]
    for each in pending:
        each.wait()
    return parts.sum(axis=0)


def halving_and_doubling(x: np.ndarray, dist: Any) -> np.ndarray:
    """Rabenseifner's all-reduce, for a power of 2 of ranks and as many numbers."""
    rank, world = dist.get_rank(), dist.get_world_size()
    x, low, high = x.copy(), 0, x.size
    spans = []
    distance = world // 2
    while distance:
        middle, peer = (low + high) // 2, rank ^ distance
        spans.append((low, high))
        low, high, out = (middle, high, (low, middle)) if rank & distance else (low, middle, (middle, high))
        received = np.empty(high - low, x.dtype)
        exchange(x[out[0] : out[1]].copy(), received, peer, dist)
        x[low:high] += received
        distance //= 2
    for distance, (below, above) in zip([2**i for i in range(len(spans))], reversed(spans), strict=True):
        into = (below, low) if low > below else (high, above)
        received = np.empty(into[1] - into[0], x.dtype)
        exchange(x[low:high].copy(), received, rank ^ distance, dist)
        x[into[0] : into[1]] = received
        low, high = below, above
    return x


def exchange(sent: np.ndarray, received: np.ndarray, peer: int, dist: Any) -> None:
    """Two ranks exchange arrays: the lower one speaks first."""
    if dist.get_rank() < peer:
        dist.send(sent, peer)
        dist.recv(received, peer)
    else:
        dist.recv(received, peer)
        dist.send(sent, peer)


def given_parts(x: np.ndarray, dist: Any) -> tuple[np.ndarray, ...]:
    """All finished collectives, one after the other; x has a multiple of P numbers."""
    rank, world = dist.get_rank(), dist.get_world_size()
    reduced, spread = x.copy(), x.copy()
    dist.all_reduce(reduced)
    dist.broadcast(spread, world - 1)
    gathered = np.empty(world * x.size, x.dtype)
    dist.all_gather_into_tensor(gathered, x)
    scattered = np.empty(x.size // world, x.dtype)
    dist.reduce_scatter_tensor(scattered, x)
    exchanged = np.empty_like(x)
    dist.all_to_all_single(exchanged, x)
    dist.barrier()
    return reduced, spread, gathered, scattered, exchanged, np.array(rank)


SUMS = (ring_all_reduce, gather_and_add, all_pairs)
"""Each gives the sum of all inputs on every rank, in any world."""


def all_programs(x: np.ndarray, dist: Any) -> tuple[np.ndarray, ...]:
    """All of the above, one after the other, for a power of 2 of ranks."""
    sums = tuple(program(x.copy(), dist) for program in (*SUMS, halving_and_doubling))
    return (*sums, tree_broadcast(x, dist), *given_parts(x, dist))
