"""Which pages a part of the course has: the table of contents, cut down to some chapters."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

COURSE, AT_HAND = "The course", "At hand"
"""Parts of the whole book's table of contents that a course has too."""

SCHEDULE = "book/schedule"
NOT_TAKEN = frozenset({"book/compared"})
"""Pages at hand that speak of the whole course alone."""

CAPSTONE = 90
_NUMBERED = re.compile(r"(?:book|exercises)/(\d\d)_")


def chapter_of(page: str) -> int | None:
    """The chapter that a page of the contents belongs to; None where it belongs to none."""
    match = _NUMBERED.match(page)
    if match is None:
        return None
    return CAPSTONE if page.endswith("_capstone") else int(match[1])


def chapters_of(root: Path) -> list[int]:
    """The numbers of the chapters that the whole book has, 90 for the capstone."""
    numbers = {chapter_of(page) for page in files(_whole(root))}
    return sorted(chapter for chapter in numbers if chapter is not None)


def contents(root: Path, chapters: Collection[int]) -> dict[str, Any]:
    """Cut ``_toc.yml`` down to some chapters with all their pages, the schedule, and the pages at hand."""
    whole = _whole(root)
    by_caption = {part["caption"]: part["chapters"] for part in whole["parts"]}
    at_hand = [entry for entry in by_caption[AT_HAND] if entry["file"] not in NOT_TAKEN]
    parts = [
        {"caption": COURSE, "chapters": [*_chosen_entries(by_caption[COURSE], set(chapters))]},
        {"caption": AT_HAND, "chapters": [{"file": SCHEDULE}, *at_hand]},
    ]
    return {"format": whole["format"], "root": whole["root"], "parts": parts}


def files(entry: Any) -> Iterator[str]:
    """All pages of a table of contents, or of a part of it, in its order."""
    if isinstance(entry, list):
        for item in entry:
            yield from files(item)
    elif isinstance(entry, Mapping):
        yield from (entry[key] for key in ("root", "file") if key in entry)
        for value in entry.values():
            yield from files(value)


def _whole(root: Path) -> dict[str, Any]:
    toc: dict[str, Any] = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    return toc


def _chosen_entries(entries: list[dict[str, Any]], chapters: set[int]) -> Iterator[dict[str, Any]]:
    """The entries of these chapters; what stands below an entry that is left out moves up."""
    for entry in entries:
        below = [*_chosen_entries(entry.get("sections", []), chapters)]
        if chapter_of(entry["file"]) not in chapters:
            yield from below
            continue
        remaining = {key: value for key, value in entry.items() if key != "sections"}
        yield remaining | ({"sections": below} if below else {})
