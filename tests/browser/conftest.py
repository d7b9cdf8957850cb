"""Headless Chromium over the built book: by file:// and from a local server, in both themes."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
AXE = ROOT / "book" / "_vendor" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
NOT_BUILT = "(the book is not built)"


def built_pages() -> list[str]:
    """List the pages of the built book, or one stand-in that makes the tests fail with a sentence."""
    pages = sorted(path.relative_to(HTML).as_posix() for path in HTML.rglob("*.html"))
    return [page for page in pages if not page.startswith("_")] or [NOT_BUILT]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "any_page" in metafunc.fixturenames:
        metafunc.parametrize("any_page", built_pages())


@pytest.fixture(scope="session")
def html() -> Path:
    if not (HTML / "index.html").exists():
        pytest.fail("the book is not built: run `make book` first, then the tests that read _build/html")
    return HTML


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"no Chromium at {CHROMIUM}: install the system's chromium package to run the browser tests")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        browser.close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def server(html: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(html))) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_address[1]}/"
        serving.shutdown()
        thread.join()


@dataclass
class Seen:
    """What a visit gave: the page, what it asked for, and what went wrong."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture
def visit(chromium: Browser) -> Callable:
    """Give a context manager that opens an address and waits until formulas and figures stand."""

    @contextmanager
    def opened(address: str, theme: str = "light", width: int = 1280, **options: object) -> Iterator[Seen]:
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        try:
            context.add_init_script(f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')")
            page = context.new_page()
            seen = Seen(page)
            page.on("request", lambda request: seen.requests.append(request.url))
            page.on("requestfailed", lambda request: seen.complaints.append(f"failed: {request.url}"))
            page.on("pageerror", lambda error: seen.complaints.append(f"error: {error}"))
            page.on(
                "console",
                lambda said: said.type in {"error", "warning"} and seen.complaints.append(f"console: {said.text}"),
            )
            page.goto(address, wait_until="load")
            settle(page)
            yield seen
        finally:
            context.close()

    return opened


def settle(page: Page) -> None:
    """Wait for typeset formulas and running figures; a page without scripts has nothing to wait for."""
    if page.evaluate("document.documentElement.dataset.theme") is None:
        return
    page.evaluate("() => window.MathJax?.startup?.promise")
    waiting = "script[type='application/vnd.jupyter.widget-view+json']"
    page.wait_for_function(
        f"() => document.querySelectorAll(\"{waiting}\").length === document.querySelectorAll('.widget-area').length"
    )


def open_everything(page: Page) -> None:
    """Unfold all that is folded, so that nothing is left unlooked at."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
