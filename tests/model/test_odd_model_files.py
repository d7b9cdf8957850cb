"""Files of models: GGUF is read as specified, and what is damaged or made on purpose is refused in one sentence."""

import json
import re
import struct
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from softlookup.model import Config, DecoderLM, load_writer
from softlookup.model.published.chat_folder import load_chat
from softlookup.model.published.gguf_files import read_gguf
from softlookup.model.published.lora import add_lora, load_adapter, merge_lora, save_adapter
from softlookup.model.whole import weights as files
from softlookup.model.whole.weights import CheckpointError, load_weights, read_tensors, save_weights
from softlookup.text.bpe import BytePairTokenizer
from tests.odd_files import TEXTS, odd_fields, refusal
from tests.post_training.tiny_folder import write_tiny_folder

# Small files packed by hand, number by number, and the library gguf where it is installed.


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


# Files that hold anything.


def header(n_tensors: int, n_values: int) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, n_tensors, n_values)


def tensor(name: str, *axes: int, kind: int = 0, place: int = 0) -> bytes:
    sizes = struct.pack(f"<I{len(axes)}Q", len(axes), *axes)
    return text(name) + sizes + struct.pack("<IQ", kind, place)


def listed(kind: int, count: int, data: bytes = b"") -> bytes:
    return gguf_bytes({"a": (9, struct.pack("<IQ", kind, count) + data)}, {})


def aligned(kind: int, data: bytes) -> bytes:
    return gguf_bytes({"general.alignment": (kind, data)}, TENSORS)


GGUF = {
    "alignment a text": (aligned(8, text("x")), "general.alignment is x; wanted a power of 2"),
    "alignment a list": (aligned(9, struct.pack("<IQI", 4, 1, 32)), "general.alignment is [32]"),
    "alignment infinite": (aligned(6, struct.pack("<f", float("inf"))), "general.alignment is inf"),
    "alignment 32.0": (aligned(6, struct.pack("<f", 32.0)), "general.alignment is 32.0"),
    "alignment 0": (aligned(4, struct.pack("<I", 0)), "general.alignment is 0"),
    "alignment -32": (aligned(5, struct.pack("<i", -32)), "general.alignment is -32"),
    "alignment true": (aligned(7, b"\1"), "general.alignment is True"),
    "alignment far away": (aligned(10, struct.pack("<Q", 2**63)), "wants 24 bytes; the file holds 0"),
    "list of lists": (listed(9, 1, struct.pack("<IQ", 4, 0)), "a list holds values of kind 9"),
    "lists within lists": (listed(9, 1, struct.pack("<IQ", 9, 1) * 100_000), "a list holds values of kind 9"),
    "empty lists": (listed(9, 500_000, struct.pack("<IQ", 4, 0) * 500_000), "a list holds values of kind 9"),
    "empty texts": (listed(8, 1_000_001, bytes(8_000_008)), "holds more than 1,000,000 values"),
    "many texts": (listed(8, 900_000), "900000 texts of a list run over the end"),
    "many numbers": (listed(4, 2**60), "holds more than 1,000,000 values"),
    "many values": (header(0, 2**60), "holds more than 1,000,000 values"),
    "too many values": (header(0, 900_000), "900000 values run over the end"),
    "many tensors": (header(2**60, 0), "tensors; at most 50,000 are read"),
    "a value twice": (header(0, 2) + (text("a") + struct.pack("<IB", 0, 0)) * 2, "a stands in it twice"),
    "a tensor twice": (header(2, 0) + tensor("w", 8) * 2 + bytes(200), "the tensor w stands in it twice"),
    "a name of two lines": (header(1, 0) + tensor("a\nb", 8) + bytes(99), "wanted 1 to 200 characters"),
    "no name": (header(1, 0) + tensor("", 8) + bytes(99), "wanted 1 to 200 characters"),
    "overlapping": (header(2, 0) + tensor("v", 8) + tensor("w", 8, place=16) + bytes(200), "v and w overlap"),
    "outside": (header(1, 0) + tensor("w", 8, place=2**63) + bytes(99), "the file holds 0 for it"),
    "five axes": (header(1, 0) + tensor("w", 1, 1, 1, 1, 1) + bytes(99), "w has 5 axes"),
    "axes without number": (header(1, 0) + text("w") + b"\xff" * 4 + bytes(99), "w has 4294967295 axes"),
    "an axis of 0": (header(1, 0) + tensor("w", 2**60, 0) + bytes(99), "wants axes of at least 1"),
    "no axes": (header(1, 0) + tensor("w", kind=8) + bytes(99), "blocks of 32 numbers"),
    "too large": (header(1, 0) + tensor("w", 2**62, 4) + bytes(99), "wants 73786976294838206464 bytes"),
}  # fmt: skip


@pytest.mark.parametrize("name", GGUF)
def test_gguf_of_any_content_is_refused_in_a_sentence(tmp_path, name):
    data, message = GGUF[name]
    path = tmp_path / "x.gguf"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read_gguf(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_gguf_cut_anywhere_or_with_a_changed_byte_is_read_or_refused(tmp_path):
    path, whole = tmp_path / "x.gguf", gguf_bytes(VALUES, TENSORS)

    def read() -> None:
        for packed in read_gguf(path).tensors.values():
            packed.numbers()

    for size in range(0, len(whole), 3):
        path.write_bytes(whole[:size])
        assert refusal(read, path, f"{size} bytes") or size > len(whole) - 32  # then padding alone is missing
    for place in range(0, 400, 3):
        for byte in (0, 255):
            path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
            refusal(read, path, f"byte {place} is {byte}")


def test_gguf_is_no_folder(tmp_path):
    with pytest.raises(ValueError, match="is a folder, a pipe or a device"):
        read_gguf(tmp_path)


def safetensors(content: object, body: bytes = b"") -> bytes:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return struct.pack("<Q", len(data)) + data + body


def test_weights_with_any_header_are_read_or_refused(tmp_path):
    path = tmp_path / "w.safetensors"
    entry = {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
    contents = [safetensors(changed, bytes(8)) for _, changed in odd_fields(entry)]
    contents += [safetensors(data, bytes(8)) for data in TEXTS]
    contents += [struct.pack("<Q", size) + b"{}" for size in (0, 1, 2**20, 2**40, 2**60, 2**64 - 1)]
    contents += [safetensors({name: entry["a"]}, bytes(8)) for name in ("", "a\nb", "x" * 501)]
    whole = safetensors(entry, bytes(8))
    contents += [whole[:size] for size in range(len(whole))]
    for data in contents:
        path.write_bytes(data)
        refusal(lambda: read_tensors(path), path, repr(data[:80]))
    path.write_bytes(whole)
    assert read_tensors(path)[0]["a"].tolist() == [0, 0]


@pytest.mark.parametrize("data", [*TEXTS, b"{}", b'{"notes": []}', b'{"notes": {"a": 1}}'])
def test_a_header_of_ours_with_any_content_and_the_right_digest_is_read_or_refused(tmp_path, data):
    path, content, tensors = tmp_path / "w.safetensors", data.decode("latin-1"), {"weight": torch.zeros(1, 1)}
    save_file(tensors, path, metadata={"softlookup": content, "sha256": files._digest(tensors, content)})
    read = lambda: load_weights(nn.Linear(1, 1, bias=False), path)  # noqa: E731
    assert bool(refusal(read, path, content[:40])) == (data not in (b"{}", b'{"notes": {"a": 1}}'))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write_tiny_folder(tmp_path_factory.mktemp("tiny"))


@pytest.mark.parametrize("name", ["config.json", pytest.param("tokenizer.json", marks=pytest.mark.slow)])
def test_a_chat_model_whose_files_hold_anything_is_loaded_or_refused(folder, name):
    path = folder / name
    whole = path.read_bytes()
    content = json.loads(whole)
    if name == "tokenizer.json":
        content["model"]["vocab"] = dict(list(content["model"]["vocab"].items())[:1])
        content["added_tokens"] = content["added_tokens"][:1]
    for data in [*TEXTS, *(json.dumps(changed).encode() for _, changed in odd_fields(content))]:
        path.write_bytes(data)
        refusal(lambda: load_chat(folder), folder, repr(data[:200]))
    path.write_bytes(b"\xef\xbb\xbf" + whole)
    assert load_chat(folder).model.config.n_layers == 2
    path.write_bytes(whole)


def test_an_adapter_whose_description_holds_anything_is_loaded_or_refused(folder, tmp_path):
    chat = load_chat(folder)
    add_lora(chat.model, 2, 4.0, ["w_q"])
    save_adapter(chat.model, tmp_path, base=str(folder))
    path = tmp_path / "adapter_config.json"
    whole, chat = json.loads(path.read_bytes()), load_chat(folder)
    for data in [*TEXTS, *(json.dumps(changed).encode() for _, changed in odd_fields(whole))]:
        path.write_bytes(data)
        if not refusal(lambda: load_adapter(chat.model, tmp_path), tmp_path, repr(data[:200])):
            merge_lora(chat.model)


@pytest.mark.slow
def test_a_writer_whose_configuration_holds_anything_is_loaded_or_refused(tmp_path):
    tokenizer = BytePairTokenizer.train(["aa bb aa"] * 5, vocab_size=8)
    tokenizer.save(tmp_path / "merges.txt")
    sizes = {"d_model": 8, "n_heads": 2, "n_layers": 1, "d_hidden": 8, "max_length": 8}
    config = Config(len(tokenizer), **sizes, positions="rotary")
    save_weights(DecoderLM(config), tmp_path / "model.safetensors")
    path = tmp_path / "config.json"
    content = asdict(config) | {"rotary_scaling": {"kind": "ntk", "factor": 2.0}}
    for data in [*TEXTS, *(json.dumps(changed).encode() for _, changed in odd_fields(content))]:
        path.write_bytes(data)
        refusal(lambda: load_writer(tmp_path), tmp_path, repr(data[:200]))
    for name in ("d_model", "d_hidden", "n_layers"):  # sizes for which no memory would do
        path.write_text(json.dumps(asdict(config) | {name: 10**9}))
        with pytest.raises(CheckpointError, match="does not fit this model"):
            load_writer(tmp_path)
    path.write_text(json.dumps(content))
    assert load_writer(tmp_path).model.config.rotary_scaling.factor == 2.0
