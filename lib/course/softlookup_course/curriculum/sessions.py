"""Cut a route into sessions: what is taught and shown, which tasks are done in class, which at home."""

from collections.abc import Collection
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from softlookup_course.curriculum.pages import Page, Section, read_page
from softlookup_course.curriculum.routes import Route
from softlookup_judge.checking.catalogue import STANDARD
from softlookup_judge.data.task import Task

LENGTHS = (50, 75)
START_MINUTES = 5
"""For questions about the homework, at the beginning of each session."""
FIGURE_MINUTES = 4
"""For showing an interactive figure, beyond the reading of its section."""
TOLD_SHARE = 0.6
"""How much of a session is taught and shown at most; the rest is for tasks."""
OUTSIDE = (0, 90)
"""Chapters that are done at home: the self-test before the first session, and the capstone after the last."""


@dataclass(frozen=True)
class Session:
    """One meeting of ``length`` minutes at most, counted from 1: what is taught, done in class and left for home."""

    index: int
    length: int
    sections: tuple[Section, ...]
    tasks: tuple[Task, ...]
    homework: tuple[Task, ...]

    @property
    def taught_minutes(self) -> int:
        """What telling the sections and showing their figures takes."""
        return sum(taught_minutes(section) for section in self.sections)

    @property
    def minutes(self) -> int:
        """What all of it takes."""
        return START_MINUTES + self.taught_minutes + sum(task.minutes for task in self.tasks)

    @property
    def figures(self) -> tuple[str, ...]:
        """The interactive figures that are shown."""
        return tuple(name for section in self.sections for name in section.figures)


def taught_minutes(section: Section) -> int:
    """What a section takes in class: its reading time, and more for each figure that is shown."""
    return section.minutes + FIGURE_MINUTES * len(section.figures)


def taught_sections(route: Route, page: Page) -> tuple[Section, ...]:
    """The sections of a chapter that a route tells; a KeyError if it names one that the page does not have."""
    labels = {section.label for section in page.sections}
    route_labels = {*route.only.get(page.chapter, ()), *route.without.get(page.chapter, ())}
    if route_labels - labels:
        raise KeyError(f"route {route.name}: {page.name} has no section {', '.join(sorted(route_labels - labels))}")
    only = route.only.get(page.chapter, tuple(labels))
    left_out = route.without.get(page.chapter, ())
    return tuple(section for section in page.sections if section.label in only and section.label not in left_out)


def sessions(
    book: Path, route: Route, length: int, *, without: Collection[str] = (), apart: bool = False
) -> tuple[Session, ...]:
    """Cut a route into sessions of ``length`` minutes at most; a section that fits into none is a ValueError."""
    limit = int(TOLD_SHARE * length)
    units = [
        section
        for chapter in route.chapters
        if chapter not in OUTSIDE
        for section in taught_sections(route, read_page(book, chapter))
    ]
    groups: list[list[Section]] = [[]]
    for section in units:
        if taught_minutes(section) > limit:
            least = ceil(max(map(taught_minutes, units)) / TOLD_SHARE)
            raise ValueError(
                f"{section.label} takes {taught_minutes(section)} minutes, and a session of {length} minutes teaches "
                f"{limit} at most: give {least} minutes, or more"
            )
        taught = sum(map(taught_minutes, groups[-1]))
        begins = bool(groups[-1]) and groups[-1][-1].chapter != section.chapter
        if taught + taught_minutes(section) > limit or (apart and begins and taught > limit / 2):
            groups.append([])
        groups[-1].append(section)
    return tuple(_session(index, length, tuple(group), without) for index, group in enumerate(groups, 1))


def _session(index: int, length: int, taught: tuple[Section, ...], without: Collection[str]) -> Session:
    remaining_minutes = length - START_MINUTES - sum(map(taught_minutes, taught))
    in_class, homework = [], []
    for section in taught:
        for task in section.tasks:
            if task.id in without:
                continue
            if task.minutes <= remaining_minutes:
                in_class.append(task)
                remaining_minutes -= task.minutes
            else:
                homework.append(task)
    return Session(index, length, taught, tuple(in_class), tuple(homework))


def at_home(book: Path, route: Route) -> tuple[Task, ...]:
    """The tasks of sections that the route does not tell: for those who want more."""
    untaught = []
    for chapter in route.chapters:
        if chapter in OUTSIDE:
            continue
        page = read_page(book, chapter)
        taught = {task.id for section in taught_sections(route, page) for task in section.tasks}
        untaught += [task for task in STANDARD.tasks(chapter) if task.id not in taught]
    return tuple(untaught)
