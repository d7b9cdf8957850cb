"""The list of chapters on the page *Your way*: what each needs, how long it takes, and its tasks.

It can be read as it stands. The page's script finds in its ``data-`` attributes all that it needs to tick off.
"""

import json
import re
from collections.abc import Collection, Mapping
from html import escape
from pathlib import Path
from typing import NamedTuple

from softlookup_course.curriculum.graph import EDGES, NAMES, needed
from softlookup_course.curriculum.reading import STATED
from softlookup_judge.checking.catalogue import CHAPTERS, STANDARD

_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_CAPSTONE = "_capstone"
_DETAILS = "_more"


class _WayPage(NamedTuple):
    """A page of the book that belongs to a chapter: its file beside this page, its heading, its minutes if it says."""

    file: str
    title: str
    minutes: int | None


def _pages_of(book: Path) -> dict[int, list[_WayPage]]:
    """The pages of each chapter, its own first; pages of further details need not be read, and are left out."""
    pages: dict[int, list[_WayPage]] = {chapter: [] for chapter in NAMES}
    for source in sorted(book.glob("[0-9][0-9]_*.md")):
        if source.stem.endswith(_DETAILS):
            continue
        text = source.read_text(encoding="utf-8")
        chapter = 90 if source.stem.endswith(_CAPSTONE) else int(source.name[:2])
        title, minutes = _TITLE.search(text), STATED.search(text)
        page = _WayPage(f"{source.stem}.html", title[1] if title else source.stem, int(minutes[1]) if minutes else None)
        pages[chapter].append(page)
    return pages


def chapters_html(book: Path) -> str:
    """The list, as HTML; ``book`` is the folder of the book's sources."""
    pages = _pages_of(book)
    here = [chapter for chapter in CHAPTERS if pages[chapter]]
    worth = _points_of(book.resolve().parent / "exercises")
    items = (_chapter(chapter, pages[chapter], set(here), worth) for chapter in here)
    return f'<ol class="way" id="way">{"".join(items)}</ol>'


def _points_of(exercises: Path) -> dict[str, float]:
    """What the tasks of a folder's notebooks are worth, by task: a course may leave tasks out and give other points."""
    points = {}
    for path in sorted(exercises.glob("[0-9][0-9]_*/*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            about = cell["metadata"].get("nbgrader", {})
            if about.get("grade"):
                task = str(about["grade_id"]).removesuffix("-check").replace("-", ".", 1)
                points[task] = float(about["points"])
    return points


def _chapter(chapter: int, pages: list[_WayPage], here: Collection[int], worth: Mapping[str, float]) -> str:
    strict = " ".join(map(str, sorted(needed(chapter) & set(here))))
    every = [task for task in STANDARD.tasks(chapter) if task.id in worth]
    sums = f"{sum(worth[task.id] for task in every):g} points, about {sum(task.minutes for task in every)} minutes"
    label = NAMES[chapter] if chapter >= 90 else f"{chapter} · {NAMES[chapter]}"
    return (
        f'<li class="way-chapter" id="way-{chapter}" data-chapter="{chapter}" data-needs="{strict}" '
        f'data-label="{escape(label)}">'
        f'<h3><a href="{pages[0].file}">{escape(label)}</a> <span class="way-mark"></span></h3>{_needs(chapter, here)}'
        f'<ul class="way-pages">{"".join(map(_page, pages))}</ul>'
        f'<details><summary><span class="way-count">{len(every)} tasks</span>, {sums}</summary><ul class="way-tasks">'
        + "".join(
            f'<li data-task="{task.id}" data-minutes="{task.minutes}" data-points="{worth[task.id]:g}">'
            f'<span class="way-sign" aria-hidden="true"></span><a href="{task.book_url.removeprefix("book/")}">'
            f"{escape(task.title)}</a> <code>{task.id}</code> "
            f'<span class="way-told">{worth[task.id]:g} point{"s" * (worth[task.id] != 1)}, {task.minutes} min</span>'
            "</li>"
            for task in every
        )
        + "</ul></details></li>"
    )


def _page(page: _WayPage) -> str:
    minutes = f", about {page.minutes} minutes" if page.minutes else ""
    return (
        f'<li data-page="{page.file}"><label><input type="checkbox" disabled> {escape(page.title)}</label>'
        f'<span class="way-read">{minutes}</span></li>'
    )


def _needs(chapter: int, here: Collection[int]) -> str:
    def links(strict: bool) -> str:
        return ", ".join(
            f'<a href="#way-{edge.needs}">{escape(NAMES[edge.needs])}</a>'
            if edge.needs in here
            else f"{escape(NAMES[edge.needs])} (not in this course)"
            for edge in EDGES
            if edge.chapter == chapter and edge.strict == strict
        )

    strict, helping = links(True), links(False)
    sentence = "; ".join(filter(None, (strict and f"needs {strict}", helping and f"helped by {helping}")))
    return f'<p class="way-needs">{sentence[0].upper()}{sentence[1:]}.</p>' if sentence else ""
