"""One road through the book: a chapter, its exercises, the next chapter. A side page leads back to its chapter.

The list at the side keeps the order of ``_toc.yml``, in which side pages stand between a chapter and its exercises. Its
parts are folded, except the one in which the page stands.
"""

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

CHAPTER = re.compile(r"book/\d\d_\w+")
START, END = "book/01_motivation", "book/your_way"
"""Where *Start reading* leads, and what comes after the last exercises."""


def neighbours(includes: dict[str, list[str]], root: str) -> dict[str, tuple[str, str]]:
    """Say which page comes before and after each page of the road, and of its side pages.

    ``includes`` has the pages listed below each page; an empty name is no page.

    Examples:
        >>> pages = {"r": ["book/01_motivation", "book/02_b"], "book/01_motivation": ["book/01_c", "exercises/01"]}
        >>> for page, beside in neighbours(pages, "r").items():
        ...     print(page, beside)
        book/01_c ('book/01_motivation', '')
        r ('', 'book/01_motivation')
        book/01_motivation ('r', 'exercises/01')
        exercises/01 ('book/01_motivation', 'book/02_b')
        book/02_b ('exercises/01', 'book/your_way')
    """
    road, sides = [root], {}
    for chapter in filter(CHAPTER.fullmatch, includes.get(root, [])):
        road.append(chapter)
        for page in includes.get(chapter, []):
            if page.startswith("exercises/"):
                road.append(page)
                continue
            further = includes.get(page, [])
            sides[page] = (chapter, further[0] if further else "")
            sides |= {inner: (page, chapter) for inner in further}
    beside = {page: (road[at - 1] if at else "", [*road, END][at + 1]) for at, page in enumerate(road)}
    if START in beside:
        beside[root] = ("", START)
    return sides | beside


def lead_on(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Replace what Sphinx takes from the order of all pages, where the page stands on the road or beside it."""
    context["fold"] = fold
    beside = neighbours(app.env.toctree_includes, str(app.config.root_doc)).get(pagename)
    if beside is None or not isinstance(app.builder, StandaloneHTMLBuilder):
        return
    for name, page in zip(("prev", "next"), beside, strict=True):
        context[name] = None
        if page in app.env.titles:
            title = app.builder.render_partial(app.env.titles[page])["title"]
            context[name] = {"link": app.builder.get_relative_uri(pagename, page), "title": title}


PART = re.compile(r'<p[^>]* class="caption"[^>]*>(.*?)</p>(.*?)(?=<p[^>]* class="caption"|\Z)', re.DOTALL)
"""A part of the list: its caption and what stands below it."""


def fold(pages: str) -> str:
    """Fold the parts of the list of pages, and leave open the one that has the present page; the first, if none has."""
    parts = PART.findall(pages)
    if not parts:
        return pages
    is_here = ["current" in inside for _, inside in parts]
    is_here[0] |= not any(is_here)
    return "".join(
        f'<details class="nav-part"{" open" * is_open}><summary class="caption">{caption}</summary>{inside}</details>'
        for (caption, inside), is_open in zip(parts, is_here, strict=True)
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in."""
    app.connect("html-page-context", lead_on, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
