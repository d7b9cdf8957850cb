"""Collectives as finished parts: rings, and a tree, on the same messages as anybody's, so that they are counted alike.

All take the recorder of a rank first, or its group. What they fill are arrays in one piece, as torch.distributed wants
them.
"""

from collections.abc import Callable

import numpy as np

from softlookup.ranks.inside.groups import RankGroup
from softlookup.ranks.inside.recording import RankError, RankRecorder

Member = RankRecorder | RankGroup
"""A rank among those that a collective is for: all of the world, or a group."""


def broadcast(rank: Member, array: np.ndarray, src: int) -> None:
    """Fill the array of all ranks with that of ``src``, along a binomial tree."""
    src = rank.position("broadcast", src)
    position = (rank.rank - src) % rank.world
    reach = 1
    while reach < rank.world:
        if reach <= position < 2 * reach:
            rank.recv(array, (position - reach + src) % rank.world)
        elif position < reach and position + reach < rank.world:
            rank.send(array, (position + reach + src) % rank.world)
        reach *= 2


def all_reduce(rank: Member, array: np.ndarray) -> None:
    """Replace the array of all ranks by their sum, in a ring: 2 (P - 1) / P of its bytes cross each link."""
    rank.checked("what all_reduce sums", array)
    parts = np.array_split(array.reshape(-1), rank.world)
    for step in range(rank.world - 1):
        parts[(rank.rank - step - 1) % rank.world] += _passed_on(
            rank, parts[(rank.rank - step) % rank.world], parts[(rank.rank - step - 1) % rank.world]
        )
    for step in range(rank.world - 1):
        parts[(rank.rank - step) % rank.world][...] = _passed_on(
            rank, parts[(rank.rank - step + 1) % rank.world], parts[(rank.rank - step) % rank.world]
        )


def all_gather_into_tensor(rank: Member, output: np.ndarray, input: np.ndarray) -> None:
    """Put the inputs of all ranks one after the other into every output, in a ring."""
    parts = _parts(rank, "all_gather_into_tensor", "output", output, input)
    parts[rank.rank][...] = input.reshape(-1)
    for step in range(rank.world - 1):
        part = parts[(rank.rank - step - 1) % rank.world]
        part[...] = _passed_on(rank, parts[(rank.rank - step) % rank.world], part)


def reduce_scatter_tensor(rank: Member, output: np.ndarray, input: np.ndarray) -> None:
    """Sum the inputs of all ranks, of which each gets its part, in a ring."""
    parts = [part.copy() for part in _parts(rank, "reduce_scatter_tensor", "input", input, output)]
    for step in range(1, rank.world):
        part = parts[(rank.rank - step - 1) % rank.world]
        part += _passed_on(rank, parts[(rank.rank - step) % rank.world], part)
    output.reshape(-1)[...] = parts[rank.rank]


def all_to_all_single(rank: Member, output: np.ndarray, input: np.ndarray) -> None:
    """Send part j of the input to rank j, whose output has it as part i."""
    if output.size != input.size or output.dtype != input.dtype or input.size % rank.world:
        raise RankError(
            f"all_to_all_single cuts an input of {input.size} numbers into {rank.world} parts, and its output has as "
            f"many numbers of the same dtype; got {output.size} of {output.dtype} for {input.dtype}"
        )
    rank.checked("the output of all_to_all_single", output)
    rank.checked("the input of all_to_all_single", input)
    to, into = np.split(input.reshape(-1), rank.world), np.split(output.reshape(-1), rank.world)
    into[rank.rank][...] = to[rank.rank]
    for step in range(1, rank.world):
        dst, src = (rank.rank + step) % rank.world, (rank.rank - step) % rank.world
        sent = rank.isend(to[dst], dst)
        rank.recv(into[src], src)
        sent.wait()


def barrier(rank: Member) -> None:
    """Wait until all ranks have come here: each tells the ranks 1, 2, 4, … behind it."""
    reach, byte = 1, np.zeros(1, np.uint8)
    while reach < rank.world:
        sent = rank.isend(byte, (rank.rank + reach) % rank.world)
        rank.recv(np.empty(1, np.uint8), (rank.rank - reach) % rank.world)
        sent.wait()
        reach *= 2


def _passed_on(rank: Member, part: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Send a part to the next rank, and receive one from the rank before."""
    received = np.empty_like(like)
    sent = rank.isend(part, (rank.rank + 1) % rank.world)
    rank.recv(received, (rank.rank - 1) % rank.world)
    sent.wait()
    return received


def _parts(rank: Member, name: str, what: str, whole: np.ndarray, part: np.ndarray) -> list[np.ndarray]:
    """The parts of an array that is as large as those of all ranks together."""
    rank.checked(f"the arrays of {name}", whole)
    rank.checked(f"the arrays of {name}", part)
    if whole.size != rank.world * part.size or whole.dtype != part.dtype:
        raise RankError(
            f"the {what} of {name} holds {rank.world} times {part.size} numbers of {part.dtype}, "
            f"got {whole.size} of {whole.dtype}"
        )
    return np.split(whole.reshape(-1), rank.world)


COLLECTIVES: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (broadcast, all_reduce, all_gather_into_tensor, reduce_scatter_tensor, all_to_all_single, barrier)
}
"""By the name that torch.distributed gives them."""
