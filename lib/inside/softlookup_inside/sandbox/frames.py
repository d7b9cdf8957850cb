"""What travels between the judge and a submission: a JSON header and raw array bytes, with a limit on everything.

A frame is 16 bytes (a mark, the header's length, the body's length), the header, with dtype and shape of each array,
and the body. Nothing is unpickled; a frame that is not as it should be raises FrameError, and nothing else does.
"""

import json
import math
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

MARK = b"SLK1"
_HEAD = struct.Struct(">4sIQ")
HEADER_BYTES = 4_000_000
BODY_BYTES = 64_000_000
MAX_AXES = 16
MAX_ARRAYS = 1000
MAX_DEPTH = 8
DTYPES = frozenset(f"{order}{code}" for order in "<|" for code in ("b1", "i1", "u1")) | frozenset(
    f"<{letter}{size}" for letter, sizes in (("i", (2, 4, 8)), ("u", (2, 4, 8)), ("f", (2, 4, 8))) for size in sizes
)
"""Booleans, integers and floats, little-endian, as numpy writes them."""


class FrameError(ValueError):
    """A frame is not what it should be; the message says how."""


class ConnectionClosed(FrameError):
    """The other side is gone."""


class TooLate(FrameError):
    """The other side did not answer in time."""


@dataclass(frozen=True)
class HeaderPart:
    """A part of a header with the arrays in it, written once for many frames."""

    text: str  # the part, as the inside of a JSON object
    array_header: str  # what a header says of the arrays, as JSON
    body: bytes  # the arrays' bytes


def part(header: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> HeaderPart:
    """Write a part of a header, with at least one key, for many frames; FrameError if something in it cannot travel."""
    array_header, body = _laid_out(arrays)
    return HeaderPart(_json(header)[1:-1], _json(array_header), body)


def pack(header: Mapping[str, Any], arrays: Sequence[np.ndarray] | HeaderPart = ()) -> bytes:
    """Make a frame of a header ("arrays" is ours) and arrays, or another part; FrameError if it cannot travel."""
    if isinstance(arrays, HeaderPart):
        inside = [text for text in (_json(header)[1:-1], arrays.text, f'"arrays": {arrays.array_header}') if text]
        text, body = f"{{{', '.join(inside)}}}", arrays.body
    else:
        array_header, body = _laid_out(arrays)
        text = _json({**header, "arrays": array_header})
    head = text.encode("utf-8", "replace")
    if len(head) > HEADER_BYTES or len(body) > BODY_BYTES:
        raise FrameError(f"the frame is too large: {len(head):,} bytes of header, {len(body):,} of arrays")
    return _HEAD.pack(MARK, len(head), len(body)) + head + body


def _laid_out(arrays: Sequence[np.ndarray]) -> tuple[list[Any], bytes]:
    """What a header says of arrays, and their bytes, one array after the other."""
    array_header: list[Any] = []
    bodies = []
    for array in arrays:
        plain = np.ascontiguousarray(array).reshape(np.shape(array))
        plain = plain.astype(_written(plain.dtype), copy=False)
        array_header.append([plain.dtype.str, list(plain.shape)])
        bodies.append(plain.tobytes())
    return array_header, b"".join(bodies)


def _json(value: Any) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise FrameError(f"the header is not plain: {error}") from None


def weight(arrays: Sequence[np.ndarray]) -> int:
    """How many bytes arrays have in a frame; FrameError if one of them cannot travel."""
    return sum(array.size * _written(array.dtype).itemsize for array in arrays)


def _written(dtype: np.dtype) -> np.dtype:
    """How a dtype is written in a frame."""
    little = dtype.newbyteorder("<")
    if little.str not in DTYPES:
        raise FrameError(f"an array of {little} cannot travel; booleans, integers and floats can")
    return little


def sizes(head: bytes, body_bytes: int = BODY_BYTES) -> tuple[int, int]:
    """Read the first 16 bytes, how many header and body have; FrameError if they are no frame's, or say too much."""
    if len(head) != _HEAD.size:
        raise FrameError(f"a frame begins with {_HEAD.size} bytes, got {len(head)}")
    mark, n_header, n_body = _HEAD.unpack(head)
    if mark != MARK:
        raise FrameError("these bytes are no frame")
    if n_header > HEADER_BYTES or n_body > body_bytes:
        raise FrameError(f"a frame of {n_header:,} bytes of header and {n_body:,} of arrays is too large")
    return n_header, n_body


def unpack(header: bytes, body: bytes) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Take a frame apart: the header without "arrays", and the arrays, copied; FrameError if anything is wrong."""
    try:
        fields = json.loads(header.decode("utf-8"))
    except (ValueError, RecursionError):
        raise FrameError("the header is not JSON") from None
    if not isinstance(fields, dict):
        raise FrameError(f"the header is a {type(fields).__name__}; wanted an object")
    array_entries = fields.pop("arrays", None)
    if not isinstance(array_entries, list) or len(array_entries) > MAX_ARRAYS:
        raise FrameError(f"the header lists no arrays, or more than {MAX_ARRAYS}")
    arrays, start = [], 0
    for entry in array_entries:
        dtype, shape = _kind(entry)
        count = math.prod(shape)
        end = start + count * dtype.itemsize
        if end > len(body):
            raise FrameError(f"an array of shape {shape} needs more bytes than came")
        flat = np.frombuffer(body, dtype, count, start) if count else np.empty(0, dtype)
        try:
            arrays.append(flat.reshape(shape).copy())
        except ValueError:  # an empty array with a side that is too long even so
            raise FrameError(f"no array has the shape {shape}") from None
        start = end
    if start != len(body):
        raise FrameError(f"{len(body) - start:,} bytes belong to no array")
    return fields, arrays


def _kind(entry: Any) -> tuple[np.dtype, tuple[int, ...]]:
    if not isinstance(entry, list) or len(entry) != 2:
        raise FrameError("an array is described by its dtype and its shape")
    dtype, shape = entry
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise FrameError("an array has a dtype that is none of booleans, integers and floats")
    if not isinstance(shape, list) or len(shape) > MAX_AXES:
        raise FrameError(f"an array has no shape, or more than {MAX_AXES} axes")
    if not all(type(side) is int and 0 <= side <= BODY_BYTES for side in shape):
        raise FrameError("an array has a side that is no size")
    if math.prod(side for side in shape if side) > BODY_BYTES:
        raise FrameError("an array has more cells than may be")
    return np.dtype(dtype), tuple(shape)


def plain(value: Any, arrays: list[np.ndarray], depth: int = 0) -> Any:
    """Write None, booleans, numbers, text, arrays, lists, tuples and dicts for JSON; a number stands for each array."""
    if depth > MAX_DEPTH:
        raise FrameError(f"a value is nested more than {MAX_DEPTH} deep")
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.generic):
        return plain(value.item(), arrays, depth)
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, list | tuple):
        type_name = "list" if isinstance(value, list) else "tuple"
        return {type_name: [plain(item, arrays, depth + 1) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: plain(item, arrays, depth + 1) for key, item in value.items()}}
    if isinstance(value, dict) and all(map(_is_key, value)):
        return {"map": [[plain(key, arrays, depth + 1), plain(item, arrays, depth + 1)] for key, item in value.items()]}
    raise FrameError(f"a {type(value).__name__} cannot travel")


def value_of(encoded: Any, arrays: Sequence[np.ndarray], depth: int = 0) -> Any:
    """Read back what plain wrote; FrameError if it is not what plain writes."""
    if depth > MAX_DEPTH:
        raise FrameError(f"a value is nested more than {MAX_DEPTH} deep")
    if encoded is None or type(encoded) in (bool, int, float, str):
        return encoded
    if isinstance(encoded, dict) and len(encoded) == 1:
        ((type_name, inside),) = encoded.items()
        if type_name == "array" and type(inside) is int and 0 <= inside < len(arrays):
            return arrays[inside]
        if type_name in ("list", "tuple") and isinstance(inside, list):
            items = [value_of(item, arrays, depth + 1) for item in inside]
            return items if type_name == "list" else tuple(items)
        if type_name == "dict" and isinstance(inside, dict):
            return {key: value_of(item, arrays, depth + 1) for key, item in inside.items()}
        if type_name == "map" and isinstance(inside, list) and all(isinstance(e, list) and len(e) == 2 for e in inside):
            pairs = [(value_of(key, arrays, depth + 1), value_of(item, arrays, depth + 1)) for key, item in inside]
            if all(_is_key(key) for key, _ in pairs):
                return dict(pairs)
    raise FrameError("a value is not written as it should be")


def _is_key(value: Any) -> bool:
    """Whether a dictionary that travels may have this key: text, a whole number, or a tuple of these."""
    if isinstance(value, tuple):
        return len(value) <= MAX_DEPTH and all(type(part) in (int, str) for part in value)
    return type(value) in (int, str)


def extent(value: Any) -> int:
    """How many items and characters there are in a list, with all that is in it."""
    if isinstance(value, dict):
        value = list(value.items())
    inside = sum(map(extent, value)) if isinstance(value, list | tuple) else 0
    return inside + (len(value) if isinstance(value, str | list | tuple) else 0)


class Channel:
    """One end of the connection, a connected stream socket; arrays of one frame may have ``body_bytes``."""

    def __init__(self, link: socket.socket, body_bytes: int = BODY_BYTES) -> None:
        self.link, self.body_bytes = link, body_bytes

    def send(
        self, header: Mapping[str, Any], arrays: Sequence[np.ndarray] | HeaderPart = (), deadline: float | None = None
    ) -> None:
        """Send a frame by ``deadline`` (time.monotonic; None waits): ConnectionClosed, TooLate, or FrameError."""
        data = memoryview(pack(header, arrays))
        while data:
            self._wait_until(deadline)
            try:
                data = data[self.link.send(data) :]
            except TimeoutError:
                raise TooLate("nobody took the frame in time") from None
            except OSError:
                raise ConnectionClosed("the other side is gone") from None

    def receive(self, deadline: float | None = None) -> tuple[dict[str, Any], list[np.ndarray]]:
        """Wait for a frame until ``deadline`` (time.monotonic; None waits): ConnectionClosed, TooLate, FrameError."""
        n_header, n_body = sizes(self._exactly(_HEAD.size, deadline), self.body_bytes)
        return unpack(self._exactly(n_header, deadline), self._exactly(n_body, deadline))

    def _exactly(self, count: int, deadline: float | None) -> bytes:
        parts, missing = [], count
        while missing:
            self._wait_until(deadline)
            try:
                part = self.link.recv(min(missing, 1 << 20))
            except TimeoutError:
                raise TooLate("no answer came in time") from None
            except OSError:
                raise ConnectionClosed("the other side is gone") from None
            if not part:
                raise ConnectionClosed("the other side is gone")
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def _wait_until(self, deadline: float | None) -> None:
        if deadline is None:
            self.link.settimeout(None)
            return
        remaining_s = deadline - time.monotonic()
        if remaining_s <= 0:
            raise TooLate("no answer came in time")
        self.link.settimeout(remaining_s)
