"""A course's own tasks, as texts that travel to every process that judges; nothing here runs them."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

FOLDER = "tasks"
"""The folder of a course that holds its own tasks."""

BAKED = "own_tasks.safetensors"
"""The file beside a student's notebook with what judges own tasks there: no solution, no oracle."""

_SUFFIXES = ("_tasks.py", ".help.toml", ".toml", ".py")
_NUMBERED = re.compile(r"\d\d_\w+")
_AFTER = re.compile(r"\A# after: *(\S+) *$\n?", re.MULTILINE)


class OwnTasksError(ValueError):
    """A course's own tasks cannot be used as they are; the message names the file and says what to do."""


@dataclass(frozen=True)
class OwnAssignment:
    """The own tasks of one assignment: its files, and the task (``after``) behind whose check the cells stand."""

    name: str
    after: str
    cells: str
    facts: Mapping[str, Any]
    module: str
    help: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class OwnTasks:
    """Own tasks: as an instructor writes them (names and texts of files), or as students get them (``baked``)."""

    texts: tuple[tuple[str, str], ...] = ()
    folder: str = field(default=FOLDER, compare=False)
    baked: tuple[Path, ...] = ()

    @cached_property
    def assignments(self) -> Mapping[int, OwnAssignment]:
        """The assignments that have own tasks, by number."""
        by_name: dict[str, dict[str, str]] = {}
        for file, text in self.texts:
            suffix = next(ending for ending in _SUFFIXES if file.endswith(ending))
            by_name.setdefault(file.removesuffix(suffix), {})[suffix] = text
        by_number: dict[int, OwnAssignment] = {}
        for name, parts in by_name.items():
            where = f"{self.folder}/{name}"
            if not _NUMBERED.fullmatch(name):
                raise OwnTasksError(f"{where}: the name has to be two digits and words, such as 99_mine")
            needed = {".py": "the answers", ".toml": "the facts", "_tasks.py": "questions and oracles"}
            for suffix, what in needed.items():
                if suffix not in parts:
                    raise OwnTasksError(f"{where}{suffix} is missing: it holds {what} of the tasks")
            chapter = int(name[:2])
            if chapter in by_number:
                raise OwnTasksError(f"{where} and {by_number[chapter].name} have one number: give one of them another")
            after = _AFTER.search(parts[".py"])
            by_number[chapter] = OwnAssignment(
                name,
                after[1] if after else "",
                _AFTER.sub("", parts[".py"]),
                {"tasks": {}, "says": {}, **_toml(f"{where}.toml", parts[".toml"])},
                parts["_tasks.py"],
                _toml(f"{where}.help.toml", parts.get(".help.toml", "")),
            )
        return by_number


def read_tasks(folder: Path) -> OwnTasks:
    """Read a folder ``tasks`` of own tasks, empty if there is none; nothing in it is run."""
    texts = []
    for path in sorted(folder.glob("[0-9][0-9]_*")) if folder.is_dir() else []:
        if path.name.endswith(_SUFFIXES):
            try:
                texts.append((path.name, path.read_text(encoding="utf-8")))
            except (OSError, UnicodeDecodeError) as error:
                raise OwnTasksError(f"{path} cannot be read as text: {error}") from None
    return OwnTasks(tuple(texts), str(folder))


def _toml(path: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise OwnTasksError(f"{path} is no TOML: {error}") from None
