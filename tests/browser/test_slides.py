"""A chapter's slides, opened from the disk: nothing is fetched from outside, formulas and figures stand."""

import subprocess
import sys
from collections.abc import Callable
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


@pytest.mark.slow
def test_slides_need_nothing_but_their_folder(folder: Path, visit: Callable) -> None:
    with visit((folder / f"{NAME}.html").as_uri(), formulas=True, alone=True) as seen:
        headings = each_slide(seen.page)
        formulas = seen.page.locator("section mjx-container").count()
        raw = "all => all.filter((p) => /\\$\\$/.test(p.innerText)).length"
        left = seen.page.locator("section p").evaluate_all(raw)
        sizes = "all => all.map((one) => [one.naturalWidth, one.alt.length])"
        pictures = seen.page.locator(".slk-figure img").evaluate_all(sizes)
        outside = [url for url in seen.requests if not url.startswith((folder.as_uri(), "data:", "blob:"))]
        assert outside == [] and seen.complaints == []
    assert len(headings) >= 12 and headings[0] == "One head of self-attention" and len(set(headings)) >= 8
    assert formulas >= 10 and left == 0 and len(pictures) >= 3
    assert min(width for width, _ in pictures) > 100 and min(letters for _, letters in pictures) > 20
