"""Files from anywhere: what is opened, how much is read, and which JSON is refused, each time in one sentence."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from softlookup_inside.untrusted_files import (
    MAX_DEPTH,
    count_items,
    parse_json,
    read_bytes,
    read_json,
    read_json_object,
)

REFUSED = {
    "nothing": (b"", "is no JSON"),
    "cut": (b'{"a": [1,', "is no JSON"),
    "a page": (b"<!doctype html>", "is no JSON"),
    "zeros": (bytes(100), "is no JSON"),
    "lists": (b"[" * 100_000 + b"]" * 100_000, "nested more than 64"),
    "objects": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested more than 64"),
    "a list too deep": (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "nested more than 64"),
    "an object too deep": (b'{"a":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1), "nested more than 64"),
    "digits": (b'{"a": -' + b"9" * 5000 + b"}", "a whole number of 5,001 digits"),
    "too large for a float": (b"1" + b"0" * 400, "a whole number of 401 digits"),
    "a name twice": (b'{"a": {"b": 1, "c": 2, "b": 3}}', "has b twice"),
    "half a character": (b'{"a": ["\\ud83d"]}', "half of a character"),
    "Latin-1": ('{"ä": 1}'.encode("latin-1"), "is not text in UTF-8"),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), "is text in UTF-16"),
    "items": (b"[" + b"[]," * 400_000 + b"[]]", "holds more than 600,000 items"),
    "quotes": (b'["' * 2_000_000, "holds more than 600,000 items"),
    "bytes": (b" " * 8_000_001, "has more than 8,000,000 bytes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_json_that_cannot_be_used_is_refused_in_one_sentence_that_names_the_file(tmp_path, name):
    data, message = REFUSED[name]
    path = tmp_path / "x.json"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message) as caught:
        read_json(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "content",
    [
        {"a": [1, -2, 0.5, 1e300, None, True, "ä😀\u2028\0"], "b": {}},
        [[[]]] * 1000,
        2**64,
        10**39,
        json.loads("[" * MAX_DEPTH + "]" * MAX_DEPTH),
        "," * 1_000_000,  # signs within a text are no items
        [float("inf")],
    ],
)
def test_what_json_wrote_is_read_as_it_was_with_a_byte_order_mark_too(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8-sig")
    assert read_json(path) == content
    assert parse_json(json.dumps(content).encode(), "it") == content


def test_other_values_than_an_object_are_refused_where_one_is_wanted(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("[1]")
    with pytest.raises(ValueError, match=r"x.json holds a list; wanted a JSON object"):
        read_json_object(path)


def special_files(folder: Path) -> dict[str, Path]:
    """Name a folder, a pipe that nobody writes to, a device without end, a link to itself, and 10 GB of nothing."""
    names = ("folder", "pipe", "device", "loop", "sparse")
    paths = {name: folder / name for name in names}
    paths["folder"].mkdir()
    os.mkfifo(paths["pipe"])
    paths["device"].symlink_to("/dev/zero")
    paths["loop"].symlink_to(paths["loop"])
    with open(paths["sparse"], "wb") as file:
        file.truncate(10 * 2**30)
    return paths


def test_what_is_no_regular_file_or_too_large_is_refused_unread(tmp_path):
    messages = {
        **dict.fromkeys(("folder", "pipe", "device"), "is a folder, a pipe or a device"),
        "loop": "cannot be read: Too many levels",
        "sparse": "has more than 8,000,000 bytes",
    }
    for name, path in special_files(tmp_path).items():
        with pytest.raises(ValueError, match=messages[name]) as caught:
            read_bytes(path)
        assert str(path) in str(caught.value)
    with pytest.raises(FileNotFoundError, match="there is no file .*nowhere"):
        read_bytes(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="cannot be read"):
        read_bytes("a\0b")


def test_items_are_counted_outside_of_texts():
    assert count_items(b'{"a:,[{": [1, 2]}', 3) == 4
    assert count_items(b'["\\"[[[[", 1]', 2) == 2


_MEASURED = """
import resource, sys
from softlookup_inside.untrusted_files import parse_json
data = {data}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    parse_json(data, "it")
except ValueError:
    pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux alone")
@pytest.mark.parametrize(
    "data",
    [
        'b"[" * 8_000_000',
        'b"[" + b"[]," * 299_000 + b"[]]"',
        'b"[" + b"{\\"a\\":1}," * 140_000 + b"[]]"',
        '"\\"{}\\"".format("\\U0001f600" * 1_999_999).encode()',
        'b"[\\"" * 2_000_000',
        'b"1" * 7_999_999',
    ],
)
def test_json_of_any_kind_takes_less_than_100_mb(data):
    done = subprocess.run([sys.executable, "-c", _MEASURED.format(data=data)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 100_000
