"""What the book's pages say of themselves: sections, how long they take to read, figures to operate, tasks."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path

from softlookup_course.curriculum.reading import STATED, figures_to_operate
from softlookup_judge.checking.catalogue import STANDARD
from softlookup_judge.data.task import Task

_FENCE = re.compile(r"(`{3,}|~{3,}|:{3,})")
_HEADING = re.compile(r"(#{1,6}) +(.+?) *$")
_LABEL = re.compile(r"\(([a-z0-9-]+)\)= *$")
_NOT_TOLD = ("Summary", "Questions with answers", "Sources")


class PageError(ValueError):
    """A page does not say what every chapter's page says of itself; the message names the page."""


@dataclass(frozen=True)
class Section:
    """A section of a chapter, the smaller ones inside it included; ``minutes`` is its share of the reading time."""

    chapter: int
    label: str
    title: str
    minutes: int
    figures: tuple[str, ...]
    tasks: tuple[Task, ...]


@dataclass(frozen=True)
class Page:
    """A chapter's page, with the reading time that it states; summary, questions and sources are no sections."""

    chapter: int
    name: str
    title: str
    minutes: int
    sections: tuple[Section, ...]


@dataclass
class _Part:
    label: str
    title: str
    lines: list[str]
    labels: list[str]


def chapter_files(book: Path) -> dict[int, Path]:
    """The page of each chapter, by number. Chapter 14 is a list of statements and is not taught."""
    files: dict[int, Path] = {}
    for file in sorted(book.glob("[0-9][0-9]_*.md")):
        files.setdefault(int(file.name[:2]), file)
    return {chapter: file for chapter, file in files.items() if chapter != 14}


@cache
def read_page(book: Path, chapter: int) -> Page:
    """Read what a chapter's page says of itself; PageError if there is none, or it says no reading time."""
    files = chapter_files(book)
    if chapter not in files:
        raise PageError(f"no page of chapter {chapter} in {book}; there are some of {', '.join(map(str, files))}")
    file = files[chapter]
    text = file.read_text(encoding="utf-8")
    match = STATED.search(text)
    if match is None:
        raise PageError(f"{file.name} does not say '**Reading time** about N minutes'")
    minutes = int(match[1])
    title, *parts = _parts(text)
    parts = [part for part in parts if not part.title.startswith(_NOT_TOLD)]
    homes = _homes(parts, STANDARD.tasks(chapter), file.stem)
    opening = "\n".join(title.lines)  # a figure on the first screen belongs to the first section
    words = _words(text)
    imported = figures_to_operate(text)
    sections = []
    for part in parts:
        body = "\n".join(part.lines)
        visible_text, opening = opening + body, ""
        figures = tuple(name for name in sorted(imported) if re.search(rf"\b{name}\(", visible_text))
        belonging = tuple(task for task in STANDARD.tasks(chapter) if homes.get(task.id) is part)
        section_minutes = ceil(minutes * _words(body) / words)
        sections.append(Section(chapter, part.label, part.title, max(1, section_minutes), figures, belonging))
    return Page(chapter, file.stem, title.title, minutes, tuple(sections))


def _homes(parts: Sequence[_Part], tasks: Iterable[Task], page: str) -> dict[str, _Part]:
    """The part that each task belongs to: the one with its section, or the first that links to it on a side page."""
    homes = {}
    for task in tasks:
        if task.page == page:
            there = (part for part in parts if task.anchor in part.labels)
        else:
            there = (part for part in parts if f"(#{task.anchor})" in "\n".join(part.lines))
        if part := next(there, None):
            homes[task.id] = part
    return homes


def _parts(text: str) -> Iterator[_Part]:
    """Cut a page at its largest headings; what stands in code is none."""
    current, label, fence = _Part("", "", [], []), "", ""
    first = True
    for line in _after_front_matter(text):
        mark = _FENCE.match(line.strip())
        if mark and (not fence or (line.strip().startswith(fence) and not line.strip().strip(fence[0]))):
            fence = "" if fence else mark[1]
        heading = None if fence else _HEADING.match(line)
        if heading and len(heading[1]) <= 2:
            if not first:
                yield current
            first = False
            current = _Part(label if len(heading[1]) == 2 else "", heading[2], [], [label] if label else [])
            label = ""
            continue
        match = None if fence else _LABEL.match(line.strip())
        if match:
            label = match[1]
            continue
        if label and line.strip():  # a label inside a section: of a smaller heading, or of a paragraph
            current.labels.append(label)
            label = ""
        current.lines.append(line)
    yield current


def _after_front_matter(text: str) -> list[str]:
    lines = text.splitlines()
    if lines and lines[0] == "---":
        return lines[lines.index("---", 1) + 1 :]
    return lines


def _words(text: str) -> int:
    return len(re.findall(r"\w+", text))
