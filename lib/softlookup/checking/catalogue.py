"""All tasks, by id and by notebook: those of the library, and a course's own among them.

A catalogue is a value. It is made once, where a command, a kernel or a grader begins, and handed down.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from softlookup.checking.baked import Baked, bake, read
from softlookup.checking.facts import facts_of, task_from
from softlookup.checking.notebook import Description, Notebook, published
from softlookup.checking.own import OwnAssignment, OwnTasks, OwnTasksError, look
from softlookup.checking.task import Prepared, Task
from softlookup.checking.variant import Variant, variant_of

_TASKS = Path(__file__).parents[1] / "tasks"
CHAPTERS: Mapping[int, str] = {
    int(place.name[2:4]): f"softlookup.tasks.{place.stem}" for place in sorted(_TASKS.glob("ch[0-9][0-9]_*"))
}
"""Chapter number -> the package or module ``chNN_topic`` that defines TASKS, a tuple in the order of the notebook.

Numbers from 90 on are those of notebooks that belong to no one chapter.
"""


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


@dataclass(frozen=True, eq=False)
class Catalogue:
    """The tasks that a check, a grader or a command knows.

    Attributes:
        own: A course's own tasks, as an instructor writes them or as students get them.
        prepared: Tasks that were described elsewhere, by the number of their notebook: those of a page of the book.

    Book: instructors.html#instructors-choosing.
    """

    own: OwnTasks = field(default_factory=OwnTasks)
    prepared: Mapping[int, tuple[Task, ...]] = field(default_factory=dict)
    _read: dict[int, tuple[Task, ...]] = field(default_factory=dict, init=False, repr=False)

    def with_prepared(self, number: int, tasks: Iterable[Task]) -> "Catalogue":
        """This catalogue with the tasks of a notebook that were described elsewhere.

        Args:
            number: The notebook's number.
            tasks: Its tasks, in their order.
        """
        return Catalogue(self.own, {**self.prepared, number: tuple(tasks)})

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of all notebooks that have tasks."""
        return tuple(sorted({*CHAPTERS, *self.own.assignments, *self._baked, *self.prepared}))

    def notebook(self, number: int) -> Notebook:
        """The sources of a notebook, with a course's own cells among them."""
        own = self.own.assignments.get(number)
        return self._with_own[number] if own is not None else published(number)

    @cached_property
    def _with_own(self) -> Mapping[int, Notebook]:
        every = self.own.assignments.items()
        return {number: published(number).with_own(own, self.own.place) for number, own in every}

    def tasks(self, number: int | None = None) -> tuple[Task, ...]:
        """All graded tasks, in the order of the notebooks.

        Args:
            number: Only this notebook's.

        Returns:
            The tasks, each described once.

        Raises:
            KeyError: If no such notebook has tasks; the message lists those that have.
            OwnTasksError: If a course's own tasks cannot be used as they are.
        """
        if number is None:
            return tuple(task for one in self.numbers for task in self.tasks(one))
        if number not in self.numbers:
            raise KeyError(f"no tasks for chapter {number}; there are some for {list(self.numbers)}")
        if number not in self._read:
            self._read[number] = self._tasks(number)
        return self._read[number]

    def own_tasks(self, number: int) -> tuple[Task, ...]:
        """The tasks of a notebook that are a course's own."""
        own = self.own.assignments.get(number)
        return tuple(task for task in self.tasks(number) if task.id in own.facts["tasks"]) if own else ()

    def others(self, task: Task) -> tuple[Task, ...]:
        """The other tasks of a task's notebook."""
        return tuple(one for one in self.tasks(task.chapter) if one.id != task.id)

    def task(self, task_id: str) -> Task:
        """The task of that id.

        Args:
            task_id: Chapter and name, "04.scale".

        Returns:
            Its one description.

        Raises:
            UnknownTask: If there is none.
        """
        head = str(task_id).split(".")[0]
        number = int(head) if head.isascii() and head.isdigit() else -1
        if number in self.numbers:
            for task in self.tasks(number):
                if task.id == task_id:
                    return task
        from difflib import get_close_matches

        known = [task.id for task in self.tasks(number if number in self.numbers else None)]
        near = get_close_matches(str(task_id), known, n=3, cutoff=0.4) or known[:3]
        raise UnknownTask(str(task_id), " or ".join(near))

    def variant(self, task_id: str, number: int = 0) -> Variant:
        """A variant of the task of that id.

        Args:
            task_id: Chapter and name, "04.scale".
            number: Which of its variants.

        Raises:
            UnknownTask: If there is no such task.
        """
        return variant_of(self.task(task_id), number)

    def for_students(self, number: int, asked: Iterable[str]) -> bytes:
        """Write down what judges a course's own tasks beside a student's notebook, without solutions and oracles.

        Args:
            number: The notebook's number.
            asked: The ids of the tasks that the notebook asks.

        Returns:
            A safetensors file; nothing if the notebook asks no own task.
        """
        own, wanted = self.own.assignments.get(number), set(asked)
        chosen = [task for task in self.own_tasks(number) if task.id in wanted]
        if own is None or not chosen:
            return b""

        def more(task: Task) -> dict[str, Any]:
            formula = own.help.get(task.id, {}).get("formula", "")
            return {**facts_of(task), "after": own.after, "formula": formula}

        return bake(chosen, more=more)

    def _tasks(self, number: int) -> tuple[Task, ...]:
        if number in self.prepared:
            return self.prepared[number]
        described = tuple(import_module(CHAPTERS[number]).TASKS) if number in CHAPTERS else ()
        own = self.own.assignments.get(number)
        if own is not None:
            known = _in_order(described, published(number))
            here = _descriptions(own, self.own.place, known, self.notebook(number))
            tasks = _in_order(_among(described, here, own.after), self.notebook(number))
            _look_alike(own, self.own.place, known, tasks)
            return tasks
        if number not in self._baked:
            return _in_order(described, published(number))
        after, written = self._baked[number]
        before: list[Task] = []
        for one in _among(_in_order(described, published(number)), written, after):
            before.append(replace(one, before=tuple(before)))
        return tuple(before)

    @cached_property
    def _baked(self) -> Mapping[int, tuple[str, tuple[Task, ...]]]:
        """What judges own tasks whose descriptions are not here: by number, the task before them, and the tasks."""
        found: dict[int, tuple[str, tuple[Task, ...]]] = {}
        for file in self.own.baked:
            try:
                baked = read(file.read_bytes())
                made = tuple(_written_down(baked, facts) for facts in baked.more.values())
                after = str(next(iter(baked.more.values()))["after"])
            except Exception as error:
                raise OwnTasksError(f"{file} is damaged: take the file of your course's release again") from error
            found[made[0].chapter] = after, made
        return found


STANDARD = Catalogue()
"""The library's own tasks alone."""


@cache
def here() -> Catalogue:
    """The tasks of this process: those that its environment, its folder or the course around it name (``own.look``)."""
    own = look(Path.cwd())
    return STANDARD if own == OwnTasks() else Catalogue(own)


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
    return here().tasks(chapter)


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
    return here().task(task_id)


def _in_order(described: Iterable[Description], notebook: Notebook) -> tuple[Task, ...]:
    """The tasks of a notebook, each of which knows those before it."""
    made: list[Task] = []
    for one in described:
        made.append(one.in_notebook(notebook, made))
    return tuple(made)


def _among(theirs: tuple[Any, ...], own: tuple[Any, ...], after: str) -> tuple[Any, ...]:
    """A notebook's tasks with a course's own behind the one that it names, else at the end."""
    at = next((number for number, one in enumerate(theirs, 1) if _id(one) == after), len(theirs))
    return (*theirs[:at], *own, *theirs[at:])


def _id(one: Any) -> Any:
    return one.task_id if isinstance(one, Description) else getattr(one, "id", repr(one))


def _descriptions(
    own: OwnAssignment, folder: str, theirs: tuple[Task, ...], notebook: Notebook
) -> tuple[Description, ...]:
    """Run a course's module of questions and oracles: its instructor's code, in a process that judges."""
    place = f"{folder}/{own.name}"
    number, file, module = own.name[:2], f"{place}_tasks.py", ModuleType(f"softlookup_own_{own.name}")
    stem = CHAPTERS.get(int(number), "").rpartition(".ch")[2]
    if stem and stem != own.name:
        raise OwnTasksError(f"{place}.py: {number} is the number of {stem}: use that name, or a number that is free")
    if own.after and own.after not in [task.id for task in theirs]:
        raise OwnTasksError(f"{place}.py says '# after: {own.after}', and {own.name} has no task {own.after}")
    try:
        exec(compile(own.module, file, "exec"), vars(module))
        found = (module.TASKS,) if isinstance(module.TASKS, Description) else tuple(module.TASKS)
        for one in found:
            if isinstance(one, Description) and one.task_id.partition(".")[0] == number:
                one.in_notebook(notebook)  # what its line lacks is told with the file's name
    except Exception as error:
        line = _line(error, file)
        raise OwnTasksError(f"{file}{line} could not be read: {type(error).__name__}: {error}") from error
    for one in found:
        if not isinstance(one, Description) or one.task_id.partition(".")[0] != number:
            raise OwnTasksError(f"{file}: TASKS holds {_id(one)}: tasks of this file are described as {number}.name")
        if one.task_id.replace(".", "-") not in notebook.named:
            cell = one.task_id.replace(".", "-")
            raise OwnTasksError(f"{place}.py has no cell '# %% {cell}' with the answer to {one.task_id}")
        if one.task_id in [task.id for task in theirs]:
            raise OwnTasksError(f"{file} describes {one.task_id}, which the course has already: choose another id")
    listed = [one.task_id for one in found]
    if missing := [one for one in own.facts["tasks"] if one not in listed]:
        raise OwnTasksError(f"{place}.toml has a line for {missing[0]}, and TASKS in {file} does not hold it: add it")
    return found


def _look_alike(own: OwnAssignment, folder: str, theirs: tuple[Task, ...], tasks: tuple[Task, ...]) -> None:
    """Refuse an own task whose function has the name of another's."""
    names = {task.name: task.id for task in theirs}
    for task in tasks:
        if task.id in own.facts["tasks"] and task.name in names:
            said = f"{folder}/{own.name}.toml calls the function of {task.id} {task.name}"
            raise OwnTasksError(f"{said}, as task {names[task.name]} does: choose another name")


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


def _written_down(baked: Baked, facts: dict[str, Any]) -> Task:
    asked = {variant: one for (name, variant), one in baked.questions.items() if name == facts["id"]}
    return task_from(facts, Prepared(asked, facts["formula"]))
