"""Write a quiet line of links at the end of a section: for instance the names of the library that it explains."""

from collections.abc import Iterable
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx


def section_of(doctree: nodes.document, label: str) -> nodes.section | None:
    """Find the section that a label names; None where there is none."""
    return next((section for section in doctree.findall(nodes.section) if label in section["ids"]), None)


def link(domain: str, reftype: str, target: str, child: nodes.Node, **more: Any) -> pending_xref:
    """Make a link that Sphinx resolves, or complains of: ("py", "obj", a dotted name) or ("std", "ref", a label)."""
    return pending_xref("", child, refdomain=domain, reftype=reftype, reftarget=target, refwarn=True, **more)


def append_line(section: nodes.section, kind: str, lead: str, links: Iterable[nodes.Node]) -> None:
    """Put "lead link, link." behind what the section says, before its first section inside.

    Links of several kinds share one line, in the order in which they were put there. ``kind`` is a class of the line,
    or of its part, for its style and for tests. ``lead`` has no space behind it; links may still have to be resolved.
    """
    inside = next((i for i, child in enumerate(section.children) if isinstance(child, nodes.section)), None)
    # A label of the section that follows stands before it, and has to stay next to it.
    place = len(section.children) if inside is None else inside
    while place and isinstance(section.children[place - 1], nodes.target):
        place -= 1
    before = section.children[place - 1] if place else None
    if isinstance(before, nodes.paragraph) and "section-line" in before["classes"]:
        before += nodes.Text(" · ")
        line = nodes.inline(classes=[kind])
        before += line
    else:
        line = nodes.paragraph(classes=["section-line", kind])
        section.insert(place, line)
    line += nodes.Text(lead)
    for number, link in enumerate(links):
        line += nodes.Text(", " if number else " ")
        line += link


def setup(app: Sphinx) -> dict[str, Any]:
    """Nothing to hook in: other extensions use what stands here."""
    return {"parallel_read_safe": True, "parallel_write_safe": True}
