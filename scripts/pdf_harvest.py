"""Take the pages of the built book as pieces of one printable document: typeset, still, with ids of their own."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from softlookup_course.browser import PATIENCE_MS

COLUMN_PX = 665
"""The width of the text on paper, in CSS pixels: A4's 210 mm without the margins of book/_static/print.css."""
FIGURE_PX = 880
"""How high an interactive figure may be to stand on one sheet: A4's 297 mm without margins, and its note."""

SCRIPT = Path(__file__).with_suffix(".js").read_text("utf-8")
FONTS = "() => Promise.allSettled([...document.fonts].map((font) => font.load()))"
"""All fonts that a page names are loaded before anything is measured: one that comes later would move what is there."""
AGAIN = (
    "() => { const page = window.MathJax?.startup?.document; page?.rerender(MathJax._.core.MathItem.STATE.COMPILED); }"
)
"""Formulas take their sizes from the letters around them, and may have been set before those were there: once more."""

TYPESET = "async () => { await window.MathJax?.startup?.promise; }"
RUNNING = """() => document.querySelectorAll("script[type='application/vnd.jupyter.widget-view+json']").length
  === document.querySelectorAll(".widget-area").length"""


@dataclass(frozen=True)
class Heading:
    """A heading of a page, for the table of contents.

    Attributes:
        level: 1 for the page's own, 2 for its sections.
        id: The anchor to link to.
        html: The words with their markup, formulas typeset.
        text: The words alone.
    """

    level: int
    id: str
    html: str
    text: str


@dataclass(frozen=True)
class Piece:
    """One page of the book, ready to stand in a larger document.

    Attributes:
        name: What all its ids begin with; see `page_name`.
        headings: Its headings of levels 1 and 2, in their order.
        html: The article.
        rules: Rules of styles that the page's scripts have made, for formulas and interactive figures.
        sheets: The style sheets that it links to, as (address, media).
    """

    name: str
    headings: tuple[Heading, ...]
    html: str
    rules: tuple[str, ...]
    sheets: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        """The page's own heading."""
        return self.headings[0].text


def page_name(docname: str) -> str:
    """The name of a page inside a printed document.

    Examples:
        >>> page_name("book/reference/model")
        'reference-model'
    """
    return docname.removeprefix("book/").replace("/", "-")


def harvest(browser: Browser, html: Path, docname: str, docnames: list[str], scheme: str = "light") -> Piece:
    """Open a page ("book/04_one_head") of the built book as it would be printed, and take its article.

    Links may lead to all of ``docnames``. ``scheme`` is what the reader's machine prefers, "light" or "dark"; paper is
    light all the same. FileNotFoundError if the book does not have the page.
    """
    path = html / f"{docname}.html"
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: build the book first (`make book`)")
    context = browser.new_context(viewport={"width": COLUMN_PX, "height": 1000}, color_scheme=_scheme(scheme))
    try:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        # Questions stay lists with an answer to unfold, as they are without a script.
        page.route("**/_static/quiz.js*", lambda route: route.abort())
        page.emulate_media(media="print")
        page.goto(path.as_uri(), wait_until="load")
        page.evaluate(TYPESET)
        page.evaluate(FONTS)
        page.evaluate(AGAIN)
        page.wait_for_function(RUNNING)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")  # print.js: the light theme, nothing folded
        known = {f"file://{(html / f'{name}.html').resolve()}": page_name(name) for name in docnames}
        page_data: dict[str, Any] = page.evaluate(
            SCRIPT, {"name": page_name(docname), "pages": known, "height": FIGURE_PX}
        )
    finally:
        context.close()
    return Piece(
        name=page_name(docname),
        headings=tuple(Heading(**heading) for heading in page_data["headings"]),
        html=page_data["html"],
        rules=tuple(page_data["rules"]),
        sheets=tuple((sheet["href"], sheet["media"]) for sheet in page_data["sheets"]),
    )


def _scheme(scheme: str) -> Any:
    if scheme not in {"light", "dark"}:
        raise ValueError(f"a colour scheme is 'light' or 'dark', not {scheme!r}")
    return scheme
