"""The directive ``live``: the shipped translator in a page, on the reader's own sentence.

``scripts/pack_live.py`` packs weights, scripts and styles beside the build, and ``scripts/build_book.py`` copies them
into the book. A page with the directive loads the figure's script; that loads the weights when somebody asks.
"""

from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

PLACE = "live"
"""Folder under ``_static`` of the built book."""


def _size(argument: str | None) -> str:
    return str(directives.choice(argument, ("small", "full")))


class Live(SphinxDirective):
    """``{live}`` is the whole figure; with ``:size: small`` a text box, the translation and its cross-attention."""

    option_spec = {"size": _size}

    def run(self) -> list[nodes.Node]:
        """Put in a place that the script fills, and a sentence for readers without scripts."""
        size = self.options.get("size", "full")
        self.env.metadata[self.env.docname]["live"] = size
        said = "The translator needs JavaScript, which is switched off in this browser."
        html = f'<div class="slf slf-buttons lvm lvm-{size}" data-live="{size}"><noscript>{said}</noscript></div>'
        return [nodes.raw("", html, format="html")]


def add_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give a page with the figure its script and styles."""
    if "live" in app.env.metadata.get(page, {}):
        app.add_css_file(f"{PLACE}/live.css")
        app.add_js_file(f"{PLACE}/page.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in."""
    app.add_directive("live", Live)
    app.connect("html-page-context", add_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
