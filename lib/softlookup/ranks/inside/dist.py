"""What a rank calls, in the words of torch.distributed, and a rank's run."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from softlookup.ranks.inside.collectives import COLLECTIVES
from softlookup.ranks.inside.groups import RankGroup
from softlookup.ranks.inside.packing import Record, unpack_inbox
from softlookup.ranks.inside.recording import NeedsMessage, RankError, RankRecorder

MESSAGES = ("send", "recv", "isend", "irecv")
"""What all else is made of."""

NEW_GROUP = "new_group"
"""Making a group of ranks, for collectives among them."""

EVERYTHING = (*MESSAGES, *COLLECTIVES, NEW_GROUP)
"""All that a rank may be offered."""

_ALWAYS = ("get_rank", "get_world_size")


class Dist:
    """What a rank knows of the others, and says to them.

    ``send(array, dst)`` and ``recv(array, src)`` end when the other rank does its part; ``isend`` and ``irecv`` give
    something with ``wait()``. The collectives are those of ``collectives``; with ``group=`` they are among the ranks of
    a group.

    Args:
        recorder: Takes down what the rank does.
        offers: Which names of EVERYTHING there are.
    """

    def __init__(self, recorder: RankRecorder, offers: Sequence[str] = EVERYTHING) -> None:
        self._recorder, self._offers = recorder, tuple(offers)

    def get_rank(self, group: RankGroup | None = None) -> int:
        """The rank's number, from 0; in a group its number there, or -1 outside of it."""
        return self._recorder.rank if group is None else group.rank

    def get_world_size(self, group: RankGroup | None = None) -> int:
        """How many ranks there are, or belong to a group."""
        return self._recorder.world if group is None else group.world

    def _new_group(self, ranks: Sequence[int]) -> RankGroup:
        """Make a group of ranks. All ranks of the world call it, in the same order, also those outside of the group.

        torch.distributed waits for all of them in it: where one rank leaves it out, the others stand still there. Here
        such a program runs to its end, and is refused then.
        """
        return RankGroup(self._recorder, self._recorder.new_group(ranks))

    def _collective(self, name: str, *args: Any, group: RankGroup | None = None, **named: Any) -> None:
        """Run a collective among all ranks, or those of a group; a rank that it names is one of the world."""
        if group is None:
            COLLECTIVES[name](self._recorder, *args, **named)
            return
        if group.rank < 0:
            raise RankError(f"rank {self._recorder.rank} calls {name} for a group to which it does not belong")
        COLLECTIVES[name](group, *args, **named)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in self._offers:
            offers = self.__dict__.get("_offers", ())
            raise AttributeError(f"dist has no {name!r} here: it has {', '.join((*_ALWAYS, *offers))}")
        if name in MESSAGES:
            return getattr(self._recorder, name)
        return self._new_group if name == NEW_GROUP else partial(self._collective, name)


def record(
    function: Callable[[Dist], Sequence[np.ndarray]],
    rank: int,
    world: int,
    inbox: Record,
    offers: Sequence[str] = EVERYTHING,
) -> Record:
    """Run one rank from its beginning.

    Args:
        function: What it does; gives its results as arrays.
        rank: Its number.
        world: How many ranks there are.
        inbox: The messages that it has received so far, as ``packing.pack_inbox`` lays them out.
        offers: Which names of EVERYTHING its ``dist`` has.

    Returns:
        What it did, up to its end or to the first message that is not there yet.

    Raises:
        RankError: If it does what no program may do. Exceptions of the function pass through.
    """
    recorder = RankRecorder(rank, world, unpack_inbox(inbox))
    try:
        results = function(Dist(recorder, offers))
    except NeedsMessage:
        pass
    except Exception:
        # An exception after a message that was missing says nothing of the program: its code saw no numbers there.
        if not recorder.halted:
            raise
    else:
        if not recorder.halted:
            recorder.returns(results)
    return recorder.record()
