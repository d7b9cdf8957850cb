"""Reading GGUF: small files packed here by hand, number by number, and the library gguf where it is installed."""

import struct
from pathlib import Path

import numpy as np
import pytest

from softlookup.model.published.gguf_files import read_gguf

TYPES = {"F32": 0, "F16": 1, "Q4_1": 3, "Q8_0": 8, "Q2_K": 10}


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def gguf_bytes(values: dict[str, tuple[int, bytes]], tensors: dict[str, tuple[str, tuple[int, ...], bytes]]) -> bytes:
    """Write a file by the letter of its specification: values, then where tensors stand, then the tensors."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values))
    for name, (kind, data) in values.items():
        head += text(name) + struct.pack("<I", kind) + data
    body = b""
    for name, (kind, shape, data) in tensors.items():
        axes = struct.pack(f"<{len(shape)}Q", *shape[::-1])
        head += text(name) + struct.pack("<I", len(shape)) + axes + struct.pack("<IQ", TYPES[kind], len(body))
        body += data + bytes(-len(data) % 32)
    return head + bytes(-len(head) % 32) + body


def float16(*numbers: float) -> bytes:
    return np.array(numbers, "<f2").tobytes()


Q4_1 = float16(0.5, -3.0) + bytes(16 * high + low for low, high in zip(range(16), reversed(range(16)), strict=True))
Q8_0 = float16(0.25) + np.arange(-16, 16, dtype=np.int8).tobytes()
VALUES = {
    "a.number": (4, struct.pack("<I", 7)),
    "a.fraction": (6, struct.pack("<f", 0.25)),
    "a.word": (8, text("wörd")),
    "a.truth": (7, b"\x01"),
    "some.words": (9, struct.pack("<IQ", 8, 2) + text("a") + text("")),
    "some.numbers": (9, struct.pack("<IQ", 5, 3) + struct.pack("<3i", 1, -2, 3)),
}
TENSORS = {
    "f32": ("F32", (2, 3), np.arange(6, dtype="<f4").tobytes()),
    "f16": ("F16", (3,), float16(1, -2, 0.5)),
    "q4": ("Q4_1", (2, 32), Q4_1 + Q4_1),
    "q8": ("Q8_0", (1, 32), Q8_0),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "small.gguf"
    made.write_bytes(gguf_bytes(VALUES, TENSORS))
    return made


def test_values_and_tensors_are_read_as_the_specification_says(path):
    file = read_gguf(path)
    assert file.description == {
        "a.number": 7, "a.fraction": 0.25, "a.word": "wörd", "a.truth": True,
        "some.words": ["a", ""], "some.numbers": [1, -2, 3],
    }  # fmt: skip
    numbers = {name: tensor.numbers() for name, tensor in file.tensors.items()}
    assert all(array.dtype == np.float32 for array in numbers.values())
    np.testing.assert_array_equal(numbers["f32"], np.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(numbers["f16"], [1, -2, 0.5])
    # The low halves of the 16 bytes are the first 16 numbers, the high halves the rest.
    row = 0.5 * np.array([*range(16), *reversed(range(16))]) - 3
    np.testing.assert_array_equal(numbers["q4"], [row, row])
    np.testing.assert_array_equal(numbers["q8"], [0.25 * np.arange(-16, 16)])


def test_the_library_reads_the_same_bit_for_bit(path):
    gguf = pytest.importorskip("gguf", reason="the library gguf is not installed")
    file = read_gguf(path)
    reader = gguf.GGUFReader(path)
    assert {t.name for t in reader.tensors} == set(file.tensors)
    for tensor in reader.tensors:
        expected = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        np.testing.assert_array_equal(file.tensors[tensor.name].numbers(), expected.reshape(*tensor.shape[::-1]))
    for name, value in file.description.items():
        assert reader.fields[name].contents() == value


def test_other_files_are_refused_with_a_sentence(tmp_path, path):
    other = tmp_path / "other.gguf"
    with pytest.raises(FileNotFoundError):
        read_gguf(other)
    for data, message in (
        (b"", "empty"),
        (b"GGUF", "is damaged or cut short"),
        (b"PK\x03\x04" + bytes(40), "begins with b'PK"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1; wanted b'GGUF', version 2 or 3"),
        (path.read_bytes()[:-40], r"q8 of shape \(1, 32\) wants 34 bytes; the file holds"),
        (path.read_bytes()[:200], "is damaged or cut short"),
        (gguf_bytes({"x": (99, b"")}, {}), "a value is of kind 99"),
        (gguf_bytes({"x": (8, struct.pack("<Q", 2**60))}, {}), "runs over the end"),
        (gguf_bytes({}, {"w": ("Q2_K", (256,), bytes(84))}), "w is packed as kind 10; this library unpacks F32, F16"),
        (gguf_bytes({}, {"w": ("Q8_0", (2, 16), bytes(34))}), r"w of shape \(2, 16\) wants"),
    ):
        other.write_bytes(data)
        with pytest.raises(ValueError, match=message):
            read_gguf(other)
