"""Collecting notebooks from what people have: zips of Moodle's and Canvas's, folders, repositories, the exchange.

Nobody's file decides where a file is written, whose it is, or whether the others' are collected.
"""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from softlookup_command.plain_text import one_line
from softlookup_grader.course.arrived import COLLECTED, UNREADABLE, Arrival, Arrivals, arrivals
from softlookup_grader.course.collected import Summary, keep, summary
from softlookup_grader.course.folder import Course
from softlookup_grader.course.inbox import STAMP, read_submission
from softlookup_grader.data.disk import atomic_write
from softlookup_grader.data.errors import CourseError
from softlookup_grader.platforms.choosing import Chooser
from softlookup_grader.platforms.exchanging import from_exchange
from softlookup_grader.platforms.items import ReadLimits
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
    if not people:
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
            arrival, content, missed = _chosen(student, chooser, pile)
            arrival, remark = _put(course, assignment, student, arrival, content, by_student.get(student), ways.force)
            by_student[student] = arrival
            notes += filter(None, (missed, remark))
    strangers = {name: why for name, why in before.strangers.items() if name not in pile.names} | pile.strangers
    keep(course, assignment, Arrivals(by_student, strangers))
    return Collected(sources.understood(), notes, summary(course, assignment))


def _chosen(student: str, chooser: Chooser, pile: Pile) -> tuple[Arrival, bytes, str]:
    """The notebook of a student, or why there is none; and what is to be said of others that came."""
    items = pile.by_student.get(student, [])
    if not items:
        source, why = pile.troubles.get(student, ("", "it holds no file"))
        return Arrival(UNREADABLE, source, why), b"", ""
    choice = chooser.choose(student, items)
    if choice.item is None:
        return Arrival(UNREADABLE, items[0].path, choice.why), b"", ""
    remark = (
        f"not every notebook of {one_line(student)} could be read, and {choice.item.name} was chosen: {choice.missed}"
    )
    return Arrival(COLLECTED, choice.item.path), choice.content, remark * bool(choice.missed)


def _put(
    course: Course,
    assignment: str,
    student: str,
    arrival: Arrival,
    content: bytes,
    earlier: Arrival | None,
    force: bool,
) -> tuple[Arrival, str]:
    """Put a notebook into ``submitted/``, or leave what is there."""
    target = course.notebook("submitted", student, assignment)
    if arrival.state == COLLECTED and (way := _blocked(target, course.submitted)):
        arrival = Arrival(UNREADABLE, arrival.source, f"{way}: remove it and collect again")
    there = os.path.lexists(target)
    if earlier is None or earlier.state == UNREADABLE or not there:
        earlier = arrival
    if arrival.state == UNREADABLE:
        stays = f"{one_line(student)} has a notebook already, which stays: of what came now, {arrival.why}"
        return earlier, stays if there else ""
    if there and read_submission(course, assignment, student).content == content:
        return arrival, ""
    if there and not force:
        return earlier, f"{one_line(student)} has another notebook already, which was kept: --force replaces it"
    atomic_write(target, content)
    stamp = target.with_name(STAMP)
    if there and os.path.lexists(stamp):
        stamp.unlink()
        return arrival, (
            f"{one_line(student)} has another notebook now, and the time of the earlier one was removed: enter the new "
            "one with 'softlookup times'"
        )
    return arrival, ""


def _blocked(target: Path, base: Path) -> str:
    """What stands where a notebook would be written, a clause; empty if nothing does."""
    if target.is_dir() and not target.is_symlink():
        return f"{target} is a folder"
    above = [folder for folder in target.parents if folder != base and folder.is_relative_to(base)]
    strange = next((at for at in above if at.is_symlink() or (at.exists() and not at.is_dir())), None)
    return f"{strange} is a link or a file, not a folder" if strange else ""
