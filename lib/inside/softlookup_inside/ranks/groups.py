"""A group: some ranks of a world, as one of them sees it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from softlookup_inside.ranks.recording import PendingMessage, RankError, RankRecorder


class RankGroup:
    """Some ranks of a world, in rising order; collectives run in it by the recorder's messages as in the world."""

    def __init__(self, recorder: RankRecorder, group_number: int, ranks: Sequence[int]) -> None:
        self._recorder, self.number, self._ranks = recorder, group_number, tuple(ranks)
        self.place = self._ranks.index(recorder.rank) if recorder.rank in self._ranks else -1  # its number in here
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
        """The number in the group of a rank of the world, which ``name`` names; RankError if it is not in it."""
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
