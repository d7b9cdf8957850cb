"""Collectives as finished parts, rings and a tree, on the same counted messages; all take a rank's recorder first."""

from collections.abc import Sequence

import numpy as np

from softlookup_inside.ranks.groups import RankGroup
from softlookup_inside.ranks.recording import RankRecorder
from softlookup_inside.ranks.reductions import ReduceOp

Member = RankRecorder | RankGroup  # a rank among those that a collective is for: all of the world, or a group


def broadcast(rank: Member, array: np.ndarray, src: int) -> None:
    """Fill the array of all ranks with that of ``src``, along a binomial tree."""
    position = (rank.place - src) % rank.world
    reach = 1
    while reach < rank.world:
        if reach <= position < 2 * reach:
            rank.recv(array, (position - reach + src) % rank.world)
        elif position < reach and position + reach < rank.world:
            rank.send(array, (position + reach + src) % rank.world)
        reach *= 2


def reduce(rank: Member, array: np.ndarray, dst: int, op: ReduceOp) -> None:
    """Combine the arrays of all ranks in that of ``dst``, along a binomial tree; the others stay as they are."""
    position = (rank.place - dst) % rank.world
    combined = array.copy()
    reach = 1 << (rank.world - 1).bit_length() >> 1
    while reach:
        if reach <= position < 2 * reach:
            rank.send(combined, (position - reach + dst) % rank.world)
        elif position < reach and position + reach < rank.world:
            received = np.empty_like(combined)
            rank.recv(received, (position + reach + dst) % rank.world)
            op.combine(combined, received, out=combined)
        reach //= 2
    if position == 0:
        op.end(combined, rank.world)
        array[...] = combined


def all_reduce(rank: Member, array: np.ndarray, op: ReduceOp) -> None:
    """Combine the arrays of all ranks in each, in a ring: 2 (P - 1) / P of the bytes cross each link."""
    parts = np.array_split(array.reshape(-1), rank.world)
    for step in range(rank.world - 1):
        part = parts[(rank.place - step - 1) % rank.world]
        op.combine(part, _passed_on(rank, parts[(rank.place - step) % rank.world], part), out=part)
    for step in range(rank.world - 1):
        part = parts[(rank.place - step) % rank.world]
        part[...] = _passed_on(rank, parts[(rank.place - step + 1) % rank.world], part)
    op.end(array, rank.world)


def all_gather(rank: Member, outputs: Sequence[np.ndarray], array: np.ndarray) -> None:
    """Put the array of each rank into one of every rank's outputs, in a ring."""
    outputs[rank.place][...] = array
    for step in range(rank.world - 1):
        output = outputs[(rank.place - step - 1) % rank.world]
        output[...] = _passed_on(rank, outputs[(rank.place - step) % rank.world], output)


def reduce_scatter(rank: Member, output: np.ndarray, inputs: Sequence[np.ndarray], op: ReduceOp) -> None:
    """Combine the inputs of all ranks, of which each rank gets one, in a ring."""
    parts = [part.copy() for part in inputs]
    for step in range(1, rank.world):
        part = parts[(rank.place - step - 1) % rank.world]
        op.combine(part, _passed_on(rank, parts[(rank.place - step) % rank.world], part), out=part)
    op.end(parts[rank.place], rank.world)
    output[...] = parts[rank.place]


def all_to_all(rank: Member, outputs: Sequence[np.ndarray], inputs: Sequence[np.ndarray]) -> None:
    """Send input j to rank j, which has it as output i."""
    outputs[rank.place][...] = inputs[rank.place]
    for step in range(1, rank.world):
        dst, src = (rank.place + step) % rank.world, (rank.place - step) % rank.world
        sent = rank.isend(inputs[dst], dst)
        rank.recv(outputs[src], src)
        sent.wait()


def gather(rank: Member, outputs: Sequence[np.ndarray], array: np.ndarray, dst: int) -> None:
    """Put the array of each rank into one of the outputs of ``dst``; the others have no outputs."""
    if rank.place != dst:
        rank.send(array, dst)
        return
    for src, output in enumerate(outputs):
        if src == dst:
            output[...] = array
        else:
            rank.recv(output, src)


def scatter(rank: Member, output: np.ndarray, inputs: Sequence[np.ndarray], src: int) -> None:
    """Send each rank one of the inputs of ``src``; the others have no inputs."""
    if rank.place != src:
        rank.recv(output, src)
        return
    for dst, array in enumerate(inputs):
        if dst == src:
            output[...] = array
        else:
            rank.send(array, dst)


def barrier(rank: Member) -> None:
    """Wait until all ranks have come here: each tells the ranks 1, 2, 4, … behind it."""
    reach, byte = 1, np.zeros(1, np.uint8)
    while reach < rank.world:
        sent = rank.isend(byte, (rank.place + reach) % rank.world)
        rank.recv(np.empty(1, np.uint8), (rank.place - reach) % rank.world)
        sent.wait()
        reach *= 2


def _passed_on(rank: Member, part: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Send a part to the next rank, and receive one from the rank before."""
    received = np.empty_like(like)
    sent = rank.isend(part, (rank.place + 1) % rank.world)
    rank.recv(received, (rank.place - 1) % rank.world)
    sent.wait()
    return received
