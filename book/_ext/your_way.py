"""The page *Your way*: its script, and the file in which ``softlookup progress`` brings what notebooks say.

The file is written empty with every build, so that a book that is passed on holds nobody's progress; the page keeps in
the reader's browser what it has once shown.
"""

import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from softlookup_course.progress.report import EMPTY, SCRIPT

PAGE = "book/your_way"
OWN = "vendor/your_way.js"
"""Not under the source's _static folder: Jupyter Book would load it on every page."""


def load_scripts(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """On the page itself, load its script; that loads the record, whose address must not change with its content."""
    if pagename == PAGE:
        app.add_js_file(OWN, loading_method="defer")


def write_files(app: Sphinx, exception: Exception | None) -> None:
    """Put both scripts into the built book."""
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    target = out / "_static" / OWN
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(Path(__file__).with_name("your_way.js"), target)
    (out / SCRIPT).write_text(EMPTY, encoding="ascii")


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in."""
    app.connect("html-page-context", load_scripts)
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
