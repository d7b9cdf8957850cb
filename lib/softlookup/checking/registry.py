"""All tasks, by id and by chapter. A chapter's module is imported when it is asked for."""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from softlookup.checking.baked import Baked, bake, read
from softlookup.checking.facts import described, facts_of
from softlookup.checking.judge import write_down
from softlookup.checking.own import OwnAssignment, OwnTasksError, in_use, kept, own_assignments
from softlookup.checking.published import named
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


def chapters() -> tuple[int, ...]:
    """The numbers of all notebooks that have tasks, a course's own among them."""
    return tuple(sorted({*CHAPTERS, *own_assignments(), *_baked()}))


@kept
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
        return tuple(task for number in chapters() for task in tasks(number))
    if chapter not in chapters():
        raise KeyError(f"no tasks for chapter {chapter}; there are some for {list(chapters())}")
    theirs = _put.get(chapter) or (tuple(import_module(CHAPTERS[chapter]).TASKS) if chapter in CHAPTERS else ())
    own = own_assignments().get(chapter)
    if own is not None:
        return _among(theirs, _described_in(own, theirs), own.after)
    if chapter in _baked():
        after, written = _baked()[chapter]
        return _among(theirs, written, after)
    return theirs


def own_tasks(chapter: int) -> tuple[Task, ...]:
    """The tasks of a notebook that are a course's own."""
    own = own_assignments().get(chapter)
    return tuple(task for task in tasks(chapter) if task.id in own.facts["tasks"]) if own else ()


def _among(theirs: tuple[Task, ...], own: tuple[Task, ...], after: str) -> tuple[Task, ...]:
    """A notebook's tasks with a course's own behind the one that it names, else at the end."""
    at = next((number for number, task in enumerate(theirs, 1) if task.id == after), len(theirs))
    return (*theirs[:at], *own, *theirs[at:])


def _described_in(own: OwnAssignment, theirs: tuple[Task, ...]) -> tuple[Task, ...]:
    """Run a course's module of questions and oracles: its instructor's code, in a process that judges."""
    place = f"{in_use().place}/{own.name}"
    number, file, module = own.name[:2], f"{place}_tasks.py", ModuleType(f"softlookup_own_{own.name}")
    stem = CHAPTERS.get(int(number), "").rpartition(".ch")[2]
    if stem and stem != own.name:
        raise OwnTasksError(f"{place}.py: {number} is the number of {stem}: use that name, or a number that is free")
    if own.after and own.after not in [task.id for task in theirs]:
        raise OwnTasksError(f"{place}.py says '# after: {own.after}', and {own.name} has no task {own.after}")
    try:
        exec(compile(own.module, file, "exec"), vars(module))
        found = (module.TASKS,) if isinstance(module.TASKS, Task) else tuple(module.TASKS)
    except Exception as error:
        line = _line(error, file)
        raise OwnTasksError(f"{file}{line} could not be read: {type(error).__name__}: {error}") from error
    for task in found:
        if not isinstance(task, Task) or task.chapter != int(number):
            wrong = getattr(task, "id", repr(task))
            raise OwnTasksError(f"{file}: TASKS holds {wrong}: tasks of this file are described as {number}.name")
        if task.slug not in named(task.chapter):
            raise OwnTasksError(f"{place}.py has no cell '# %% {task.slug}' with the answer to {task.id}")
        for other in theirs:
            if task.id == other.id:
                raise OwnTasksError(f"{file} describes {task.id}, which the course has already: choose another id")
            if task.name == other.name:
                said = f"{place}.toml calls the function of {task.id} {task.name}"
                raise OwnTasksError(f"{said}, as task {other.id} does: choose another name")
    listed = [task.id for task in found]
    if missing := [one for one in own.facts["tasks"] if one not in listed]:
        raise OwnTasksError(f"{place}.toml has a line for {missing[0]}, and TASKS in {file} does not hold it: add it")
    return found


def _line(error: Exception, file: str) -> str:
    """Where in a file an exception came from, as a part of a sentence."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return f", line {error.lineno},"
    found, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            found = f", line {trace.tb_lineno},"
        trace = trace.tb_next
    return found


def for_students(chapter: int, asked: Iterable[str]) -> bytes:
    """Write down what judges a course's own tasks beside a student's notebook, without solutions and oracles.

    Args:
        chapter: The notebook's number.
        asked: The ids of the tasks that the notebook asks.

    Returns:
        A safetensors file; nothing if the notebook asks no own task.
    """
    chosen, own = [task for task in own_tasks(chapter) if task.id in set(asked)], own_assignments().get(chapter)
    if own is None or not chosen:
        return b""

    def more(task: Task) -> dict[str, Any]:
        formula = own.help.get(task.id, {}).get("formula", "")
        return {**facts_of(task), "after": own.after, "formula": formula}

    return bake(chosen, more=more)


@kept
def _baked() -> dict[int, tuple[str, tuple[Task, ...]]]:
    """What judges own tasks where their descriptions are not there: by number, the task before them, and the tasks."""
    found: dict[int, tuple[str, tuple[Task, ...]]] = {}
    for file in in_use().baked:
        try:
            baked = read(file.read_bytes())
            made = tuple(_written_down(baked, facts) for facts in baked.more.values())
            after = str(next(iter(baked.more.values()))["after"])
        except Exception as error:
            raise OwnTasksError(f"{file} is damaged: take the file of your course's release again") from error
        found[made[0].chapter] = after, made
    return found


def _written_down(baked: Baked, facts: dict[str, Any]) -> Task:
    task = described(facts)
    asked = {variant: one for (name, variant), one in baked.questions.items() if name == task.id}
    write_down(task, asked, facts["formula"])
    return task


def earlier(task: Task) -> tuple[Task, ...]:
    """The tasks of the same notebook that come before this one, and whose functions may be lent to it.

    A function whose values are the whole answer of its task is never lent: to call it would be to read the answer.
    """
    ids = [one.id for one in tasks(task.chapter)]  # a task under a variant's convention is another object
    before = tasks(task.chapter)[: ids.index(task.id)] if task.id in ids else ()
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
    if chapter in chapters():
        for task in tasks(chapter):
            if task.id == task_id:
                return task
    from difflib import get_close_matches

    known = [task.id for task in tasks(chapter if chapter in chapters() else None)]
    near = get_close_matches(str(task_id), known, n=3, cutoff=0.4) or known[:3]
    raise UnknownTask(str(task_id), " or ".join(near))
