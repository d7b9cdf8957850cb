"""A group: some ranks of a world, as one of them sees it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from softlookup_inside.ranks.recording import PendingMessage, RankError, RankRecorder


class RankGroup:
    """Some ranks of a world, numbered from 0 in the order of their numbers there.

    Its messages are those of the world's recorder, so that a collective runs in a group as it does in the world.

    ``group_number`` is its position among the groups that are made, from 1, the same on all ranks; ``ranks`` are in
    rising order.

    Attributes:
        place: The rank's number in the group; -1 outside of it.
        world: How many ranks belong to it.
    """

    def __init__(self, recorder: RankRecorder, group_number: int, ranks: Sequence[int]) -> None:
        self._recorder, self.number, self._ranks = recorder, group_number, tuple(ranks)
        self.place = self._ranks.index(recorder.rank) if recorder.rank in self._ranks else -1
        self.world = len(self._ranks)

    def rank(self) -> int:
        """The rank's number in the group, as torch's groups say it."""
        return self.place

    def size(self) -> int:
        """How many ranks belong to the group, as torch's groups say it."""
        return self.world

    @property
    def ranks(self) -> list[int]:
        """The numbers in the world of the ranks that belong to the group, in rising order."""
        return list(self._ranks)

    def position(self, name: str, rank: Any) -> int:
        """The number in the group of a rank of the world.

        ``name`` is what names it. RankError if it does not belong to the group.
        """
        world_rank = self._recorder.position(name, rank)
        if world_rank not in self._ranks:
            raise RankError(f"{name} names rank {world_rank}, and the group has the ranks {self.ranks}")
        return self._ranks.index(world_rank)

    def send(self, array: np.ndarray, dst: int) -> None:
        """Send an array to a rank of the group."""
        self._recorder.send(array, self._ranks[dst])

    def isend(self, array: np.ndarray, dst: int) -> PendingMessage:
        """Send an array to a rank of the group, and go on."""
        return self._recorder.isend(array, self._ranks[dst])

    def recv(self, array: np.ndarray, src: int) -> int:
        """Receive from a rank of the group into an array."""
        self._recorder.recv(array, self._ranks[src])
        return src
