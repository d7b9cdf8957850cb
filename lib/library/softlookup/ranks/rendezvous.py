"""Whether the messages of a program meet, and what crosses each link.

A ``send`` ends only when its receive has begun, as torch.distributed says: a program that relies on buffers may run on
one machine and stand still on another. ``isend`` and ``irecv`` end at their ``wait``.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import numpy as np

from softlookup.ranks.records import RankOperation, WorldError


@dataclass(frozen=True)
class SentMessage:
    """A message that was sent and received.

    Attributes:
        step: One more than the later of both ends' steps; the first is 1.
        src: The rank that sent it.
        dst: The rank that received it.
        n_bytes: Its bytes.
        after: Messages that were complete when both ends were ready: so many of ``LinkTraffic.completed`` of the rank
            that sends, and of the one that receives.
    """

    step: int
    src: int
    dst: int
    n_bytes: int
    after: tuple[int, int]


@dataclass(frozen=True)
class LinkTraffic:
    """What a program sends over the links between its ranks.

    Attributes:
        world: How many ranks there are.
        messages: All messages, by their step.
        completed: For each rank the positions of its messages in ``messages``, in the order in which they end there.
    """

    world: int
    messages: tuple[SentMessage, ...] = ()
    completed: tuple[tuple[int, ...], ...] = ()

    def __str__(self) -> str:
        return (
            f"messages {len(self.messages)}, steps {self.steps}, busiest link {self.busiest_link_bytes} bytes, "
            f"busiest rank {self.busiest_rank_bytes} bytes"
        )

    @property
    def steps(self) -> int:
        """Messages in the longest chain, in which each waits for the one before it."""
        return max((message.step for message in self.messages), default=0)

    @property
    def link_bytes(self) -> dict[tuple[int, int], int]:
        """Bytes on each directed link that is used: from a rank to another."""
        links: Counter[tuple[int, int]] = Counter()
        for message in self.messages:
            links[message.src, message.dst] += message.n_bytes
        return dict(links)

    @property
    def link_messages(self) -> dict[tuple[int, int], int]:
        """Messages on each directed link that is used."""
        return dict(Counter((message.src, message.dst) for message in self.messages))

    @property
    def busiest_link_bytes(self) -> int:
        """The most bytes on one directed link."""
        return max(self.link_bytes.values(), default=0)

    @property
    def sent_bytes(self) -> list[int]:
        """What each rank sends."""
        return [sum(m.n_bytes for m in self.messages if m.src == rank) for rank in range(self.world)]

    @property
    def received_bytes(self) -> list[int]:
        """What each rank receives."""
        return [sum(m.n_bytes for m in self.messages if m.dst == rank) for rank in range(self.world)]

    @property
    def busiest_rank_bytes(self) -> int:
        """The most bytes that one rank sends, or receives."""
        return max(*self.sent_bytes, *self.received_bytes)


def settle(programs: Sequence[Sequence[RankOperation]]) -> LinkTraffic:
    """Go through what all ranks did, and count.

    The operations of a rank that could not go on end where it waits. WorldError if ranks wait for each other for ever,
    a message has one end alone or is not waited for, or not all ranks make the same groups.
    """
    meeting = _Meeting(programs)
    while any([meeting.advance(rank) for rank in range(len(programs))]):
        pass
    waiting = {rank: peer for rank in range(len(programs)) if (peer := meeting.waits_for(rank)) is not None}
    if waiting:
        raise _standstill(programs, meeting, waiting)
    for rank, program in enumerate(programs):
        waits = {operation.awaited for operation in program}
        for position, operation in enumerate(program):
            if operation.name in ("isend", "irecv") and position not in waits:
                words = "to" if operation.sends else "from"
                message = f"rank {rank} calls {operation.name} {words} rank {operation.peer} and never wait() on it"
                raise WorldError("no-wait", message)
    _compare_groups(programs)
    return meeting.traffic()


def _bytes_of(array: np.ndarray) -> int:
    """What a message carries: an empty array says something, too, by being sent."""
    return max(1, array.nbytes)


def _compare_groups(programs: Sequence[Sequence[RankOperation]]) -> None:
    """Refuse groups that not all ranks make in the same order: torch.distributed waits for all of them there."""
    groups_by_rank = [
        [each.array.tolist() for each in program if each.name == "group" and each.array is not None]
        for program in programs
    ]
    for rank, groups in enumerate(groups_by_rank):
        for call_number, (first, other) in enumerate(zip_longest(groups_by_rank[0], groups), 1):
            if first != other:
                raise WorldError(
                    "groups",
                    f"rank 0 and rank {rank} differ in their call {call_number} of new_group: {_called_with(first)} on "
                    f"rank 0, {_called_with(other)} on rank {rank}; all ranks call it for every group, in one order",
                )


def _called_with(group: list[int] | None) -> str:
    return "no such call" if group is None else str(group)


@dataclass
class _Posted:
    """One end of a message, as its rank comes to it."""

    operation: RankOperation
    clock: int
    moment: int


@dataclass
class _Channel:
    """Both ends of the messages from a rank to another, in their order; the steps of those that have met."""

    sends: list[_Posted] = field(default_factory=list)
    receives: list[_Posted] = field(default_factory=list)
    meetings: list[int] = field(default_factory=list)


class _Meeting:
    """Ranks that go through their operations, and wait for each other."""

    def __init__(self, programs: Sequence[Sequence[RankOperation]]) -> None:
        self.programs = programs
        self.at = [0] * len(programs)
        self._clocks = [0] * len(programs)
        self._completed: list[list[int]] = [[] for _ in programs]
        self._channels: dict[tuple[int, int], _Channel] = defaultdict(_Channel)
        self._ends: dict[tuple[int, int], tuple[tuple[int, int], int]] = {}
        self._messages: list[SentMessage] = []

    def advance(self, rank: int) -> bool:
        """Let a rank go on as far as it can; says whether it did."""
        program, begin = self.programs[rank], self.at[rank]
        moved = False
        while self.at[rank] < len(program):
            position = self.at[rank]
            operation = program[position]
            if (operation.sends or operation.receives) and (rank, position) not in self._ends:
                self._post(rank, position, operation)
                moved = True
            if operation.name in ("send", "recv", "wait"):
                message = self._message_of(rank, position if operation.name != "wait" else operation.awaited)
                if message is None:
                    break
                self._completed[rank].append(message)
                self._clocks[rank] = max(self._clocks[rank], self._messages[message].step)
            self.at[rank] += 1
        return moved or self.at[rank] > begin

    def waits_for(self, rank: int) -> int | None:
        """The rank that a rank waits for; None where it has come to its end."""
        operation = self.waits_at(rank)
        return None if operation is None else operation.peer

    def waits_at(self, rank: int) -> RankOperation | None:
        """The operation that a rank waits at; for a ``wait`` the message that it is for."""
        program = self.programs[rank]
        if self.at[rank] == len(program):
            return None
        operation = program[self.at[rank]]
        return program[operation.awaited] if operation.name == "wait" else operation

    def traffic(self) -> LinkTraffic:
        """All messages, by their step."""
        order = sorted(range(len(self._messages)), key=lambda message: self._messages[message].step)
        position = {message: at for at, message in enumerate(order)}
        completed = tuple(tuple(position[message] for message in messages) for messages in self._completed)
        return LinkTraffic(len(self.programs), tuple(self._messages[message] for message in order), completed)

    def _post(self, rank: int, position: int, operation: RankOperation) -> None:
        link = (rank, operation.peer) if operation.sends else (operation.peer, rank)
        channel = self._channels[link]
        ends = channel.sends if operation.sends else channel.receives
        self._ends[rank, position] = link, len(ends)
        ends.append(_Posted(operation, self._clocks[rank], len(self._completed[rank])))
        meeting_index = len(channel.meetings)
        if meeting_index < min(len(channel.sends), len(channel.receives)):
            self._meet(link, channel.sends[meeting_index], channel.receives[meeting_index], channel)

    def _meet(self, link: tuple[int, int], sent: _Posted, received: _Posted, channel: _Channel) -> None:
        a, b = sent.operation, received.operation
        src, dst = link
        if not a.meets(b):
            raise WorldError(
                "mismatch",
                f"rank {src} sends in {a.call} to rank {dst}, which receives it in {b.call}: messages of two ranks "
                "arrive in the order in which they are sent, so make the same calls in the same order on all ranks, "
                "and wait() for messages before a collective",
            )
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            raise WorldError(
                "mismatch",
                f"{_where(a)}rank {src} sends {a.dtype} of shape {a.shape} to rank {dst}, which receives {b.dtype} of "
                f"shape {b.shape}{': the arrays that they call it with do not fit' if a.collective else ''}",
            )
        # Messages of one link go one after the other.
        before = self._messages[channel.meetings[-1]].step if channel.meetings else 0
        step = 1 + max(sent.clock, received.clock, before)
        n_bytes = 0 if a.array is None else _bytes_of(a.array)
        channel.meetings.append(len(self._messages))
        self._messages.append(SentMessage(step, *link, n_bytes, (sent.moment, received.moment)))

    def _message_of(self, rank: int, position: int) -> int | None:
        """The message that an operation is an end of, once it has met the other end."""
        link, meeting_index = self._ends[rank, position]
        meetings = self._channels[link].meetings
        return meetings[meeting_index] if meeting_index < len(meetings) else None


def _standstill(
    programs: Sequence[Sequence[RankOperation]], meeting: _Meeting, waiting: dict[int, int]
) -> WorldError:  # fmt: skip
    """Why ranks wait, in words: a circle if there is one, else a rank that has come to its end."""
    for first in sorted(waiting):
        chain = [first]
        while chain[-1] in waiting and waiting[chain[-1]] not in chain:
            chain.append(waiting[chain[-1]])
        if chain[-1] in waiting:
            circle = chain[chain.index(waiting[chain[-1]]) :]
            (a, b), *pairs = zip(circle, [*circle[1:], circle[0]], strict=True)
            words = ", ".join([f"rank {a} waits for rank {b}", *(f"{a} for {b}" for a, b in pairs)])
            return WorldError("deadlock", f"ranks wait for each other for ever: {words}")
    rank = next(rank for rank, peer in sorted(waiting.items()) if peer not in waiting)
    operation = meeting.waits_at(rank)
    assert operation is not None
    alike = ": call it on all ranks that take part, and alike" if operation.collective else ""
    begin = f"{_where(operation)}rank {rank}"
    if operation.sends:
        return WorldError("unread", f"{begin} sends to rank {operation.peer}, which ends without receiving it{alike}")
    return WorldError("unsent", f"{begin} receives from rank {operation.peer}, which ends without sending it{alike}")


def _where(operation: RankOperation) -> str:
    """The collective that a message belongs to, as the beginning of a sentence."""
    return f"in {operation.collective}, " if operation.collective else ""
