"""A group: some ranks of a world, as one of them sees it."""

from collections.abc import Sequence

import numpy as np

from softlookup.ranks.inside.recording import PendingMessage, RankError, RankRecorder


class RankGroup:
    """Some ranks of a world, numbered from 0 in the order of their numbers there.

    Its messages are those of the world's recorder, so that a collective runs in a group as it does in the world.

    Args:
        recorder: Takes down what the rank does.
        ranks: Which ranks belong to the group, in rising order.

    Attributes:
        rank: The rank's number in the group; -1 outside of it.
        world: How many ranks belong to it.
    """

    def __init__(self, recorder: RankRecorder, ranks: Sequence[int]) -> None:
        self._recorder, self._ranks = recorder, tuple(ranks)
        self.rank = self._ranks.index(recorder.rank) if recorder.rank in self._ranks else -1
        self.world = len(self._ranks)

    def position(self, name: str, rank: int) -> int:
        """The number in the group of a rank of the world.

        Args:
            name: What names it.
            rank: Its number in the world.

        Raises:
            RankError: If it does not belong to the group.
        """
        if rank not in self._ranks:
            raise RankError(f"{name} names rank {rank}, and the group has the ranks {list(self._ranks)}")
        return self._ranks.index(rank)

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

    def checked(self, what: str, array: np.ndarray) -> None:
        """Look whether an array can be sent or filled."""
        self._recorder.checked(what, array)
