"""The files of a course's folder: copies of pages, and those that a course has of its own. Nobody's changes are lost.

``.pages.json`` keeps which bytes were written. A file that nobody has touched since gets what is newer; a file that
somebody has changed stays, and is named.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from softlookup_course.curriculum.short_routes import TWO_HOURS
from softlookup_course.part.contents import SCHEDULE, contents, files
from softlookup_course.part.schedule import chapter_words, left_out_sentence, schedule_page
from softlookup_grader.data.disk import atomic_write

RECORD = ".pages.json"
INDEX, SHORT_ROUTES = "book/index", "book/short_routes"
BESIDE = ("book/references.bib", "book/measured/*")
"""What pages read besides themselves."""

_CONFIG = """\
# What the book of this course has of its own. All other settings are those of the checkout's _config.yml; what stands
# here counts in their place, for instance the addresses below sphinx: config: softlookup_launch. Of these, install and
# book stand in the notebooks, too: run 'softlookup release' after changing them.
title: {title}
session_minutes: {minutes} # of the schedule, which 'softlookup course new' writes
"""
_STUDENT = """\
(start-student)=
## As a student

Read a chapter, and do its tasks as you go: in the boxes *Now you*, where nothing has to be installed, or in the
notebook that your lecturer gives you. [Each notebook has a page](exercises.md) that shows its tasks and lets you
download it. Write your answer, run the check, read what it says, try again: as often as you like.
[Your way](your_way.md) says how far you are, and what comes next."""
_TOC = "# Pages of this course, in their order. Add your own: they are Markdown files below book/.\n"
_CHAPTER = re.compile(r"^\| \[\]\((\d\d)_\w+\.md\) \|.*\n", re.MULTILINE)


@dataclass
class Written:
    """Files that are new or newer, and those ``kept`` since somebody has changed them."""

    new: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def write_pages(
    root: Path, folder: Path, chapters: Collection[int], title: str, minutes: int, dropped: Collection[str] = ()
) -> Written:
    """Write the pages of some chapters, and what their book is built from; nobody's changes are written over."""
    content_by_name = dict(_own_files(root, chapters, title, minutes, dropped))
    for page in files(contents(root, chapters)):
        name = f"{page}.md"
        if page.startswith("book/") and name not in content_by_name and page != SCHEDULE:
            content_by_name[name] = (root / name).read_bytes()
    for pattern in BESIDE:
        content_by_name |= {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.glob(pattern))}
    return _write(folder, content_by_name)


def _own_files(
    root: Path, chapters: Collection[int], title: str, minutes: int, dropped: Collection[str]
) -> Iterator[tuple[str, bytes]]:
    """The files that are no copies."""
    toc = yaml.safe_dump(contents(root, chapters), sort_keys=False)
    yield "_toc.yml", (_TOC + toc).encode()
    yield "_config.yml", _CONFIG.format(title=json.dumps(title, ensure_ascii=False), minutes=minutes).encode()
    yield f"{SCHEDULE}.md", schedule_page(root / "book", chapters, minutes, dropped).encode()
    whole = (root / f"{INDEX}.md").read_text(encoding="utf-8")
    yield f"{INDEX}.md", index_page(whole, chapters, title).encode()
    routes = (root / f"{SHORT_ROUTES}.md").read_text(encoding="utf-8")
    yield f"{SHORT_ROUTES}.md", short_routes_page(routes, chapters).encode()


def index_page(whole: str, chapters: Collection[int], title: str) -> str:
    """Write the first page of a course's book from ``whole``, the text of the whole book's."""
    rows = "".join(row[0] for row in _CHAPTER.finditer(whole) if int(row[1]) in chapters)
    table = f"| chapter | what you can do afterwards |\n|---|---|\n{rows}" if rows else ""
    capstone = (
        "The [capstone](13_beyond_text_capstone.md) builds a transformer of your own.\n" if 90 in chapters else ""
    )
    lead = f"A course on transformers: {chapter_words(chapters)} of Soft Lookup."
    parts = (
        f"# {title}",
        f"```{{div}} lead\n{lead}\n```",
        "Every task checks itself at once, in the page or in a notebook. The [schedule](schedule.md) says what is "
        "taught when, and the page of [exercises](exercises.md) lists every task with its points.",
        left_out_sentence(chapters),
        "## The chapters",
        table.rstrip(),
        capstone.rstrip(),
        "The [formula sheets](formulas.md) hold shapes and costs on two printable pages. The [notation](notation.md) "
        "page holds the letters that all code and formulas share; the [glossary](glossary.md) says each term in a "
        "sentence or two.",
        _STUDENT,
    )
    return "\n\n".join(filter(None, parts)) + "\n"


def short_routes_page(whole: str, chapters: Collection[int]) -> str:
    """Leave the long route out of the page of short routes, ``whole``, unless all its chapters are there."""
    if {stop.chapter for stop in TWO_HOURS} <= set(chapters):
        return whole
    head, begin, ending = whole.partition("The whole book takes")
    end = ending.index("(short-routes-questions)=")
    head = re.sub(r"say\(two_hours=.*\n", "", head).replace("# Short routes through the book", "# Short routes")
    return head + "A question of your own may need one section alone.\n\n" + ending[end:] if begin else whole


def _write(folder: Path, content_by_name: dict[str, bytes]) -> Written:
    record_path = folder / RECORD
    known = json.loads(record_path.read_text(encoding="utf-8")) if record_path.is_file() else {}
    done = Written()
    for name, content in content_by_name.items():
        path = folder / name
        fresh = _hash(content)
        now = _hash(path.read_bytes()) if path.is_file() else None
        if now not in (None, fresh, known.get(name)):
            if known.get(name) != fresh:
                done.kept.append(name)
            continue
        known[name] = fresh
        if now != fresh:
            atomic_write(path, content)
            done.new.append(name)
    atomic_write(record_path, (json.dumps(known, indent=1) + "\n").encode())
    return done


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
