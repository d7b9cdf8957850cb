r"""Give each formula in a line the width that it will have, so that lines do not break anew when MathJax sets it.

The width is an estimate from the plain form (``plain_formulas``): within a tenth for most, and nobody sees it.
"""

import re
from html import unescape
from typing import Any

from plain_formulas import plain
from sphinx.application import Sphinx

INLINE = re.compile(r'<span class="math notranslate nohighlight">\\\((?P<tex>[^<]*)\\\)</span>')

EM = {
    **dict.fromkeys("ABCDEFGHIJKLNOPQRSTUVXYZ", 0.82),
    **dict.fromkeys("MWΣΠ", 1.05),
    **dict.fromkeys("mw", 0.88),
    **dict.fromkeys("0123456789", 0.53),
    **dict.fromkeys("=≤≥≠≈∝∈→←<>", 1.42),
    **dict.fromkeys("+×±⊙-−", 1.28),
    **dict.fromkeys("·~", 0.78),
    **dict.fromkeys("()[]|!:'", 0.41),
    **dict.fromkeys(".", 0.3),
    **dict.fromkeys(",;", 0.47),
    **dict.fromkeys("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿᵀ", 0.46),
}
"""Widths of signs with the room around them, in em; blanks have none."""

LETTER = 0.56
SMALL = re.compile(r"[_^](?:\(([^()]*)\)|([^\W_]+)|)")
"""What stands lower or higher, in smaller letters."""


UNARY = re.compile(r"(?<![\w)\]])[-−]")
"""A minus with nothing before it has no room around it; written as ~ from here on."""

FRACTION = re.compile(r"\\[dt]?frac\s*(?:\{[^{}]*\}|\w)\s*(\{[^{}]*\}|\w)")
"""One number above another: as wide as the lower one."""


def width_em(tex: str) -> float:
    """Estimate how wide MathJax sets a formula, without the signs around it, in em of the text around it."""
    text = UNARY.sub("~", plain(FRACTION.sub(r"\1", tex)).replace(" ", ""))
    small = "".join(above or below for above, below in SMALL.findall(text))
    large = SMALL.sub("", text)
    return round(sum(EM.get(sign, LETTER) for sign in large) + 0.55 * sum(EM.get(sign, LETTER) for sign in small), 2)


def give_room(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Write the width of each formula into a page's body."""
    context["body"] = INLINE.sub(with_room, context.get("body", ""))


def with_room(formula: re.Match[str]) -> str:
    """A formula of a page, with its width."""
    room = width_em(unescape(formula["tex"]))
    return formula[0].replace(">", f' style="--room:{room}em">', 1)


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in."""
    app.connect("html-page-context", give_room)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
