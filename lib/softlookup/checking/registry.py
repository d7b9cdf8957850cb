"""All tasks, by id and by chapter. A chapter's module is imported when it is asked for."""

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path

from softlookup.checking.task import Task

_TASKS = Path(__file__).parents[1] / "tasks"
CHAPTERS: dict[int, str] = {
    int(place.name[2:4]): f"softlookup.tasks.{place.stem}" for place in sorted(_TASKS.glob("ch[0-9][0-9]_*"))
}
"""Chapter number -> the package or module ``chNN_topic`` that defines TASKS, a tuple in the order of the notebook.

Numbers from 90 on are those of notebooks that belong to no one chapter.
"""


_put: dict[int, tuple[Task, ...]] = {}


def put(chapter: int, described: Iterable[Task]) -> None:
    """Take up a notebook's tasks that were described elsewhere, where this library's own are not there.

    Args:
        chapter: The notebook's number.
        described: Its tasks, in their order.
    """
    _put[chapter] = tuple(described)
    CHAPTERS.setdefault(chapter, "")
    tasks.cache_clear()


@cache
def tasks(chapter: int | None = None) -> tuple[Task, ...]:
    """All graded tasks, in the order of the notebooks.

    Args:
        chapter: Only this chapter's.

    Returns:
        The tasks, each described once.

    Raises:
        KeyError: If no such chapter has tasks; the message lists those that have.

    Book: instructors.html#instructors-choosing.
    """
    if chapter is None:
        return tuple(task for number in sorted(CHAPTERS) for task in tasks(number))
    if chapter not in CHAPTERS:
        raise KeyError(f"no tasks for chapter {chapter}; there are some for {sorted(CHAPTERS)}")
    return _put.get(chapter) or tuple(import_module(CHAPTERS[chapter]).TASKS)


def earlier(task: Task) -> tuple[Task, ...]:
    """The tasks of the same notebook that come before this one, and whose functions may be lent to it.

    A function whose values are the whole answer of its task is never lent: to call it would be to read the answer.
    """
    chapter = tasks(task.chapter)
    before = chapter[: chapter.index(task)] if task in chapter else ()
    return tuple(one for one in before if one.lends and one.reveals)


class UnknownTask(KeyError):
    """There is no task of that id; the message names the nearest ones.

    Args:
        task_id: What was asked for.
        near: Ids that are spelled alike, for a sentence.

    Book: instructors.html#instructors-choosing.
    """

    def __init__(self, task_id: str, near: str) -> None:
        super().__init__(task_id, near)
        self.task_id, self.near = task_id, near

    def __str__(self) -> str:
        return f"unknown task {self.task_id!r}; did you mean {self.near}?"


def get_task(task_id: str) -> Task:
    """The task of that id.

    Args:
        task_id: Chapter and name, "04.scale".

    Returns:
        Its one description.

    Raises:
        UnknownTask: If there is none.

    Book: instructors.html#instructors-choosing.
    """
    head = str(task_id).split(".")[0]
    chapter = int(head) if head.isascii() and head.isdigit() else -1
    if chapter in CHAPTERS:
        for task in tasks(chapter):
            if task.id == task_id:
                return task
    from difflib import get_close_matches

    known = [task.id for task in tasks(chapter if chapter in CHAPTERS else None)]
    near = get_close_matches(str(task_id), known, n=3, cutoff=0.4) or known[:3]
    raise UnknownTask(str(task_id), " or ".join(near))
