"""A term of twelve weeks: which chapter in which week, what is done in class and at home, and what is left out."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from softlookup_course.curriculum.graph import NAMES
from softlookup_course.curriculum.pages import Section, read_page
from softlookup_course.curriculum.routes import Route
from softlookup_course.curriculum.sessions import OUTSIDE, START_MINUTES, sessions
from softlookup_judge.checking.catalogue import STANDARD
from softlookup_judge.data.task import Task

TERM_CHAPTERS = (0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 90)
"""Chapter 0 is done before the first week; the capstone is the last week's."""
SECOND_WEEK_FROM = {9: "training-details", 10: "inference-cache"}
"""The chapters that take two weeks, and the section with which the second one begins."""
LEFT_OUT = (
    *("05.shares", "05.dropout", "05.init"),
    *("06.buckets", "06.convert", "06.cached"),
    *("08.leak", "08.masked-tokens"),
)
"""Tasks that a term with one session a week leaves out: no task of a later chapter builds on them."""
SESSION_MINUTES = 90
HOME_MINUTES = 100
"""What a week of one session asks for at home at most, reading and tasks, by the minutes that they name."""


@dataclass(frozen=True)
class Week:
    """A week of the term, counted from 1; ``last`` if its chapter ends, so that its notebook is due the week after."""

    index: int
    chapter: int
    taught: tuple[Section, ...]
    taught_minutes: int
    tasks: tuple[Task, ...]
    homework: tuple[Task, ...]
    last: bool

    @property
    def reading_minutes(self) -> int:
        """What reading the sections takes at home."""
        return sum(section.minutes for section in self.taught)

    @property
    def home_minutes(self) -> int:
        """What reading and homework take."""
        return self.reading_minutes + _minutes(self.homework)


def term(book: Path, a_week: int = 1) -> tuple[Week, ...]:
    """Lay the chapters out over twelve weeks; a second session a week is for tasks alone, and none is left out then."""
    weeks: list[Week] = []
    for chapter in TERM_CHAPTERS:
        if chapter in OUTSIDE:
            continue
        labels = [section.label for section in read_page(book, chapter).sections]
        cut = labels.index(SECOND_WEEK_FROM[chapter]) if chapter in SECOND_WEEK_FROM else len(labels)
        parts = [part for part in (labels[:cut], labels[cut:]) if part]
        for part in parts:
            route = Route("term", "", "", (chapter,), only={chapter: tuple(part)})
            session, *others = sessions(book, route, SESSION_MINUTES, without=LEFT_OUT if a_week == 1 else ())
            if others:
                raise ValueError(f"chapter {chapter} no longer fits into its weeks: part it in SECOND_WEEK_FROM")
            second, homework = _fitting(session.homework, SESSION_MINUTES - START_MINUTES if a_week == 2 else 0)
            done = (*session.tasks, *second)
            last = part is parts[-1]
            weeks.append(Week(len(weeks) + 1, chapter, session.sections, session.taught_minutes, done, homework, last))
    done, homework = _fitting(STANDARD.tasks(90), SESSION_MINUTES - START_MINUTES)
    return (*weeks, Week(len(weeks) + 1, 90, (), 0, done, homework, True))


def term_command(folder: str = "spring") -> str:
    """The command line that makes the term's course, with one session a week."""
    words = ["softlookup course new", folder, "--chapters 0,2-10,90", f"--minutes {SESSION_MINUTES}"]
    return " ".join([*words, *(f"--drop {name}" for name in LEFT_OUT)])


def hours_table(book: Path) -> str:
    """The weeks in minutes as a Markdown table: with one session a week, and what is left for home with two."""
    lines = [
        "| week | chapter | taught | tasks in class | reading at home | tasks at home | home, in all "
        "| with two sessions | due before week |",
        "|--:|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for week, wide in zip(term(book), term(book, 2), strict=True):
        minutes = (
            *(week.taught_minutes, _minutes(week.tasks), week.reading_minutes, _minutes(week.homework)),
            *(week.home_minutes, wide.home_minutes),
        )
        due = week.index + 1 if week.last else ""
        lines.append(f"| {week.index} | {_name(week)} | {' | '.join(map(str, minutes))} | {due} |")
    return "\n".join(lines)


def tasks_table(book: Path) -> str:
    """The tasks of each week by name as a Markdown table, with one session a week."""
    lines = ["| week | chapter | tasks in class | tasks at home | left out |", "|--:|---|---|---|---|"]
    for week in term(book):
        there = {task.id for section in week.taught for task in section.tasks}
        several = (
            [task.id for task in week.tasks],
            [task.id for task in week.homework],
            [name for name in LEFT_OUT if name in there],
        )
        cells = [", ".join(f"`{name}`" for name in names) for names in several]
        lines.append(f"| {week.index} | {_name(week)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _name(week: Week) -> str:
    if week.chapter not in SECOND_WEEK_FROM:
        return NAMES[90] if week.chapter == 90 else f"{week.chapter} {NAMES[week.chapter]}"
    return f"{week.chapter} {NAMES[week.chapter]}, {'second' if week.last else 'first'} half"


def _fitting(several: Iterable[Task], minutes: int) -> tuple[tuple[Task, ...], tuple[Task, ...]]:
    """The tasks that fit into some minutes, in their order, and the others."""
    inside: list[Task] = []
    others: list[Task] = []
    for task in several:
        fits = _minutes((*inside, task)) <= minutes
        (inside if fits else others).append(task)
    return tuple(inside), tuple(others)


def _minutes(several: Iterable[Task]) -> int:
    return sum(task.minutes for task in several)
