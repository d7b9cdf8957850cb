"""Lead back to the slides: at the end of each section that explains audited statements, one small line with a link.

Where the section has a folded box *On the slides*, the line stands in it. The box itself is moved to the section's end,
where it interrupts nobody.

The statements themselves name their sections (``softlookup_course.slide_audit``), and the page *The slides, recomputed*
links to them. Nothing is typed on the chapters' pages.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from as_shown import differing, shown
from docutils import nodes
from page_needs import Project
from section_links import append_line
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

LIST = "book/14_slides_recomputed"
"""The page that lists all statements; ``?section=LABEL`` narrows its list to one section's."""

CLASS = "on-the-slides"
BOX = "slides-box"
TITLE = "On the slides"
"""What a section's folded box about slides is called."""
log = logging.getLogger(__name__)


@cache
def explained() -> dict[str, dict[str, int]]:
    """Count the statements that each section explains, by page and label."""
    from softlookup_course.slide_audit import items
    from softlookup_course.slide_audit.listing import sections

    return sections(items())


def append(section: nodes.section, target: str, label: str, count: int) -> None:
    """Put the line into the section's box *On the slides*, or at the section's end.

    It says how many statements the section, which ``label`` names, explains, and links to ``target``, the list as the
    page sees it.
    """
    text = f"{count} statement{'s' if count > 1 else ''} recomputed"
    link = nodes.reference("", text, refuri=f"{target}?section={label}#slides-all", internal=True)
    for child in section:
        if is_box(child):
            child[-1].append(nodes.paragraph("", "", link, classes=[CLASS]))
            return
    append_line(section, CLASS, f"{TITLE}:", [link])


def is_box(node: nodes.Node) -> bool:
    """Say whether a node is a folded box about slides."""
    plain = isinstance(node, nodes.Element) and not isinstance(node, nodes.section)
    return plain and len(node) > 1 and node[0].astext() == TITLE


def boxes_to_end(doctree: nodes.document) -> None:
    """Move each folded box about slides behind what its section says: before links, labels and sections inside."""
    for section in list(doctree.findall(nodes.section)):
        moved = [child for child in section if is_box(child)]
        for box in moved:
            box["classes"].append(BOX)
            section.remove(box)
        place = next((i for i, child in enumerate(section) if isinstance(child, nodes.section)), len(section))
        while place and (
            isinstance(section[place - 1], nodes.target) or "section-line" in section[place - 1].get("classes", [])
        ):
            place -= 1
        section.children[place:place] = moved
        for box in moved:
            box.parent = section


def add_lines(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the lines at the ends of a page's sections."""
    folder, _, page = docname.rpartition("/")
    if folder == "book" and app.builder.format == "html":
        boxes_to_end(doctree)
    labels = explained().get(page, {}) if folder == "book" else {}
    # A course's book may be without the list.
    if not labels or app.builder.format != "html" or LIST not in app.env.found_docs:
        return
    by_id = {name: section for section in doctree.findall(nodes.section) for name in section["ids"]}
    target = app.builder.get_relative_uri(docname, LIST)
    for label, count in labels.items():
        if label in by_id:
            append(by_id[label], target, label, count)
        else:
            log.warning("statements of the slides name %r, which is no section of this page", label, location=docname)


def read_anew(app: Sphinx, env: BuildEnvironment, *_: set[str]) -> list[str]:
    """Name the pages whose lines are no longer those with which they were last written.

    The lines are worked out again only where a file of the library has changed.
    """
    explained.cache_clear()
    lines = shown(app, "lines to the slides")
    if differing(app, "statements of the slides", {"": Project(Path(app.srcdir)).everything}):
        lines = {f"book/{page}": json.dumps(counts) for page, counts in explained().items()}
    return sorted({*differing(app, "lines to the slides", lines)} & env.found_docs)


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in, where the page's references are all known."""
    app.connect("env-get-outdated", read_anew)
    app.connect("doctree-resolved", add_lines)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
