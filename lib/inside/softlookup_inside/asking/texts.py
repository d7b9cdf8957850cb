"""Answers made of words, ids, lists and dictionaries: written as bytes, so that they travel and compare as arrays do.

Equal answers have the same bytes, of one JSON text: a tuple is a list, entries of a dictionary are sorted. The judge
reads nothing that ``to_bytes`` would have written otherwise, so a difference of bytes can always be named.
"""

import json
from collections.abc import Iterator, Sequence
from os.path import commonprefix
from typing import Any

import numpy as np

from softlookup_inside.asking.answers import NOTHING, Refused, cells, is_tensor, refuse_coroutine, refuse_missing
from softlookup_inside.asking.case import Arrays

MAX_DEPTH = 6
MAX_ITEMS = 20_000
MAX_CHARACTERS = 200_000
MAX_READ_KEYS = 2000  # keys of one dictionary that the judge reads: each may be made to be compared with all before it
MAX_SHOWN = 60  # characters of one item that a sentence shows

_ORDERLESS = "a set, which has no order: return a list"
_LAZY = "which gives its items one by one: put `list(…)` around it"


class _Room:
    """How much an answer may still hold."""

    def __init__(self) -> None:
        self.items, self.characters = MAX_ITEMS, MAX_CHARACTERS

    def take(self, items: int = 1, characters: int = 0) -> None:
        self.items -= items
        self.characters -= characters
        if self.items < 0 or self.characters < 0:
            raise Refused(f"more than {MAX_ITEMS:,} items or {MAX_CHARACTERS:,} characters")


def to_texts(result: Any, count: int) -> Arrays:
    """Take an answer of words and numbers as arrays of bytes, one for each result; Refused if it is anything else."""
    if count == 1:
        return (to_bytes(result),)
    if not isinstance(result, list | tuple) or len(result) != count:
        many = f"{len(result)} results" if isinstance(result, list | tuple) else f"one {type(result).__name__}"
        raise Refused(f"{many}, where {count} results are returned together")
    refuse_missing(result)
    return tuple(to_bytes(value) for value in result)


def to_bytes(value: Any) -> np.ndarray:
    """Write text, whole numbers, lists, tuples, dictionaries and arrays as bytes of JSON (uint8), or refuse them."""
    if value is None:
        raise Refused(NOTHING)
    refuse_coroutine(value)
    plain = _plain(value, _Room(), 0)
    text = json.dumps(plain, ensure_ascii=True, separators=(",", ":"))
    return np.frombuffer(text.encode("ascii"), np.uint8).copy()


def _plain(value: Any, room: _Room, depth: int) -> Any:
    """The value in what JSON has."""
    room.take()
    if depth > MAX_DEPTH:
        raise Refused(f"lists nested more than {MAX_DEPTH} deep")
    if isinstance(value, str):
        room.take(0, len(value))
        return str(value)
    if isinstance(value, bool | np.bool_ | int | np.integer):
        whole_number = int(value)
        if abs(whole_number) >= 2**63:
            raise Refused("a number of more than 18 digits")
        return whole_number
    if isinstance(value, float | np.floating):
        if not float(value).is_integer():
            raise Refused(f"the number {float(value):.6g}, where text and whole numbers are wanted")
        return _plain(int(value), room, depth)
    if isinstance(value, np.ndarray) or is_tensor(value):
        room.take(cells(value))
        return _plain(value.tolist(), room, depth)
    if isinstance(value, list | tuple):
        return [_plain(item, room, depth + 1) for item in value]
    if isinstance(value, dict):
        pairs = [[_plain(k, room, depth + 1), _plain(v, room, depth + 1)] for k, v in value.items()]
        return {"": sorted(pairs, key=lambda pair: json.dumps(pair[0]))}
    if value is None:
        raise Refused("a list or a dictionary that holds None")
    raise Refused(_strange(value))


def _strange(value: Any) -> str:
    if isinstance(value, set | frozenset):
        return _ORDERLESS
    if isinstance(value, Iterator):
        return f"a {type(value).__name__}, {_LAZY}"
    return f"something of type {type(value).__name__}, where text, whole numbers, lists and dictionaries are wanted"


def to_value(array: np.ndarray) -> Any:
    """Read bytes back, tuples as lists but for keys; ValueError for what to_bytes would not have written so."""
    if array.dtype != np.uint8 or array.ndim != 1 or array.size > 8 * (MAX_CHARACTERS + MAX_ITEMS):
        raise ValueError("these are no bytes of a text")
    written = array.tobytes()
    try:
        value = _value(json.loads(written.decode("ascii")), 0)
        again = to_bytes(value).tobytes()
    except (ValueError, RecursionError, TypeError, KeyError, Refused) as error:
        raise ValueError("these bytes are no text of ours") from error
    if again != written:
        raise ValueError("these bytes are a text that is not written as answers are")
    return value


def _value(plain: Any, depth: int) -> Any:
    if depth > MAX_DEPTH + 1:
        raise ValueError("too deep")
    if isinstance(plain, list):
        return [_value(item, depth + 1) for item in plain]
    if isinstance(plain, dict):
        if len(plain[""]) > MAX_READ_KEYS:
            raise ValueError("too many keys")
        return {_key(_value(k, depth + 1)): _value(v, depth + 1) for k, v in plain[""]}
    return plain


def _key(value: Any) -> Any:
    return tuple(_key(item) for item in value) if isinstance(value, list) else value


def brief(value: Any, most: int = MAX_SHOWN) -> str:
    """A value as Python writes it, cut where it is long; nothing in it that a page or a terminal would obey."""
    return _cut(repr(value), most)


def _cut(text: str, most: int) -> str:
    text = "".join(
        c if c.isprintable() and not "\ud800" <= c <= "\udfff" else "\N{REPLACEMENT CHARACTER}"
        for c in text[: most + 1]
    )
    return text if len(text) <= most else text[: most - 1] + "…"


def difference(got: np.ndarray, expected: np.ndarray, reveals: bool = True) -> str:
    """Say where two answers, as bytes, first differ, a sentence's end that shows the right one if it ``reveals``."""
    try:
        got_value, expected_value = to_value(got), to_value(expected)
    except ValueError:
        return "what came back cannot be read"
    return _compare(got_value, expected_value, "the result", reveals)


def _compare(got: Any, expected: Any, where: str, reveals: bool) -> str:
    plain = f", wanted is {brief(expected)}" if reveals else ", which is not right"
    if isinstance(got, list) and isinstance(expected, list):
        return _compare_lists(got, expected, where, reveals)
    if isinstance(got, dict) and isinstance(expected, dict):
        return _compare_dictionaries(got, expected, where, reveals)
    if type(got) is not type(expected):
        return f"{where} is {brief(got)} ({_kind(got)}){plain} ({_kind(expected)})"
    if not isinstance(got, str) or not reveals:  # where two texts begin to differ would tell
        return f"{where} is {brief(got)}{plain}"
    start, *both = _from_difference([got, expected], MAX_SHOWN)
    begins = f", from character {start} on," if start else ""
    return f"{where}{begins} is {both[0]}, wanted is {both[1]}{_lookalikes(got, expected)}"


def _from_difference(both: Sequence[str], most: int) -> tuple[Any, ...]:
    """Where to begin to show some texts, 0 where all fit or differ early, and each of them from there on."""
    start, at = 0, len(commonprefix([*both]))
    if max(len(repr(text)) for text in both) > most:
        start = max(0, at - most // 3)
        # A character that nobody sees is written with up to ten, as \N{ZERO WIDTH SPACE} is.
        while start < at and len(repr(both[0][start:at])) > most // 2:
            start += 1
    return start, *(("… " if start else "") + brief(text[start:], most) for text in both)


def side_by_side(answers: Sequence[Any], most: int) -> tuple[str, list[str]]:
    """Show answers from shortly before they differ, and say where that is if their beginning is left out.

    >>> side_by_side(["a" * 50 + "b", "a" * 50 + "c"], 12)
    ('from character 46 on', ["… 'aaaab'", "… 'aaaac'"])
    >>> side_by_side([[*range(90), 7], [*range(90), 8]], 20)
    ('from item 89 on', ['… [89, 7]', '… [89, 8]'])
    """
    plain = "", [brief(answer, most) for answer in answers]
    if max(len(repr(answer)) for answer in answers) <= most or all(answer == answers[0] for answer in answers):
        return plain
    if all(isinstance(answer, str) for answer in answers):
        start, *written = _from_difference(answers, most)
        return f"from character {start} on" if start else "", written
    if all(isinstance(answer, dict) for answer in answers):
        every = {key: [answer.get(key) for answer in answers] for answer in answers for key in answer}
        changed = ((key, values) for key, values in every.items() if any(value != values[0] for value in values))
        key, values = next(changed, (None, answers))
        return plain if key is None else _inside(f"at the key {brief(key)}", values, most)
    if not all(isinstance(answer, list) for answer in answers):
        return plain
    rows = enumerate(zip(*answers, strict=False))
    at = next((n for n, items in rows if any(item != items[0] for item in items)), min(map(len, answers)))
    inner = [answer[at] for answer in answers if len(answer) > at]
    if len(inner) == len(answers) and max(len(repr(item)) for item in inner) > most:
        return _inside(f"in item {at}", inner, most)
    start = at
    while start and len(repr(answers[0][start - 1 : at])) <= most // 3:
        start -= 1
    cut = "… " if start else ""
    return f"from item {start} on" if start else "", [cut + brief(answer[start:], most) for answer in answers]


def _inside(where: str, values: Sequence[Any], most: int) -> tuple[str, list[str]]:
    """What stands at one position of several answers; None where an answer has nothing there."""
    inner, written = side_by_side(values, most)
    texts = ["nothing" if value is None else text for value, text in zip(values, written, strict=True)]
    return f"{where}, {inner}" if inner else where, texts


def _lookalikes(got: str, expected: str) -> str:
    """The numbers of the first characters that differ, where a reader may take one for the other."""
    at = len(commonprefix([got, expected]))
    pair = got[at : at + 1], expected[at : at + 1]
    if "".join(pair).isascii() or not "".join(pair).isprintable():
        return ""
    names = [f"U+{ord(character):04X}" if character else "nothing" for character in pair]
    return f" (the first character that differs is {names[0]}, where {names[1]} is wanted)"


def _compare_lists(got: list[Any], expected: list[Any], where: str, reveals: bool) -> str:
    sizes = "" if len(got) == len(expected) or not reveals else f" ({len(got)} items came, {len(expected)} are wanted)"
    for position, (got_item, expected_item) in enumerate(zip(got, expected, strict=False)):
        if got_item != expected_item:
            inner = f"item {position}" if where == "the result" else f"{where}, item {position}"
            return _compare(got_item, expected_item, inner, reveals) + sizes
    position = min(len(got), len(expected))
    if len(got) == len(expected):
        return f"{where} is {brief(got)}, as wanted"
    if len(got) < len(expected):
        missing = f": {brief(expected[position])} is wanted as item {position}" if reveals else ""
        return f"{where} ends after {len(got)} items, too early{missing}{sizes}"
    return f"{where} goes on with {brief(got[position])} as item {position}, where it should have ended{sizes}"


def _compare_dictionaries(got: dict[Any, Any], expected: dict[Any, Any], where: str, reveals: bool) -> str:
    for key, expected_value in expected.items():
        if key not in got:
            return _without_key(got, expected, key, where) if reveals else f"{where} lacks a key"
        if got[key] != expected_value:
            inner = f"the value of {brief(key)}" if where == "the result" else f"{where}, the value of {brief(key)}"
            return _compare(got[key], expected_value, inner, reveals)
    extra = next((key for key in got if key not in expected), None)
    if extra is None:
        return f"{where} is {brief(got)}, as wanted"
    return f"{where} has the key {brief(extra)}, which should not be there"


def _without_key(got: dict[Any, Any], expected: dict[Any, Any], key: Any, where: str) -> str:
    """A dictionary lacks a key; another one, which may look like it, may have come in its place."""
    strays = [stray for stray in got if stray not in expected and isinstance(stray, str) and isinstance(key, str)]
    stray = max(strays, key=lambda stray: len(commonprefix([stray, key])), default="")
    if not strays:
        return f"{where} lacks the key {brief(key)}"
    start, *both = _from_difference([stray, key], MAX_SHOWN)
    begins = f" from character {start} on" if start else ""
    return f"{where} has a key that is{begins} {both[0]}, wanted is {both[1]}{_lookalikes(stray, key)}"


def _kind(value: Any) -> str:
    names = {str: "text", int: "a number", bool: "a number", list: "a list", dict: "a dictionary"}
    return names.get(type(value), "something else")


def whole(array: np.ndarray, most: int = 2000) -> str:
    """An answer as Python writes it, for somebody who may see all of it; or that it cannot be read."""
    try:
        return brief(to_value(array), most)
    except ValueError:
        return "what came back cannot be read"


def together(arrays: Sequence[np.ndarray], most: int = 2000) -> tuple[str, list[str]]:
    """Answers for somebody who may see all of them, as ``side_by_side`` shows them."""
    try:
        return side_by_side([to_value(array) for array in arrays], most)
    except ValueError:
        return "", [whole(array, most) for array in arrays]


def _entries(array: np.ndarray) -> list[str]:
    """The entries of an answer as Python writes them."""
    value = to_value(array)
    if isinstance(value, dict):
        return [f"{key!r}: {entry!r}" for key, entry in value.items()]
    return [*map(repr, value)] if isinstance(value, list) else [repr(value)]


def chips_side_by_side(got: np.ndarray, expected: np.ndarray, most: int = 40) -> tuple[list[str], list[str]] | None:
    """Two answers as rows of short texts that begin shortly before they differ; None if one cannot be read."""
    try:
        both = _entries(got), _entries(expected)
    except ValueError:
        return None
    width = MAX_SHOWN // (2 if got[:1].tobytes() == b"[" else 1)  # lists have many entries
    at = next((n for n, pair in enumerate(zip(*both, strict=False)) if pair[0] != pair[1]), min(map(len, both)))
    begin = at - most // 2 if at >= most else 0
    pair = [entries[at] for entries in both if at < len(entries)]
    start = len(commonprefix(pair)) - width // 3 if len(pair) == 2 and max(map(len, pair)) > width else 0

    def row(entries: list[str]) -> list[str]:
        chips = [_cut(entry, width) for entry in entries[begin : begin + most]]
        if start > 0:
            chips[at - begin] = f"… {_cut(entries[at][start:], width)}"
        remaining = len(entries) - begin - most
        return [f"… {begin} before"] * (begin > 0) + chips + [f"… {remaining} more"] * (remaining > 0)

    return row(both[0]), row(both[1])
