"""The schedule of a part of the course: its sessions, and in one sentence what the part leaves out but builds on."""

from collections.abc import Collection, Iterable
from itertools import groupby
from pathlib import Path

from softlookup_course.curriculum import EDGES, NAMES, Route, Session, sessions
from softlookup_course.curriculum.pages import chapter_files
from softlookup_course.curriculum.sessions import OUTSIDE, START_MINUTES
from softlookup_course.curriculum.tables import FIGURE_SAYS, link_to
from softlookup_judge.data.task import Task


def left_out_sentence(chapters: Collection[int]) -> str:
    """Name the chapters that others need and that are left out, in one sentence, empty where nothing is missing.

    >>> left_out_sentence([5])
    'This course leaves out chapter 4 (One head), which chapter 5 needs.'
    """
    clauses = []
    for strict in (True, False):
        missing: dict[int, list[int]] = {}
        for edge in EDGES:
            if edge.strict == strict and edge.chapter in chapters and edge.needs not in chapters:
                missing.setdefault(edge.needs, []).append(edge.chapter)
        for needed_chapter, by in sorted(missing.items()):
            verb = ("needs" if len(by) == 1 else "need") if strict else ("builds on" if len(by) == 1 else "build on")
            clauses.append(
                f"{chapter_words([needed_chapter])} ({NAMES[needed_chapter]}), which {chapter_words(by)} {verb}"
            )
    return f"This course leaves out {'; and '.join(clauses)}." if clauses else ""


def schedule_page(book: Path, chapters: Iterable[int], minutes: int, dropped: Collection[str] = ()) -> str:
    """Write the page of the schedule; a section that does not fit into a session is a ValueError."""
    chapters = sorted(chapters)
    described_chapters = [chapter for chapter in chapters if chapter in chapter_files(book) and chapter not in OUTSIDE]
    home = [chapter for chapter in chapters if chapter not in described_chapters]
    route = Route("course", "", "", tuple(described_chapters))
    parts = ["# Schedule", "*What is taught when, which tasks are done in class, and which at home?*"]
    cut = sessions(book, route, minutes, without=dropped, apart=True) if described_chapters else ()
    if described_chapters:
        count = len(cut)
        meetings = "1 session" if count == 1 else f"{count} sessions"
        parts.append(
            f"{meetings} of {minutes} minutes on {chapter_words(described_chapters)}. "
            "The tasks that do not fit into a session are homework."
        )
    if home:
        parts.append(
            f"To be done at home: {', '.join(f'{chapter_words([chapter])} ({NAMES[chapter]})' for chapter in home)}."
        )
    if sentence := left_out_sentence(chapters):
        parts.append(sentence)
    return "\n\n".join([*parts, *map(_session, cut)]) + "\n"


def _session(session: Session) -> str:
    """A session under a heading of its own, where a lecturer puts day and room."""
    taught = [
        f"- **{NAMES[chapter]}**: {', '.join(map(link_to, group))}"
        for chapter, group in groupby(session.sections, lambda section: section.chapter)
    ]
    in_class = sum(task.minutes for task in session.tasks)
    spent = (
        f"About {session.minutes} of {session.length} minutes: {START_MINUTES} for questions about the homework, "
        f"{session.taught_minutes} for the sections and figures, {in_class} for tasks."
    )
    figures = f"- Shown: {', '.join(FIGURE_SAYS[name] for name in session.figures)}" if session.figures else ""
    lines = [*taught, figures, _tasks("Tasks in class", session.tasks), _tasks("Homework", session.homework)]
    return f"## Session {session.index}\n\n{spent}\n\n" + "\n".join(filter(None, lines))


def _tasks(lead: str, several: Iterable[Task]) -> str:
    several = list(several)
    names = ", ".join(f"`{task.id}`" for task in several)
    return f"- {lead} ({sum(task.minutes for task in several)} min): {names}" if several else ""


def chapter_words(chapters: Iterable[int]) -> str:
    """Chapters by number, in words: "chapters 4, 5 and 8"; the capstone has no number for readers."""
    numbers = [str(chapter) for chapter in sorted(chapters) if chapter < 90]
    in_words = " and ".join(filter(None, (", ".join(numbers[:-1]), *numbers[-1:])))
    words = f"{'chapter' if len(numbers) == 1 else 'chapters'} {in_words}" if numbers else ""
    return " and ".join(filter(None, (words, "the capstone" if any(chapter >= 90 for chapter in chapters) else "")))
