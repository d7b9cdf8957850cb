"""What every machine shows alike: the book's own letters, lines of a readable length, a page that does not jump."""

import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest
from book_browser import CHAPTER, ROOT, shift_in

from benchmarks.site.weights import LIMIT_SHIFT, SHIFTS

pytestmark = [pytest.mark.browser, pytest.mark.book]

PAGES = ["book/index.html", CHAPTER, "exercises/04_one_head/04_one_head.html", "book/reference/model.html"]

FACES = """async () => {
  await document.fonts.ready;
  return [...document.fonts].filter((one) => one.status === 'loaded').map((one) => one.family.replaceAll('"', ''));
}"""
FAMILIES = """() => Object.fromEntries(
  ['.bd-article p', '.bd-article h1', '.bd-sidebar-primary a', '.bd-article pre', '.bd-article table td', '.slf']
    .map((one) => [one, document.querySelector(one)])
    .filter(([, node]) => node)
    .map(([one, node]) => [one, getComputedStyle(node).fontFamily.split(',')[0].replaceAll('"', '')]))"""
LINES = """() => [...document.querySelectorAll('.bd-article section > p')].map((p) => {
  const plain = !p.querySelector('.math, code, br');
  return { plain, letters: p.textContent.length, height: p.getBoundingClientRect().height,
    line: parseFloat(getComputedStyle(p).lineHeight) };
}).filter((one) => one.plain)"""


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_letters_come_from_the_book_itself_and_are_used(html, visit, page):
    with visit((html / page).as_uri()) as seen:
        loaded, families = set(seen.page.evaluate(FACES)), seen.page.evaluate(FAMILIES)
        assert {"IBM Plex Sans", "IBM Plex Mono"} <= loaded
        mono = families.pop(".bd-article pre", "IBM Plex Mono")
        assert mono == "IBM Plex Mono" and set(families.values()) == {"IBM Plex Sans"}


def test_every_font_is_small_and_has_its_licence_beside_it(html):
    fonts = html / "_static" / "vendor" / "fonts"
    named = {path.name for path in fonts.glob("*.woff2")}
    stylesheet = (ROOT / "book" / "_static" / "fonts.css").read_text(encoding="utf-8")
    assert len(named) >= 3 and all(f"vendor/fonts/{name}" in stylesheet for name in named)
    assert stylesheet.count("vendor/fonts/") == len(named)
    assert max(path.stat().st_size for path in fonts.glob("*.woff2")) < 100_000
    for family in ("sans", "mono"):
        text = (fonts / f"ibm-plex-{family}-licence.txt").read_text(encoding="utf-8")
        assert "SIL Open Font License" in text


@pytest.mark.parametrize("page", [CHAPTER, "book/09_training.html", "book/index.html"])
def test_lines_of_prose_have_60_to_80_characters(html, visit, page):
    with visit((html / page).as_uri(), width=1280, formulas=True) as seen:
        lines = seen.page.evaluate(LINES)
    full = [paragraph for paragraph in lines if paragraph["height"] > 3.5 * paragraph["line"]]
    assert full
    # The last line of a paragraph is half full on average.
    widths = [paragraph["letters"] / (round(paragraph["height"] / paragraph["line"]) - 0.5) for paragraph in full]
    assert 60 < sum(widths) / len(widths) < 80


@pytest.fixture(scope="module", params=[390, 1280])
def reader(request, server, chromium):
    """A window of a phone's width, or of a desk's, that has the letters from another page."""
    context = chromium.new_context(viewport={"width": request.param, "height": 900})
    shift_in(context, server + "book/00_before_you_start.html")
    yield context
    context.close()


@pytest.mark.slow
@pytest.mark.one_in(8)
@pytest.mark.parametrize("page", PAGES)
def test_page_does_not_jump(server, reader, page):
    assert shift_in(reader, server + page) < LIMIT_SHIFT


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("page", PAGES)
def test_page_moves_little_when_its_letters_arrive_late(server, chromium, page, width):
    context = chromium.new_context(viewport={"width": width, "height": 900})
    try:
        context.route("**/*.woff2", lambda route: (time.sleep(0.3), route.continue_()))
        assert shift_in(context, server + page) < LIMIT_SHIFT
    finally:
        context.close()


class InTwoPieces(SimpleHTTPRequestHandler):
    """Serves a page up to a mark, and the rest when a reader has seen that."""

    def __init__(self, *args, mark, rest, **options):
        self.mark, self.rest = mark, rest
        super().__init__(*args, **options)

    def do_GET(self):
        if not self.path.endswith(".html"):
            return super().do_GET()
        with self.send_head() as file:
            page = file.read()
        cut = page.index(self.mark)
        self.wfile.write(page[:cut])
        self.wfile.flush()
        assert self.rest.wait(60)
        return self.wfile.write(page[cut:])

    def log_message(self, *_):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("mark", ['<p class="exr-library"', "<tbody>"])
def test_exercises_do_not_jump_where_half_a_page_comes_first(html, chromium, mark):
    rest = Event()
    handler = partial(InTwoPieces, mark=mark.encode(), rest=rest, directory=str(html))
    context = chromium.new_context(viewport={"width": 390, "height": 900})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        tab = context.new_page()
        tab.add_init_script(SHIFTS)
        tab.goto(f"http://127.0.0.1:{server.server_port}/{PAGES[2]}", wait_until="commit")
        tab.wait_for_selector(".exr-facts")
        tab.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
        rest.set()
        tab.wait_for_selector(".slp-shelf")
        tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        shifted = tab.evaluate("window.shifted")
    finally:
        rest.set()
        context.close()
        server.shutdown()
        server.server_close()
    assert shifted < LIMIT_SHIFT


@pytest.mark.slow
@pytest.mark.parametrize("page", ["book/04_one_head.html", "book/06_positions.html"])
def test_all_folds_look_alike(html, visit, page):
    look = """() => [...document.querySelectorAll('.bd-article details:is(.hide,.sd-dropdown)>summary')].map((one) => {
      const own = getComputedStyle(one), mark = getComputedStyle(one, '::before');
      const box = getComputedStyle(one.parentElement).backgroundColor;
      return [own.display, own.color, own.backgroundColor, own.fontSize, box, mark.content, mark.fontSize,
        mark.position]
        .join(' | ');
    })"""
    with visit((html / page).as_uri()) as seen:
        looks = seen.page.evaluate(look)
    assert len(looks) > 3 and len(set(looks)) == 1
