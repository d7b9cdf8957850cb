"""Reading GGUF, the file in which llama.cpp keeps a model: its description, its tokens and its packed weights.

The package `gguf` reads more kinds of tensors; it takes ten times as long to open SmolLM2's file, and brings other
packages with it. A test holds that both read the same numbers, bit for bit.
"""

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from softlookup_inside.untrusted_files import open_regular, shortened

BLOCK = 32
"""Numbers that share a scale."""

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_TEXT, _ARRAY = 8, 9
_MOST_VALUES, _MOST_TENSORS, _MOST_AXES, _LONGEST_NAME = 1_000_000, 50_000, 4, 200
# The simple values of a description by their number in the file, little-endian.
_SIMPLE = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


def _unpack_float32(data: np.ndarray) -> np.ndarray:
    return data.view("<f4").copy()


def _unpack_float16(data: np.ndarray) -> np.ndarray:
    return data.view("<f2").astype(np.float32)


def _unpack_q4_1(data: np.ndarray) -> np.ndarray:
    blocks = data.reshape(-1, 20)
    scale, least = blocks[:, :4].copy().view("<f2").astype(np.float32).T[..., None]
    pairs = blocks[:, 4:]
    numbers = np.empty((len(blocks), BLOCK), np.float32)
    numbers[:, :16], numbers[:, 16:] = pairs & 15, pairs >> 4  # the low halves of the bytes come first
    numbers *= scale
    numbers += least
    return numbers


def _unpack_q8_0(data: np.ndarray) -> np.ndarray:
    blocks = data.reshape(-1, 34)
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
    return blocks[:, 2:].view(np.int8).astype(np.float32) * scale


@dataclass(frozen=True)
class _Kind:
    """How a tensor's numbers are packed: so many in a block of so many bytes."""

    name: str
    numbers: int
    bytes: int
    unpack: Callable[[np.ndarray], np.ndarray]


_KINDS = {
    0: _Kind("F32", 1, 4, _unpack_float32),
    1: _Kind("F16", 1, 2, _unpack_float16),
    3: _Kind("Q4_1", BLOCK, 20, _unpack_q4_1),
    8: _Kind("Q8_0", BLOCK, 34, _unpack_q8_0),
}


@dataclass(frozen=True)
class PackedTensor:
    """A tensor as it stands in the file.

    Attributes:
        name: Its name in the file.
        shape: Its axes, rows first, as numpy has them (the file has them the other way round).
        packing: How its numbers are packed: F32, F16, Q4_1 or Q8_0.
        data: Its bytes.
    """

    name: str
    shape: tuple[int, ...]
    packing: str
    data: np.ndarray

    def numbers(self) -> Float[np.ndarray, "..."]:
        """Unpack the tensor to float32, in its shape.

        In Q4_1 a number is scale * (0 to 15) + least, and in Q8_0 scale * (-127 to 127); 32 neighbours of a row share
        scale and least, which are float16.

        Cost: 4 bytes for each number. Q4_1 has 5 bits for each in the file, Q8_0 has 8.5.
        """
        packing = next(known for known in _KINDS.values() if known.name == self.packing)
        return packing.unpack(self.data).reshape(self.shape)


@dataclass(frozen=True)
class GgufFile:
    """What a GGUF file holds.

    Attributes:
        description: Sizes, tokens, merges and what else is said of the model, by the file's own names.
        tensors: The packed tensors by name.
    """

    description: dict[str, Any]
    tensors: dict[str, PackedTensor]


class _Cursor:
    """Reads one value after another, of a file that may hold anything."""

    def __init__(self, data: np.ndarray) -> None:
        self.bytes, self.place, self.n_values = data.data, 0, 0

    def take(self, letters: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + letters, self.bytes, self.place)
        self.place += struct.calcsize("<" + letters)
        return values

    def scalar(self, letter: str) -> Any:
        return self.take(letter)[0]

    def expect(self, count: int, least_bytes: int, what: str) -> None:
        """Refuse more values than are read, or than the remaining bytes can hold, before any is read."""
        self.n_values += count
        if self.n_values > _MOST_VALUES:
            raise ValueError(f"it holds more than {_MOST_VALUES:,} values, which is more than is read")
        if count * least_bytes > len(self.bytes) - self.place:
            raise struct.error(f"{count} {what} run over the end")

    def text(self) -> str:
        length = self.scalar("Q")
        if length > len(self.bytes) - self.place:
            raise struct.error(f"a text of {length} bytes runs over the end")
        self.place += length
        return str(self.bytes[self.place - length : self.place], "utf-8")

    def name(self) -> str:
        text = self.text()
        if not text.isprintable() or not 0 < len(text) <= _LONGEST_NAME:
            raise ValueError(
                f"a name is {shortened(text)!r}; wanted 1 to {_LONGEST_NAME} characters that can be printed"
            )
        return text

    def value(self) -> Any:
        value_type = self.scalar("I")
        if value_type in _SIMPLE:
            return self.scalar(_SIMPLE[value_type])
        if value_type == _TEXT:
            return self.text()
        if value_type != _ARRAY:
            raise ValueError(f"a value is of kind {value_type}; known are 0 to 12")
        inner, count = self.take("IQ")
        if inner in _SIMPLE:
            self.expect(count, struct.calcsize(_SIMPLE[inner]), "values of a list")
            return list(self.take(f"{count}{_SIMPLE[inner]}"))
        if inner != _TEXT:
            raise ValueError(f"a list holds values of kind {inner}; lists of numbers and of texts are read")
        self.expect(count, 8, "texts of a list")
        return [self.text() for _ in range(count)]


def read_gguf(path: str | Path) -> GgufFile:
    """Open a GGUF file. Its tensors stay on the disk, and packed, until they are asked for their numbers.

    FileNotFoundError; ValueError, which names the file and what it has, if it is no GGUF file of version 2 or 3, is cut
    short, holds more than is read, or packs a tensor in a way that is not known here.
    """
    try:
        with open_regular(path) as file:
            data = np.memmap(file, np.uint8, "r").view(np.ndarray)
        return _parsed(data)
    except (struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged or cut short: {error}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _parsed(data: np.ndarray) -> GgufFile:
    cursor = _Cursor(data)
    magic, version, n_tensors, n_values = cursor.take("4sIQQ")
    if magic != _MAGIC or version not in _VERSIONS:
        raise ValueError(f"the file begins with {magic!r}, version {version}; wanted {_MAGIC!r}, version 2 or 3")
    if n_tensors > _MOST_TENSORS:
        raise ValueError(f"it holds {n_tensors:,} tensors; at most {_MOST_TENSORS:,} are read")
    cursor.expect(n_values, 13, "values")
    description: dict[str, Any] = {}
    for _ in range(n_values):
        name = cursor.name()
        if name in description:
            raise ValueError(f"{name} stands in it twice")
        description[name] = cursor.value()
    cursor.expect(n_tensors, 25, "tensors")
    headers = [_tensor_header(cursor) for _ in range(n_tensors)]
    step = description.get("general.alignment", 32)
    if type(step) is not int or step < 1 or step & (step - 1):
        raise ValueError(f"general.alignment is {shortened(step)}; wanted a power of 2")
    start = -(-cursor.place // step) * step
    tensors: dict[str, PackedTensor] = {}
    for name, shape, packing, offset in headers:
        if name in tensors:
            raise ValueError(f"the tensor {name} stands in it twice")
        size = math.prod(shape) // packing.numbers * packing.bytes
        packed = data[start + offset : start + offset + size]
        if len(packed) != size:
            raise ValueError(f"{name} of shape {shape} wants {size} bytes; the file holds {len(packed)} for it")
        tensors[name] = PackedTensor(name, shape, packing.name, packed)
    spans = sorted((offset, offset + tensors[name].data.nbytes, name) for name, _, _, offset in headers)
    for (_, end, name), (begin, _, other) in pairwise(spans):
        if begin < end:
            raise ValueError(f"the tensors {name} and {other} overlap")
    return GgufFile(description, tensors)


def _tensor_header(cursor: _Cursor) -> tuple[str, tuple[int, ...], _Kind, int]:
    """Read a tensor's name, shape and kind, and where it begins; the shape fits the kind."""
    name, n_axes = cursor.name(), cursor.scalar("I")
    if n_axes > _MOST_AXES:
        raise ValueError(f"{name} has {n_axes} axes; a tensor has at most {_MOST_AXES}")
    shape = cursor.take(f"{n_axes}Q")[::-1]
    type_code, offset = cursor.take("IQ")
    if type_code not in _KINDS:
        known = ", ".join(packing.name for packing in _KINDS.values())
        raise ValueError(f"{name} is packed as kind {type_code}; this library unpacks {known}")
    packing = _KINDS[type_code]
    if min(shape, default=1) < 1 or (shape[-1] if shape else 1) % packing.numbers:
        raise ValueError(
            f"{name} of shape {shape} wants axes of at least 1, and blocks of {packing.numbers} numbers in each row"
        )
    return name, shape, packing, offset
