"""Number the figures of each chapter, pictures and live ones in one row, so that they can be cited and linked to.

A chapter's further pages (practice, details) count on their own, with a letter: Figure 6.2 stands on the chapter's
page, Figure 6a.2 on the first of the others. The number is a link to the figure itself.
"""

import json
import re
from collections.abc import Mapping
from html import escape
from importlib import import_module
from typing import Any

from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

PAGE = re.compile(r"book/(\d\d)_\w+")
FIGURE = re.compile(
    r'<figure class="slk-figure"(?P<picture>[^>]*>)(?P<inside>.*?)</figure>'
    r'|<script type="application/vnd\.jupyter\.widget-view\+json">(?P<view>.*?)</script>',
    re.DOTALL,
)


def chapter_of(pagename: str, pages: set[str]) -> str:
    """Say what stands before the point in the numbers of a page, ``book/06_positions_more``: "6" or "6a".

    Empty where nothing is numbered.
    """
    match = PAGE.fullmatch(pagename)
    if not match:
        return ""
    chapter = sorted(
        (page for page in pages if page.startswith(f"book/{match[1]}_")), key=lambda page: (len(page), page)
    )
    place = chapter.index(pagename)
    return f"{int(match[1])}{'' if place == 0 else chr(ord('a') + place - 1)}"


def captions(env: BuildEnvironment, pagename: str) -> dict[str, str]:
    """Find what can be done with each live figure of a page: the first line of its class's docstring, by model id."""
    _, state = NbMetadataCollector.get_js_files(env, pagename).get("ipywidgets_state", (None, {}))
    by_model = {}
    for model, described in json.loads(state.get("body", "{}")).get("state", {}).items():
        module, _, name = described["state"].get("_anywidget_id", "").rpartition(".")
        if module.startswith("softlookup_course.widgets"):
            by_model[model] = str(getattr(import_module(module), name).__doc__).splitlines()[0]
    return by_model


def numbered(body: str, chapter: str, captions: Mapping[str, str]) -> str:
    """Write the numbers, with what stands before their point, into a page's HTML.

    ``captions`` has that of each live figure, by model id.
    """
    count = 0

    def with_number(figure: re.Match[str]) -> str:
        nonlocal count
        count += 1
        name = f"figure-{chapter}-{count}"
        number = f'<a class="figure-number" href="#{name}">Figure {chapter}.{count}</a>'
        if figure["picture"] is None:
            caption = captions.get(json.loads(figure["view"])["model_id"], "Interactive.")
            place = f'<div class="figure-place" id="{name}"></div>'  # above the figure, where a link to it leads
            return f'{place}{figure[0]}<p class="figure-live">{number} {escape(caption)}</p>'
        inside = figure["inside"]
        if "<figcaption>" in inside:
            inside = inside.replace("<figcaption>", f"<figcaption>{number} ", 1)
        else:
            inside += f"<figcaption>{number}</figcaption>"
        return f'<figure class="slk-figure" id="{name}"{figure["picture"]}{inside}</figure>'

    return FIGURE.sub(with_number, body)


def number_figures(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Number the figures of a page as it is written."""
    chapter = chapter_of(pagename, set(app.env.found_docs))
    if chapter and context.get("body"):
        context["body"] = numbered(context["body"], chapter, captions(app.env, pagename))


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in."""
    # Before offline.py puts what stands in for a figure between its place and its script.
    app.connect("html-page-context", number_figures, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
