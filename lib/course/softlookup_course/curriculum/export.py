"""Execute a page, or take its outputs from the book's cache, and export its slides."""

import importlib.util
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType

import nbformat
from nbformat import NotebookNode

from softlookup_course.curriculum.pages import PageError, chapter_files
from softlookup_course.curriculum.slides import slides_notebook
from softlookup_course.curriculum.vendored import checkout, copy_mathjax, copy_parts, vendored

REVEAL_PARTS = (
    "dist/reveal.js",
    "dist/reveal.css",
    "dist/theme/white.css",
    "dist/theme/fonts",
    "plugin/notes/notes.js",
)
TEMPLATES = Path(__file__).with_name("templates")
CELL_SECONDS = 240


def executed(file: Path, root: Path) -> NotebookNode:
    """A page with its outputs, from the book's last build if they still hold; RuntimeError if a cell fails."""
    from myst_nb.core.read import read_myst_markdown_notebook

    notebook = read_myst_markdown_notebook(file.read_text(encoding="utf-8"), path=str(file))
    return _cached(notebook, root) or _run(notebook, file)


def _cached(notebook: NotebookNode, root: Path) -> NotebookNode | None:
    """The notebook with the outputs of the last build, or None where they do not hold any more."""
    needs = _page_needs(root)
    folder = needs.kept_folder(root)
    if not (folder / "global.db").exists():
        return None
    return needs.Kept(folder, needs.Project(root)).outputs(notebook)


def _page_needs(root: Path) -> ModuleType:
    """The book's own module that says whether kept outputs still hold."""
    spec = importlib.util.spec_from_file_location("page_needs", root / "book" / "_ext" / "page_needs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run(notebook: NotebookNode, file: Path) -> NotebookNode:
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    folder = {"metadata": {"path": str(file.parent)}}
    client = NotebookClient(notebook, timeout=CELL_SECONDS, kernel_name="python3", resources=folder)
    try:
        client.execute(env=os.environ | {"MPLBACKEND": "agg", "PYTHONHASHSEED": "0"})
    except CellExecutionError as error:
        raise RuntimeError(f"{file.name}: a cell fails: {str(error).strip().splitlines()[-1]}") from None
    return notebook


def as_html(notebook: NotebookNode) -> str:
    """Export a notebook of slides; what it loads has to lie beside it, in ``reveal`` and ``mathjax``."""
    from nbconvert.exporters import SlidesExporter

    exporter = SlidesExporter(
        template_name="slides",
        extra_template_basedirs=[str(TEMPLATES)],
        reveal_url_prefix="reveal",
        reveal_theme="white",
        exclude_input=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
    )
    return str(exporter.from_notebook_node(notebook)[0])


Pictures = Callable[[str], Sequence[bytes]]
"""Gives the pictures of a page's interactive figures, by the page's name."""


def write_slides(
    chapters: Iterable[int], folder: Path, root: Path | None = None, live: Pictures = lambda page: ()
) -> Iterable[Path]:
    """Write the slides of chapters (all if none is given) as HTML and notebooks; ``live`` pictures a page's figures."""
    root = root or checkout()
    files = chapter_files(root / "book")
    numbers = list(chapters) or list(files)
    strange = [chapter for chapter in numbers if chapter not in files]
    if strange:
        raise PageError(f"there is no chapter {', '.join(map(str, strange))}: choose from {', '.join(map(str, files))}")
    copy_mathjax(folder / "mathjax", root)
    copy_parts(vendored(Path("reveal.js"), REVEAL_PARTS[0], root), REVEAL_PARTS, folder / "reveal")
    for chapter in numbers:
        name = files[chapter].stem
        notebook = slides_notebook(executed(files[chapter], root), name, live(name))
        for ending, text in ((".ipynb", nbformat.writes(notebook) + "\n"), (".html", as_html(notebook))):
            path = folder / f"{name}{ending}"
            path.write_text(text, encoding="utf-8")
            yield path
