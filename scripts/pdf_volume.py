"""Set pieces of the book as one document, and print it: heads, page numbers, contents, an outline, links inside."""

import html as markup
import logging
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdf
from pdf_harvest import FONTS, Piece
from playwright.sync_api import Browser
from pypdf.generic import DictionaryObject, NameObject, TextStringObject

from softlookup_course.browser import PATIENCE_MS

logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns of how Chromium counts a file's objects

WHOLE = "soft-lookup.pdf"
SUBJECT = "Transformers, to read and to run"
LOGO = Path(__file__).resolve().parents[1] / "book" / "_static" / "logo.svg"
INSIDE = re.compile(r'href="#(?P<page>[^"]*?)(?P<fragment>--[^"]*)?"')


@dataclass(frozen=True)
class Volume:
    """What is printed into one file.

    Attributes:
        title: The document's title.
        pieces: The pages, in their order.
        parts: Captions of the parts of the book, by the name of the page with which a part begins.
        front: Whether a title page and a table of contents stand in front.
    """

    title: str
    pieces: tuple[Piece, ...]
    parts: dict[str, str]
    front: bool = False


def running_title(piece: Piece) -> str:
    """What stands at the head of a page's sheets: a chapter's number and its name.

    A chapter's number is the one that its file begins with.
    """
    number = re.match(r"(\d\d)_", piece.name)
    return f"{int(number[1])}  {piece.title}" if number else piece.title


def compose(volume: Volume, places: dict[str, int] | None = None) -> str:
    """Write the document, with page numbers by anchor for the contents; None leaves room for them."""
    sheets = dict.fromkeys(sheet for piece in volume.pieces for sheet in piece.sheets)
    rules = dict.fromkeys(rule for piece in volume.pieces for rule in piece.rules)
    # A rule for fonts has to stand first; all others keep their order.
    style = "\n".join(sorted(rules, key=lambda rule: not rule.startswith("@font-face")))
    heads = "".join(
        f'@page p{i} {{ @top-left {{ content: "{_css(running_title(piece))}"; }} }}\n#{_id(piece)} {{ page: p{i}; }}\n'
        for i, piece in enumerate(volume.pieces)
    )
    links = "".join(f'<link rel="stylesheet" href="{markup.escape(a)}" media="{m}">' for a, m in sheets)
    body = (_title_page(volume) + _contents(volume, places or {}) if volume.front else "") + "".join(
        f'<article class="bd-article printed-page" id="{piece.name}">{_eyebrow(volume, piece)}{piece.html}</article>'
        for piece in volume.pieces
    )
    return (
        '<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8">'
        f"<title>{markup.escape(volume.title)}</title>{links}<style>{style}\n{heads}</style></head>"
        '<body class="printed"><main class="bd-main"><div class="bd-content"><div class="bd-article-container">'
        f"{lead_out(body, {piece.name for piece in volume.pieces})}</div></div></main></body></html>"
    )


def lead_out(body: str, inside: set[str]) -> str:
    """Turn links to pages that a volume does not hold into links to the whole book, which lies beside it.

    Examples:
        >>> lead_out('<a href="#a--x">here</a> <a href="#b--y">there</a>', {"a"})
        '<a href="#a--x">here</a> <a href="soft-lookup.pdf#b--y">there</a>'
    """

    def led(link: re.Match[str]) -> str:
        return link[0] if link["page"] in inside else f'href="{WHOLE}#{link["page"]}{link["fragment"] or ""}"'

    return INSIDE.sub(led, body)


def print_volume(browser: Browser, volume: Volume, target: Path) -> int:
    """Print a volume into a file, and give the number of its pages.

    The contents need a second printing, when it is known what stands where.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "raw.pdf"
        if volume.front:
            _print(browser, compose(volume), raw, tagged=False)  # tags take most of the time, and change no place
        _print(browser, compose(volume, places(raw) if volume.front else None), raw)
        return _finish(raw, volume, target, Path(folder))


def places(path: Path) -> dict[str, int]:
    """The page on which each anchor of a printed document stands, counted from 1."""
    reader = pypdf.PdfReader(path)
    page_numbers = {}
    for name, target in reader.named_destinations.items():
        number = reader.get_destination_page_number(target)
        if number is not None:
            page_numbers[name.removeprefix("/")] = number + 1
    return page_numbers


def _print(browser: Browser, text: str, target: Path, tagged: bool = True) -> None:
    source = target.with_suffix(".html")
    source.write_text(text, encoding="utf-8")
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    try:
        page.goto(source.as_uri(), wait_until="load")
        page.evaluate(FONTS)
        page.pdf(path=target, prefer_css_page_size=True, print_background=True, tagged=tagged, outline=tagged)
    finally:
        page.close()


def _finish(raw: Path, volume: Volume, target: Path, folder: Path) -> int:
    """Say who wrote it, and lead links to the whole book into the file beside this one."""
    writer = pypdf.PdfWriter(clone_from=raw)
    _mend_outline(writer, volume)
    writer.add_metadata({"/Title": volume.title, "/Author": "Soft Lookup", "/Subject": SUBJECT})
    elsewhere = f"{folder.as_uri()}/{WHOLE}#"
    for page in writer.pages:
        for annotation in page.get("/Annots", []):
            action = annotation.get_object().get("/A")
            if action is not None and str(action.get("/URI", "")).startswith(elsewhere):
                anchor = str(action["/URI"]).removeprefix(elsewhere)
                annotation.get_object()[NameObject("/A")] = DictionaryObject(
                    {
                        NameObject("/S"): NameObject("/GoToR"),
                        NameObject("/F"): TextStringObject(WHOLE),
                        NameObject("/D"): NameObject(f"/{anchor}"),
                    }
                )
    writer.write(target)
    return len(writer.pages)


def _mend_outline(writer: pypdf.PdfWriter, volume: Volume) -> None:
    """Give the outline its spaces back: Chromium leaves one out where a heading goes on in the next line."""
    headings = [heading.text for piece in volume.pieces for heading in piece.headings]
    words = {_squeezed(text): " ".join(text.split()) for text in headings}
    for entry in _entries(writer.root_object.get("/Outlines")):
        title = words.get(_squeezed(str(entry.get("/Title", ""))))
        if title is not None:
            entry[NameObject("/Title")] = TextStringObject(title)


def _entries(node: Any) -> Iterator[DictionaryObject]:
    """Walk an outline: every entry below this one."""
    below = node.get_object().get("/First") if node is not None else None
    while below is not None:
        entry = below.get_object()
        yield entry
        yield from _entries(entry)
        below = entry.get("/Next")


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _title_page(volume: Volume) -> str:
    return (
        f'<header class="printed-title"><img src="{LOGO.as_uri()}" alt=""><h1>Soft Lookup</h1>'
        f"<p>{SUBJECT}</p>"
        "<p>Interactive figures stand here in their first state. The same book, to be operated, opens in any browser: "
        "<code>make book</code>.</p><p>Text under CC BY 4.0, code under the MIT licence.</p></header>"
    )


def _contents(volume: Volume, places: dict[str, int]) -> str:
    lines = []
    for piece in volume.pieces:
        if piece.name in volume.parts:
            lines.append(f'<p class="printed-part">{markup.escape(volume.parts[piece.name])}</p>')
        for heading in piece.headings:
            anchor = piece.name if heading.level == 1 else heading.id
            words = markup.escape(running_title(piece)) if heading.level == 1 else heading.html
            page = places.get(anchor, "000" if not places else "")
            link = f'<a href="#{anchor}"><span>{words}</span><b>{page}</b></a>'
            lines.append(f'<p class="printed-level-{heading.level}">{link}</p>')
    return f'<nav class="printed-contents bd-article"><h1>Contents</h1><div>{"".join(lines)}</div></nav>'


def _eyebrow(volume: Volume, piece: Piece) -> str:
    number = re.match(r"(\d\d)_", piece.name)
    if number is None:
        return ""
    first = next(piece for piece in volume.pieces if piece.name.startswith(number[0]))
    words = "Chapter" if piece is first else "More on chapter"
    return f'<p class="printed-number">{words} {int(number[1])}</p>'


def _id(piece: Piece) -> str:
    return f"\\3{piece.name[0]} {piece.name[1:]}" if piece.name[0].isdigit() else piece.name


def _css(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
