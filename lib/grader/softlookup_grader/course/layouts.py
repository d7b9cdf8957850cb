"""What the release of an assignment consists of: its notebooks, and whether a judge asks in them."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from softlookup_grader.course.notebooks import BadNotebook, cells_in, is_graded, is_solution

_CHECK = re.compile(r"""\bcheck\(\s*["']\d\d\.""")


@dataclass(frozen=True)
class ReleaseLayout:
    """The notebooks of an assignment."""

    notebooks: tuple[str, ...]  # names of files without the suffix, in the order in which they are graded
    # whether no cell checks a task: such notebooks are run as nbgrader runs them, with the files beside them
    stock: bool

    @property
    def packed(self) -> bool:
        """Whether a hand-in is more than one notebook: several, or files beside it."""
        return self.stock or len(self.notebooks) > 1


def layout_in(folder: Path, assignment: str) -> ReleaseLayout:
    """Look at the release in a folder; where there is none, it will be one notebook named like the assignment."""
    try:
        with os.scandir(folder) as entries:
            files = [(entry.name, entry.stat()) for entry in entries if entry.name.endswith(".ipynb")]
    except OSError:
        files = []
    stamps = tuple(sorted((name, about.st_mtime_ns, about.st_size) for name, about in files if name[0] != "."))
    return _layout(folder, stamps) if stamps else ReleaseLayout((assignment,), stock=False)


@lru_cache(maxsize=64)
def _layout(folder: Path, stamps: tuple[tuple[str, int, int], ...]) -> ReleaseLayout:
    names = [name for name, _, _ in stamps]
    stock = not any(_asks(folder / name) for name in names)
    return ReleaseLayout(tuple(name.removesuffix(".ipynb") for name in names), stock)


def _asks(path: Path) -> bool:
    try:
        return any(checks_task(cell) for cell in cells_in(path.read_bytes(), path.name))
    except (OSError, BadNotebook):
        return True  # whoever reads the release says what is wrong with it


def is_test(cell: Mapping[str, Any]) -> bool:
    """Whether a cell is code that points hang on, and no answer."""
    return cell.get("cell_type") == "code" and is_graded(cell) and not is_solution(cell)


def checks_task(cell: Mapping[str, Any]) -> bool:
    """Whether a test cell checks one of the judge's tasks: known, or one that is gone."""
    source = cell.get("source", "")
    return is_test(cell) and _CHECK.search("".join(source)) is not None
