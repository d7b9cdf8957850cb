"""The built book as files: links, anchors, what pages load, and how much."""

import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from built_book import HTML, ROOT, need_book, page_at, pages

from softlookup.notation import LEGEND

pytestmark = pytest.mark.book

FIRST_VIEW_BYTES = 2_600_000
"""Most that a page's own scripts and styles may weigh, MathJax (1.2 MB) among them; icons alone once had 1.5 MB."""


CODE_COLUMNS = 80
"""Most characters of a line of code that a page shows without scrolling, beside both of its bars."""


def test_every_page_of_the_contents_is_built():
    need_book()
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))

    def files(node):
        if isinstance(node, dict):
            yield from ([node["file"]] if "file" in node else [])
            for value in node.values():
                yield from files(value)
        elif isinstance(node, list):
            for value in node:
                yield from files(value)

    named = [contents["root"], *files(contents)]
    assert len(named) > 4
    assert [name for name in named if not (HTML / f"{name}.html").exists()] == []


def test_links_and_anchors_inside_the_book_lead_somewhere():
    every = {path: page_at(path) for path in pages()}
    dead, followed = [], 0
    for path, page in every.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link in {"", "#"}:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            followed += 1
            if not target.exists():
                dead.append(f"{path.relative_to(HTML)}: {link}: no such file")
            elif parts.fragment and target in every and unquote(parts.fragment) not in every[target].ids:
                dead.append(f"{path.relative_to(HTML)}: {link}: no such anchor")
    assert followed > 50
    assert dead == []


def test_fonts_and_pictures_that_styles_name_are_there():
    styles = sorted((HTML / "_static").rglob("*.css"))
    named = [(style, url) for style in styles for url in re.findall(r"url\([\"']?([^\"')]+)", style.read_text("utf-8"))]
    local = [(style, url.partition("?")[0].partition("#")[0]) for style, url in named if not url.startswith("data:")]
    missing = [f"{style.name}: {url}" for style, url in local if url and not (style.parent / url).exists()]
    assert len(local) > 0 and missing == []


def test_pages_and_styles_load_nothing_from_outside():
    outside = [f"{path.name}: {load}" for path in pages() for load in page_at(path).loads if urlsplit(load).netloc]
    for style in HTML.rglob("*.css"):
        outside += [f"{style.name}: {u}" for u in re.findall(r"url\(['\"]?((?:https?:)?//[^)'\"]+)", style.read_text())]
    assert outside == []


def test_everything_that_pages_load_is_there():
    missing = []
    for path in pages():
        for load in page_at(path).loads:
            if load.startswith("data:"):
                continue
            if not (path.parent / unquote(urlsplit(load).path)).resolve().exists():
                missing.append(f"{path.relative_to(HTML)}: {load}")
    assert missing == []


def test_no_id_stands_twice_on_a_page():
    twice = {}
    for path in pages():
        ids = page_at(path).ids
        repeated = {name for name in ids if ids.count(name) > 1}
        if repeated:
            twice[path.name] = repeated
    assert twice == {}


def test_every_page_names_its_language_and_every_picture_has_an_alternative():
    for path in pages():
        page = page_at(path)
        assert page.language == "en", path
        assert [image for image in page.images if "alt" not in image] == [], path


class Figures(HTMLParser):
    """The figures of a page: the alternatives of their pictures, and their captions."""

    def __init__(self, text):
        super().__init__()
        self.figures, self.inside, self.caption, self.in_desc = [], False, False, False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "figure":
            self.figures.append(([], []))
            self.inside = True
        if self.inside and tag in {"img", "svg"}:
            self.figures[-1][0].append(attributes.get("alt") or attributes.get("aria-label") or "")
        self.caption = tag == "figcaption" or self.caption
        self.in_desc = self.inside and tag == "desc"  # what an svg says of itself

    def handle_endtag(self, tag):
        self.caption = self.caption and tag != "figcaption"
        self.in_desc = False
        self.inside = self.inside and tag != "figure"

    def handle_data(self, data):
        if self.caption:
            self.figures[-1][1].append(data)
        if self.in_desc:
            self.figures[-1][0][-1] += data


def test_every_figure_has_an_alternative_that_says_what_it_shows():
    count = 0
    for path in pages():
        text = "".join(re.findall(r"<figure\b.*?</figure>", path.read_text(encoding="utf-8"), re.S))
        for alternatives, caption in Figures(text).figures:
            words = " ".join("".join(caption).split())
            assert alternatives, f"{path.name}: a figure without a picture: {words}"
            for alternative in alternatives:
                assert len(alternative.split()) >= 10, f"{path.name}: {alternative!r} says too little"
                assert "$" not in alternative, f"{path.name}: TeX in {alternative!r}"
                assert alternative.strip() != words, f"{path.name}: the alternative repeats the caption: {words}"
                count += 1
    assert count > 50


def test_first_view_of_a_page_is_light():
    for path in pages():
        local = {urlsplit(load).path for load in page_at(path).loads if not load.startswith("data:")}
        weight = sum((path.parent / load).stat().st_size for load in local)
        assert weight <= FIRST_VIEW_BYTES, f"{path.relative_to(HTML)} loads {weight:,} bytes"


def test_notation_page_shows_every_letter_of_the_legend():
    need_book()
    text = (HTML / "book" / "notation.html").read_text(encoding="utf-8").replace("’", "'")
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", text, re.S)
    shown = [[re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<td.*?</td>", row, re.S)] for row in rows]
    for axis in LEGEND:
        assert [axis.letter, axis.meaning, axis.elsewhere] in shown


def test_every_cited_work_stands_in_the_bibliography():
    need_book()
    text = (HTML / "book" / "bibliography.html").read_text(encoding="utf-8")
    cited = {
        key
        for page in (ROOT / "book").glob("*.md")
        for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", page.read_text(encoding="utf-8"))
        for key in re.split(r",\s*", keys)
    }
    entries = re.findall(r"@\w+\{(\w+),", (ROOT / "book" / "references.bib").read_text(encoding="utf-8"))
    assert cited and cited <= set(entries)
    assert text.count('class="citation"') == len(cited)


def test_sources_of_the_pages_hold_no_outputs_and_no_outside_pictures():
    for page in (ROOT / "book").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert '"outputs"' not in text and "data:image" not in text, page
        assert not re.search(r"!\[[^]]*\]\(https?:", text), page


def test_code_of_every_page_fits_its_column():
    cut = []
    for page in (ROOT / "book").glob("*.md"):
        for tags, code in re.findall(
            r"```\{code-cell\}[^\n]*\n((?::[^\n]*\n)*)(.*?)\n```", page.read_text("utf-8"), re.S
        ):
            if "remove-" not in tags:
                cut += [f"{page.name}: {line}" for line in code.splitlines() if len(line) > CODE_COLUMNS]
    assert cut == []
