"""Keep the numbers in the book true: when the library changes, every page that runs it runs again.

Jupyter Book's cache compares the text of the cells alone, so a corrected function would leave the old numbers
in the page. Here the cache lives in a folder that is named after a hash of the library, and Sphinx is told to
read all pages anew when that hash is another one.
"""

import hashlib
import importlib.util
import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

KEPT_CACHES = 3
"""How many versions of the library keep their outputs, so that going back and forth between two is quick."""


def library_hash(package: str = "softlookup", measured: Path | None = None) -> str:
    """Hash every file of the installed library that a page could depend on.

    Args:
        package: Name of the importable package.
        measured: A folder of measured figures that pages read, hashed with it.

    Returns:
        The first twelve hexadecimal digits of a SHA-256 over names and contents.

    Raises:
        RuntimeError: If the package is not installed; the message says what to run.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(f"the book runs {package!r}, which is not installed here: run `make setup` first")
    digest = hashlib.sha256()
    folders = [*map(Path, spec.submodule_search_locations), *([measured] if measured else [])]
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix in {".py", ".js", ".css", ".json", ".txt", ".safetensors"}:
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
                digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def use_cache_of_this_library(app: Sphinx, config: Config) -> None:
    """Point myst-nb's cache at the folder of this library's hash, and drop the oldest other ones."""
    config.softlookup_library = library_hash(measured=Path(app.srcdir, "book", "measured"))
    caches = Path(app.outdir).parent / ".jupyter_cache"
    here = caches / config.softlookup_library
    here.mkdir(parents=True, exist_ok=True)
    here.touch()
    config.nb_execution_cache_path = str(here)
    by_age = sorted(caches.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in by_age[KEPT_CACHES:]:
        shutil.rmtree(old, ignore_errors=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the hash as a value that makes Sphinx read all pages again when it changes."""
    app.add_config_value("softlookup_library", "", "env")
    app.connect("config-inited", use_cache_of_this_library, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
