"""A rank's record, and its inbox: rows of whole numbers, and the bytes of the arrays that they speak of.

A row: the operation (its position in NAMES), the other rank, the row that a wait is for, the dtype (in DTYPES), the
number of axes, four sizes, a message's group, and its collective (in ``names.EVERYTHING``); -1 or 0 for what is not
there. Arrays lie one after the other in words of 8 bytes.
"""

import math
from collections.abc import Sequence

import numpy as np

Record = tuple[np.ndarray, np.ndarray]  # rows, int64 (rows, 11), and words, int64 (words,)

NAMES = ("send", "recv", "isend", "irecv", "wait", "result", "end", "group")
"""What a rank does. A record that was not cut short ends with its results and "end"."""

CARRYING = ("send", "isend", "result", "group")  # operations whose array is part of the record

DTYPES = tuple(
    np.dtype(name) for name in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
)
"""Dtypes of messages."""

MOST_AXES = 4  # axes that an array of a message may have

WIDTH = 7 + MOST_AXES  # columns of a row

MOST_ROWS = 4_000  # operations that one rank may do

MOST_WORDS = 100_000  # words of 8 bytes that the messages and results of one rank may take together

_WORD_BYTES = 8


def words_of(n_bytes: int) -> int:
    """How many words hold so many bytes."""
    return -(-n_bytes // _WORD_BYTES)


def row_of(
    name: str, peer: int, awaited: int, array: np.ndarray | None, purpose: tuple[int, int] = (0, 0)
) -> tuple[int, ...]:
    """A row; the array is what is sent, received into or returned, ``purpose`` a message's group and its collective."""
    if array is None:
        return (NAMES.index(name), peer, awaited, -1, -1, *(0,) * MOST_AXES, 0, 0)
    sizes = (*array.shape, *(0,) * (MOST_AXES - array.ndim))
    return (NAMES.index(name), peer, awaited, DTYPES.index(array.dtype), array.ndim, *sizes, *purpose)


def pack(rows: Sequence[tuple[int, ...]], arrays: Sequence[np.ndarray]) -> Record:
    """Lay out rows and the arrays that they carry."""
    padded = [_padded(array) for array in arrays]
    words = np.concatenate(padded) if padded else np.zeros(0, np.int64)
    return np.array(rows, np.int64).reshape(-1, WIDTH), words


def pack_inbox(inbox: dict[int, list[np.ndarray]]) -> Record:
    """Lay out the messages received, by sender, as bytes alone: nothing is to be learnt beside what is counted."""
    messages = [
        (source, np.frombuffer(array.tobytes(), np.uint8))
        for source, arrays in sorted(inbox.items())
        for array in arrays
    ]
    return pack([row_of("send", source, -1, array) for source, array in messages], [array for _, array in messages])


def has_end(rows: np.ndarray) -> bool:
    """Whether a rank came to its end; else it waits for a message."""
    return bool(len(rows)) and int(rows[-1, 0]) == NAMES.index("end")


def unpack_inbox(inbox: Record) -> dict[int, list[np.ndarray]]:
    """The messages of an inbox again, as arrays of bytes."""
    messages: dict[int, list[np.ndarray]] = {}
    at = 0
    for _, source, _, dtype, axes, *sizes in inbox[0].tolist():
        array, at = take(inbox[1], at, DTYPES[dtype], tuple(sizes[:axes]))
        messages.setdefault(source, []).append(array)
    return messages


def take(words: np.ndarray, at: int, dtype: np.dtype, shape: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """Read an array at word ``at``, and where the next one begins; ValueError if there are fewer words."""
    count = math.prod(shape)
    end = at + words_of(count * dtype.itemsize)
    if end > len(words):
        raise ValueError(f"an array of shape {shape} ends after the record")
    return array_of(words[at:end].tobytes()[: count * dtype.itemsize], dtype, shape), end


def array_of(data: bytes, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """The array that these bytes are."""
    # A byte that is neither 0 nor 1 is no boolean of numpy's.
    array = np.frombuffer(data, np.uint8) != 0 if dtype == np.bool_ else np.frombuffer(data, dtype).copy()
    return array.reshape(shape)


def _padded(array: np.ndarray) -> np.ndarray:
    data = array.tobytes()
    return np.frombuffer(data.ljust(words_of(len(data)) * _WORD_BYTES, b"\0"), np.int64)
