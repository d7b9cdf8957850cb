"""Show ``book/coverage.yml`` as a page: for each row of the list of contents, where it is taught, tested and drawn.

A task or figure that no row lists belongs to the row of its section (which it names, or which draws it): the last row
of the chapter that begins before it on the page.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from as_shown import differing
from docutils import nodes
from exercise_notebooks import exercises
from page_needs import Project
from public_names import COVERAGE, PACKAGES, documented, rows
from section_links import link
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

import softlookup_judge as checking
from softlookup_course import widgets
from softlookup_course.widgets.interactive import InteractiveFigure

TABLE = "book/coverage"
BEYOND = 90
"""Rows from this number on belong to notebooks of no chapter."""

KINDS = (("tasks", "Tasks"), ("library", "Library"), ("figures", "Figures"), ("widgets", "Interactive figures"))


class CoverageTable(SphinxDirective):
    """``.. coverage-table::``: a section for each chapter, an entry for each row."""

    def run(self) -> list[nodes.Node]:
        """Read the table and write it."""
        for path in (COVERAGE, *pages()):
            self.env.note_dependency(str(path))
        chapters: dict[int, nodes.definition_list] = {}
        made: list[nodes.Node] = []
        here = {task.id for exercise in exercises(Path(self.env.srcdir)).values() for task in exercise.rows}
        for number, row in sorted(whole_rows().items(), key=lambda item: int(item[0].split(".")[0])):
            chapter = int(number.split(".")[0])
            page = page_of(row["anchor"])
            if f"book/{page.stem}" not in self.env.found_docs:
                continue
            if chapter not in chapters:
                title = "Beside the chapters" if chapter >= BEYOND else f"Chapter {chapter}: {title_of(row['anchor'])}"
                section = nodes.section(ids=[f"coverage-{chapter}"], names=[title.lower()])
                chapters[chapter] = nodes.definition_list(classes=["coverage"])
                section += [nodes.title("", title), chapters[chapter]]
                made.append(section)
            chapters[chapter] += entry(number, row | {"tasks": [task for task in row["tasks"] if task in here]})
        return made


def whole_rows() -> dict[str, dict[str, Any]]:
    """Give the rows with all their tasks, figures and interactive figures."""
    table = {number: {field: [] for field, _ in KINDS} | row for number, row in rows().items()}
    listed = {
        name for row in rows().values() for field in ("tasks", "figures", "widgets") for name in row.get(field, [])
    }
    for task in checking.tasks():
        if task.id not in listed:
            stem = Path(task.book_url.partition(".html")[0]).name
            row = row_of(table, int(task.id.split(".")[0]), stem, labels(stem).get(task.anchor, 0))
            row["tasks"] = [*row["tasks"], task.id]
    for page in pages():
        for field, name, at in drawn(page.read_text(encoding="utf-8")):
            row = row_of(table, int(page.name[:2]), page.stem, at)
            if name not in listed and name not in row[field]:
                row[field] = [*row[field], name]
    return table


def pages() -> list[Path]:
    """List the files of the chapters' pages."""
    return sorted(COVERAGE.parent.glob("[0-9]*.md"))


@cache
def labels(stem: str) -> dict[str, int]:
    """Say where each label of a page stands in its text."""
    text = COVERAGE.with_name(f"{stem}.md").read_text(encoding="utf-8")
    return {match[1]: match.start() for match in re.finditer(r"^\(([\w-]+)\)=$", text, re.M)}


def row_of(table: dict[str, dict[str, Any]], chapter: int, stem: str, at: int) -> dict[str, Any]:
    """Find the chapter's row for a place of a page: the last that begins before it, else the page's first, or any."""
    in_chapter = [row for number, row in table.items() if int(number.split(".")[0]) == chapter]
    here = sorted(
        (labels(stem).get(row["anchor"].rpartition("#")[2], 0), place)
        for place, row in enumerate(in_chapter)
        if page_of(row["anchor"]).stem == stem
    )
    before = [place for begin, place in here if begin <= at]
    return in_chapter[before[-1] if before else here[0][1] if here else 0]


@cache
def interactive_figures() -> set[str]:
    """Name the classes of interactive figures."""
    known = ((name, getattr(widgets, name)) for name in dir(widgets))
    return {name for name, obj in known if isinstance(obj, type) and issubclass(obj, InteractiveFigure)}


def drawn(text: str) -> Iterable[tuple[str, str, int]]:
    """Name the figures and interactive figures that the code of a page uses, with where: as (field, name, place)."""
    for cell in re.finditer(r"```\{code-cell\}.*?\n```", text, re.S):
        for match in re.finditer(r"(?<!softlookup_course\.)\bfigures\.(\w+)|\b([A-Z]\w+)\b", cell[0]):
            if match[1] and match[1] not in ("show", "wrong_cells"):
                yield "figures", f"softlookup_course.figures.{match[1]}", cell.start()
            elif match[2] in interactive_figures():
                yield "widgets", f"softlookup_course.widgets.{match[2]}", cell.start()


def page_of(anchor: str) -> Path:
    """Find the file of the page that an anchor is on."""
    return COVERAGE.with_name(anchor.partition(".html")[0] + ".md")


def title_of(anchor: str) -> str:
    """Read the title of the page that an anchor is on."""
    text = page_of(anchor).read_text(encoding="utf-8")
    return next(line[2:] for line in text.splitlines() if line.startswith("# "))


def entry(number: str, row: dict[str, Any]) -> nodes.definition_list_item:
    """Write one row: its title leads to its section, below it stands what belongs to it."""
    label = row["anchor"].rpartition("#")[2]
    definition = nodes.definition()
    for field, heading in KINDS:
        if row[field]:
            definition += nodes.paragraph(
                "", "", nodes.Text(f"{heading}: "), *joined(shown(field, name) for name in row[field])
            )
    title = link("std", "ref", label, nodes.inline("", row["title"]), refexplicit=True)
    return nodes.definition_list_item("", nodes.term("", "", nodes.Text(f"{number} "), title), definition)


def shown(field: str, name: str) -> nodes.Node:
    """Link a task to the section that it tests, and a name to its reference where there is one."""
    if field == "tasks":
        task = checking.get_task(name)
        return link("std", "ref", task.anchor, nodes.inline("", name), refexplicit=True)
    text = nodes.literal("", name.removeprefix("softlookup.").removeprefix(f"softlookup_course.{field}."))
    if any(name in names for package in PACKAGES for names in documented(package).values()):
        return link("py", "obj", name, text)
    return text


def joined(parts: Iterable[nodes.Node]) -> list[nodes.Node]:
    """Put commas between."""
    return [node for place, part in enumerate(parts) for node in ([nodes.Text(", ")] if place else []) + [part]]


def read_anew(app: Sphinx, env: BuildEnvironment, *_: set[str]) -> list[str]:
    """Name the table's page where a file of the library has changed: titles of tasks, and names with a reference."""
    whole = differing(app, "coverage table", {"": Project(Path(app.srcdir)).everything})
    return [TABLE] if whole and TABLE in env.found_docs else []


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in."""
    app.add_directive("coverage-table", CoverageTable)
    app.connect("env-get-outdated", read_anew)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
