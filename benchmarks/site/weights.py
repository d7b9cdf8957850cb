"""What a page weighs when it is opened: gzipped bytes by kind, before its figures can be operated and with that."""

import gzip
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from softlookup_course.browser import opened, settle

LIMIT_BYTES = 1_000_000
"""Most that a page's first view may weigh, gzipped, before widgets."""

LIMIT_SHIFT = 0.01
"""Most that a page may move while it opens, as browsers add up layout shifts."""

KINDS = {"document": "html", "stylesheet": "css", "script": "scripts", "font": "fonts", "image": "pictures"}
WIDTHS = {"desktop": 1280, "phone": 390}

STATE = re.compile(rb'<script type="application/vnd\.jupyter\.widget-state\+json">.*?</script>', re.S)
RUNNER = "vendor/widgets.js"

SHIFTS = """
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
"""


@dataclass(frozen=True)
class LoadedBytes:
    """What a page loads: gzipped bytes by kind, their sum, and that without the scripts and states of figures."""

    bytes: dict[str, int]
    with_widgets: int
    before_widgets: int


@dataclass(frozen=True)
class FirstView(LoadedBytes):
    """What the first view loads, the ``whole`` once all was scrolled past, and pictures without a size."""

    whole: int
    layout_shift: float
    unsized: int


@dataclass(frozen=True)
class PageWeights:
    """Pages by name and width of the window, and the heaviest of them."""

    limit_bytes: int
    heaviest: str
    heaviest_bytes: int
    over_limit: int
    unsized_pictures: int
    largest_layout_shift: float
    pages: dict[str, dict[str, FirstView]]


@cache
def gzipped_bytes(path: Path) -> int:
    """Weigh a file as a server sends it: gzipped, or as it is where that is no gain (fonts, pictures)."""
    data = path.read_bytes()
    return min(len(data), len(gzip.compress(data, 6, mtime=0)))


def without_widgets(page: bytes) -> bytes:
    """Leave out of a page's HTML what only its interactive figures read."""
    return STATE.sub(b"", page)


def weigh(files: dict[Path, str], document: Path) -> LoadedBytes:
    """Add up what a page loads: the kind of each file that it asks for, itself among them."""
    kinds: Counter[str] = Counter()
    for file, kind in files.items():
        kinds[kind] += gzipped_bytes(file)
    whole = sum(kinds.values())
    bare = len(gzip.compress(without_widgets(document.read_bytes()), 6, mtime=0))
    runner = sum(gzipped_bytes(file) for file in files if file.as_posix().endswith(RUNNER))
    before = whole - gzipped_bytes(document) + bare - runner
    return LoadedBytes(dict(kinds), whole, before)


def visit(browser: Any, address: str, html: Path, name: str, width: int) -> FirstView:
    """Open a page, relative to the folder ``html`` that is served, as a first visitor does, and weigh it.

    The window's width is in CSS pixels.
    """
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme="light")
    files: dict[Path, str] = {}

    def note(request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme == "http":
            files[html / unquote(parts.path).lstrip("/")] = KINDS.get(request.resource_type, request.resource_type)

    try:
        context.add_init_script(SHIFTS)
        page = context.new_page()
        page.on("request", note)
        opened(page, address + name)
        settle(page)
        first = weigh(files, html / name)
        shifted = page.evaluate("window.shifted")
        unsized = page.evaluate(
            "[...document.images].filter((one) => !(one.hasAttribute('width') && one.hasAttribute('height'))).length"
        )
        page.evaluate(
            """async () => { for (let y = 0; y < document.body.scrollHeight; y += 800) {
                 scrollTo(0, y); await new Promise(requestAnimationFrame); } }"""
        )
        page.wait_for_load_state("networkidle")
        whole = weigh(files, html / name).with_widgets
    finally:
        context.close()
    return FirstView(**vars(first), whole=whole, layout_shift=round(shifted, 4), unsized=unsized)


def weigh_pages(browser: Any, address: str, html: Path, names: list[str]) -> PageWeights:
    """Weigh pages at a desktop's and at a phone's width."""
    pages = {
        name: {kind: visit(browser, address, html, name, width) for kind, width in WIDTHS.items()} for name in names
    }
    views = [(view.before_widgets, name) for name, widths in pages.items() for view in widths.values()]
    most, heaviest = max(views)
    return PageWeights(
        limit_bytes=LIMIT_BYTES,
        heaviest=heaviest,
        heaviest_bytes=most,
        over_limit=len({name for weight, name in views if weight > LIMIT_BYTES}),
        unsized_pictures=sum(widths["desktop"].unsized for widths in pages.values()),
        largest_layout_shift=max(view.layout_shift for widths in pages.values() for view in widths.values()),
        pages=pages,
    )
