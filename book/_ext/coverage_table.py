"""Show ``book/coverage.yml`` as a page: for each row of the list of contents, where it is taught, tested and drawn."""

from collections.abc import Iterable
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

TABLE = "book/coverage"
BEYOND = 90
"""Rows from this number on belong to notebooks of no chapter."""

KINDS = (("tasks", "Tasks"), ("library", "Library"), ("figures", "Figures"), ("widgets", "Interactive figures"))


class CoverageTable(SphinxDirective):
    """``.. coverage-table::``: a section for each chapter, an entry for each row."""

    def run(self) -> list[nodes.Node]:
        """Read the table and write it."""
        self.env.note_dependency(str(COVERAGE))
        chapters: dict[int, nodes.definition_list] = {}
        made: list[nodes.Node] = []
        here = {task.id for exercise in exercises(Path(self.env.srcdir)).values() for task in exercise.rows}
        for number, row in sorted(rows().items(), key=lambda item: int(item[0].split(".")[0])):
            chapter = int(number.split(".")[0])
            page = page_of(row["anchor"])
            if f"book/{page.stem}" not in self.env.found_docs:
                continue
            if chapter not in chapters:
                title = "Beside the chapters" if chapter >= BEYOND else f"Chapter {chapter}: {title_of(row['anchor'])}"
                self.env.note_dependency(str(page))
                section = nodes.section(ids=[f"coverage-{chapter}"], names=[title.lower()])
                chapters[chapter] = nodes.definition_list(classes=["coverage"])
                section += [nodes.title("", title), chapters[chapter]]
                made.append(section)
            chapters[chapter] += entry(number, row | {"tasks": [task for task in row["tasks"] if task in here]})
        return made


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
    text = nodes.literal("", name.removeprefix("softlookup.").removeprefix(f"{field}."))
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
