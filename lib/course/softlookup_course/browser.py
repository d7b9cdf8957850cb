"""A headless Chromium before the built book, served from this machine."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Programs that can be this browser; the first shows no windows, and does the same work in two thirds of the time."""

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--font-render-hinting=none")
"""Letters are as wide as in a browser with windows; only the program without them would round their widths."""
PATIENCE_MS = 180_000
"""How long a page may take to open: the machine may have other work."""

VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]'
SETTLED = f"""async () => {{
  if (document.documentElement.dataset.theme === undefined) return true; // no page of the book
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  const running = () => document.querySelectorAll('.widget-area').length;
  const end = performance.now() + 60_000;
  while (document.querySelectorAll('{VIEW}').length > running() && performance.now() < end) {{
    await new Promise(requestAnimationFrame);
  }}
  return true;
}}"""
"""A script for a page: formulas are typeset in their fonts, and figures run, unless one never comes."""


class NoBrowser(RuntimeError):
    """There is no browser to look with, or no book to look at; the message says what to do."""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing of each request."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine alone; gives its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def served(html: Path) -> Iterator[str]:
    """Serve the built book; gives its address. NoBrowser if the book is not built."""
    if not (html / "index.html").exists():
        raise NoBrowser(f"no built book in {html}: run `make book` first")
    with serving(html) as address:
        yield address


@contextmanager
def chromium() -> Iterator[Any]:
    """Start Chromium; gives Playwright's browser. NoBrowser if Playwright or the browser is missing."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        raise NoBrowser("pages are measured with Playwright: pip install playwright (make setup brings it)") from None
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        raise NoBrowser(f"pages are measured in a browser, and there is none of {', '.join(NAMES)} here")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def opened(page: Any, address: str) -> Any:
    """Open an address in a page that waits as long as it takes on a busy machine, and give the page."""
    page.set_default_timeout(PATIENCE_MS)
    page.goto(address, wait_until="load")
    return page


def settle(page: Any) -> None:
    """Wait until formulas are typeset in their fonts, and figures run."""
    page.evaluate(SETTLED)
