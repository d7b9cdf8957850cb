"""The answers that all judges are given: right ones in three styles, and wrong ones as edits of the first."""

import functools
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "answers"


@dataclass(frozen=True)
class SubmittedAnswer:
    """One answer to one function.

    Attributes:
        function: What it computes.
        name: What is wrong with it; "right-1" and so on where nothing is.
        source: Its text.
        right: Whether it is right.
        known: The course's own names for this mistake, empty where no list of the course has it.
        words: A regular expression for messages that state this mistake.
    """

    function: str
    name: str
    source: str
    right: bool
    known: tuple[str, ...] = ()
    words: str = ""


@functools.cache
def _table() -> dict[str, dict[str, Any]]:
    """All of the files, with what one function borrows of another filled in."""
    table: dict[str, dict[str, Any]] = {}
    for path in sorted(_FOLDER.glob("*.toml")):
        table |= tomllib.loads(path.read_text(encoding="utf-8"))
    for entry in table.values():
        if "same" in entry:
            entry |= {key: table[entry["same"]][key] for key in ("right", "others")}
    return table


def functions() -> tuple[str, ...]:
    """The functions that there are answers to."""
    return tuple(_table())


def _edited(source: str, edits: list[Any], where: str) -> str:
    for old, new in [edits] if isinstance(edits[0], str) else edits:
        if old not in source:
            raise ValueError(f"{where} replaces {old!r}, which the right answer does not contain")
        source = source.replace(old, new)
    return source


def answers(function: str) -> Iterator[SubmittedAnswer]:
    """Give the right answers to a function, then the wrong ones."""
    entry = _table()[function]
    for number, source in enumerate([entry["right"], *entry["others"]], 1):
        yield SubmittedAnswer(function, f"right-{number}", source.strip() + "\n", right=True)
    for name, edits in entry["wrong"].items():
        known = entry.get("known", {}).get(name, [])
        source = _edited(entry["right"], edits, f"{function}: {name}").strip() + "\n"
        known = (known,) if isinstance(known, str) else tuple(known)
        yield SubmittedAnswer(
            function, name, source, right=False, known=known, words=entry.get("words", {}).get(name, "")
        )


def made(source: str) -> Callable[..., Any]:
    """Run an answer's text and give its function."""
    import math

    import torch
    import torch.nn.functional as F

    space: dict[str, Any] = {"math": math, "torch": torch, "F": F}
    exec(compile(source, "<answer>", "exec"), space)
    return space[source.partition("def ")[2].partition("(")[0]]


def right(function: str) -> Callable[..., Any]:
    """The first right answer to a function, for what an adapter needs beside the answer that is judged."""
    return made(next(answers(function)).source)
