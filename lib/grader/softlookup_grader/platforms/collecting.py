"""Collecting notebooks from what people have: zips of Moodle's and Canvas's, folders, repositories, the exchange.

Nobody's file decides where a file is written, whose it is, or whether the others' are collected.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from softlookup_command.plain_text import one_line
from softlookup_grader.course.arrived import COLLECTED, UNREADABLE, Arrival, Arrivals, arrivals
from softlookup_grader.course.collected import Summary, keep, summary
from softlookup_grader.course.folder import Course
from softlookup_grader.course.inbox import STAMP
from softlookup_grader.course.notebooks import BadNotebook
from softlookup_grader.data.disk import atomic_write
from softlookup_grader.data.errors import CourseError
from softlookup_grader.platforms.choosing import Chooser
from softlookup_grader.platforms.exchanging import from_exchange
from softlookup_grader.platforms.items import ReadLimits, file_item
from softlookup_grader.platforms.owners import Owner
from softlookup_grader.platforms.sources import Pile, Sources, Ways
from softlookup_grader.platforms.worksheet import class_list


@dataclass
class Collected:
    """What collecting came to."""

    understood: list[str]  # how each table was read, one line each
    notes: list[str]  # what else is to be said, sentences
    summary: Summary  # who of the class is in


def collect(
    course: Course,
    assignment: str,
    what: Sequence[Path],
    ways: Ways | None = None,
    limits: ReadLimits | None = None,
) -> Collected:
    """Collect an assignment's notebooks into ``submitted/``, and keep who is in."""
    ways = ways or Ways()
    chooser = Chooser(course, assignment, limits)
    with course.gradebook() as book:
        people = class_list(book)
    if not people and (what or not ways.exchange):  # the exchange says itself whose a hand-in is
        raise CourseError("the class list is empty, so nobody's file can be known: enter it with 'softlookup students'")
    before = arrivals(course, assignment)
    pile, notes = Pile(), list[str]()
    with ExitStack() as stack:
        sources = Sources(people, ways, stack, pile)
        sources.look_at(what)
        if ways.exchange:
            came, warnings = from_exchange(course, assignment, ways.force)
            notes += warnings
            for student, items in came.items():
                pile.add(Owner(student, student), items)
        by_student = dict(before.by_student)
        for student in sorted({*pile.by_student, *pile.troubles}):
            arrival, files, remarks = _chosen(student, chooser, pile)
            arrival, remark = _put(course, assignment, student, arrival, files, by_student.get(student), ways.force)
            by_student[student] = arrival
            notes += filter(None, (*remarks, remark))
    strangers = {name: why for name, why in before.strangers.items() if name not in pile.names} | pile.strangers
    keep(course, assignment, Arrivals(by_student, strangers))
    return Collected(sources.understood(), notes, summary(course, assignment))


def _chosen(student: str, chooser: Chooser, pile: Pile) -> tuple[Arrival, Mapping[str, bytes], list[str]]:
    """The files of a student, or why there is none; and what is to be said of others that came."""
    items = pile.by_student.get(student, [])
    if not items:
        source, why = pile.troubles.get(student, ("", "it holds no file"))
        return Arrival(UNREADABLE, source, why), {}, []
    choice = chooser.choose(student, items)
    if not choice.items:
        return Arrival(UNREADABLE, items[0].path, choice.why), {}, []
    remarks = []
    if choice.missed:
        names = f"{' and '.join(item.name for item in choice.items)} {'was' if len(choice.items) == 1 else 'were'}"
        remarks.append(f"not every notebook of {one_line(student)} could be read, and {names} chosen: {choice.missed}")
    if choice.not_taken:
        remarks.append(f"not every file of {one_line(student)} was taken: {choice.not_taken}")
    return Arrival(COLLECTED, choice.items[0].path), choice.files, remarks


def _put(
    course: Course,
    assignment: str,
    student: str,
    arrival: Arrival,
    files: Mapping[str, bytes],
    earlier: Arrival | None,
    force: bool,
) -> tuple[Arrival, str]:
    """Put files into ``submitted/``, or leave what is there."""
    folder = course.folder("submitted", student, assignment)
    ways = filter(None, (_blocked(folder / path, course.submitted) for path in files))
    if arrival.state == COLLECTED and (way := next(ways, "")):
        arrival = Arrival(UNREADABLE, arrival.source, f"{way}: remove it and collect again")
    there = any(map(os.path.lexists, course.notebooks("submitted", student, assignment)))
    if earlier is None or earlier.state == UNREADABLE or not there:
        earlier = arrival
    if arrival.state == UNREADABLE:
        stays = f"{one_line(student)} has a notebook already, which stays: of what came now, {arrival.why}"
        return earlier, stays if there else ""
    new = {path: content for path, content in files.items() if _content(folder / path) != content}
    other = [path for path in new if os.path.lexists(folder / path)]
    if not new:
        return arrival, ""

    def called(paths: Iterable[str]) -> str:
        return " and ".join(islice(paths, 3)) if course.layout(assignment).packed else "notebook"

    if other and not force:
        return earlier, f"{one_line(student)} has another {called(other)} already, which was kept: --force replaces it"
    for path, content in new.items():
        atomic_write(folder / path, content)
    stamp = folder / STAMP
    if there and os.path.lexists(stamp):
        stamp.unlink()
        return arrival, (
            f"{one_line(student)} has another {called(new)} now, and the time of the earlier one was removed: enter "
            "the new one with 'softlookup times'"
        )
    return arrival, ""


def _content(path: Path) -> bytes | None:
    """What a file in ``submitted/`` holds; None if it is none."""
    try:
        return file_item(path, (path.name,)).read()
    except (BadNotebook, OSError):
        return None


def _blocked(target: Path, base: Path) -> str:
    """What stands where a notebook would be written, a clause; empty if nothing does."""
    if target.is_dir() and not target.is_symlink():
        return f"{target} is a folder"
    above = [folder for folder in target.parents if folder != base and folder.is_relative_to(base)]
    strange = next((at for at in above if at.is_symlink() or (at.exists() and not at.is_dir())), None)
    return f"{strange} is a link or a file, not a folder" if strange else ""
