"""One rank, run from its beginning with the messages received so far, and once more when there are others."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from softlookup_inside.ranks.packing import (
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

_SIGNALING = {2: 0x7D00, 4: 0x7FA0_0000, 8: 0x7FF4_0000_0000_0000}
"""A signaling NaN, by the bytes of a float: all that is computed with it is another NaN, and so seen as a change."""


class RankError(Exception):
    """A rank does what no program may do; the message says what, and what to do."""


class NeedsMessage(BaseException):
    """A rank needs a message that is not there yet; not an Exception, so that no ``except Exception`` swallows it."""


class RankRecorder:
    """Takes down what one rank does, and hands it its messages, whose bytes the inbox has by sender, in order."""

    def __init__(self, rank: int, world: int, inbox: Mapping[int, Sequence[np.ndarray]]) -> None:
        self.rank = self.place = rank  # the place is the number in a collective, as a group has it
        self.world = world
        self.rows: list[tuple[int, ...]] = []  # what it did so far (see ``packing``)
        self.halted = False  # whether it needs a message that is not there: what it does after that does not count
        self.purpose = (0, 0)  # the group and the collective that the next messages are for (see ``packing``)
        self._groups = 0
        self._inbox = inbox
        self._arrays: list[np.ndarray] = []
        self._words = 0
        self._receives: dict[int, int] = {}
        self._hidden: list[tuple[str, PendingMessage]] = []

    def send(self, array: np.ndarray, dst: int) -> None:
        """Send an array; ends when the other rank receives it."""
        self._sends("send", array, dst)

    def isend(self, array: np.ndarray, dst: int) -> "PendingMessage":
        """Send an array, and go on; the array must stay as it is until ``wait``."""
        row = self._sends("isend", array, dst)
        unchanged = _unchanged("isend sends", [array])

        def end() -> None:
            self._wait(row)
            unchanged()

        return PendingMessage(end)

    def recv(self, array: np.ndarray, src: int) -> int:
        """Receive into an array, and say from which rank."""
        self._fill(*self._receives_from("recv", array, src))
        return src

    def irecv(self, array: np.ndarray, src: int) -> "PendingMessage":
        """Receive into an array, which is filled when ``wait`` ends."""
        row = len(self.rows)
        buffer, source, count = self._receives_from("irecv", array, src)
        _hide([buffer])
        unchanged = _unchanged("irecv fills", [buffer])

        def end() -> None:
            self._wait(row)
            unchanged()
            self._fill(buffer, source, count)

        return PendingMessage(end)

    def hide(self, name: str, outputs: Sequence[np.ndarray], inputs: Sequence[np.ndarray]) -> "PendingMessage":
        """Hide what a collective has filled until ``wait``; what it sends must stay as it is until then."""
        results = [output.copy() for output in outputs]
        _hide(outputs)
        looks = _unchanged(f"{name} fills", outputs), _unchanged(f"{name} sends", inputs)

        def end() -> None:
            for unchanged in looks:
                unchanged()
            for output, result in zip(outputs, results, strict=True):
                output[...] = result

        pending = PendingMessage(end)
        self._hidden.append((name, pending))
        return pending

    def new_group(self, ranks: Sequence[Any]) -> tuple[int, tuple[int, ...]]:
        """Take down that a group is made, and give its number from 1 and its ranks in their order."""
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
        self._groups += 1
        return self._groups, tuple(numbers)

    def returns(self, results: Sequence[np.ndarray]) -> None:
        """Take down the results, and the end."""
        if not self.halted:
            for name, pending in self._hidden:
                if not pending.is_over:
                    raise RankError(f"rank {self.rank} calls {name} with async_op=True and never wait() on it")
            for result in results:
                array = np.array(result, order="C")  # a result is no message: it may be a transposed view
                self.checked("a result", array)
                self._add("result", -1, -1, array)
            self._add("end", -1, -1, None)

    def record(self) -> Record:
        """All that was taken down."""
        return pack(self.rows, self._arrays)

    def _wait(self, row: int) -> None:
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
        """The number of a rank that something names; RankError if there is no such rank."""
        rank_index = rank_number(name, rank)
        if not 0 <= rank_index < self.world:
            raise RankError(
                f"{name} names rank {rank_index}: in a world of {self.world} there are 0 to {self.world - 1}"
            )
        return rank_index

    def _peer(self, name: str, rank: Any) -> int:
        peer = self.position(name, rank)
        if peer == self.rank:
            raise RankError(f"rank {peer} calls {name} with itself: copy the array instead")
        return peer

    def checked(self, what: str, array: Any) -> None:
        """Look whether an array can be sent or filled; RankError if it cannot."""
        if not isinstance(array, np.ndarray):
            raise RankError(f"{what} must be an array, got {type(array).__name__}")
        if array.dtype not in DTYPES:
            raise RankError(f"{what} holds {array.dtype}: messages hold {', '.join(map(str, DTYPES))}")
        if array.ndim > MOST_AXES:
            raise RankError(f"{what} has {array.ndim} axes: at most {MOST_AXES} are possible, as in array.reshape(-1)")
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
        is_message = name in ("send", "recv", "isend", "irecv")
        self.rows.append(row_of(name, peer, awaited, array, self.purpose if is_message else (0, 0)))
        return len(self.rows) - 1


class PendingMessage:
    """A message on its way, as ``isend`` and ``irecv`` give it; ``end`` is done in ``wait``."""

    def __init__(self, end: Callable[[], None]) -> None:
        self._end = end
        self.is_over = self._is_polled = False

    def wait(self, timeout: Any = None) -> bool:
        """Wait until the message has arrived, however long ``timeout`` is: what never arrives is refused."""
        if not self.is_over:
            self._end()
            self.is_over = True
        return True

    def is_completed(self) -> bool:
        """Whether it has arrived: the first time not yet, then it is waited for, so that each run does the same."""
        if self._is_polled:
            self.wait()
        self._is_polled = True
        return self.is_over

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"what isend, irecv and async_op=True give has wait() and is_completed(), and no {name!r}")


def rank_number(name: str, rank: Any) -> int:
    """The whole number that ``name`` names as a rank; RankError if it is none."""
    try:
        return operator.index(rank)
    except TypeError:
        raise RankError(f"{name} needs the number of a rank, got {rank!r}") from None


def _hide(arrays: Sequence[np.ndarray]) -> None:
    """Make sure that what is read before the message is there does not look right."""
    for array in arrays:
        if array.dtype.kind == "f":
            array.view(f"u{array.dtype.itemsize}")[...] = _SIGNALING[array.dtype.itemsize]
        elif array.dtype.kind != "b":
            array.fill(np.iinfo(array.dtype).max)


def _unchanged(what: str, arrays: Sequence[np.ndarray]) -> Callable[[], None]:
    """What looks, in ``wait``, whether arrays on their way are as they were."""
    copies = [array.tobytes() for array in arrays]

    def check_unchanged() -> None:
        if [array.tobytes() for array in arrays] != copies:
            raise RankError(f"an array that {what} has changed before its wait(): work on a copy, or wait first")

    return check_unchanged
