"""All ranks in this process, one after another: for a page, and for a program that is tried out."""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from softlookup.ranks.world import WorldOutcome, run
from softlookup_inside.ranks.dist import Dist, record
from softlookup_inside.ranks.names import EVERYTHING
from softlookup_inside.ranks.operations import as_array
from softlookup_inside.ranks.packing import Record
from softlookup_inside.ranks.returning import NoResult


def run_here(
    function: Callable[..., Any], inputs: Sequence[Sequence[Any]], offers: Sequence[str] = EVERYTHING
) -> WorldOutcome:
    """Run a program on all ranks of a world.

    Args:
        function: What one rank does: takes the rank's inputs, then ``dist``. It returns an array, several, or None.
        inputs: The inputs of each rank; it gets copies each time that it is run.
        offers: Which names of ``EVERYTHING`` its ``dist`` has.

    Returns:
        The results of all ranks, and the traffic.

    Raises:
        WorldError: If the ranks cannot go on, or their messages do not meet.
        RankError: If a rank does what no program may do. Exceptions of the function pass through, with its rank.
    """

    def ask(inboxes: Mapping[int, Record]) -> dict[int, Record]:
        return {rank: _run_rank(function, inputs, rank, inbox, offers) for rank, inbox in inboxes.items()}

    return run(ask, len(inputs))


def _run_rank(
    function: Callable[..., Any], inputs: Sequence[Sequence[Any]], rank: int, inbox: Record, offers: Sequence[str]
) -> Record:
    def call(dist: Dist) -> Sequence[np.ndarray]:
        return as_results(function(*copy.deepcopy(tuple(inputs[rank])), dist))

    try:
        return record(call, rank, len(inputs), inbox, offers)
    except Exception as error:
        error.add_note(f"It is rank {rank} of {len(inputs)} that raises this.")
        raise


def as_results(result: Any) -> tuple[np.ndarray, ...]:
    """What a function returns as arrays in one piece: one, several in a tuple, or none."""
    many = () if result is None or isinstance(result, NoResult) else result if isinstance(result, tuple) else (result,)
    return tuple(np.array(as_array(item), order="C") for item in many)
