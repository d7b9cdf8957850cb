"""What an executed page needs of this project: its kept outputs are shown only while all of that is the same.

Beside each kept page lies a record of what its kernel loaded, opened, listed and looked for (`kernel_watch.py`), with
hashes. A page without a record, or with one that does not hold any more, runs again. Three things nobody can watch, so
the record is wider than what was seen: where a page starts a process, it needs every file of the library; where it
loads a package whose native code opens files itself, it needs all files of that kind; and every page needs everything
that was installed, in its version. A package that came later counts where a cell or the library looked for it.
What is not noticed: a page that asks only whether a file or a package is there, and opens or imports none.
"""

import hashlib
import importlib.metadata
import importlib.util
import json
import platform
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

from softlookup_inside.installed import homes

WATCH = Path(__file__).with_name("kernel_watch.py")

NATIVE = {"safetensors": ".safetensors"}
"""Packages that open files past Python, and the ending of what they open."""

NOT_OURS = ("_build", ".venv", ".git", "course", "book/_vendor")
"""Folders of the checkout that hold nothing a page could need: what is made, and what is installed."""

LEFT_BEHIND = {"__pycache__", ".ipynb_checkpoints"}


def library_folders(package: str) -> list[Path]:
    """Find the importable package, and those whose names begin with its name and an underscore.

    Raises:
        RuntimeError: If it is not installed; the message says what to run.
    """
    spec = importlib.util.find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec else []
    folders = [Path(place).absolute() for place in places[:1]]
    folders += [home for name, home in homes().items() if name.startswith(f"{package}_")]
    if not folders:
        raise RuntimeError(f"the book runs {package!r}, which is not installed here: run `make setup` first")
    return folders


class Project:
    """The project's files as they are now; each is read once.

    All names in records are relative to the checkout. If the package that pages run is not installed, a RuntimeError
    says what to run.
    """

    def __init__(self, root: Path, package: str = "softlookup") -> None:
        self.root = root.absolute()
        self.library = library_folders(package)
        self._hashes: dict[str, str | None] = {}
        self._names: dict[str, list[str] | None] = {}

    def name(self, path: str | Path) -> str:
        """Name a file in records."""
        path = Path(path)
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.as_posix()

    def hash(self, name: str) -> str | None:
        """Hash a file; None where there is none."""
        if name not in self._hashes:
            path = self.root / name
            self._hashes[name] = hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else None
        return self._hashes[name]

    def listing(self, name: str) -> list[str] | None:
        """List the names in a folder; None where there is none."""
        if name not in self._names:
            path = self.root / name
            self._names[name] = (
                sorted({entry.name for entry in path.iterdir()} - LEFT_BEHIND) if path.is_dir() else None
            )
        return self._names[name]

    def candidates(self, module: str, folders: list[str]) -> list[str]:
        """List all that an import of this name could find in these folders, so that a new one is noticed."""
        stem = module.rpartition(".")[2]
        return [
            f"{folder}/{n}" for folder in folders for n in self.listing(folder) or [] if n.partition(".")[0] == stem
        ]

    @cached_property
    def everything(self) -> str:
        """Hash the whole library and the measured figures."""
        digest = hashlib.sha256()
        for folder in (*self.library, self.root / "book" / "measured"):
            for path in sorted(folder.rglob("*")):
                if path.is_file() and not LEFT_BEHIND & {*path.parts}:
                    digest.update(f"{self.name(path)}\0{self.hash(self.name(path))}\0".encode())
        return digest.hexdigest()[:16]

    @cached_property
    def environment(self) -> str:
        """Hash Python's version and the rules by which records are made."""
        rules = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in (WATCH.name, "page_needs.py")]
        parts = [sys.version, platform.machine(), *rules]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    @cached_property
    def installed(self) -> dict[str, str]:
        """Give the version of everything that is installed, by name."""
        versions: dict[str, str] = {}
        for distribution in importlib.metadata.distributions():
            versions.setdefault(distribution.name, distribution.version)  # Python imports the first that it finds
        return versions

    @cached_property
    def provides(self) -> dict[str, set[str]]:
        """Give the packages that a module's first name may come from."""
        return {name: {*packages} for name, packages in importlib.metadata.packages_distributions().items()}

    def installed_otherwise(self, before: dict[str, str], sought: list[str]) -> bool:
        """Say whether what was installed is not any more, or what came since has a module that was looked for."""
        if any(self.installed.get(name) != version for name, version in before.items()):
            return True
        came = self.installed.keys() - before.keys()
        return bool(came) and any(came & self.provides.get(name, set()) for name in sought)

    @cached_property
    def extensions(self) -> str:
        """Hash the code that turns pages into HTML."""
        digest = hashlib.sha256()
        for path in sorted(Path(__file__).parent.glob("*.py")):
            digest.update(f"{path.name}\0{self.hash(self.name(path))}\0".encode())
        return digest.hexdigest()[:16]

    def watch_arguments(self, target: Path) -> dict[str, Any]:
        """Say what the kernel is to watch: ``kernel_watch.Watch``'s arguments."""
        without = [str(self.root / name) for name in NOT_OURS] + [sys.prefix, sys.base_prefix]
        return {"target": str(target), "inside": [str(self.root), *map(str, self.library)], "without": without}

    def needs(self, seen: dict[str, Any]) -> dict[str, Any]:
        """Make a record of what a kernel has seen, as ``kernel_watch.Watch`` wrote it."""
        files = {self.name(path) for path in seen["files"]}
        for package, ending in NATIVE.items():
            if package in seen["modules"]:
                files |= {self.name(path) for folder in self.library for path in folder.rglob(f"*{ending}")}
                files |= {self.name(path) for path in self.root.glob(f"book/measured/*{ending}")}
        imports = {
            module: {"in": places, "found": self.candidates(module, places)}
            for module, folders in seen["imports"].items()
            if (places := [self.name(folder) for folder in folders])
        }
        return {
            "environment": self.environment,
            "installed": self.installed,
            "sought": sorted({module.partition(".")[0] for module in seen["sought"]} - sys.stdlib_module_names),
            "everything": self.everything if seen["started"] else None,
            "files": {name: self.hash(name) for name in sorted(files)},
            "folders": {name: self.listing(name) for name in sorted(map(self.name, seen["folders"]))},
            "imports": imports,
        }

    def changed(self, needs: dict[str, Any]) -> str | None:
        """Say in a word or two what is not as a record has it; None where all is."""
        if needs["environment"] != self.environment or self.installed_otherwise(needs["installed"], needs["sought"]):
            return "what is installed"
        if needs["everything"] not in (None, self.everything):
            return "the library"
        changes = [name for name, before in needs["files"].items() if self.hash(name) != before]
        changes += [name for name, before in needs["folders"].items() if self.listing(name) != before]
        for module, record in needs["imports"].items():
            now = self.candidates(module, record["in"])
            changes += sorted({*now} ^ {*record["found"]})
        return changes[0] if changes else None


def kept_folder(root: Path) -> Path:
    """Name the folder of the kept outputs (jupyter-cache's own) and of the records beside them."""
    return root / "_build" / ".jupyter_cache"


class Kept:
    """Outputs of earlier builds in a folder, by the text of a page's cells.

    The project is what records are compared with.
    """

    def __init__(self, folder: Path, project: Project) -> None:
        from jupyter_cache import get_cache

        self.folder, self.project, self.cache = folder, project, get_cache(folder)

    def key(self, notebook: Any) -> str:
        """Hash the code cells of a notebook, as jupyter-cache does."""
        return str(self.cache.create_hashed_notebook(notebook)[1])

    def record(self, key: str) -> Path:
        """Name the file of a record."""
        return self.folder / "needs" / f"{key}.json"

    def stale(self, key: str) -> str | None:
        """Say why the outputs of these cells cannot be shown; None where they can."""
        try:
            needs = json.loads(self.record(key).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return "nothing kept"
        from jupyter_cache.cache.db import NbCacheRecord

        try:
            NbCacheRecord.record_from_hashkey(key, self.cache.db)
        except KeyError:
            return "nothing kept"
        return self.project.changed(needs)

    def stamp(self, key: str) -> str:
        """Name a run of these cells: another run has another name; empty where none is kept."""
        record = self.record(key)
        return json.loads(record.read_text(encoding="utf-8"))["ran"] if record.exists() else ""

    def forget(self, key: str) -> None:
        """Drop what is kept of these cells."""
        from jupyter_cache.cache.db import NbCacheRecord

        self.record(key).unlink(missing_ok=True)
        try:
            self.cache.remove_cache(NbCacheRecord.record_from_hashkey(key, self.cache.db).pk)
        except KeyError:
            return

    def outputs(self, notebook: Any) -> Any | None:
        """Put kept outputs into a notebook; None where there are none that hold."""
        return None if self.stale(self.key(notebook)) else self.cache.merge_match_into_notebook(notebook)[1]

    def keep(self, notebook: Any, page: Path, seconds: float, seen: dict[str, Any], began: float) -> None:
        """Keep an executed notebook, with its outputs, and the record of what it needs.

        ``seconds`` is how long it ran, ``seen`` what its kernel wrote. A file that was written since it ``began`` to
        run may not be what it saw, and then there is no record, so that the page runs once more.
        """
        from jupyter_cache.base import CacheBundleIn

        needs = self.project.needs(seen)
        key = self.key(notebook)
        self.forget(key)
        bundle = CacheBundleIn(notebook, str(page), data={"execution_seconds": seconds})
        self.cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
        written = [self.project.root / name for name in needs["files"]]
        if any(path.exists() and path.stat().st_mtime >= began for path in written):
            return
        self.record(key).parent.mkdir(exist_ok=True)
        self.record(key).write_text(json.dumps({"ran": f"{began:.6f}"} | needs, indent=1), encoding="utf-8")
