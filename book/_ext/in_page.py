"""Tasks can be done on the pages of the exercises: their script, and the Python that it loads when somebody asks.

``scripts/pack_python.py`` packs them beside the build, and ``scripts/build_book.py`` copies them into the book.
"""

from typing import Any

from exercise_notebooks import FOLDER
from sphinx.application import Sphinx

PLACE = "python"
"""Folder under ``_static`` of the built book."""


def add_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give a notebook's page the script that makes its answer cells editors."""
    if app.builder.format == "html" and page.startswith(f"{FOLDER}/"):
        for name in ("facts.js", "page.js"):
            app.add_js_file(f"{PLACE}/{name}", loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook into Sphinx."""
    app.connect("html-page-context", add_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
