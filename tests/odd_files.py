"""Files that somebody damaged or made on purpose, for the tests of all readers: each field with each kind of value."""

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

LEFT_OUT = "(left out)"
ODD: tuple[Any, ...] = (
    None, [], {}, "x", 0, -1, 1.5, float("inf"), float("nan"), True, 2**70, 10**39, [[]], {"a": None}, ["x"], [1, 2],
)  # fmt: skip
TEXTS = (
    b"", b"{", b"[]", b"null", b'"x"', b"NaN", b"9" * 5000, b"\xff", bytes(64),
    b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000 + b"1" + b"}" * 100_000, b'{"a": 1, "a": 2}',
)  # fmt: skip


def odd_fields(content: Any, depth: int = 3) -> Iterator[tuple[str, Any]]:
    """Give copies of a JSON value in which a single entry is left out or has an odd value, and the entry's path."""
    for path in _paths(content, (), depth):
        for odd in (*ODD, LEFT_OUT):
            changed = copy.deepcopy(content)
            parent = changed
            for key in path[:-1]:
                parent = parent[key]
            if odd is LEFT_OUT:
                del parent[path[-1]]
            else:
                parent[path[-1]] = odd
            yield f"{'.'.join(map(str, path))} = {str(odd)[:20]}", changed


def refusal(read: Callable[[], object], name: Path, what: str) -> str:
    """Call a reader: what it says if it refuses, in one line that has the name; nothing if it does not.

    Any other exception fails the test, as it would end a command in a traceback.
    """
    try:
        read()
    except (ValueError, FileNotFoundError) as error:
        text = str(error)
        if str(name) not in text or "\n" in text or len(text) > 2000:
            pytest.fail(f"{what}: {text[:300]!r}")
        return text
    except Exception as error:
        pytest.fail(f"{what}: {type(error).__name__}: {str(error)[:200]}")
    return ""


def _paths(content: Any, above: tuple[Any, ...], depth: int) -> Iterator[tuple[Any, ...]]:
    if depth == 0:
        return
    entries = (
        content.items() if isinstance(content, dict) else enumerate(content[:1] if isinstance(content, list) else ())
    )
    for key, value in list(entries):
        yield (*above, key)
        yield from _paths(value, (*above, key), depth - 1)
