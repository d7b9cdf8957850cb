"""A course's book has a part of the pages: what leads to the others becomes plain words.

Which pages and tasks there are, the course's folder says by what lies in it. What else there could be is read from the
checkout, so that a link to something that no book has stays a warning. In the checkout's own book nothing is left out.
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from chapter_numbers import chapter_of
from docutils import nodes
from exercise_notebooks import exercises
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform

CHECKOUT = Path(__file__).resolve().parents[2]
_LABEL = re.compile(r"^\((?P<label>[a-z0-9-]+)\)=$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
_MARKED = re.compile(r"(?P<formula>\$[^$]+\$)|`(?P<code>[^`]+)`")
_PLACE = re.compile(r'<a\b[^>]*?\bhref="(?P<to>[^"#?:]+\.html)[^"]*"[^>]*>(?P<words>.*?)</a>', re.DOTALL)
_VALUE = re.compile(r'"(?P<to>\d\d_\w+)\.html#[\w-]+"')


@dataclass(frozen=True)
class Place:
    """What a link of the whole book leads to: a page, and the heading there."""

    page: str
    title: str


@cache
def whole(root: Path = CHECKOUT) -> dict[str, Place]:
    """All pages and labels of the whole book, by name."""
    places: dict[str, Place] = {}
    sources = {path: path.read_text(encoding="utf-8") for path in sorted((root / "book").rglob("*.md"))}
    pages = {path.relative_to(root).with_suffix("").as_posix() for path in sources}
    for path, text in sources.items():
        page = path.relative_to(root).with_suffix("").as_posix()
        title = _HEADING.search(text)
        number = chapter_of(page, pages)
        places[page] = Place(page, f"{number}. {title[1]}" if number and title else title[1] if title else page)
        for label in _LABEL.finditer(text):
            heading = re.match(r"\s*#{1,6} +(.+?) *\n", text[label.end() :])
            above = [heading[1]] if heading else _HEADING.findall(text, 0, label.start())
            places[label["label"]] = Place(page, above[-1] if above else places[page].title)
    for page, exercise in exercises(root).items():
        places[page] = Place(page, exercise.title)
        places |= {row.anchor: Place(page, row.title) for row in exercise.rows}
    return places


@cache
def _task_titles(root: Path = CHECKOUT) -> dict[str, str]:
    return {row.id: row.title for exercise in exercises(root).values() for row in exercise.rows}


def left_out_tasks(srcdir: Path, root: Path = CHECKOUT) -> dict[str, str]:
    """The tasks that the whole book has and a course, built from ``srcdir``, has not, with their titles."""
    here = {row.id for exercise in exercises(srcdir).values() for row in exercise.rows}
    return {task: title for task, title in _task_titles(root).items() if task not in here}


def left_out(node: pending_xref, env: BuildEnvironment) -> Place | None:
    """What a link leads to, if the whole book has it and this one has not; else None."""
    target, kind = str(node["reftarget"]), (node.get("refdomain") or "", node["reftype"])
    if kind == ("std", "ref"):
        names = [target.lower()]
    elif kind == ("", "myst") or kind[1] == "doc":
        name, _, label = target.partition("#")
        beside = posixpath.join("/", posixpath.dirname(node.get("refdoc", env.docname)), name.removesuffix(".md"))
        names = [label or name, posixpath.normpath(beside).lstrip("/")]
    else:
        return None
    place = next((whole()[name] for name in names if name in whole()), None)
    if place is None or (place.page in env.found_docs and not place.page.startswith("exercises/")):
        return None
    labels = env.get_domain("std").anonlabels  # type: ignore[attr-defined]
    return None if any(name in labels or name in env.found_docs for name in names) else place


def plain(text: str) -> Iterator[nodes.Node]:
    """The words of a heading, with its formulas and code."""
    at = 0
    for mark in _MARKED.finditer(text):
        yield nodes.Text(text[at : mark.start()])
        yield nodes.literal("", mark["code"]) if mark["code"] else nodes.math("", mark["formula"].strip("$"))
        at = mark.end()
    yield nodes.Text(text[at:])


class PlainLinks(SphinxPostTransform):
    """Turn links to what was left out into their words, before anybody looks for their targets."""

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Turn them."""
        for node in list(self.document.findall(pending_xref)):
            place = left_out(node, self.env)
            if place is None:
                continue
            if node.get("refexplicit") and node.astext():
                words = [part for child in node.children for part in _inside(child)]
            else:
                words = list(plain(place.title))
            node.replace_self(nodes.inline("", "", *words, classes=["left-out"]))


def _inside(child: nodes.Node) -> list[nodes.Node]:
    """What a link's inner node holds, without the node that marks it as a link."""
    marks = isinstance(child, nodes.inline | nodes.literal) and "xref" in child["classes"]
    return list(child.children) if marks else [child]


def plain_tasks(app: Sphinx, doctree: nodes.document) -> None:
    """Give tasks that were left out their title in place of their name, and take out boxes that ask for no other."""
    absent = left_out_tasks(Path(app.srcdir))
    if app.env.docname.startswith("book/reference"):
        return
    for box in list(doctree.findall(nodes.admonition)):
        tasks = [literal.astext() for literal in box.findall(nodes.literal) if literal.astext() in _task_titles()]
        if "task" in box["classes"] and tasks and absent.keys() >= {*tasks}:
            box.parent.remove(box)
    for name in list(doctree.findall(nodes.literal)):
        if name.astext() in absent:
            name.replace_self(nodes.inline("", "", *plain(absent[name.astext()]), classes=["left-out"]))


def plain_html(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Do the same with what cells have written as HTML, and with places that interactive figures lead to."""
    if "body" not in context:
        return

    def absent(to: str) -> bool:
        page = posixpath.normpath(posixpath.join(posixpath.dirname(pagename), to)).removesuffix(".html")
        return page in whole() and page not in app.env.found_docs

    body = _PLACE.sub(lambda match: match["words"] if absent(match["to"]) else match[0], context["body"])
    context["body"] = _VALUE.sub(lambda match: '""' if absent(f"{match['to']}.html") else match[0], body)


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in."""
    app.add_post_transform(PlainLinks)
    app.connect("doctree-read", plain_tasks, priority=950)
    app.connect("html-page-context", plain_html, priority=950)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
