"""Headless Chromium over the built book: by file:// and from a local server, in both themes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from book_browser import HTML, ROOT, Seen, begin_again, built_pages, leave
from listening import listening
from playwright.sync_api import Browser, Page, expect

from benchmarks.site.engines import Engine, Firefox, NoEngine, WebKit
from softlookup_course.browser import PATIENCE_MS, serving, settle

expect.set_options(timeout=PATIENCE_MS)  # five seconds else, too few where the machine has other work

NO_FORMULAS = """{
  let config;
  Object.defineProperty(window, 'MathJax', { configurable: true, get: () => config, set(value) {
    config = value;
    if (value && !value.version) value.startup = { ...value.startup, typeset: false };
  } });
}"""
"""For a page whose formulas nobody looks at: to typeset them takes longer than all else of opening it."""

CHOOSE = "localStorage.setItem('mode', '{0}'); localStorage.setItem('theme', '{0}')"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "any_page" in metafunc.fixturenames:
        metafunc.parametrize("any_page", built_pages())


@pytest.fixture(scope="session")
def html() -> Path:
    if not (HTML / "index.html").exists():
        pytest.fail("the book is not built: run `make book` first, then the tests that read _build/html")
    return HTML


@pytest.fixture(scope="session")
def server(html: Path) -> Iterator[str]:
    with serving(html) as address:
        yield address


@pytest.fixture(scope="session", params=["Firefox", "WebKit"])
def engine(request: pytest.FixtureRequest, html: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Give each of the two other browsers; it knows the book's two addresses."""
    if request.param == "WebKit":
        html = listening(html, tmp_path_factory.mktemp("listening") / "html")
    try:
        browser = Firefox(ROOT) if request.param == "Firefox" else WebKit(tmp_path_factory.mktemp("webkit") / "home")
    except NoEngine as missing:
        pytest.skip(str(missing))
    with serving(html) as address:
        browser.files, browser.served = html.as_uri() + "/", address
        yield browser
    browser.close()


def listen_to(page: Page) -> Seen:
    """Note what a new page asks for, and its complaints."""
    page.set_default_timeout(PATIENCE_MS)
    seen = Seen(page)
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("requestfailed", lambda request: seen.complaints.append(f"failed: {request.url}"))
    page.on("pageerror", lambda error: seen.complaints.append(f"error: {error}"))
    page.on(
        "console",
        lambda message: message.type in {"error", "warning"} and seen.complaints.append(f"console: {message.text}"),
    )
    return seen


@pytest.fixture(scope="session")
def visit(chromium: Browser) -> Iterator[Callable]:
    """Give a context manager that opens an address and waits until figures, and formulas where asked for, stand.

    The next visit with the same options takes the same tab, emptied: its scripts are compiled once. A test that changes
    more than the page and what it stores (routes, permissions, media) visits it ``alone``.
    """
    idle: dict[tuple, list[Seen]] = {}

    def new_tab(theme: str, formulas: bool, options: dict) -> Seen:
        context = chromium.new_context(**options)
        context.add_init_script(CHOOSE.format(theme))
        if not formulas:
            context.add_init_script(NO_FORMULAS)
        return listen_to(context.new_page())

    @contextmanager
    def opened(
        address: str,
        theme: str = "light",
        width: int = 1280,
        *,
        formulas: bool = False,
        alone: bool = False,
        **options: object,
    ) -> Iterator[Seen]:
        tabs = idle.setdefault((theme, formulas, repr(options)), [])
        seen = tabs.pop() if tabs and not alone else new_tab(theme, formulas, options)
        is_good = False
        try:
            seen.page.set_viewport_size({"width": width, "height": 900})
            seen.page.goto(address, wait_until="load")
            settle(seen.page)
            yield seen
            is_good = not alone
        finally:
            if is_good:
                leave(seen)
                tabs.append(seen)
            else:
                seen.page.context.close()

    yield opened
    for seen in (seen for tabs in idle.values() for seen in tabs):
        seen.page.context.close()


@pytest.fixture(scope="module")
def _standing(html: Path, visit: Callable, request: pytest.FixtureRequest) -> Iterator[Seen]:
    """The page of a file's figure, opened once."""
    with visit((html / request.module.PAGE).as_uri()) as seen:
        yield seen


@pytest.fixture
def stands(_standing: Seen) -> Seen:
    """The page ``PAGE`` of a file of tests, whose figures are made anew for each of them: to open it takes longer."""
    _standing.page.set_viewport_size({"width": 1280, "height": 900})
    begin_again(_standing)
    return _standing


@pytest.fixture
def fresh(chromium: Browser) -> Iterator[Page]:
    """A tab in which nothing was written beforehand, as by those who choose a theme for a test."""
    with chromium.new_context() as context:
        yield context.new_page()


@contextmanager
def live_figure(visit: Callable, address: str) -> Iterator[Seen]:
    """Open a page with a model at work, for a reader who wants no motion; nobody may complain."""
    with visit(address, reduced_motion="reduce") as seen:
        seen.figure = seen.page.locator(".lvm")
        yield seen
        assert seen.complaints == []


@pytest.fixture
def live(html: Path, visit: Callable, request: pytest.FixtureRequest) -> Iterator[Seen]:
    """The page ``PAGE`` of a file of tests, opened for each of them, from the disk or from a server."""
    place = request.getfixturevalue("server") if getattr(request, "param", "") == "server" else html.as_uri()
    with live_figure(visit, f"{place.rstrip('/')}/{request.module.PAGE}") as seen:
        yield seen


@pytest.fixture(scope="module")
def standing(html: Path, visit: Callable, request: pytest.FixtureRequest) -> Iterator[Seen]:
    """The page ``PAGE``, opened once, for tests that set all that they look at."""
    with live_figure(visit, (html / request.module.PAGE).as_uri()) as seen:
        yield seen
