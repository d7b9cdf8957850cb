"""A page for each notebook of exercises, as it is before anybody has begun: never executed, linked both ways.

The notebooks themselves are the pages' sources (``_toc.yml`` names them below their chapters). Here each gets a head,
with what is asked and where to open it; and on the chapters' pages the names of tasks become links to them.
"""

from html import escape
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from exercise_notebooks import FOLDER, OWN, Exercise, exercises, page_text
from launch import BadAddress, Places
from section_links import link
from sphinx.addnodes import download_reference
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

LAB = """\
<details class="exr-lab">
<summary>{lead}</summary>
<div><p>In the course's folder, <code>make lab</code> opens JupyterLab. The notebook is
<code>{path}</code>.</p>
<p>It runs already? <a class="external" href="{address}">Open it there</a>, unless another program has its usual
port.</p></div>
</details>
"""

RUNNING = "book/00_before_you_start_running"
"""The page that says where notebooks run; a course's book may be without it."""


def chapters(contents: Any, above: str = "") -> dict[str, str]:
    """Find the page that each page of the contents, ``_toc.yml`` or a part of it, stands below.

    Pages that stand below none are left out; ``above`` is the page that this part stands below.
    """
    if isinstance(contents, list):
        return {page: parent for part in contents for page, parent in chapters(part, above).items()}
    if not isinstance(contents, dict):
        return {}
    here = contents.get("file", above)
    parents = {here: above} if "file" in contents and above else {}
    for part in contents.values():
        parents |= chapters(part, here)
    return parents


def count(number: float, unit: str) -> str:
    """A number with its unit: "1 point", "2 points"."""
    return f"{number:g} {unit}" if number == 1 else f"{number:g} {unit}s"


class Head(SphinxDirective):
    """What is asked, how long it takes, the chapter to it, and where to open the notebook."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make the head of the page that is being read."""
        exercise = exercises(Path(self.env.srcdir))[self.env.docname]
        places = places_of(self.config)
        chapter = chapters(yaml.safe_load(Path(self.env.srcdir, "_toc.yml").read_text(encoding="utf-8"))).get(
            exercise.docname
        )
        if chapter is None:
            raise self.error(f"{exercise.docname} stands below no chapter in _toc.yml")
        self.env.note_dependency(str(Path(self.env.srcdir, "_toc.yml")))
        by_hand = sum("." not in row.id for row in exercise.rows)
        tasks = count(len(exercise.rows) - by_hand, "checked task") + (
            f" and {count(by_hand, 'written answer')}" if by_hand else ""
        )
        facts = nodes.paragraph(classes=["exr-facts"])
        facts += nodes.Text(
            f"{tasks} · about {exercise.minutes} minutes · {count(exercise.points, 'point')} · chapter: "
        )
        # Without a title of its own the link gets the page's.
        facts += link("std", "doc", f"/{chapter}", nodes.inline(), refexplicit=False)
        return [nodes.container("", facts, self._doors(exercise, places), self._library(places), classes=["exr-head"])]

    def _doors(self, exercise: Exercise, places: Places) -> nodes.Node:
        doors = nodes.container(classes=["exr-doors"])
        text = nodes.inline("", "Download the notebook")
        doors += nodes.paragraph(
            "",
            "",
            download_reference(
                "",
                "",
                text,
                refdoc=self.env.docname,
                reftarget=f"/{exercise.path}",
                classes=["exr-door", "exr-first"],
            ),
        )
        if places.jupyterlab:
            doors += self._door("Open in JupyterLab", places.lab(exercise.path))
        if hub := places.hub(exercise.path):
            doors += self._door("Open on the course's hub", hub)
        if colab := places.on_colab(exercise.path):
            doors += self._door("Open in Colab", colab)
        if not places.jupyterlab:
            path = exercise.path.replace(FOLDER, OWN, 1)
            html = LAB.format(lead="Open in your JupyterLab", path=escape(path), address=escape(places.lab(path)))
            doors += nodes.raw("", html, format="html")
        return doors

    def _door(self, says: str, address: str) -> nodes.Node:
        door = nodes.reference("", says, refuri=address, classes=["exr-door"])
        return nodes.paragraph("", "", door)

    def _library(self, places: Places) -> nodes.Node:
        """How the library gets to where the notebook runs."""
        parsed, _ = self.state.inline_text(
            "Do the tasks right here: *Do it here* opens an editor with a check, in numpy, with nothing to install. "
            "Or open the notebook elsewhere, in torch; there its cells run. "
            + (
                "The first of them fetches the library where it is missing."
                if places.install
                else "The first of them looks whether the library is there, and says what to do where it is not."
            )
            + (" More on that: " if RUNNING in self.env.found_docs else ""),
            self.lineno,
        )
        line = nodes.paragraph("", "", *parsed, classes=["exr-library"])
        if RUNNING in self.env.found_docs:
            line += link("std", "ref", "before-run", nodes.inline("", "where can I run them?"), refexplicit=True)
            line += nodes.Text(" ")
        return line


class Listing(SphinxDirective):
    """All notebooks, with how much is in each."""

    def run(self) -> list[nodes.Node]:
        """Make the table."""
        root = Path(self.env.srcdir)
        every = exercises(root)
        for exercise in every.values():
            self.env.note_dependency(str(root / exercise.path))
        head = ("notebook", "tasks", "minutes", "points")
        table = nodes.table(classes=["colwidths-auto", "exr-list"])
        group = nodes.tgroup(cols=len(head))
        table += group
        group += [nodes.colspec(colwidth=1) for _ in head]
        top, body = nodes.thead(), nodes.tbody()
        group += [top, body]
        top += nodes.row("", *(nodes.entry("", nodes.paragraph("", text)) for text in head))
        for exercise in every.values():
            page = link("std", "doc", f"/{exercise.docname}", nodes.inline(), refexplicit=False)
            numbers = (len(exercise.rows), exercise.minutes, f"{exercise.points:g}")
            body += nodes.row(
                "",
                nodes.entry("", nodes.paragraph("", "", page)),
                *(nodes.entry("", nodes.paragraph("", str(number))) for number in numbers),
            )
        whole = (
            sum(len(exercise.rows) for exercise in every.values()),
            sum(exercise.minutes for exercise in every.values()),
            f"{sum(exercise.points for exercise in every.values()):g}",
        )
        body += nodes.row(
            "",
            nodes.entry("", nodes.paragraph("", "all of them")),
            *(nodes.entry("", nodes.paragraph("", str(number))) for number in whole),
        )
        return [table]


def as_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """Hand the reader of notebooks the page's text in place of the file's."""
    exercise = exercises(Path(app.srcdir)).get(docname)
    if exercise is not None:
        source[0] = page_text(exercise, source[0])


def link_tasks(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make a link of each task's name that stands as code on a page of the book."""
    if app.builder.format != "html" or docname.startswith("book/reference"):
        return
    every = {row.id: (page, row) for page, exercise in exercises(Path(app.srcdir)).items() for row in exercise.rows}
    for name in list(doctree.findall(nodes.literal)):
        known = every.get(name.astext())
        if known is None or _inside(name, (nodes.reference, nodes.title)):
            continue
        page, row = known
        target = f"#{row.anchor}" if page == docname else f"{app.builder.get_relative_uri(docname, page)}#{row.anchor}"
        place = nodes.reference("", "", refuri=target, internal=True, reftitle=row.title, classes=["task-name"])
        name.replace_self(place)
        place += name


def _inside(node: nodes.Node, kinds: tuple[type, ...]) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


def places_of(config: Config) -> Places:
    """Read the addresses that _config.yml sets; ExtensionError if one of them is of no use."""
    options = config.html_theme_options
    repository, branch = (str(options.get(f"repository_{name}") or "") for name in ("url", "branch"))
    try:
        return Places.of(config.softlookup_launch or {}, repository, branch)
    except BadAddress as error:
        raise ExtensionError(f"_config.yml: {error}") from error


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in."""
    app.add_config_value("softlookup_launch", {}, "env")
    app.add_directive("exercise-head", Head)
    app.add_directive("exercise-list", Listing)
    app.connect("config-inited", lambda app, config: places_of(config))
    app.connect("source-read", as_page)
    app.connect("doctree-resolved", link_tasks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
