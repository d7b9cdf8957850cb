"""All tasks, by id and by notebook: those of the library, and a course's own among them.

A catalogue is a value. It is made once, where a command, a kernel or a grader begins, and handed down.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from softlookup_judge.checking.baked import Baked, bake, read
from softlookup_judge.data.facts import facts_of, task_from
from softlookup_judge.data.notebook import Description, Notebook, in_order, published
from softlookup_judge.data.own import BAKED, FOLDER, OwnAssignment, OwnTasks, OwnTasksError, read_tasks
from softlookup_judge.data.task import Prepared, Task
from softlookup_judge.data.variant import Variant, variant_of

_TASKS = Path(__file__).parents[1] / "chapters"
CHAPTERS: Mapping[int, str] = {
    int(place.name[2:4]): f"softlookup_judge.chapters.{place.stem}" for place in sorted(_TASKS.glob("ch[0-9][0-9]_*"))
}
"""Chapter number -> the package ``chNN_topic`` whose modules describe its tasks.

Numbers from 90 on are those of notebooks that belong to no one chapter.
"""

SETTING = "SOFTLOOKUP_TASKS"
"""The environment variable that names a folder of own tasks."""


class UnknownTask(KeyError):
    """There is no task of that id; the message names the nearest ones.

    Args:
        task_id: What was asked for.
        near: Ids that are spelled alike, for a sentence.
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
        course_tasks: A course's own tasks, as an instructor writes them or as students get them.
        prepared: Tasks that were described elsewhere, by the number of their notebook: those of a page of the book.
    """

    course_tasks: OwnTasks = field(default_factory=OwnTasks)
    prepared: Mapping[int, tuple[Task, ...]] = field(default_factory=dict)
    _read: dict[int, tuple[Task, ...]] = field(default_factory=dict, init=False, repr=False)

    def with_prepared(self, number: int, tasks: Iterable[Task]) -> "Catalogue":
        """This catalogue with the tasks of a notebook that were described elsewhere."""
        return Catalogue(self.course_tasks, {**self.prepared, number: tuple(tasks)})

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of all notebooks that have tasks."""
        return tuple(sorted({*CHAPTERS, *self.course_tasks.assignments, *self._baked, *self.prepared}))

    def notebook(self, number: int) -> Notebook:
        """The sources of a notebook, with a course's own cells among them."""
        return self._with_own.get(number) or published(number)

    @cached_property
    def _with_own(self) -> Mapping[int, Notebook]:
        place = self.course_tasks.place
        every = self.course_tasks.assignments.items()
        return {number: published(number).with_cells(added, place) for number, added in every}

    def tasks(self, number: int | None = None) -> tuple[Task, ...]:
        """All graded tasks, or one notebook's, in the order of the notebooks, each described once.

        A notebook without tasks is a KeyError that lists those that have some; own tasks that cannot be used as they
        are are an OwnTasksError.
        """
        if number is None:
            return tuple(task for number in self.numbers for task in self.tasks(number))
        if number not in self.numbers:
            raise KeyError(f"no tasks for chapter {number}; there are some for {list(self.numbers)}")
        if number not in self._read:
            self._read[number] = self._tasks(number)
        return self._read[number]

    def own_tasks(self, number: int) -> tuple[Task, ...]:
        """The tasks of a notebook that are a course's own."""
        added = self.course_tasks.assignments.get(number)
        return tuple(task for task in self.tasks(number) if task.id in added.facts["tasks"]) if added else ()

    def others(self, task: Task) -> tuple[Task, ...]:
        """The other tasks of a task's notebook."""
        return tuple(other for other in self.tasks(task.chapter) if other.id != task.id)

    def task(self, task_id: str) -> Task:
        """The task of that id; UnknownTask if there is none."""
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
        """A variant of the task of that id; UnknownTask if there is none."""
        return variant_of(self.task(task_id), number)

    def for_students(self, number: int, task_ids: Iterable[str]) -> bytes:
        """Write down what judges a course's own tasks beside a student's notebook, without solutions and oracles.

        It is a safetensors file; nothing if the notebook asks no own task. A case or an answer that cannot be written
        down is an OwnTasksError.
        """
        added, ids = self.course_tasks.assignments.get(number), set(task_ids)
        chosen = [task for task in self.own_tasks(number) if task.id in ids]
        if added is None or not chosen:
            return b""

        def more(task: Task) -> dict[str, Any]:
            formula = added.help.get(task.id, {}).get("formula", "")
            return {**facts_of(task), "after": added.after, "formula": formula}

        try:
            return bake(chosen, more=more)
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            where, which = f"{self.course_tasks.place}/{added.name}_tasks.py", ", ".join(task.id for task in chosen)
            raise OwnTasksError(f"{where}: students cannot be given the questions of {which}: {error}") from error

    def _tasks(self, number: int) -> tuple[Task, ...]:
        if number in self.prepared:
            return self.prepared[number]
        described = _described(number)
        added = self.course_tasks.assignments.get(number)
        if added is not None:
            known = in_order(described, published(number))
            course = _descriptions(added, self.course_tasks.place, known, self.notebook(number))
            tasks = in_order(_among(described, course, added.after), self.notebook(number))
            _refuse_names(added, self.course_tasks.place, known, tasks)
            return tasks
        if number not in self._baked:
            return in_order(described, published(number))
        after, written = self._baked[number]
        before: list[Task] = []
        for task in _among(in_order(described, published(number)), written, after):
            before.append(replace(task, before=tuple(before)))
        return tuple(before)

    @cached_property
    def _baked(self) -> Mapping[int, tuple[str, tuple[Task, ...]]]:
        """What judges own tasks whose descriptions are not here: by number, the task before them, and the tasks."""
        written: dict[int, tuple[str, tuple[Task, ...]]] = {}
        for file in self.course_tasks.baked:
            try:
                baked = read(file.read_bytes())
                made = tuple(_written_down(baked, facts) for facts in baked.more.values())
                after = str(next(iter(baked.more.values()))["after"])
            except Exception as error:
                raise OwnTasksError(f"{file} is damaged: take the file of your course's release again") from error
            written[made[0].chapter] = after, made
        return written


STANDARD = Catalogue()
"""The library's own tasks alone."""


def catalogue_with(course_tasks: OwnTasks) -> Catalogue:
    """The library's tasks and some of a course's own; where these are none, the one catalogue without any.

    What is kept of a task (questions, solutions that were run) is then shared by all courses without own tasks.
    """
    return STANDARD if course_tasks == OwnTasks() else Catalogue(course_tasks)


def catalogue_of(folder: Path) -> Catalogue:
    """The tasks of a course: the library's and those in its folder ``tasks``; nothing in ``submitted/`` is looked at.

    A file there that is no text is an OwnTasksError.
    """
    return catalogue_with(read_tasks(folder / FOLDER))


@cache
def here() -> Catalogue:
    """The tasks of this process: those that its environment, its folder or the course around it name (``look``)."""
    return catalogue_with(look(Path.cwd()))


def look(here: Path) -> OwnTasks:
    """Find the own tasks that belong to a folder: those of a course, or those beside a student's notebook.

    They are those of the folder that SOFTLOOKUP_TASKS names; else of the course that the folder lies in; else what
    judges own tasks beside a notebook in this folder. It is an OwnTasksError if SOFTLOOKUP_TASKS names no folder, or a
    file is no text.
    """
    if named := os.environ.get(SETTING):
        if not Path(named).is_dir():
            raise OwnTasksError(f"{SETTING} names {named}, which is no folder: name a folder of own tasks, or unset it")
        return read_tasks(Path(named).resolve())
    course = course_above(here)
    if course is not None and (course / FOLDER).is_dir():
        return read_tasks(course / FOLDER)
    return OwnTasks(baked=(here / BAKED,) if (here / BAKED).is_file() else ())


def course_above(here: Path) -> Path | None:
    """The course's folder that a folder belongs to: the outermost one with nbgrader_config.py, a checkout aside.

    The outermost, because a submission lies inside a course, and no file in it makes another course of it.
    """
    folders = (here, *here.parents)
    courses = [
        folder
        for folder in folders
        if (folder / "nbgrader_config.py").is_file() and not (folder / "solutions").is_dir()
    ]
    return courses[-1] if courses else None


def tasks(chapter: int | None = None) -> tuple[Task, ...]:
    """All graded tasks, in the order of the notebooks.

    Args:
        chapter: Only this chapter's.

    Returns:
        The tasks, each described once.

    Raises:
        KeyError: If no such chapter has tasks; the message lists those that have.
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
    """
    return here().task(task_id)


def _described(number: int) -> tuple[Description, ...]:
    """What the modules of a chapter's package describe, in the order of its notebook; nothing for another number."""
    if number not in CHAPTERS:
        return ()
    package = import_module(CHAPTERS[number])
    modules = [import_module(f"{package.__name__}.{module.name}") for module in iter_modules(package.__path__)]
    values = (value for module in (package, *modules) for value in vars(module).values())
    listed = (item for value in values for item in (value if isinstance(value, tuple) else (value,)))
    # One module may take up what another describes, and one chapter what another does.
    here = {item for item in listed if isinstance(item, Description) and item.task_id.startswith(f"{number:02d}.")}
    places = {cell: place for place, cell in enumerate(published(number).named)}
    # One without a cell comes last: what is made of it says what it lacks.
    return tuple(sorted(here, key=lambda each: places.get(each.task_id.replace(".", "-"), len(places))))


def _among(library_tasks: tuple[Any, ...], added: tuple[Any, ...], after: str) -> tuple[Any, ...]:
    """A notebook's tasks with a course's own behind the one that it names, else at the end."""
    at = next((number for number, task in enumerate(library_tasks, 1) if _id(task) == after), len(library_tasks))
    return (*library_tasks[:at], *added, *library_tasks[at:])


def _id(task: Any) -> Any:
    return task.task_id if isinstance(task, Description) else getattr(task, "id", repr(task))


def _descriptions(
    added: OwnAssignment, folder: str, library_tasks: tuple[Task, ...], notebook: Notebook
) -> tuple[Description, ...]:
    """Run a course's module of questions and oracles: its instructor's code, in a process that judges."""
    place = f"{folder}/{added.name}"
    number, file, module = added.name[:2], f"{place}_tasks.py", ModuleType(f"softlookup_own_{added.name}")
    stem = CHAPTERS.get(int(number), "").rpartition(".ch")[2]
    if stem and stem != added.name:
        raise OwnTasksError(f"{place}.py: {number} is the number of {stem}: use that name, or a number that is free")
    if added.after and added.after not in [task.id for task in library_tasks]:
        raise OwnTasksError(f"{place}.py says '# after: {added.after}', and {added.name} has no task {added.after}")
    try:
        exec(compile(added.module, file, "exec"), vars(module))
        described = (module.TASKS,) if isinstance(module.TASKS, Description) else tuple(module.TASKS)
        for description in described:
            if isinstance(description, Description) and description.task_id.partition(".")[0] == number:
                description.in_notebook(notebook)  # what its line lacks is told with the file's name
    except Exception as error:
        line = _line(error, file)
        raise OwnTasksError(f"{file}{line} could not be read: {type(error).__name__}: {error}") from error
    for description in described:
        if not isinstance(description, Description) or description.task_id.partition(".")[0] != number:
            wrong = _id(description)
            raise OwnTasksError(f"{file}: TASKS holds {wrong}: tasks of this file are described as {number}.name")
        task_id = description.task_id
        if (cell := task_id.replace(".", "-")) not in notebook.named:
            raise OwnTasksError(f"{place}.py has no cell '# %% {cell}' with the answer to {task_id}")
        if task_id in [task.id for task in library_tasks]:
            raise OwnTasksError(f"{file} describes {task_id}, which the course has already: choose another id")
    listed = [description.task_id for description in described]
    if missing := [name for name in added.facts["tasks"] if name not in listed]:
        raise OwnTasksError(f"{place}.toml has a line for {missing[0]}, and TASKS in {file} does not hold it: add it")
    return described


def _refuse_names(added: OwnAssignment, folder: str, library_tasks: tuple[Task, ...], tasks: tuple[Task, ...]) -> None:
    """Refuse an own task whose function has the name of another's."""
    names = {task.name: task.id for task in library_tasks}
    for task in tasks:
        if task.id in added.facts["tasks"] and task.name in names:
            sentence = f"{folder}/{added.name}.toml calls the function of {task.id} {task.name}"
            raise OwnTasksError(f"{sentence}, as task {names[task.name]} does: choose another name")


def _line(error: Exception, file: str) -> str:
    """Where in a file an exception came from, as a part of a sentence."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return f", line {error.lineno},"
    place, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            place = f", line {trace.tb_lineno},"
        trace = trace.tb_next
    return place


def _written_down(baked: Baked, facts: dict[str, Any]) -> Task:
    questions = {
        number: task_questions for (name, number), task_questions in baked.questions.items() if name == facts["id"]
    }
    return task_from(facts, Prepared(questions, facts["formula"]))
