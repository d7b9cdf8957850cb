"""Number the chapters: in their titles, and so in the sidebar, in browser tabs and in links without words of their own.

The number is that of the file's name and of the figures (``figure_numbers.py``): 4 for ``04_one_head``, 4a for the
first of its further pages. Sphinx's own numbering would begin with 1 for chapter 0 and would number the exercises too.
"""

from typing import Any

from docutils import nodes
from figure_numbers import chapter_of
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

CLASS = "chapter-number"


class NumberChapter(SphinxTransform):
    """Put the number before the title of a chapter's page, before Sphinx notes the titles of pages and labels."""

    default_priority = 800

    def apply(self, **_: Any) -> None:
        """Put it there."""
        number = chapter_of(self.env.docname, set(self.env.found_docs))
        title = next(self.document.findall(nodes.title), None)
        if number and title is not None:
            title.insert(0, nodes.inline("", f"{number}. ", classes=[CLASS]))


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in."""
    app.add_transform(NumberChapter)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
