"""The boxed takeaways of the chapters, for the sheet that collects them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_BOX = re.compile(r"^```\{admonition\} Takeaway\n:class: takeaway\n+(.*?)\n```$", re.DOTALL | re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


class Takeaway(NamedTuple):
    """A sentence to keep from a chapter, as Markdown, with its page and the page's heading."""

    page: str
    title: str
    text: str


def takeaways(book: Path) -> Iterator[Takeaway]:
    """Read the takeaways of all chapters, in the order of the book."""
    for file in sorted(book.glob("[0-9][0-9]_*.md")):
        text = file.read_text(encoding="utf-8")
        title = _TITLE.search(text)
        for match in _BOX.finditer(text):
            yield Takeaway(file.stem, title[1] if title else file.stem, " ".join(match[1].split()))


def takeaway_list(book: Path) -> str:
    """Write the takeaways as a list in Markdown: each chapter's heading, linked, and its sentences."""
    lines: list[str] = []
    last = ""
    for takeaway in takeaways(book):
        if takeaway.page != last:
            lines += ["", f"**[{takeaway.title}]({takeaway.page}.md)**", ""]
            last = takeaway.page
        lines.append(f"- {takeaway.text}")
    return "\n".join(lines).strip()
