"""Headless Chromium over the built book: by file:// and from a local server, in both themes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from book_browser import HTML, ROOT, Seen, begin_again, built_pages
from listening import listening
from playwright.sync_api import Browser, Page, expect

from benchmarks.site.engines import Engine, Firefox, NoEngine, WebKit
from softlookup.browser import PATIENCE_MS, serving, settle

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
def visit(chromium: Browser) -> Callable:
    """Give a context manager that opens an address and waits until figures, and formulas where asked for, stand."""

    @contextmanager
    def opened(
        address: str, theme: str = "light", width: int = 1280, *, formulas: bool = False, **options: object
    ) -> Iterator[Seen]:
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        try:
            context.add_init_script(CHOOSE.format(theme))
            if not formulas:
                context.add_init_script(NO_FORMULAS)
            seen = listen_to(context.new_page())
            seen.page.goto(address, wait_until="load")
            settle(seen.page)
            yield seen
        finally:
            context.close()

    return opened


@pytest.fixture(scope="module")
def tour(chromium: Browser) -> Iterator[Callable]:
    """Give what opens one address after another in the same tab of a theme: their scripts are compiled once."""
    tabs: dict[str, Seen] = {}

    def opened(address: str, theme: str, width: int) -> Seen:
        if theme not in tabs:
            context = chromium.new_context()
            context.add_init_script("localStorage.clear(); sessionStorage.clear();" + CHOOSE.format(theme))
            tabs[theme] = listen_to(context.new_page())
        seen = tabs[theme]
        seen.page.goto("about:blank")  # what the last page still asks for comes to its end
        seen.page.set_viewport_size({"width": width, "height": 900})
        seen.requests.clear()
        seen.complaints.clear()
        seen.page.goto(address, wait_until="load")
        settle(seen.page)
        return seen

    yield opened
    for seen in tabs.values():
        seen.page.context.close()


@pytest.fixture(scope="module")
def _standing(html: Path, visit: Callable, request: pytest.FixtureRequest) -> Iterator[Seen]:
    """The page of a file's figure, opened once."""
    with visit((html / request.module.PAGE).as_uri()) as seen:
        yield seen


@pytest.fixture
def stands(_standing: Seen) -> Seen:
    """The page ``PAGE`` of a file of tests, whose figures are made anew for each of them: to open it takes longer."""
    begin_again(_standing)
    return _standing
