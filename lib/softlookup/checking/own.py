"""A course's own tasks: the files of its folder ``tasks``, and which of them are in use in this process.

Files are kept as texts, so that they travel to every process and machine that judges. Nothing here runs them.
"""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import _lru_cache_wrapper, lru_cache
from pathlib import Path
from typing import Any, TypeVar

FOLDER = "tasks"
"""The folder of a course that holds its own tasks."""

BAKED = "own_tasks.safetensors"
"""The file beside a student's notebook with what judges own tasks there: no solution, no oracle."""

SETTING = "SOFTLOOKUP_TASKS"
"""The environment variable that names a folder of own tasks."""

_SUFFIXES = ("_tasks.py", ".help.toml", ".toml", ".py")
_NUMBERED = re.compile(r"\d\d_\w+")
_AFTER = re.compile(r"\A# after: *(\S+) *$\n?", re.MULTILINE)

T = TypeVar("T")


class OwnTasksError(ValueError):
    """A course's own tasks cannot be used as they are; the message names the file and says what to do.

    Book: instructors_task.html#instructors-task-folder.
    """


@dataclass(frozen=True)
class OwnAssignment:
    """The own tasks of one assignment.

    Attributes:
        name: The assignment, "04_one_head" or "99_mine".
        after: The task behind whose check the cells stand; empty for the end of the notebook.
        cells: The cells with solutions, in jupytext's percent format.
        facts: What stands in ``NAME.toml``.
        module: The source of ``NAME_tasks.py``.
        help: What stands in ``NAME.help.toml``, by task.
    """

    name: str
    after: str
    cells: str
    facts: Mapping[str, Any]
    module: str
    help: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class OwnTasks:
    """Own tasks: as an instructor writes them, or as students get them.

    Attributes:
        texts: Names and contents of the files of a folder ``tasks``; pairs, since this travels.
        place: The folder, for messages.
        baked: Files with what judges own tasks where their descriptions are not there.
    """

    texts: tuple[tuple[str, str], ...] = ()
    place: str = field(default=FOLDER, compare=False)
    baked: tuple[Path, ...] = ()


def read_tasks(folder: Path) -> OwnTasks:
    """Read a folder of own tasks; nothing in it is run.

    Args:
        folder: The folder ``tasks``; one that does not exist holds no tasks.

    Raises:
        OwnTasksError: If a file is no text.
    """
    texts = []
    for path in sorted(folder.glob("[0-9][0-9]_*")) if folder.is_dir() else []:
        if path.name.endswith(_SUFFIXES):
            try:
                texts.append((path.name, path.read_text(encoding="utf-8")))
            except (OSError, UnicodeDecodeError) as error:
                raise OwnTasksError(f"{path} cannot be read as text: {error}") from None
    return OwnTasks(tuple(texts), str(folder))


_FORGET: list[Callable[[], None]] = []
_chosen: OwnTasks | None = None
_found: OwnTasks | None = None


def kept(function: Callable[..., T]) -> "_lru_cache_wrapper[T]":
    """Keep what a function gives, until other own tasks are in use."""
    made = lru_cache(maxsize=4096)(function)
    _FORGET.append(made.cache_clear)
    return made


def use(chosen: OwnTasks | None) -> None:
    """Use these own tasks in this process from now on, and look for no others.

    Args:
        chosen: The tasks; ``OwnTasks()`` for none. None looks for them again: in the folder that SOFTLOOKUP_TASKS
            names, in the course's folder above the current one, and beside the notebook.
    """
    global _chosen, _found
    if chosen is None or chosen != (_chosen or _found):
        for forget in _FORGET:
            forget()
    _chosen, _found = chosen, None


def in_use() -> OwnTasks:
    """The own tasks of this process."""
    global _found
    if _chosen is not None:
        return _chosen
    if _found is None:
        _found = _look(Path.cwd())
    return _found


def _look(here: Path) -> OwnTasks:
    if named := os.environ.get(SETTING):
        if not Path(named).is_dir():
            raise OwnTasksError(f"{SETTING} names {named}, which is no folder: name a folder of own tasks, or unset it")
        return read_tasks(Path(named).resolve())
    course = course_above(here)
    if course is not None and (course / FOLDER).is_dir():
        return read_tasks(course / FOLDER)
    return OwnTasks(baked=(here / BAKED,) if (here / BAKED).is_file() else ())


def course_above(here: Path) -> Path | None:
    """The course's folder that a folder belongs to: the outermost one with nbgrader_config.py, a checkout aside.

    The outermost, because a submission lies inside a course, and no file in it makes another course of it.
    """
    folders = (here, *here.parents)
    found = [one for one in folders if (one / "nbgrader_config.py").is_file() and not (one / "solutions").is_dir()]
    return found[-1] if found else None


def own_assignments() -> Mapping[int, OwnAssignment]:
    """The assignments that have own tasks, by number.

    Raises:
        OwnTasksError: If a file is missing or is no TOML, or two assignments have one number.
    """
    return _assignments()


@kept
def _assignments() -> Mapping[int, OwnAssignment]:
    tasks = in_use()
    found: dict[str, dict[str, str]] = {}
    for file, text in tasks.texts:
        suffix = next(one for one in _SUFFIXES if file.endswith(one))
        found.setdefault(file.removesuffix(suffix), {})[suffix] = text
    by_number: dict[int, OwnAssignment] = {}
    for name, parts in found.items():
        where = f"{tasks.place}/{name}"
        if not _NUMBERED.fullmatch(name):
            raise OwnTasksError(f"{where}: the name has to be two digits and words, such as 99_mine")
        for suffix, what in ((".py", "the answers"), (".toml", "the facts"), ("_tasks.py", "questions and oracles")):
            if suffix not in parts:
                raise OwnTasksError(f"{where}{suffix} is missing: it holds {what} of the tasks")
        number = int(name[:2])
        if number in by_number:
            raise OwnTasksError(f"{where} and {by_number[number].name} have one number: give one of them another")
        after = _AFTER.search(parts[".py"])
        by_number[number] = OwnAssignment(
            name,
            after[1] if after else "",
            _AFTER.sub("", parts[".py"]),
            {"tasks": {}, "says": {}, **_toml(f"{where}.toml", parts[".toml"])},
            parts["_tasks.py"],
            _toml(f"{where}.help.toml", parts.get(".help.toml", "")),
        )
    return by_number


def _toml(place: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise OwnTasksError(f"{place} is no TOML: {error}") from None
