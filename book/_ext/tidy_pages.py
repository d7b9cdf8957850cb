"""Leave a built book without dead pages: with a front door, up-to-date roles, and a theme from the first moment."""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideInputCells
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

FRONT_DOOR = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Soft Lookup</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="0; url={target}">
<link rel="icon" href="_static/favicon.svg" type="image/svg+xml">
<link rel="canonical" href="{target}">
</head>
<body><main><h1>Soft Lookup</h1><p><a href="{target}">Open the book</a></p></main></body>
</html>
"""


def remove_dead_pages(app: Sphinx, exception: Exception | None) -> None:
    """Delete pages whose source is gone: Sphinx leaves them, and search and tests would still find them."""
    if exception or app.builder.name != "html":
        return
    out = Path(app.outdir)
    alive = {app.builder.get_target_uri(name) for name in app.env.found_docs}
    alive |= {"search.html", "genindex.html", "index.html"}
    for page in out.rglob("*.html"):
        inside = page.relative_to(out)
        if inside.parts[0] not in {"_static", "_sources", "reports"} and inside.as_posix() not in alive:
            page.unlink()


def write_front_door(app: Sphinx, exception: Exception | None) -> None:
    """Send whoever opens the top folder on to the landing page, in words too."""
    if exception or app.builder.name != "html":
        return
    target = app.builder.get_target_uri(app.config.root_doc)
    if target != "index.html":
        (Path(app.outdir) / "index.html").write_text(FRONT_DOOR.format(target=target), encoding="utf-8")


class CodeBelow(SphinxPostTransform):
    """Put folded code behind what it draws: a reader comes for the figure."""

    default_priority = HideInputCells.default_priority + 1
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Move the fold of each cell whose input alone is hidden to the cell's end."""
        for cell in self.document.findall(nodes.container):
            if cell.get("hide_mode") == "input" and len(cell.children) > 1:
                code = cell.children[0]
                cell.remove(code)
                cell.append(code)


MENDED = {
    'role="doc-biblioentry"': 'role="listitem"',  # deprecated, and no item of the list it stands in
    ' aria-label="Toggle hidden content"': "",  # hides the visible words, which say more
}
"""What Sphinx and MyST-NB write that screen readers stumble over, and what is written instead."""

NO_WORDS = re.compile(r'<th (class="head[^"]*")>(<p>(?:<span class="math[^>]*>[^<]*</span>)?</p>)</th>')
"""Headings of columns that are empty or one formula: nothing in them can be read out as a heading."""


def mend_roles(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Put right, in the body of a page, what no template reaches."""
    for wrong, right in MENDED.items():
        context["body"] = context.get("body", "").replace(wrong, right)
    context["body"] = NO_WORDS.sub(r"<td \1>\2</td>", context.get("body", ""))


CHOOSE_THEME = (
    "(({ dataset }) => { if (!dataset.mode) { dataset.mode = 'auto'; "
    "dataset.theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'; } })"
    "(document.documentElement);"
)
"""Runs before the page is drawn. The theme leaves both empty for a first visitor, and then complains of it."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook them in."""
    app.add_js_file(None, body=CHOOSE_THEME)
    app.add_post_transform(CodeBelow)
    app.connect("html-page-context", mend_roles)
    app.connect("build-finished", remove_dead_pages)
    app.connect("build-finished", write_front_door)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
