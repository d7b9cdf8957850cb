"""What the browser tests share: where the built book is, and when a page has come to rest."""

from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page

from benchmarks.site.weights import SHIFTS
from softlookup_course.browser import settle

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
FRONT_DOOR = "index.html"  # sends its visitor on at once
CHAPTER = "book/04_one_head.html"
AXE = ROOT / "book" / "_vendor" / "node_modules" / "axe-core" / "axe.min.js"
NOT_BUILT = "(the book is not built)"
MAKE_FIGURES = (ROOT / "book" / "_ext" / "widgets.js").read_text(encoding="utf-8")
FORGET = """() => {
  document.activeElement.blur();
  document.querySelectorAll('.widget-area').forEach((one) => one.remove());
  scrollTo({ top: 0, behavior: 'instant' });
}"""
EMPTY = """() => {
  Storage.prototype.setItem = () => {}; // some write once more when they are left
  localStorage.clear();
  sessionStorage.clear();
}"""
ALONE = """(parts) => {
  const inside = [...document.querySelectorAll(parts)];
  for (const one of document.body.querySelectorAll('*')) {
    if (!inside.some((part) => one.contains(part) || part.contains(one))) one.remove();
  }
}"""


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


def begin_again(seen: Seen) -> None:
    """Make the figures of a page anew from what it holds, and forget what went before."""
    page = seen.page
    page.mouse.move(0, 0)
    page.evaluate(FORGET)
    page.evaluate(MAKE_FIGURES)
    settle(page)
    seen.requests.clear()
    seen.complaints.clear()


def leave(seen: Seen) -> None:
    """Empty a tab: what its pages stored goes, and what the last of them still asks for comes to its end."""
    page = seen.page
    for window in page.context.pages[1:]:
        window.close()
    page.evaluate(EMPTY)
    page.goto("about:blank")
    page.mouse.move(0, 0)
    seen.requests.clear()
    seen.complaints.clear()


def shift_in(context: BrowserContext, address: str, until: str = "() => true") -> float:
    """How far a page moves in a new tab while it opens, and until a condition holds in it."""
    tab = context.new_page()
    tab.add_init_script(SHIFTS)
    tab.goto(address, wait_until="load")
    settle(tab)
    tab.wait_for_function(until)
    shift = tab.evaluate("window.shifted")
    tab.close()
    return shift


def shifted(browser: Browser, address: str, width: int, until: str = "() => true") -> float:
    """How far a page moves on a phone or at a desk."""
    with browser.new_context(viewport={"width": width, "height": 844 if width < 400 else 768}) as context:
        return shift_in(context, address, until)


def violations(page: Page, *parts: str, **how: object) -> list[str]:
    """Look with axe at a page, or at some parts of it, as it stands."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    context = {"include": [[part] for part in parts]} if parts else None
    how |= {"resultTypes": ["violations"], "preload": False}
    result = page.evaluate("([context, how]) => axe.run(context ?? document, how)", [context, how])
    return [f"{rule['id']}: {node['html'][:200]}" for rule in result["violations"] for node in rule["nodes"]]


def axe_findings(page: Page, *parts: str) -> list[str]:
    """Look with axe at some parts of a page, and take all others out, which axe would read, too."""
    page.evaluate(ALONE, ", ".join(parts))
    return violations(page, *parts)
