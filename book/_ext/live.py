"""The directive ``live``: a shipped model in a page, on the reader's own words.

``scripts/pack_live.py`` packs weights, scripts and styles beside the build, and ``scripts/build_book.py`` copies them
into the book. A page with the directive loads the figure's script; that loads the weights when somebody asks.
"""

from collections.abc import Callable
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

PLACE = "live"
"""Folder under ``_static`` of the built book."""


def _one_of(*values: str) -> Callable[[str | None], str]:
    return lambda argument: str(directives.choice(argument, values))


class Live(SphinxDirective):
    """A figure: the translator, as a whole or ``:size: small``, or with ``:model: writer`` the language model."""

    option_spec = {"size": _one_of("small", "full"), "model": _one_of("translator", "writer")}

    def run(self) -> list[nodes.Node]:
        """Put in a place that the script fills, and a sentence for readers without scripts."""
        model = self.options.get("model", "translator")
        kind = model if model == "writer" else self.options.get("size", "full")
        self.env.metadata[self.env.docname]["live"] = kind
        name = {"translator": "translator", "writer": "language model"}[model]
        said = f"The {name} needs JavaScript, which is switched off in this browser."
        html = f'<div class="slf slf-buttons lvm lvm-{kind}" data-live="{kind}"><noscript>{said}</noscript></div>'
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
