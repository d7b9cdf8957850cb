"""How far a student is: as lines for a terminal, and as the record that the book's page *Your way* takes."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from softlookup.checking.result import HELP_STEPS
from softlookup.curriculum.graph import NAMES
from softlookup.grading.data.plain_text import plain
from softlookup.progress.advice import advise
from softlookup.progress.reading import ChapterState, TaskState

FORMAT = "softlookup-progress-1"
"""The record's kind; the page refuses any other."""

SCRIPT = "my_progress.js"
"""The file of the built book that brings the record to its page: a script, since a page on the disk may read nothing
else."""

EMPTY = "// softlookup progress writes here what the page Your way shows.\n"
"""What stands there before, and in every book that is built anew, so that nobody's progress is given to others."""

MOST_NAMED = 5
_STATE = {
    "partial": "partly right",
    "wrong": "not right yet",
    "changed": "changed since its check: run the check",
    "unchecked": "no check yet: run it, and save",
}


def as_json(chapters: Sequence[ChapterState], when: datetime) -> dict[str, Any]:
    """The record for the page.

    Args:
        chapters: What ``read_folder`` found.
        when: The time to note.

    Returns:
        Plain values: for each task that is not blank its state, its points and the mistakes named.
    """
    recorded = {
        one.task.id: {
            **{"state": one.state, "points": one.points, "named": list(one.named)},
            **({"help": one.help} if one.help else {}),
        }
        for chapter in chapters
        for one in chapter.tasks
        if one.state != "blank"
    }
    written = {name: done for chapter in chapters for name, done in chapter.written.items()}
    return {"format": FORMAT, "date": when.isoformat(timespec="seconds"), "tasks": recorded, "written": written}


def as_script(record: dict[str, Any]) -> str:
    """The record as the file ``SCRIPT`` of the built book; in ASCII, whatever the record holds."""
    return f"window.softlookupProgress = {json.dumps(record, indent=1)};\n"


def as_text(chapters: Sequence[ChapterState]) -> str:
    """The whole for a terminal: a line for each chapter, what was named, and what to do next."""
    return "\n".join([*_table(chapters), "", *_next(chapters), *_helped(chapters)]) + "\n"


def _name(one: ChapterState) -> str:
    """The chapter's name; an assignment of a course's own is called like its notebook."""
    return NAMES.get(one.chapter, one.file.stem[3:].replace("_", " ")[:17] if one.file else "own tasks")


def _table(chapters: Sequence[ChapterState]) -> Iterator[str]:
    yield f"{'':4}{'chapter':18}{'right':>9}{'partly':>8}{'open':>6}{'points':>14}{'minutes left':>14}"
    for one in chapters:
        if one.problem:
            yield f"{one.chapter:>2}  {_name(one):18}{plain(one.problem)}"
            continue
        right = f"{one.count('pass')} of {len(one.tasks)}"
        partly, points = one.count("partial"), f"{one.points:g} of {one.best:g}"
        still = len(one.tasks) - one.count("pass", "partial")
        row = f"{one.chapter:>2}  {_name(one):18}{right:>9}{partly:>8}{still:>6}{points:>14}"
        row += f"{one.minutes_left:>14}" if one.minutes_left else f"{'done':>14}"
        if one.file is None:
            row += "   no notebook in this folder"
        elif one.written:
            row += f"   in your own words: {sum(one.written.values())} of {len(one.written)}"
        yield row
    sure, every = sum(one.count("pass") for one in chapters), sum(len(one.tasks) for one in chapters)
    earned, best = sum(one.points for one in chapters), sum(one.best for one in chapters)
    minutes = sum(one.minutes_left for one in chapters)
    hours = f", about {max(1, round(minutes / 60))} h left" if minutes else ""
    yield f"{'':4}total: {sure} of {every} tasks right, {earned:g} of {best:g} points{hours}"


def _helped(chapters: Sequence[ChapterState]) -> Iterator[str]:
    """How much help was asked for, a line for each step."""
    for number, step in reversed(list(enumerate(HELP_STEPS, 1))):
        found = [one.task.id for chapter in chapters for one in chapter.tasks if one.help == number]
        if found:
            more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
            yield f"Help up to the {step}: {', '.join(found[:MOST_NAMED])}{more}."


def _next(chapters: Sequence[ChapterState]) -> Iterator[str]:
    advice = advise(chapters)
    if advice.mend:
        yield "To mend:"
        yield from map(_line, advice.mend[:MOST_NAMED])
        if len(advice.mend) > MOST_NAMED:
            yield f"  and {len(advice.mend) - MOST_NAMED} more"
    if advice.go_on is not None:
        now = next(one for one in chapters if one.chapter == advice.go_on)
        blank = next((one.task for one in now.tasks if one.state == "blank"), None)
        goes_on = f", with {blank.id}, {blank.title}" if blank else ""
        yield f"Go on with: {_chapter(advice.go_on)}{goes_on}."
    if advice.next is not None:
        needs = f" It needs {_list(advice.missing)}." if advice.missing else ""
        yield f"{'Then' if advice.go_on is not None else 'Begin with'}: {_chapter(advice.next)}.{needs}"
    if advice.open:
        yield f"Open to you as well: {_list(advice.open)}."
    if advice.go_on is None and advice.next is None:
        yield "All tasks are right. There is nothing left to do here."


def _line(one: TaskState) -> str:
    said = f" {one.named[0]}" if one.named else ""
    return f"  {one.task.id}, {one.task.title}: {_STATE[one.state]}.{said}"


def _chapter(number: int) -> str:
    return NAMES[number] if number >= 90 else f"{number} · {NAMES[number]}"


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(_chapter, numbers))
