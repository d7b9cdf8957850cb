"""Runs in a page's kernel before its cells: notes which files of this project the page needs.

`fresh_cells.py` starts it and reads what it wrote. It sees every import (a finder that finds nothing), and every file
that Python opens and every folder that it lists (an audit hook). What native code opens past Python it cannot see;
`page_needs.py` says what is done about that.
"""

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

STARTS = {"subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn"}
"""Events of a second process, whose files nobody sees."""

IMPORTING = ("<frozen importlib", os.path.dirname(importlib.util.__file__))
"""Python's own search for modules and packages lists folders too; what it looks for is known from the finder."""


class Watch:
    """What has been seen so far, which ``target`` gets, as JSON, after each cell.

    Files in the folders ``inside`` are noted, but not those in the folders ``without``, inside them.
    """

    def __init__(self, target: str, inside: list[str], without: list[str]) -> None:
        self.target = Path(target)
        self.inside, self.without = inside, without
        self.files: set[str] = set()
        self.folders: set[str] = set()
        self.imports: dict[str, list[str]] = {}
        self.sought: set[str] = set()
        self.started: list[str] = []

    def belongs(self, path: str) -> bool:
        """Say whether a file is one of the project's: the longest folder that it lies in decides."""
        lengths = [
            max((len(folder) for folder in several if path == folder or path.startswith(folder + os.sep)), default=0)
            for several in (self.inside, self.without)
        ]
        return lengths[0] > lengths[1]

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Note what is looked for, and where; find nothing, so that the search goes on."""
        self.note_import(name, path)
        asking = sys._getframe(1)
        while asking.f_back is not None and asking.f_code.co_filename.startswith(IMPORTING):
            asking = asking.f_back
        if not asking.f_code.co_filename.startswith((sys.prefix, sys.base_prefix)):
            self.sought.add(name)  # by a cell or by the library, and not by a package that can do without

    def note_import(self, name: str, path: Any = None) -> None:
        """Note where an import of this name may look in the project."""
        where = [os.path.abspath(folder or os.curdir) for folder in (sys.path if path is None else path)]
        self.imports[name] = [folder for folder in where if self.belongs(folder)]

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note an event of Python's audit."""
        if event in {"open", "sqlite3.connect"}:
            self.note(self.files, arguments[0])
        elif event in {"os.listdir", "os.scandir"}:
            if not sys._getframe(1).f_code.co_filename.startswith(IMPORTING):
                self.note(self.folders, arguments[0])
        elif event in STARTS:
            self.started.append(f"{event} {arguments[0] if arguments else ''}")

    def note(self, seen: set[str], path: Any) -> None:
        """Note a file or a folder, if it is the project's."""
        if isinstance(path, int):
            return  # a descriptor: what opened it has been seen
        full = os.path.abspath(os.fsdecode(path or os.curdir))
        if self.belongs(full):
            seen.add(source_of(full))

    def write(self, *_: Any) -> None:
        """Write all that has been seen; called after each cell."""
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and os.path.isabs(file):  # torch makes up some that are not
                self.note(self.files, file)
        seen = {
            "files": sorted(self.files),
            "folders": sorted(self.folders),
            "imports": self.imports,
            "sought": sorted(self.sought),
            "started": self.started,
            "modules": sorted({name.partition(".")[0] for name in list(sys.modules)}),
        }
        part = self.target.with_suffix(".part")
        part.write_text(json.dumps(seen), encoding="utf-8")
        part.replace(self.target)


def source_of(path: str) -> str:
    """Name the source of a compiled module."""
    if f"{os.sep}__pycache__{os.sep}" not in path:
        return path
    try:
        return importlib.util.source_from_cache(path.partition(".pyc")[0] + ".pyc")
    except ValueError:
        return path


def begin(arguments: dict[str, Any]) -> None:
    """Watch from now on, and write after each cell."""
    from IPython import get_ipython

    watch = Watch(**arguments)
    for name in getattr(sys.modules.pop("kernel_server", None), "TRIED", ()):
        watch.note_import(name)
    for name in {name.partition(".")[0] for name in list(sys.modules)}:  # whether the page imports it nobody will see
        watch.note_import(name)
        watch.sought.add(name)
    sys.meta_path.insert(0, watch)
    sys.addaudithook(watch)
    get_ipython().events.register("post_run_cell", watch.write)


if "ASKED" in globals():
    begin(globals()["ASKED"])
