"""Files from anywhere: only regular ones are opened, up to a limit, and no JSON in them is too large or too deep.

All that the library reads of models, runs and tokenizers goes through here, and what is refused ends in one sentence.
"""

import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

MAX_BYTES = 8_000_000
MAX_ITEMS = 600_000
"""Lists, objects, commas and colons of a file, outside of text: each may take 80 bytes of memory and more."""
MAX_DEPTH = 64
_MAX_DIGITS = 40  # of a whole number: what is longer may not fit into a float

# A text that nobody closes reaches to the end: were it no match, the search would begin anew at every quote in it.
_TEXTS = re.compile(rb'"(?:[^"\\]+|\\.)*+"?', re.S)
_SURROGATES = re.compile(rb"\\u[dD][89a-fA-F]")


class _RefusedJsonError(ValueError):
    """What is wrong with JSON that Python would read; the message has no subject."""


def open_regular(path: str | Path) -> BinaryIO:
    """Open a regular file; FileNotFoundError if there is none, ValueError if it is another thing or cannot be read."""
    try:
        if stat.S_ISREG(os.stat(path).st_mode):
            return open(path, "rb")
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    raise ValueError(f"{path} is a folder, a pipe or a device; wanted a file")


def read_bytes(path: str | Path, *, max_bytes: int = MAX_BYTES) -> bytes:
    """Read a whole file that may be larger than memory; ValueError if it has more than ``max_bytes``."""
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size <= max_bytes and len(data := file.read(max_bytes + 1)) <= max_bytes:
            return data
    raise ValueError(f"{path} has more than {max_bytes:,} bytes, which is more than is read")


def decode_utf8(data: bytes, subject: object) -> str:
    """Decode text in UTF-8, without its byte order mark; the ValueError for anything else begins with ``subject``."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")) and _is_utf16(data):
            raise ValueError(f"{subject} is text in UTF-16: save it in UTF-8") from error
        raise ValueError(f"{subject} is not text in UTF-8: {error}") from error


def parse_json(data: bytes, subject: object, *, max_bytes: int = MAX_BYTES, max_items: int = MAX_ITEMS) -> Any:
    """Parse JSON in UTF-8 that may hold anything, NaN and infinity too; a ValueError begins with ``subject``.

    Refused are too many bytes or items (lists, objects, commas, colons), more than MAX_DEPTH levels, a name twice in an
    object, a whole number of more than 40 digits, and half of a character.
    """
    if len(data) > max_bytes:
        raise ValueError(f"{subject} has more than {max_bytes:,} bytes, which is more than is read")
    if count_items(data, max_items) > max_items:
        raise ValueError(f"{subject} holds more than {max_items:,} items, which is more than is read")
    text = decode_utf8(data, subject)
    try:
        content = json.loads(text, object_pairs_hook=_without_repetition, parse_int=_whole_number)
        if _is_too_deep(content):
            raise RecursionError
        if _SURROGATES.search(data):
            json.dumps(content, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise ValueError(f"{subject} is nested more than {MAX_DEPTH} levels deep, which is more than is read") from None
    except _RefusedJsonError as error:
        raise ValueError(f"{subject} {error}") from None
    except UnicodeEncodeError:
        raise ValueError(f"{subject} holds half of a character: an escape from \\ud800 to \\udfff alone") from None
    except ValueError as error:
        raise ValueError(f"{subject} is no JSON: {error}") from error
    return content


def read_json(path: str | Path) -> Any:
    """Read a JSON file, whoever wrote it; FileNotFoundError, or a ValueError that names the file."""
    return parse_json(read_bytes(path), path)


def read_json_object(path: str | Path) -> dict[str, Any]:
    """Read a JSON file that holds an object; errors as in read_json."""
    content = read_json(path)
    if not isinstance(content, dict):
        raise ValueError(f"{path} holds a {type(content).__name__}; wanted a JSON object")
    return content


def count_items(data: bytes, limit: int) -> int:
    """Count lists, objects, commas and colons of JSON without parsing it; a number above ``limit`` if they are more."""
    count = sum(data.count(sign) for sign in (b"[", b"{", b",", b":"))
    quotes = data.count(b'"')
    # An item has at most one text; and however many quotes stand escaped in texts, not all of them are looked through.
    if count <= limit or quotes - data.count(b'\\"') > 2 * limit + 2 or quotes > 4 * limit:
        return count
    bare = _TEXTS.sub(b"", data)
    return sum(bare.count(sign) for sign in (b"[", b"{", b",", b":"))


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Let the message of a ValueError name the file whose content is at fault."""
    try:
        yield
    except ValueError as error:
        if str(path) in str(error):
            raise
        raise ValueError(f"{path}: {error}") from error


def is_text_list(value: object) -> bool:
    """Whether a value of JSON is a list of texts."""
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def is_pair_list(value: object) -> bool:
    """Whether a value of JSON is a list of pairs of texts."""
    return isinstance(value, list) and all(is_text_list(pair) and len(pair) == 2 for pair in value)


def shortened(value: object, most: int = 60) -> str:
    """Write a value of a file into a message, on one line of at most ``most`` characters."""
    text = value if isinstance(value, str) and value.isprintable() else repr(value)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _is_utf16(data: bytes) -> bool:
    try:
        data.decode("utf-16")
    except UnicodeDecodeError:
        return False
    return True


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        name = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise _RefusedJsonError(f"has {shortened(name)} twice in one object")
    return entries


def _whole_number(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise _RefusedJsonError(f"holds a whole number of {len(digits):,} digits; at most {_MAX_DIGITS} are read")
    return int(digits)


def _is_too_deep(content: Any) -> bool:
    level = [content]
    for _ in range(MAX_DEPTH + 1):
        containers = [item for item in level if isinstance(item, dict | list)]
        if not containers:
            return False
        level = [value for item in containers for value in (item.values() if isinstance(item, dict) else item)]
    return True
