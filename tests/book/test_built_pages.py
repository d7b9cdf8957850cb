"""The built book as files: links, anchors, what pages load, and how much; `softlookup bench book` asks a browser."""

import gzip
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from built_book import HTML, ROOT, page_at, pages

from benchmarks.site.weights import LIMIT_BYTES, without_widgets

pytestmark = pytest.mark.book


CODE_COLUMNS = 80
"""Most characters of a line of code that a page shows without scrolling, beside both of its bars."""


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


FONTS_BYTES = 175_000
"""Kept free for what no page names: the book's other fonts (67 kB, never all) and those of formulas (123 kB)."""

HEAVY = {"tex-chtml.js", "widgets.js", "search.js", "sections.js", "searchtools.js", "searchindex.js"}


def weight(data):
    return len(gzip.compress(data, 6, mtime=0))


def own_loads(page):
    lazy = {image["src"] for image in page.images if image.get("loading") == "lazy"}
    return {urlsplit(load).path for load in page.loads if not load.startswith("data:") and load not in lazy}


def scripts(page):
    return {load.rpartition("/")[2] for load in own_loads(page)} & HEAVY


@pytest.mark.slow
def test_first_view_of_every_page_is_under_a_megabyte_gzipped_before_widgets():
    known, weights = {}, {}
    for path in pages():
        named = {(path.parent / unquote(load)).resolve() for load in own_loads(page_at(path))}
        for file in named:
            known.setdefault(file, weight(file.read_bytes()))
        page_bytes = weight(without_widgets(path.read_bytes()))
        weights[path.relative_to(HTML).as_posix()] = page_bytes + sum(
            known[file] for file in named if file.name != "widgets.js"
        )
    assert len(weights) > 20 and max(weights.values()) > FONTS_BYTES
    assert {name: bytes_ for name, bytes_ in weights.items() if bytes_ > LIMIT_BYTES - FONTS_BYTES} == {}


def test_heavy_scripts_load_on_the_pages_that_need_them_and_on_no_other():
    expected, loaded = {}, {}
    for path in pages():
        text, name = path.read_text(encoding="utf-8"), path.relative_to(HTML).as_posix()
        expected[name] = set()
        if re.search(r'class="[^"]*\bmath\b', text):
            expected[name] |= {"tex-chtml.js"}
        if "widget-view+json" in text:
            expected[name] |= {"widgets.js"}
        if name == "search.html":
            expected[name] |= {"search.js"}
        loaded[name] = scripts(page_at(path))
    assert loaded == expected
    assert {frozenset(names) for names in loaded.values()} >= {frozenset(), frozenset({"tex-chtml.js", "widgets.js"})}


def test_slanted_letters_come_with_the_pages_that_have_some_and_with_no_other():
    loaded = {path: any("/slanted.js" in load for load in own_loads(page_at(path))) for path in pages()}
    assert loaded == {path: page_at(path).is_slanted for path in pages()}
    assert {*loaded.values()} == {True, False}


def test_first_page_needs_no_slanted_letters():
    assert not any("/slanted.js" in load for load in own_loads(page_at(HTML / "book" / "index.html")))


def test_pictures_have_width_and_height_so_that_a_page_keeps_still():
    sized = 0
    for path in pages():
        for image in page_at(path).images:
            assert {"width", "height"} <= {*image}, f"{path.name}: {image.get('alt', '')[:80] or image.get('src')[:80]}"
            sized += 1
    assert sized > 50


def test_scripts_and_styles_of_the_book_come_without_their_comments():
    sources = {path.name for path in (HTML.parents[1] / "book" / "_static").iterdir() if path.suffix in {".css", ".js"}}
    for file in [HTML / "_static/vendor/widgets.js", *(HTML / "_static" / name for name in sources)]:
        assert not re.search(r"(?m)^ *(//|/\*[^*]*\*/$)", file.read_text(encoding="utf-8")), file.name
