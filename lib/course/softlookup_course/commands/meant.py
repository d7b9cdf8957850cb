"""Which notebook and which task a student means: the same words for each command that works on a student's notebook."""

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from softlookup_command.shared import refuse

if TYPE_CHECKING:
    from softlookup_judge.checking.catalogue import Catalogue

_TASK = re.compile(r"(\d{1,2})\.((?!ipynb)\S+)")
_CHAPTER = re.compile(r"(\d{1,2})(_\w+)?")

_WAYS = "name a file, a notebook such as 04_one_head or 04, or a task such as 04.scale"


@dataclass(frozen=True)
class Meant:
    """The notebook (any file) and task that a student means; ``searched`` if it is worth saying which file it is."""

    notebook: Path
    task: str
    catalogue: "Catalogue"
    searched: bool


NAMED = click.argument("names", nargs=-1, metavar="[NOTEBOOK] [TASK]")
"""The argument of a command: words that ``meant`` understands."""


def meant(names: tuple[str, ...]) -> Meant:
    """The notebook and the task that some words name, in either order; without a word, the notebook saved last."""
    from softlookup_judge.checking.catalogue import UnknownTask, catalogue_with, find_own_tasks

    paths = [name for name in names if not _TASK.fullmatch(name) or Path(name).is_file()]
    tasks = [match for name in names if name not in paths and (match := _TASK.fullmatch(name))]
    if len(paths) > 1 or len(tasks) > 1:
        refuse(f"one notebook and one task of it can be named, not {' and '.join(names)}")
    task = f"{int(tasks[0][1]):02d}.{tasks[0][2]}" if tasks else ""
    path = _file(paths[0]) if paths else None if task else _saved_last()
    searched = path is None or bool(paths) and str(path) != paths[0]
    if path is None:
        path = _of_chapter(int(task[:2]))
    catalogue = catalogue_with(find_own_tasks(path.resolve().parent if path else Path.cwd()))
    if task:
        try:
            catalogue.task(task)
        except UnknownTask as error:
            refuse(str(error))
    if path is None:
        refuse(f"there is no notebook of {task} in {_there()}: name it as well, as in '{task} FILE'")
    return Meant(path, task, catalogue, searched)


def search_folders() -> list[Path]:
    """Where notebooks are looked for: in the current folder, its my_work, and that of the checkout around it."""
    from softlookup_course.progress.workplace import WORK, notebooks_folder
    from softlookup_judge.authoring import find_root

    here = Path.cwd()
    # Inside a notebook's own folder, the others lie beside that.
    around = [here.parent] if _own(here).is_file() else []
    everywhere = [*around, here, here / WORK]
    with contextlib.suppress(FileNotFoundError):
        everywhere.append(notebooks_folder(Path(find_root())))
    return list(dict.fromkeys(folder for folder in everywhere if folder.is_dir()))


def display_path(path: Path) -> str:
    """A file's name for the terminal, from the current folder on."""
    from softlookup_command.plain_text import one_line

    return one_line(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks of a folder, each in a folder of its own name, or side by side."""
    inside = (file for file in folder.glob("[0-9][0-9]_*/[0-9][0-9]_*.ipynb") if file.stem == file.parent.name)
    return sorted([*inside, *folder.glob("[0-9][0-9]_*.ipynb")])


def folder_meant(names: tuple[str, ...]) -> Path | None:
    """The folder that some words name, None where they name a notebook; without a word, the first with notebooks."""
    if names:
        folder = Path(names[0])
        return folder if len(names) == 1 and folder.is_dir() and not _own(folder).is_file() else None
    return next((candidate for candidate in search_folders() if notebooks_in(candidate)), Path.cwd())


def _own(folder: Path) -> Path:
    """The notebook that has the name of its folder."""
    return folder / f"{folder.resolve().name}.ipynb"


def _file(name: str) -> Path:
    """The file of a notebook that is named."""
    path = Path(name)
    if path.is_dir():
        inside = [_own(path)] if _own(path).is_file() else sorted(path.glob("[0-9][0-9]_*.ipynb"))
        if len(inside) != 1:
            refuse(f"{path} is not a file. It holds {len(inside) or 'no'} notebooks: {_WAYS}")
        return inside[0]
    if path.is_file():
        return path
    bare = name.removesuffix(".ipynb")
    chapter = _CHAPTER.fullmatch(bare)
    if chapter is None:
        if path.suffix == ".ipynb" or path.parent != Path("."):
            return path  # who reads it says that there is no such file
        refuse(f"{name} is neither a notebook nor a task{_like(name)}: {_WAYS}")
    if chapter[2] is None:
        return _of_chapter(int(chapter[1])) or refuse(f"there is no notebook of chapter {name} in {_there()}: {_WAYS}")
    for folder in search_folders():
        for file in notebooks_in(folder):
            if file.stem == bare:
                return file
    like = _of_chapter(int(chapter[1]))
    refuse(f"there is no {name} in {_there()}" + (f"; did you mean {like.stem}?" if like else f": {_WAYS}"))


def _like(name: str) -> str:
    from softlookup_judge.checking.catalogue import UnknownTask, here

    try:
        here().task(name)
    except UnknownTask as error:
        return f" (did you mean {error.near}?)"
    return ""


def _of_chapter(chapter: int) -> Path | None:
    from softlookup_course.progress.reading import notebook_of

    return next(filter(None, (notebook_of(folder, chapter) for folder in search_folders())), None)


def _saved_last() -> Path:
    """The notebook that was saved last, in the first place that holds any."""
    for folder in search_folders():
        if files := notebooks_in(folder):
            return max(files, key=lambda file: file.stat().st_mtime)
    refuse(f"there is no notebook in {_there()}: {_WAYS}")


def _there() -> str:
    return " or in ".join(map(str, search_folders()))
