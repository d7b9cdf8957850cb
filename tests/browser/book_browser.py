"""What the browser tests share: where the built book is, and when a page has come to rest."""

from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
FRONT_DOOR = "index.html"  # sends its visitor on at once
CHAPTER = "book/04_one_head.html"
AXE = ROOT / "book" / "_vendor" / "node_modules" / "axe-core" / "axe.min.js"
NOT_BUILT = "(the book is not built)"


def built_pages() -> list[str]:
    """List the pages of the built book, or one stand-in that makes the tests fail with a sentence."""
    pages = sorted(path.relative_to(HTML).as_posix() for path in HTML.rglob("*.html"))
    return [page for page in pages if not page.startswith("_") and page != FRONT_DOOR] or [NOT_BUILT]


@dataclass
class Seen:
    """What a visit gave: the page, what it asked for, and what went wrong."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


def open_everything(page: Page) -> None:
    """Unfold all that is folded, so that nothing is left unlooked at, and wait until it has faded in."""
    page.evaluate(
        """async () => {
             document.querySelectorAll('details').forEach((one) => { one.open = true; });
             await new Promise(requestAnimationFrame);
             await Promise.allSettled(document.getAnimations().map((one) => one.finished));
           }"""
    )
