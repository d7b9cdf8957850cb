"""A built page as sections with plain text, for the search: no code, no figures, formulas in words and signs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from textwrap import shorten

from bs4 import BeautifulSoup, NavigableString, PageElement, Tag
from plain_formulas import plain

UNSEEN = re.compile(r"<(pre|script|style|svg|template)\b.*?</\1>|data:image/[^\"']+", re.S)
"""What no reader reads as text; taken away before the page is taken apart, which is most of it."""
LEFT_OUT = frozenset(
    "above-input cell_input cell_output chapter-number exr-doors field-list figure-number headerlink section-line sig "
    "task task-name widget-fallback".split()
)
"""Classes of what no result quotes: figures and tables that cells draw, boxes with tasks, lines under every section."""
ASIDE = frozenset({"summary", "button", "select", "h1", "h2", "h3", "h4", "h5", "h6"})
"""Elements of the same kind; headings are titles."""

BLOCKS = frozenset("p li ul ol dl dt dd div td th tr table figcaption h1 h2 h3 h4 h5 blockquote br".split())


@dataclass
class Section:
    """A part of a page that has an anchor: a section, an entry of the glossary, a name of the library, a work.

    Attributes:
        anchor: Its label, or its id where it has none; empty for a page without a heading.
        level: The level of its heading.
        title: Its heading.
        pieces: Its text, in pieces.
        keys: Words that it defines or links to the glossary.
    """

    anchor: str
    level: int
    title: str
    pieces: list[str] = field(default_factory=list)
    keys: dict[str, None] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All of its words on one line."""
        return re.sub(r"\s+(?=[,.;:?!)])", "", " ".join("".join(self.pieces).split()))


def _is_left_out(node: Tag) -> bool:
    if node.name == "td" and node.find(class_="task-name"):
        return True
    return node.name in ASIDE or not LEFT_OUT.isdisjoint(node.get("class") or ())


def _is_formula(node: Tag) -> bool:
    return "math" in (node.get("class") or ())


def words(node: PageElement, heading: bool = False) -> str:
    """The text of a part of a page, formulas as plain text."""
    if isinstance(node, Tag):
        if _is_left_out(node) and not heading:
            return ""
        if _is_formula(node):
            return f" {plain(node.get_text())} " if node.name == "div" else plain(node.get_text())
        inside = "".join(map(words, node.children))
        return f" {inside} " if node.name in BLOCKS else inside
    return str(node) if type(node) is NavigableString else ""


def _begins(node: Tag) -> Section | None:
    """The section that begins with this element, if one does."""
    if node.name == "section":
        heading = node.find(re.compile(r"^h[1-6]$"), recursive=False)
        labels = [label for label in node.find_all("span", id=True, recursive=False) if not label.get_text(strip=True)]
        if isinstance(heading, Tag):
            title = " ".join(words(heading, heading=True).split())
            return Section(str((labels or [node])[0]["id"]), int(heading.name[1]), title)
    if node.name == "dl" and "glossary" not in (node.get("class") or ()):
        first = node.find("dt", id=True, recursive=False)
        name = first.find(class_="descname") if isinstance(first, Tag) else None
        if isinstance(first, Tag) and isinstance(name, Tag):
            return Section(str(first["id"]), 3, str(first["id"]).removeprefix("softlookup."))
    if node.name == "div" and "citation" in (node.get("class") or ()) and node.get("id"):
        return Section(str(node["id"]), 2, shorten(words(node), 80, placeholder=" …"))
    return None


def _is_term(node: Tag) -> bool:
    return node.name == "strong" or "std-term" in (node.get("class") or ())


def _walk(node: Tag, into: Section, out: list[Section]) -> None:
    for child in node.children:
        if not isinstance(child, Tag):
            into.pieces.append(words(child))
            continue
        begun = _begins(child)
        if begun is not None:
            out.append(begun)
            _walk(child, begun, out)
        elif "glossary" in (child.get("class") or ()):
            out.extend(_entries(child))
        elif "cell_output" in (child.get("class") or ()):
            into.pieces += map(words, child.find_all("figcaption"))
        elif not _is_left_out(child) and (child.name in ("div", "details", "dd") or child.find(["section", "dl"])):
            into.pieces.append(words(child) if _is_formula(child) else " ")
            if not _is_formula(child):
                _walk(child, into, out)
        else:
            into.pieces.append(words(child))
            into.keys |= dict.fromkeys(" ".join(words(term).split()) for term in child.find_all(_is_term))


def _entries(glossary: Tag) -> Iterator[Section]:
    """The entries of the glossary; terms that share a definition are one."""
    names: list[Tag] = []
    for child in glossary.find_all(["dt", "dd"], recursive=False):
        if child.name == "dt":
            names.append(child)
            continue
        title = ", ".join(" ".join(words(name).split()) for name in names)
        yield Section(str(names[0].get("id", "")), 2, title, [words(child)])
        names = []


def sections(page: str) -> list[Section]:
    """Take a built page, in HTML, apart: its sections in order, the page itself first; none where it has no article."""
    light = UNSEEN.sub("", page[max(page.find("<article"), 0) : page.rfind("</article>")])
    article = BeautifulSoup(light, "html.parser").find("article")
    if not isinstance(article, Tag):
        return []
    all_sections: list[Section] = []
    _walk(article, Section("", 1, ""), all_sections)
    return all_sections
