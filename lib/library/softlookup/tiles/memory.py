"""Main memory while a record is run: which program has read and written which bytes, through whatever array."""

import math
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from softlookup_inside.tiles.halves import BFLOAT16, as_dtype
from softlookup_inside.tiles.values import is_float

NOBODY, SEVERAL = -1, -2


class Block:
    """Arrays that share memory, or one that shares it with none.

    ``end`` is the address behind the last byte; ``unit`` bytes are watched together.

    Attributes:
        reader: The program that has read each unit.
        writer: The program that has written it.
        store: Which store of the current program has last written it, since its threads waited for each other.
    """

    def __init__(self, start: int, end: int, unit: int) -> None:
        self.start, self.unit = start, unit
        count = (end - start) // unit
        self.reader = np.full(count, NOBODY, np.int32)
        self.writer = np.full(count, NOBODY, np.int32)
        self.store = np.full(count, NOBODY, np.int32)


class Memory:
    """An array in main memory, and which program has been where.

    ``others`` are the names of other arrays in the block.
    """

    def __init__(self, name: str, array: np.ndarray, block: Block, others: Sequence[str] = ()) -> None:
        self.name, self.flat, self.block, self.others = name, array.reshape(-1), block, others
        self._each = max(1, array.itemsize // block.unit)
        self._first = (_address(array) - block.start) // block.unit
        self._stamp = np.zeros(self.flat.size, np.int32)

    def once(self, offsets: np.ndarray) -> np.ndarray:
        """Each of some offsets once."""
        numbers = np.arange(offsets.size, dtype=np.int32)
        self._stamp[offsets] = numbers
        return offsets[self._stamp[offsets] == numbers]

    def units(self, offsets: np.ndarray) -> np.ndarray:
        """The units of its block at some offsets, those of each offset together."""
        if self._each == 1:
            return offsets + self._first if self._first else offsets
        return (self._first + offsets[:, None] * self._each + np.arange(self._each)).reshape(-1)

    def offset_of(self, offsets: np.ndarray, at: int) -> int:
        """The offset of the number that a unit of theirs belongs to."""
        return int(offsets[at // self._each])

    def pointers(self, offsets: np.ndarray) -> tuple[Any, ...]:
        """What is equal of two tiles of pointers to it if each of their numbers belongs to the same thread."""
        return _address(self.flat), self.flat.dtype, offsets.shape, zlib.crc32(offsets.tobytes())


def memory_of(names: Sequence[str], arrays: Sequence[Any]) -> tuple[dict[int, Memory], list[Block]]:
    """The arrays of a launch by their position, and their blocks; ValueError if an array is not in one piece."""
    known = [
        (at, name, array)
        for at, (name, array) in enumerate(zip(names, arrays, strict=True))
        if isinstance(array, np.ndarray)
    ]
    groups: list[list[tuple[int, str, np.ndarray]]] = []
    end = -1
    for at, name, array in sorted(known, key=lambda item: (item[2].size > 0, _address(item[2]))):
        if not array.flags.c_contiguous:
            raise ValueError(f"`{name}` is not in one piece in memory: copy it with np.ascontiguousarray")
        if _address(array) >= end or not array.size:
            groups.append([])
        groups[-1].append((at, name, array))
        end = max(end, _address(array) + array.nbytes) if array.size else end
    memory: dict[int, Memory] = {}
    blocks: list[Block] = []
    for group in groups:
        start = _address(group[0][2])
        sizes = [array.itemsize for *_, array in group] + [_address(array) - start for *_, array in group]
        block = Block(start, max(_address(array) + array.nbytes for *_, array in group), math.gcd(*sizes))
        blocks.append(block)
        for at, name, array in group:
            memory[at] = Memory(name, array, block, [other for position, other, _ in group if position != at])
    return memory, blocks


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def undefined(dtype: np.dtype) -> Any:
    """What stands where a mask leaves a place out and nothing is said of it: Triton promises nothing."""
    return np.nan if is_float(dtype) else True if dtype.kind == "b" else np.iinfo(dtype).max


def alike(written: np.ndarray, values: np.ndarray) -> bool:
    """Whether what lies in memory is what was stored; equal rows of a product may be rounded in different ways."""
    if not is_float(written.dtype) or np.array_equal(written, values):
        return np.array_equal(written, values)
    rounding = 2.0**-6 if written.dtype == BFLOAT16 else 64 * float(np.finfo(written.dtype).eps)
    if written.dtype == BFLOAT16:
        written, values = (as_dtype(array, np.dtype(np.float32)) for array in (written, values))
    size = float(np.max(np.abs(values), where=np.isfinite(values), initial=0))
    return np.allclose(written, values, rtol=rounding, atol=rounding * size, equal_nan=True)
