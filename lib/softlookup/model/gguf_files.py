"""Reading GGUF, the file in which llama.cpp keeps a model: its description, its tokens and its packed weights.

The package `gguf` reads more kinds of tensors; it takes ten times as long to open SmolLM2's file, and brings other
packages with it. A test holds that both read the same numbers, bit for bit.
"""

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

BLOCK = 32
"""Numbers that share a scale."""

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_TEXT, _ARRAY = 8, 9
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
        kind: How its numbers are packed: F32, F16, Q4_1 or Q8_0.
        data: Its bytes.
    """

    name: str
    shape: tuple[int, ...]
    kind: str
    data: np.ndarray

    def numbers(self) -> Float[np.ndarray, "..."]:
        """Unpack the tensor.

        Returns:
            Its numbers in float32, an array of its shape. In Q4_1 a number is scale * (0 to 15) + least, and in Q8_0
            scale * (-127 to 127); 32 neighbours of a row share scale and least, which are float16.

        Cost: 4 bytes for each number. Q4_1 has 5 bits for each in the file, Q8_0 has 8.5.
        """
        kind = next(known for known in _KINDS.values() if known.name == self.kind)
        return kind.unpack(self.data).reshape(self.shape)


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
    """Reads one value after another."""

    def __init__(self, data: np.ndarray) -> None:
        self.bytes, self.place = data.data, 0

    def take(self, letters: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + letters, self.bytes, self.place)
        self.place += struct.calcsize("<" + letters)
        return values

    def scalar(self, letter: str) -> Any:
        return self.take(letter)[0]

    def text(self) -> str:
        length = self.scalar("Q")
        if length > len(self.bytes) - self.place:
            raise struct.error(f"a text of {length} bytes runs over the end")
        self.place += length
        return str(self.bytes[self.place - length : self.place], "utf-8")

    def value(self, kind: int) -> Any:
        if kind in _SIMPLE:
            return self.scalar(_SIMPLE[kind])
        if kind == _TEXT:
            return self.text()
        if kind != _ARRAY:
            raise ValueError(f"a value is of kind {kind}; known are 0 to 12")
        inner, count = self.take("IQ")
        if inner in _SIMPLE:
            return list(self.take(f"{count}{_SIMPLE[inner]}"))
        return [self.value(inner) for _ in range(count)]


def read_gguf(path: str | Path) -> GgufFile:
    """Open a GGUF file. Its tensors stay on the disk, and packed, until they are asked for their numbers.

    Returns:
        Its description and its packed tensors.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the file is no GGUF file of version 2 or 3, is cut short, or packs a tensor in a way that is not
            known here; the message names the file, and what it has.
    """
    try:
        return _parsed(np.memmap(path, np.uint8, "r"))
    except (struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged or cut short: {error}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _parsed(data: np.ndarray) -> GgufFile:
    cursor = _Cursor(data)
    magic, version, n_tensors, n_values = cursor.take("4sIQQ")
    if magic != _MAGIC or version not in _VERSIONS:
        raise ValueError(f"the file begins with {magic!r}, version {version}; wanted {_MAGIC!r}, version 2 or 3")
    description = {}
    for _ in range(n_values):
        name = cursor.text()
        description[name] = cursor.value(cursor.scalar("I"))
    places = []
    for _ in range(n_tensors):
        name, n_axes = cursor.text(), cursor.scalar("I")
        places.append((name, cursor.take(f"{n_axes}Q")[::-1], *cursor.take("IQ")))
    step = description.get("general.alignment", 32)
    start = math.ceil(cursor.place / step) * step
    tensors = {}
    for name, shape, number, place in places:
        if number not in _KINDS:
            known = ", ".join(kind.name for kind in _KINDS.values())
            raise ValueError(f"{name} is packed as kind {number}; this library unpacks {known}")
        kind = _KINDS[number]
        size = math.prod(shape) // kind.numbers * kind.bytes
        packed = data[start + place : start + place + size]
        if len(packed) != size or (shape and shape[-1] % kind.numbers):
            raise ValueError(f"{name} of shape {shape} wants {size} bytes; the file holds {len(packed)} for it")
        tensors[name] = PackedTensor(name, shape, kind.name, packed)
    return GgufFile(description, tensors)
