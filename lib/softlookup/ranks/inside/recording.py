"""One rank, run from its beginning with the messages that it has received so far; what it does is taken down.

Where it needs a message that is not there yet, the run ends, and is repeated when there are more.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from softlookup.ranks.inside.packing import (
    CARRYING,
    DTYPES,
    MOST_AXES,
    MOST_ROWS,
    MOST_WORDS,
    Record,
    array_of,
    pack,
    row_of,
    words_of,
)


class RankError(Exception):
    """A rank does what no program may do; the message says what, and what to do."""


class NeedsMessage(BaseException):
    """A rank needs a message that is not there yet; not an Exception, so that no ``except Exception`` swallows it."""


class RankRecorder:
    """Takes down what one rank does, and hands it its messages.

    Args:
        rank: Its number.
        world: How many ranks there are.
        inbox: The bytes of the messages that it has received so far, by the rank that sent them, in their order.

    Attributes:
        rows: What it did so far (see ``packing``).
        halted: Whether it needs a message that is not there: nothing that it does after that counts.
    """

    def __init__(self, rank: int, world: int, inbox: Mapping[int, Sequence[np.ndarray]]) -> None:
        self.rank, self.world = rank, world
        self.rows: list[tuple[int, ...]] = []
        self.halted = False
        self._inbox = inbox
        self._arrays: list[np.ndarray] = []
        self._words = 0
        self._receives: dict[int, int] = {}

    def send(self, array: np.ndarray, dst: int) -> None:
        """Send an array; ends when the other rank receives it."""
        self._sends("send", array, dst)

    def isend(self, array: np.ndarray, dst: int) -> "PendingMessage":
        """Send an array, and go on; the array must stay as it is until ``wait``."""
        row = self._sends("isend", array, dst)
        copy = np.asarray(array).copy()

        def end() -> None:
            if array.tobytes() != copy.tobytes():
                raise RankError("an array that isend sends has changed before its wait(): send a copy, or wait first")

        return PendingMessage(self, row, end)

    def recv(self, array: np.ndarray, src: int) -> int:
        """Receive into an array, and say from which rank."""
        self._fill(*self._receives_from("recv", array, src))
        return src

    def irecv(self, array: np.ndarray, src: int) -> "PendingMessage":
        """Receive into an array, which is filled when ``wait`` ends."""
        row = len(self.rows)
        buffer, source, count = self._receives_from("irecv", array, src)
        if buffer.dtype.kind == "f":
            buffer.fill(np.nan)  # what is read before the message is there must not look right
        return PendingMessage(self, row, lambda: self._fill(buffer, source, count))

    def new_group(self, ranks: Sequence[Any]) -> tuple[int, ...]:
        """Take down that a group is made, and give its ranks in their order."""
        self._go_on()
        try:
            numbers = sorted(map(operator.index, ranks))
        except TypeError:
            raise RankError(f"new_group needs a list of ranks, got {ranks!r}") from None
        if not numbers or numbers[0] < 0 or numbers[-1] >= self.world or len(set(numbers)) < len(numbers):
            raise RankError(
                f"new_group needs different ranks, in a world of {self.world} out of 0 to {self.world - 1}; "
                f"got {ranks!r}"
            )
        self._add("group", -1, -1, np.array(numbers, np.int64))
        return tuple(numbers)

    def returns(self, results: Sequence[np.ndarray]) -> None:
        """Take down the results, and the end."""
        if not self.halted:
            for result in results:
                array = np.array(result, order="C")  # a result is no message: it may be a transposed view
                self.checked("a result", array)
                self._add("result", -1, -1, array)
            self._add("end", -1, -1, None)

    def record(self) -> Record:
        """All that was taken down."""
        return pack(self.rows, self._arrays)

    def wait(self, row: int) -> None:
        """Take down that a message is waited for."""
        self._go_on()
        self._add("wait", -1, row, None)

    def _sends(self, name: str, array: np.ndarray, dst: int) -> int:
        self._go_on()
        self.checked(f"what {name} sends", array)
        return self._add(name, self._peer(name, dst), -1, array)

    def _receives_from(self, name: str, array: np.ndarray, src: int) -> tuple[np.ndarray, int, int]:
        self._go_on()
        self.checked(f"what {name} fills", array)
        if not array.flags.writeable:
            raise RankError(f"{name} fills an array, and this one cannot be written: hand it np.empty(…)")
        source = self._peer(name, src)
        self._add(name, source, -1, array)
        count = self._receives.get(source, 0)
        self._receives[source] = count + 1
        return array, source, count

    def _fill(self, buffer: np.ndarray, source: int, count: int) -> None:
        messages = self._inbox.get(source, ())
        # A message that does not fit ends the run as well: whoever delivers it says so, and looks at the dtype, too.
        if count >= len(messages) or messages[count].nbytes != buffer.nbytes:
            self.halted = True
            raise NeedsMessage
        buffer[...] = array_of(messages[count].tobytes(), buffer.dtype, buffer.shape)

    def _go_on(self) -> None:
        if self.halted:
            raise NeedsMessage

    def position(self, name: str, rank: Any) -> int:
        """The number of a rank that something names.

        Raises:
            RankError: If there is no such rank.
        """
        try:
            number = operator.index(rank)
        except TypeError:
            raise RankError(f"{name} needs the number of a rank, got {rank!r}") from None
        if not 0 <= number < self.world:
            raise RankError(f"{name} names rank {number}: in a world of {self.world} there are 0 to {self.world - 1}")
        return number

    def _peer(self, name: str, rank: Any) -> int:
        peer = self.position(name, rank)
        if peer == self.rank:
            raise RankError(f"rank {peer} calls {name} with itself: copy the array instead")
        return peer

    def checked(self, what: str, array: Any) -> None:
        """Look whether an array can be sent or filled.

        Raises:
            RankError: If it cannot.
        """
        if not isinstance(array, np.ndarray):
            raise RankError(f"{what} must be an array, got {type(array).__name__}")
        if array.dtype not in DTYPES:
            raise RankError(f"{what} holds {array.dtype}: messages hold {', '.join(map(str, DTYPES))}")
        if array.ndim > MOST_AXES:
            raise RankError(f"{what} has {array.ndim} axes: at most {MOST_AXES} are possible")
        if not array.flags.c_contiguous:
            raise RankError(f"{what} is not in one piece in memory: take np.ascontiguousarray, and copy what arrives")

    def _add(self, name: str, peer: int, awaited: int, array: np.ndarray | None) -> int:
        if len(self.rows) == MOST_ROWS:
            raise RankError(f"a rank does more than {MOST_ROWS:,} operations with messages: send larger ones")
        if array is not None and name in CARRYING:
            self._words += words_of(array.nbytes)
            if self._words > MOST_WORDS:
                raise RankError(f"a rank sends and returns more than {MOST_WORDS * 8:,} bytes")
            self._arrays.append(array.copy())
        self.rows.append(row_of(name, peer, awaited, array))
        return len(self.rows) - 1


class PendingMessage:
    """A message on its way, as ``isend`` and ``irecv`` give it.

    Args:
        recorder: Takes down the wait.
        row: The row of the message.
        end: What is done when it has arrived.
    """

    def __init__(self, recorder: RankRecorder, row: int, end: Callable[[], None]) -> None:
        self._recorder, self._row, self._end = recorder, row, end
        self._is_over = False

    def wait(self) -> None:
        """Wait until the message has arrived."""
        if not self._is_over:
            self._recorder.wait(self._row)
            self._end()
            self._is_over = True
