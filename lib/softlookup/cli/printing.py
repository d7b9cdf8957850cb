"""Pages printed to PDF by Chromium, where it is there."""

from collections.abc import Iterable
from pathlib import Path

import click


def as_pdf(pages: Iterable[Path], **how: str) -> list[Path]:
    """Print pages beside themselves; without Chromium say what to do, and print none.

    Args:
        pages: Files; those that are not HTML are left out.
        how: Further arguments of Chromium's for the paper, such as ``width="16in"``.

    Returns:
        The PDFs, without the header and footer that a browser adds.
    """
    try:
        from softlookup.bench.site.browser import NoBrowser, chromium
    except ModuleNotFoundError:
        click.echo("note: no PDF was made, since playwright is not installed (make setup): print the page in a browser")
        return []
    made = []
    try:
        with chromium() as browser:
            page = browser.new_page()
            for path in pages:
                if path.suffix == ".html":
                    page.goto(path.resolve().as_uri())
                    page.wait_for_load_state("networkidle")
                    page.evaluate("globalThis.MathJax?.startup?.promise")
                    target = path.with_suffix(".pdf")
                    page.pdf(path=str(target), prefer_css_page_size=True, print_background=True, **how)
                    made.append(target)
    except NoBrowser as error:
        click.echo(f"note: no PDF was made ({error}): print the page in a browser")
    return made
