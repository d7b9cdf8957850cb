"""Tasks can be done in the book, and cells run: their script, and what it loads when somebody asks.

``scripts/pack_python.py`` packs Python beside the build, and ``scripts/build_book.py`` copies it into the book. Here
each notebook joins it, with the text of its tasks as its page shows them, and the cells of each page that has some
to run.
"""

import json
import posixpath
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jupytext
from bs4 import BeautifulSoup, Tag
from docutils import nodes
from exercise_notebooks import FOLDER, Exercise, exercises
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from softlookup_course.in_page.packing import library

PLACE = "python"
"""Folder under ``_static`` of the built book."""


RUN = "import sys; sys.path.insert(0, sys.argv[1]); from softlookup_course.in_page.runnable import main; main()"


@dataclass(frozen=True)
class Cells:
    """The code cells of a page.

    Attributes:
        sources: All of them, hidden ones too.
        shown: Numbers of those whose code the page shows, folded or not.
        run: Numbers of those that a reader can run: shown unfolded, in need of nothing that a page does not have.
    """

    sources: tuple[str, ...]
    shown: tuple[int, ...]
    run: tuple[int, ...]


def find_cells(app: Sphinx) -> None:
    """Find which cells of the book's pages can be run in a page, in one process that has what a page has."""
    app.in_page_cells = {}  # type: ignore[attr-defined]
    if app.builder.format != "html":
        return
    root = Path(app.srcdir)
    texts = {f"book/{path.stem}": path.read_text(encoding="utf-8") for path in sorted((root / "book").glob("*.md"))}
    notebooks = {page: jupytext.reads(text, fmt="md:myst") for page, text in texts.items() if "{code-cell}" in text}
    cells = {page: [cell for cell in each.cells if cell.cell_type == "code"] for page, each in notebooks.items()}
    sources = {page: [cell.source for cell in each] for page, each in cells.items()}
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder, "softlookup.zip")
        archive.write_bytes(library())
        command = [sys.executable, "-c", RUN, str(archive)]
        done = subprocess.run(command, input=json.dumps(sources), capture_output=True, text=True)
    if done.returncode:
        raise ExtensionError(f"the part of the library that a page has does not run there:\n{done.stderr}")
    for page, numbers in json.loads(done.stdout.splitlines()[-1]).items():
        tags = [set(cell.metadata.get("tags", ())) for cell in cells[page]]
        shown = tuple(n for n, cell_tags in enumerate(tags) if not cell_tags & {"remove-input", "remove-cell"})
        run = tuple(n for n in numbers if n in shown and "hide-input" not in tags[n])
        app.in_page_cells[page] = Cells(tuple(sources[page]), shown, run)  # type: ignore[attr-defined]


def changed(app: Sphinx, env: Any, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Name the pages to be written again: other cells of theirs run now, since what they import has changed."""
    before: dict[str, Cells] = getattr(env, "in_page_cells", {})
    env.in_page_cells = now = app.in_page_cells  # type: ignore[attr-defined]
    return [page for page in now if page in env.found_docs and page not in added and before.get(page) != now[page]]


def add_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give a page the script that opens editors, if it has tasks to do, or cells to run."""
    if app.builder.format != "html" or doctree is None:
        return
    boxes = (box for box in doctree.findall(nodes.admonition) if "task" in box["classes"])
    cells: Cells | None = app.in_page_cells.get(page)  # type: ignore[attr-defined]
    runs = cells is not None and cells.run
    if page.startswith(f"{FOLDER}/") or runs or next(boxes, None) is not None:
        for name in ("facts.js", "page.js"):
            app.add_js_file(f"{PLACE}/{name}", loading_method="defer")
    if cells is not None and runs:
        at = {cells.shown.index(number): number for number in cells.run}
        record = {"page": Path(page).name, "shown": len(cells.shown), "at": at}
        app.add_js_file(None, body=f"globalThis.softlookupCells={json.dumps(record)};")


def texts(page: str, folder: str) -> dict[str, dict[str, str]]:
    """Take the tasks from a notebook's built page, by id: title, text, address, with links from the book's first page.

    ``folder`` is the page's, from the book's first page.
    """
    by_task: dict[str, dict[str, str]] = {}
    soup = BeautifulSoup(page, "html.parser")
    for anchor in soup.find_all("span", id=re.compile(r"^exercise-\d\d-")):
        section = anchor.find_parent("section")
        heading = section.find(re.compile("^h[2-6]$"), recursive=False) if section else None
        if section is None or heading is None:
            continue
        for mark in heading.find_all("a", class_="headerlink"):
            mark.decompose()
        for link in section.find_all("a", href=True):
            link["href"] = _from_first_page(str(link["href"]), folder)
        text = (part for part in section.find_all(True, recursive=False) if _is_text(part) and part is not heading)
        number = str(anchor["id"]).removeprefix("exercise-").replace("-", ".", 1)
        address = _from_first_page(f"#{anchor['id']}", folder)
        by_task[number] = {"title": heading.get_text(), "html": "".join(map(str, text)), "page": address}
    return by_task


def _is_text(tag: Tag) -> bool:
    return tag.name not in ("span", "section") and "cell" not in (tag.get("class") or ())


def _from_first_page(address: str, folder: str) -> str:
    """An address seen from the book's first page; one outside stays."""
    if re.match(r"[a-z]+:", address):
        return address
    place, sign, label = address.partition("#")
    page = f"{folder}/{posixpath.basename(folder)}.html"
    return (posixpath.normpath(posixpath.join(folder, place)) if place else page) + sign + label


def script(
    exercise: Exercise, tasks: dict[str, dict[str, str]], following: dict[str, dict[str, str]], root: Path
) -> str:
    """A notebook with the texts of its tasks, as a script: pages from the disk can load nothing else.

    ``following`` are those of the notebook after it, whose first task comes next; empty after the last. ``root`` has
    the book's sources.
    """
    record = {
        "file": Path(exercise.path).name,
        "notebook": json.loads((root / exercise.path).read_text(encoding="utf-8")),
        "texts": tasks,
    }
    if following:
        first = next(iter(following.values()))
        record["next"] = {"title": first["title"], "page": first["page"]}
    number = int(exercise.name.partition("_")[0])
    return f"(globalThis.softlookupNotebooks??={{}})[{number}]={json.dumps(record)};"


def _texts_of(exercise: Exercise, out: Path) -> dict[str, dict[str, str]]:
    page = out / f"{exercise.docname}.html"
    return texts(page.read_text(encoding="utf-8"), f"{FOLDER}/{exercise.name}")


def write_scripts(app: Sphinx, error: Exception | None) -> None:
    """Write the scripts of notebooks and of pages' cells beside the packed Python."""
    if error is not None or app.builder.format != "html":
        return
    out, place = Path(app.outdir), Path(app.outdir, "_static", PLACE)
    place.mkdir(parents=True, exist_ok=True)
    known = exercises(Path(app.srcdir)).values()
    every = [exercise for exercise in known if exercise.rows and exercise.name[:2].isdigit()]
    every.sort(key=lambda exercise: exercise.name)
    tasks = [_texts_of(exercise, out) for exercise in every]
    for exercise, its_own, following in zip(every, tasks, [*tasks[1:], {}], strict=True):
        name = f"notebook_{int(exercise.name[:2])}.js"
        (place / name).write_text(script(exercise, its_own, following, Path(app.srcdir)), encoding="utf-8")
    for left_over in place.glob("cells_*.js"):  # of an earlier build, where the page's cells could run
        left_over.unlink()
    for page, cells in app.in_page_cells.items():  # type: ignore[attr-defined]
        if cells.run:
            name = Path(page).name
            record = f"(globalThis.softlookupSources??={{}})[{json.dumps(name)}]={json.dumps(cells.sources)};"
            (place / f"cells_{name}.js").write_text(record, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook into Sphinx."""
    app.add_config_value("softlookup_pyodide", "", "html")  # read by scripts/pack_python.py
    app.connect("builder-inited", find_cells)
    app.connect("env-get-outdated", changed)
    app.connect("html-page-context", add_scripts)
    app.connect("build-finished", write_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
