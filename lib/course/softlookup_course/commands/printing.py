"""Pages printed to PDF, and pictures of figures that run, by Chromium where it is there."""

from collections.abc import Iterable
from pathlib import Path

import click

from softlookup_course.commands.shared import checkout


def live_figures(page: str) -> list[bytes]:
    """Pictures (PNG) of the interactive figures of a page of the built book; none without Chromium or a built book."""
    path = checkout() / "_build" / "html" / "book" / f"{page}.html"
    from softlookup_course.browser import NoBrowser, chromium, opened, settle

    if not path.is_file():
        return []
    try:
        with chromium() as browser:
            view = browser.new_page(viewport={"width": 1280, "height": 900}, device_scale_factor=2)
            opened(view, path.as_uri())
            settle(view)
            return [area.screenshot() for area in view.locator(".widget-area").all()]
    except NoBrowser:
        return []


def as_pdf(pages: Iterable[Path], query: str = "") -> list[Path]:
    """Print HTML pages beside themselves; ``query`` goes behind the address. Without Chromium say what to do."""
    from softlookup_course.browser import NoBrowser, chromium, opened

    pdfs = []
    try:
        with chromium() as browser:
            page = browser.new_page()
            for path in pages:
                if path.suffix == ".html":
                    opened(page, path.resolve().as_uri() + query)
                    page.evaluate("globalThis.fitted ?? globalThis.MathJax?.startup?.promise")
                    target = path.with_suffix(".pdf")
                    page.pdf(path=str(target), prefer_css_page_size=True, print_background=True)
                    pdfs.append(target)
    except NoBrowser:
        click.echo("note: no PDF was made, since Chromium or playwright is missing: print the page in a browser")
    return pdfs
