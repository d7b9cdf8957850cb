"""Headless Chromium over the built book: by file:// and from a local server, in both themes."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from book_browser import HTML, Seen, built_pages, settle
from playwright.sync_api import Browser


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "any_page" in metafunc.fixturenames:
        metafunc.parametrize("any_page", built_pages())


@pytest.fixture(scope="session")
def html() -> Path:
    if not (HTML / "index.html").exists():
        pytest.fail("the book is not built: run `make book` first, then the tests that read _build/html")
    return HTML


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


@pytest.fixture
def visit(chromium: Browser) -> Callable:
    """Give a context manager that opens an address and waits until formulas and figures stand."""

    @contextmanager
    def opened(address: str, theme: str = "light", width: int = 1280, **options: object) -> Iterator[Seen]:
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        try:
            choose = "localStorage.setItem('mode', '{0}'); localStorage.setItem('theme', '{0}')"
            context.add_init_script(choose.format(theme))
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
