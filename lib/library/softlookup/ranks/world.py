"""Running all ranks of a program: each is asked as often as it needs, with the messages that have come for it."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from softlookup.ranks.records import RankOperation, RankProgram, WorldError
from softlookup.ranks.rendezvous import LinkTraffic, settle
from softlookup_inside.ranks.packing import Record, pack_inbox

Ask = Callable[[Mapping[int, Record]], Mapping[int, Record]]
"""Runs some ranks from their beginning: their inboxes by rank, and the record of each."""

MOST_WORLD = 64
"""Ranks that a world may have."""


@dataclass(frozen=True)
class WorldOutcome:
    """What a program came to.

    Attributes:
        results: The results of each rank.
        traffic: What crossed the links.
        inboxes: All messages that each rank received (see ``packing.pack_inbox``).
        records: What each rank did, with that inbox.
    """

    results: tuple[tuple[np.ndarray, ...], ...]
    traffic: LinkTraffic
    inboxes: tuple[Record, ...]
    records: tuple[Record, ...]


def run(ask: Ask, world: int) -> WorldOutcome:
    """Run all ranks until they have come to their end.

    ``ask`` runs ranks, in this process or elsewhere. WorldError if they cannot go on, their messages do not meet, or a
    rank is not deterministic; ValueError if there can be no such world.
    """
    if not 1 <= world <= MOST_WORLD:
        raise ValueError(f"a world has 1 to {MOST_WORLD} ranks, got {world}")
    post = _Post(world)
    to_ask = list(range(world))
    while to_ask:
        records = ask({rank: post.inbox(rank) for rank in to_ask})
        for rank in to_ask:
            post.goes_on(rank, records[rank])
        # What a rank waits for decides who is asked again, so that a rank is run once for each such wait.
        to_ask = [rank for rank in range(world) if post.can_go_on(rank)]
    traffic = settle([program.operations for program in post.programs])
    return WorldOutcome(
        tuple(program.results for program in post.programs),
        traffic,
        tuple(map(post.inbox, range(world))),
        tuple(program.record for program in post.programs),
    )


class _Post:
    """What the ranks have done so far, and what has been sent to each."""

    def __init__(self, world: int) -> None:
        self.programs = [RankProgram(rank, world) for rank in range(world)]
        self._sent: dict[tuple[int, int], list[RankOperation]] = defaultdict(list)
        self._receives: dict[tuple[int, int], int] = defaultdict(int)
        self._numbers: dict[tuple[int, int], int] = {}

    def inbox(self, rank: int) -> Record:
        """All messages that were sent to a rank so far."""
        sent = {src: messages for (src, dst), messages in self._sent.items() if dst == rank}
        return pack_inbox({src: [m.array for m in messages if m.array is not None] for src, messages in sent.items()})

    def goes_on(self, rank: int, rank_record: Record) -> None:
        """Take what a rank did, from its beginning."""
        program = self.programs[rank]
        begin = len(program.operations)
        new = program.read(rank_record)
        if not new:
            raise WorldError("record", f"rank {rank} does not go on with the messages that it waited for")
        for position, operation in enumerate(new, begin):
            if operation.sends and operation.array is not None:
                self._sent[rank, operation.peer].append(operation)
            elif operation.receives:
                self._numbers[rank, position] = self._receives[rank, operation.peer]
                self._receives[rank, operation.peer] += 1
        if not program.has_ended and self._missing(rank) is None:
            raise WorldError("record", f"what rank {rank} gives is no record of a rank")

    def can_go_on(self, rank: int) -> bool:
        """Whether the message that a rank waits for has been sent, and fits."""
        missing = self._missing(rank)
        if missing is None:
            return False
        operation, message_index = missing
        sent = self._sent.get((operation.peer, rank), [])
        if message_index >= len(sent):
            return False
        message = sent[message_index]
        return operation.meets(message) and (message.shape, message.dtype) == (operation.shape, operation.dtype)

    def _missing(self, rank: int) -> tuple[RankOperation, int] | None:
        """The message that a rank waits for, and which one of its sender's it is; None at the rank's end."""
        operations = self.programs[rank].operations
        last = operations[-1]
        position = last.awaited if last.name == "wait" else len(operations) - 1
        if last.name not in ("recv", "wait") or (rank, position) not in self._numbers:
            return None
        return operations[position], self._numbers[rank, position]
