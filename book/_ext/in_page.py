"""Tasks can be done on the pages of the exercises: their script, and the Python that it loads when somebody asks.

``scripts/pack_python.py`` packs them into ``_build/python`` beside the build; here they are copied into the book.
"""

from pathlib import Path
from typing import Any

from exercise_notebooks import FOLDER
from offline import copy
from sphinx.application import Sphinx

PLACE = "python"
"""Folder under ``_static`` of the built book."""


def add_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give a notebook's page the script that makes its answer cells editors."""
    if app.builder.format == "html" and page.startswith(f"{FOLDER}/"):
        for name in ("facts.js", "page.js"):
            app.add_js_file(f"{PLACE}/{name}", loading_method="defer")


def install(app: Sphinx, error: Exception | None) -> None:
    """Copy what was packed into the built book."""
    packed = Path(app.srcdir) / "_build" / "python"
    if error is None and app.builder.format == "html" and packed.exists():
        for path in packed.rglob("*"):
            if path.is_file() and path.suffix != ".key":
                copy(path, Path(app.outdir) / "_static" / PLACE / path.relative_to(packed))


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook into Sphinx."""
    app.connect("html-page-context", add_scripts)
    app.connect("build-finished", install)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
