"""What the tests of the built book share: where it is, and what stands on its pages."""

from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"


def need_book() -> None:
    """Fail with a sentence where the book is not built."""
    if not (HTML / "index.html").exists():
        pytest.fail("the book is not built: run `make book` first, then the tests that read _build/html")


def pages() -> list[Path]:
    """Give all pages of the built book."""
    need_book()
    return [path for path in sorted(HTML.rglob("*.html")) if not path.relative_to(HTML).parts[0].startswith("_")]


@dataclass
class Page(HTMLParser):
    """One page, taken apart."""

    path: Path
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    images: list[dict[str, str]] = field(default_factory=list)
    in_article: bool = False
    is_slanted: bool = False
    """Whether its article has letters that browsers show slanted."""

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.in_article = self.in_article or tag == "article"
        if self.in_article and tag in {"em", "i", "cite", "dfn", "var"}:
            self.is_slanted |= not attributes.get("class", "").startswith("fa")  # an icon
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        if tag == "img":
            self.images.append(attributes)
        if tag in {"script", "img", "iframe", "source", "video", "audio"} and attributes.get("src"):
            self.loads.append(attributes["src"])
        if tag == "link" and attributes.get("rel") not in {"canonical", "index", "search", "next", "prev"}:
            self.loads.append(attributes.get("href", ""))

    def handle_endtag(self, tag: str) -> None:
        self.in_article = self.in_article and tag != "article"


@cache
def page_at(path: Path) -> Page:
    """Give a page, which many tests look at and which is taken apart once."""
    return Page(path)
