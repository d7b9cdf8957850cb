"""The directive ``live``: a shipped model in a page, on the reader's own words.

``scripts/pack_live.py`` packs weights, scripts and styles beside the build, and ``scripts/build_book.py`` copies them
into the book. A page with the directive loads the figure's script; that loads the weights when somebody asks.
"""

import html
from collections.abc import Callable
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

PLACE = "live"
"""Folder under ``_static`` of the built book."""

WHOLE = {"full": ("first.js", "whole.js"), "writer": ("first_writer.js", "whole_writer.js")}
"""The figures on a page of their own: the script with a recorded text, and the figure's."""


def _one_of(*values: str) -> Callable[[str | None], str]:
    return lambda argument: str(directives.choice(argument, values))


class Live(SphinxDirective):
    """A figure with a shipped model, by its name.

    * none: the translator, with all that can be looked at
    * ``first``: a sentence and its translation as words with lines; the body holds a recorded one and its picture
    * ``look``: attention maps on the reader's sentence: ``:show:``, ``:layer:`` and ``:head:``, counted from 1
    * ``order``: a sentence translated with positions and without
    * ``loss``: how probable the model finds each token of a translation (``:target:``)
    * ``writer``: the language model continues a text
    * ``silence``: what each of its heads does to a text, and what it writes without some (at first without
      ``:silenced:``, "1.5": a layer and a head, counted from 1)
    """

    optional_arguments = 1
    has_content = True
    option_spec = {
        "show": _one_of("encoder", "cross", "self"),
        "layer": directives.positive_int,
        "head": directives.positive_int,
        "text": directives.unchanged_required,
        "target": directives.unchanged_required,
        "silenced": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Put in a place that the script fills, and a sentence for readers without scripts."""
        kind = _one_of("full", "first", "look", "order", "loss", "writer", "silence")((self.arguments or ["full"])[0])
        if "live" in self.env.metadata[self.env.docname]:
            raise self.error("A page has one figure with a shipped model at most: each would load it again.")
        self.env.metadata[self.env.docname]["live"] = kind
        name = "language model" if kind in ("writer", "silence") else "translator"
        message = f"The {name} needs JavaScript, which is switched off in this browser."
        attributes = "".join(f' data-{option}="{html.escape(str(value))}"' for option, value in self.options.items())
        place = f'<div class="slf slf-buttons lvm lvm-{kind}" data-live="{kind}"{attributes}'
        body = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, body)
        begin, end = f"{place}>", f"<noscript>{message}</noscript></div>"
        return [nodes.raw("", begin, format="html"), *body.children, nodes.raw("", end, format="html")]


def add_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give a page with the figure its script and styles, or what loads them."""
    kind = app.env.metadata.get(page, {}).get("live")
    if kind == "first":
        app.add_css_file(f"{PLACE}/first_sentence.css")
        app.add_js_file(f"{PLACE}/first_sentence.js", loading_method="defer")
    elif kind:
        app.add_css_file(f"{PLACE}/live.css")
        if kind in WHOLE:
            app.add_css_file(f"{PLACE}/place.css")
        for script in WHOLE.get(kind, ("page.js",)):
            app.add_js_file(f"{PLACE}/{script}", loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in."""
    app.add_directive("live", Live)
    app.connect("html-page-context", add_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
