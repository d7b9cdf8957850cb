"""Markdown of a feedback page: formulas as MathML, which browsers show by themselves, and students' text cleaned."""

from typing import Any

import nh3
from jinja2 import pass_context
from latex2mathml.converter import convert
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from softlookup_command.plain_text import visible
from softlookup_grader.judging.cleaning import clean_html

MAX_FORMULA = 2_000  # characters of a formula that is set; a longer one stays as it was typed

_ELEMENTS = frozenset(
    "math merror mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle "
    "msub msubsup msup mtable mtd mtext mtr munder munderover none".split()
)
_ATTRIBUTES = frozenset(
    "columnalign columnlines columnspacing display displaystyle fence form height largeop linebreak linethickness "
    "lspace mathvariant maxsize minsize movablelimits notation rowlines rowspacing rspace scriptlevel separator "
    "stretchy symmetric width xmlns".split()
)


class _Renderer(IPythonRenderer):
    """Renders as nbconvert does, but for formulas."""

    def block_math(self, body: str) -> str:
        return _formula(body, "block") or super().block_math(body)

    def inline_math(self, body: str) -> str:
        return _formula(body, "inline") or super().inline_math(body)

    def latex_environment(self, name: str, body: str) -> str:
        whole = f"\\begin{{{name}}}{body}\\end{{{name}}}"
        return _formula(whole, "block") or super().latex_environment(name, body)


def _formula(text: str, display: str) -> str:
    """A formula as MathML; empty where it cannot be made."""
    if len(text) > MAX_FORMULA:
        return ""
    try:
        mathml = convert(text, display=display)
    except Exception:  # it is no TeX, or nested too deeply
        return ""
    # The converter takes text and commands over as they are, tags and links included.
    cleaned = nh3.clean(
        mathml, tags=set(_ELEMENTS), attributes={"*": set(_ATTRIBUTES)}, clean_content_tags=set(), url_schemes=set()
    )
    return cleaned if cleaned.startswith("<math") and cleaned.endswith("</math>") else ""


@pass_context
def page_markdown(context: Any, source: str) -> str:
    """Render the markdown of a cell, or of a comment on it."""
    cell = context.get("cell", {})
    renderer = _Renderer(escape=False, attachments=cell.get("attachments", {}))
    html = MarkdownWithMath(renderer=renderer).render(source)
    about = cell.get("metadata", {}).get("nbgrader", {})
    # A sign for the direction of writing may stand in a student's text as an entity, which cleaning resolves.
    return visible(clean_html(html, _ELEMENTS, _ATTRIBUTES)) if about.get("solution") else str(html)
