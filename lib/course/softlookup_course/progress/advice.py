"""What to do next: what is begun, what is open, what the next chapter needs. The book's page goes by the same rules."""

from collections.abc import Sequence
from dataclasses import dataclass

from softlookup_course.curriculum.graph import NAMES, needed
from softlookup_course.progress.reading import ChapterState, TaskState


@dataclass(frozen=True)
class Advice:
    """What to do next.

    Attributes:
        mend: Tasks of begun notebooks that are written and not right, in order.
        go_on: The begun chapter to go on with, None if none is begun, or all that is begun is done.
        next: The chapter to begin after it, None if all are begun.
        open: Further chapters that could be begun, since all that they need is done.
        missing: What ``next`` needs that is not done.
    """

    mend: tuple[TaskState, ...]
    go_on: int | None
    next: int | None
    open: tuple[int, ...]
    missing: tuple[int, ...]


def advise(chapters: Sequence[ChapterState]) -> Advice:
    """Say what to do next.

    Begun things come first, from the front. Then the first chapter behind the last one that was begun whose needs are
    all done; else the first at all; and if no chapter's needs are done, the first that is not begun.
    """
    done = {chapter.chapter for chapter in chapters if chapter.done}
    begun = {chapter.chapter for chapter in chapters if chapter.begun}
    mend = tuple(
        task
        for chapter in chapters
        for task in chapter.tasks
        if task.state in ("partial", "wrong", "changed", "unchecked")
    )
    go_on = next((number for number in NAMES if number in begun - done), None)
    waiting = [number for number in NAMES if number not in begun | done]
    ready = [number for number in waiting if needed(number) <= done]
    last = max(begun | done, default=-1)
    chosen = next((number for number in [*(n for n in ready if n > last), *ready, *waiting]), None)
    missing = tuple(sorted(needed(chosen) - done)) if chosen is not None else ()
    return Advice(mend, go_on, chosen, tuple(number for number in ready if number != chosen), missing)
