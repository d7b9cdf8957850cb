"""A chapter's slides, opened from the disk: nothing is fetched from outside, formulas and figures stand."""

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from softlookup_judge.authoring import find_root

pytestmark = pytest.mark.browser
NAME = "04_one_head"
ROOT = find_root()
HEIGHT = "Reveal.getCurrentSlide().scrollHeight"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Slides made by the command, in a process of its own: the browser of the tests holds this one's event loop."""
    folder = tmp_path_factory.mktemp("slides")
    command = [sys.executable, "-m", "softlookup_command", "slides", "4", "--out", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert {f"{NAME}.ipynb", f"{NAME}.html"} <= {path.name for path in folder.iterdir()}
    return folder


@pytest.mark.slow
def test_every_slide_fits(folder: Path, chromium: Browser) -> None:
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    page.goto((folder / f"{NAME}.html").as_uri())
    page.evaluate("fitted")
    high = []
    for _ in range(page.evaluate("Reveal.getTotalSlides()")):
        # The slide is made smaller in the tasks that follow the change: waited for, and then measured.
        page.wait_for_function(f"{HEIGHT} <= 722 || Reveal.getCurrentSlide().style.fontSize === '44%'")
        if page.evaluate(f"{HEIGHT} > 722 || Reveal.getCurrentSlide().scrollWidth > 1102"):
            high.append(page.evaluate("Reveal.getCurrentSlide().textContent"))
        page.evaluate("Reveal.next()")
    page.close()
    assert high == []


@pytest.mark.slow
def test_slides_are_printed_each_on_a_page(folder: Path) -> None:
    pypdf = pytest.importorskip("pypdf")
    pages = pypdf.PdfReader(folder / f"{NAME}.pdf").pages
    assert len(pages) >= 12 and all(page.extract_text().strip() for page in pages)


def each_slide(page: Page) -> list[str]:
    """Go through all slides, and give the heading of each."""
    headings = []
    for _ in range(page.evaluate("Reveal.getTotalSlides()")):
        headings.append(page.evaluate("Reveal.getCurrentSlide().querySelector('h1, h2, h3').innerText"))
        page.evaluate("Reveal.next()")
    return headings


def test_slides_need_nothing_but_their_folder(folder: Path, chromium: Browser) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    requests: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: message.type in {"error", "warning"} and complaints.append(message.text))
    try:
        page.goto((folder / f"{NAME}.html").as_uri())
        page.evaluate("() => MathJax.startup.promise")
        headings = each_slide(page)
        formulas = page.evaluate("document.querySelectorAll('section mjx-container').length")
        left = page.evaluate(
            "[...document.querySelectorAll('section p')].filter((p) => /\\$\\$/.test(p.innerText)).length"
        )
        widths = page.evaluate("[...document.querySelectorAll('.slk-figure img')].map((one) => one.naturalWidth)")
        pictures = page.evaluate("[...document.querySelectorAll('.slk-figure img')].map((one) => one.alt.length)")
    finally:
        context.close()
    here = folder.as_uri()
    assert [url for url in requests if not url.startswith((here, "data:", "blob:"))] == [] and complaints == []
    assert len(headings) >= 12 and headings[0] == "One head of self-attention" and len(set(headings)) >= 8
    assert formulas >= 10 and left == 0
    assert len(widths) >= 3 and min(widths) > 100 and min(pictures) > 20
