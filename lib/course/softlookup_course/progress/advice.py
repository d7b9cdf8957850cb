"""What to do next: what is begun, what is open, what the next chapter needs. The book's page goes by the same rules."""

from collections.abc import Sequence
from dataclasses import dataclass

from softlookup_course.curriculum.graph import NAMES, needed
from softlookup_course.progress.reading import ChapterState, TaskState


@dataclass(frozen=True)
class Advice:
    """Tasks to mend, the chapter to go on with, the next one with what it is missing, and others that are open."""

    mend: tuple[TaskState, ...]
    go_on: int | None
    next: int | None
    open: tuple[int, ...]
    missing: tuple[int, ...]


def advise(chapters: Sequence[ChapterState]) -> Advice:
    """Say what to do next: begun things first, then the first chapter behind the last begun whose needs are done."""
    done = {chapter.chapter for chapter in chapters if chapter.done}
    started = {chapter.chapter for chapter in chapters if chapter.is_begun}
    mend = tuple(
        task
        for chapter in chapters
        for task in chapter.tasks
        if task.state in ("partial", "wrong", "changed", "unchecked")
    )
    go_on = next((chapter for chapter in NAMES if chapter in started - done), None)
    waiting = [chapter for chapter in NAMES if chapter not in started | done]
    ready = [chapter for chapter in waiting if needed(chapter) <= done]
    last = max(started | done, default=-1)
    chosen = next((chapter for chapter in [*(n for n in ready if n > last), *ready, *waiting]), None)
    missing = tuple(sorted(needed(chosen) - done)) if chosen is not None else ()
    return Advice(mend, go_on, chosen, tuple(chapter for chapter in ready if chapter != chosen), missing)
