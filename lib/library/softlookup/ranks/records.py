"""Reading what a rank did. A record may come from anywhere, and nothing of it is believed."""

from dataclasses import dataclass

import numpy as np

from softlookup_inside.ranks.names import EVERYTHING
from softlookup_inside.ranks.packing import (
    CARRYING,
    DTYPES,
    MOST_AXES,
    MOST_ROWS,
    MOST_WORDS,
    NAMES,
    WIDTH,
    Record,
    take,
)


class WorldError(Exception):
    """A parallel program that cannot go on, or whose messages do not meet; the message says where.

    Attributes:
        kind: "deadlock" (ranks wait for each other for ever), "unsent" (a receive that nobody sends), "unread" (a
            message that nobody receives), "mismatch" (another shape or dtype is received than sent, or in another
            call), "no-wait" (a message that is never waited for), "groups" (a group that not all ranks make),
            "not-deterministic" (a rank that does something else the second time) or "record" (no record of a rank).
    """

    def __init__(self, problem: str, message: str) -> None:
        super().__init__(message)
        self.kind = problem


@dataclass(frozen=True, eq=False)
class RankOperation:
    """One thing that a rank did.

    Attributes:
        name: One of ``packing.NAMES``.
        peer: The other rank; -1 where there is none.
        awaited: For "wait": the position of the message among the rank's operations; else -1.
        dtype: The dtype of the array that is sent, received or returned; None where there is none.
        shape: Its shape.
        array: The array, where it is sent or returned; of a group its ranks.
        group: For a message the group that it is for, counted by calls of ``new_group``; 0 for all ranks.
        collective: The name of the collective that sends or receives a message; empty for any other.
    """

    name: str
    peer: int = -1
    awaited: int = -1
    dtype: np.dtype | None = None
    shape: tuple[int, ...] = ()
    array: np.ndarray | None = None
    group: int = 0
    collective: str = ""

    @property
    def sends(self) -> bool:
        """Whether it sends a message."""
        return self.name in ("send", "isend")

    @property
    def receives(self) -> bool:
        """Whether it receives one."""
        return self.name in ("recv", "irecv")

    @property
    def call(self) -> str:
        """What its rank calls, in words; groups are counted by calls of ``new_group``."""
        return f"{self.collective or self.name}{f' for group {self.group}' if self.group else ''}"

    def meets(self, other: "RankOperation") -> bool:
        """Whether two ends of a message belong to calls that can be meant for each other."""
        return (self.group, self.collective) == (other.group, other.collective)


class RankProgram:
    """What one rank did, read as far as it has come.

    Attributes:
        operations: What it did, in its order.
        record: The record that it was read from.
    """

    def __init__(self, rank: int, world: int) -> None:
        self.rank, self.world = rank, world
        self.operations: list[RankOperation] = []
        self.record: Record = np.zeros((0, WIDTH), np.int64), np.zeros(0, np.int64)
        self._awaited: set[int] = set()

    def read(self, longer_record: Record) -> list[RankOperation]:
        """Read the record of a longer run of the same rank.

        The record is as ``inside.dist.record`` gives it, and may come from anywhere; gives what the rank did more.
        WorldError if it is no record of that rank, or does not begin as the one before it.
        """
        if not isinstance(longer_record, tuple) or len(longer_record) != 2:
            raise self._no_record()
        rows, words = map(np.asarray, longer_record)
        if rows.ndim != 2 or rows.shape[1] != WIDTH or len(rows) > MOST_ROWS or rows.dtype != np.int64:
            raise self._no_record()
        if words.ndim != 1 or words.dtype != np.int64 or len(words) > MOST_WORDS:
            raise self._no_record()
        begin, at = map(len, self.record)
        if not (np.array_equal(rows[:begin], self.record[0]) and np.array_equal(words[:at], self.record[1])):
            raise WorldError(
                "not-deterministic",
                f"rank {self.rank} does something else when it is run again with the same messages: "
                "it may use no chance and no clock, nothing that an earlier run has left, and no array of np.empty "
                "before it is filled",
            )
        for row in rows[begin:].tolist():
            at = self._add(row, words, at)
        if at != len(words):
            raise self._no_record()
        self.record = rows, words
        return self.operations[begin:]

    @property
    def has_ended(self) -> bool:
        """Whether it came to its end."""
        return bool(self.operations) and self.operations[-1].name == "end"

    @property
    def results(self) -> tuple[np.ndarray, ...]:
        """What it returned."""
        return tuple(each.array for each in self.operations if each.name == "result" and each.array is not None)

    def _add(self, row: list[int], words: np.ndarray, at: int) -> int:
        """Read a row; gives where the array of the next one begins."""
        name_index, peer, awaited, dtype, axes, *sizes, group, call = row
        last = self.operations[-1].name if self.operations else ""
        if not 0 <= name_index < len(NAMES) or last == "end":
            raise self._no_record()
        name = NAMES[name_index]
        has_array, has_peer = name not in ("wait", "end"), name not in ("wait", "result", "end", "group")
        is_good = (
            (0 <= peer < self.world and peer != self.rank if has_peer else peer == -1)
            and (self._can_wait(awaited) if name == "wait" else awaited == -1)
            and (0 <= dtype < len(DTYPES) and 0 <= axes <= MOST_AXES if has_array else dtype == axes == -1)
            and min(sizes) >= 0
            and not any(sizes[max(axes, 0) :])
            and group >= 0
            and 0 <= call < len(EVERYTHING)
            and (name in ("result", "end") or last != "result")
        )
        if not is_good:
            raise self._no_record()
        shape, array = tuple(sizes[: max(axes, 0)]), None
        if name in CARRYING:
            try:
                array, at = take(words, at, DTYPES[dtype], shape)
            except ValueError:
                raise self._no_record() from None
        if name == "wait":
            self._awaited.add(awaited)
        array_dtype, collective = DTYPES[dtype] if has_array else None, EVERYTHING[call] if call else ""
        self.operations.append(RankOperation(name, peer, awaited, array_dtype, shape, array, group, collective))
        return at

    def _can_wait(self, awaited: int) -> bool:
        """Whether there is a message to wait for, which has not been waited for."""
        if not 0 <= awaited < len(self.operations) or awaited in self._awaited:
            return False
        return self.operations[awaited].name in ("isend", "irecv")

    def _no_record(self) -> WorldError:
        return WorldError("record", f"what rank {self.rank} gives is no record of a rank")
