"""What pages weigh when they are opened, from the files that they name; `softlookup bench book` asks a browser."""

import gzip
import re
from urllib.parse import unquote, urlsplit

import pytest
from built_book import HTML, page_at, pages

from benchmarks.site.weights import LIMIT_BYTES, without_widgets

pytestmark = pytest.mark.book

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
