"""All tasks, by id and by notebook: a value that is made once, where a command, a kernel or a grader begins."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from traceback import walk_tb
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
    int(package_path.name[2:4]): f"softlookup_judge.chapters.{package_path.stem}"
    for package_path in sorted(_TASKS.glob("ch[0-9][0-9]_*"))
}
"""Chapter number -> the package ``chNN_topic`` whose modules describe its tasks; from 90 on for several chapters."""

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
    """The tasks that a check, a grader or a command knows; ``prepared`` are those of a page, by notebook."""

    course_tasks: OwnTasks = field(default_factory=OwnTasks)
    prepared: Mapping[int, tuple[Task, ...]] = field(default_factory=dict)
    _read: dict[int, tuple[Task, ...]] = field(default_factory=dict, init=False, repr=False)

    def with_prepared(self, chapter: int, tasks: Iterable[Task]) -> "Catalogue":
        """This catalogue with the tasks of a notebook that were described elsewhere."""
        return Catalogue(self.course_tasks, {**self.prepared, chapter: tuple(tasks)})

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of all notebooks that have tasks."""
        return tuple(sorted({*CHAPTERS, *self.course_tasks.assignments, *self._baked, *self.prepared}))

    def notebook(self, chapter: int) -> Notebook:
        """The sources of a notebook, with a course's own cells among them."""
        return self._with_own.get(chapter) or published(chapter)

    @cached_property
    def _with_own(self) -> Mapping[int, Notebook]:
        folder = self.course_tasks.folder
        every = self.course_tasks.assignments.items()
        return {chapter: published(chapter).with_cells(added, folder) for chapter, added in every}

    def tasks(self, chapter: int | None = None) -> tuple[Task, ...]:
        """All graded tasks, or one notebook's, in the order of the notebooks, each described once."""
        if chapter is None:
            return tuple(task for chapter in self.numbers for task in self.tasks(chapter))
        if chapter not in self.numbers:
            raise KeyError(f"no tasks for chapter {chapter}; there are some for {list(self.numbers)}")
        if chapter not in self._read:
            self._read[chapter] = self._tasks(chapter)
        return self._read[chapter]

    def own_tasks(self, chapter: int) -> tuple[Task, ...]:
        """The tasks of a notebook that are a course's own."""
        added = self.course_tasks.assignments.get(chapter)
        return tuple(task for task in self.tasks(chapter) if task.id in added.facts["tasks"]) if added else ()

    def others(self, task: Task) -> tuple[Task, ...]:
        """The other tasks of a task's notebook."""
        return tuple(other for other in self.tasks(task.chapter) if other.id != task.id)

    def task(self, task_id: str) -> Task:
        """The task of that id; UnknownTask if there is none."""
        head = str(task_id).split(".")[0]
        chapter = int(head) if head.isascii() and head.isdigit() else -1
        if chapter in self.numbers:
            for task in self.tasks(chapter):
                if task.id == task_id:
                    return task
        from difflib import get_close_matches

        known = [task.id for task in self.tasks(chapter if chapter in self.numbers else None)]
        near = get_close_matches(str(task_id), known, n=3, cutoff=0.4) or known[:3]
        raise UnknownTask(str(task_id), " or ".join(near))

    def variant(self, task_id: str, index: int = 0) -> Variant:
        """A variant of the task of that id; UnknownTask if there is none."""
        return variant_of(self.task(task_id), index)

    def for_students(self, chapter: int, task_ids: Iterable[str]) -> bytes:
        """Write down what judges own tasks at home, without solutions and oracles; nothing if the notebook has none."""
        added, ids = self.course_tasks.assignments.get(chapter), set(task_ids)
        chosen = [task for task in self.own_tasks(chapter) if task.id in ids]
        if added is None or not chosen:
            return b""

        def more(task: Task) -> dict[str, Any]:
            formula = added.help.get(task.id, {}).get("formula", "")
            return {**facts_of(task), "after": added.after, "formula": formula}

        try:
            return bake(chosen, more=more)
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            where, which = f"{self.course_tasks.folder}/{added.name}_tasks.py", ", ".join(task.id for task in chosen)
            raise OwnTasksError(f"{where}: students cannot be given the questions of {which}: {error}") from error

    def _tasks(self, chapter: int) -> tuple[Task, ...]:
        if chapter in self.prepared:
            return self.prepared[chapter]
        descriptions = _described(chapter)
        added = self.course_tasks.assignments.get(chapter)
        if added is not None:
            known = in_order(descriptions, published(chapter))
            course = _descriptions(added, self.course_tasks.folder, known, self.notebook(chapter))
            tasks = in_order(_among(descriptions, course, added.after), self.notebook(chapter))
            _refuse_names(added, self.course_tasks.folder, known, tasks)
            return tasks
        if chapter not in self._baked:
            return in_order(descriptions, published(chapter))
        after, written = self._baked[chapter]
        before: list[Task] = []
        for task in _among(in_order(descriptions, published(chapter)), written, after):
            before.append(replace(task, before=tuple(before)))
        return tuple(before)

    @cached_property
    def _baked(self) -> Mapping[int, tuple[str, tuple[Task, ...]]]:
        """What judges own tasks whose descriptions are not here: by number, the task before them, and the tasks."""
        written: dict[int, tuple[str, tuple[Task, ...]]] = {}
        for file in self.course_tasks.baked:
            try:
                baked = read(file.read_bytes())
                prepared_tasks = tuple(_written_down(baked, facts) for facts in baked.more.values())
                after = str(next(iter(baked.more.values()))["after"])
            except Exception as error:
                raise OwnTasksError(f"{file} is damaged: take the file of your course's release again") from error
            written[prepared_tasks[0].chapter] = after, prepared_tasks
        return written


STANDARD = Catalogue()
"""The library's own tasks alone."""


def catalogue_with(course_tasks: OwnTasks) -> Catalogue:
    """The library's tasks and some of a course's own; all courses without any share one catalogue."""
    return STANDARD if course_tasks == OwnTasks() else Catalogue(course_tasks)


def catalogue_of(folder: Path) -> Catalogue:
    """The tasks of a course: the library's and those in its ``tasks``; nothing in ``submitted/`` is looked at."""
    return catalogue_with(read_tasks(folder / FOLDER))


@cache
def here() -> Catalogue:
    """The tasks of this process: those that its environment, its folder or the course around it name."""
    return catalogue_with(find_own_tasks(Path.cwd()))


def find_own_tasks(here: Path) -> OwnTasks:
    """The own tasks in SOFTLOOKUP_TASKS, else of the course around a folder, else those that are written down in it."""
    if folder_name := os.environ.get(SETTING):
        if not Path(folder_name).is_dir():
            raise OwnTasksError(
                f"{SETTING} names {folder_name}, which is no folder: name a folder of own tasks, or unset it"
            )
        return read_tasks(Path(folder_name).resolve())
    course = course_above(here)
    if course is not None and (course / FOLDER).is_dir():
        return read_tasks(course / FOLDER)
    return OwnTasks(baked=(here / BAKED,) if (here / BAKED).is_file() else ())


def course_above(here: Path) -> Path | None:
    """The outermost folder with nbgrader_config.py, a checkout aside: no submission makes another course of itself."""
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


def _described(chapter: int) -> tuple[Description, ...]:
    """What the modules of a chapter's package describe, in the order of its notebook; nothing for another number."""
    if chapter not in CHAPTERS:
        return ()
    package = import_module(CHAPTERS[chapter])
    modules = [import_module(f"{package.__name__}.{module.name}") for module in iter_modules(package.__path__)]
    values = (value for module in (package, *modules) for value in vars(module).values())
    candidates = (item for value in values for item in (value if isinstance(value, tuple) else (value,)))
    # One module may take up what another describes, and one chapter what another does.
    here = {item for item in candidates if isinstance(item, Description) and item.task_id.startswith(f"{chapter:02d}.")}
    positions = {cell: position for position, cell in enumerate(published(chapter).code_cells)}
    # One without a cell comes last: what is made of it says what it lacks.
    return tuple(sorted(here, key=lambda each: positions.get(each.task_id.replace(".", "-"), len(positions))))


def _among(library_tasks: tuple[Any, ...], added: tuple[Any, ...], after: str) -> tuple[Any, ...]:
    """A notebook's tasks with a course's own behind the one that it names, else at the end."""
    at = next((position for position, task in enumerate(library_tasks, 1) if _id(task) == after), len(library_tasks))
    return (*library_tasks[:at], *added, *library_tasks[at:])


def _id(task: Any) -> Any:
    return task.task_id if isinstance(task, Description) else getattr(task, "id", repr(task))


def _descriptions(
    added: OwnAssignment, folder: str, library_tasks: tuple[Task, ...], notebook: Notebook
) -> tuple[Description, ...]:
    """Run a course's module of questions and oracles: its instructor's code, in a process that judges."""
    path = f"{folder}/{added.name}"
    prefix, file, module = added.name[:2], f"{path}_tasks.py", ModuleType(f"softlookup_own_{added.name}")
    stem = CHAPTERS.get(int(prefix), "").rpartition(".ch")[2]
    if stem and stem != added.name:
        raise OwnTasksError(f"{path}.py: {prefix} is the number of {stem}: use that name, or a number that is free")
    if added.after and added.after not in [task.id for task in library_tasks]:
        raise OwnTasksError(f"{path}.py says '# after: {added.after}', and {added.name} has no task {added.after}")
    try:
        exec(compile(added.module, file, "exec"), vars(module))
        descriptions = (module.TASKS,) if isinstance(module.TASKS, Description) else tuple(module.TASKS)
        for description in descriptions:
            if isinstance(description, Description) and description.task_id.partition(".")[0] == prefix:
                description.in_notebook(notebook)  # what its line lacks is told with the file's name
    except Exception as error:
        line = _line(error, file)
        raise OwnTasksError(f"{file}{line} could not be read: {type(error).__name__}: {error}") from error
    for description in descriptions:
        if not isinstance(description, Description) or description.task_id.partition(".")[0] != prefix:
            wrong = _id(description)
            raise OwnTasksError(f"{file}: TASKS holds {wrong}: tasks of this file are described as {prefix}.name")
        task_id = description.task_id
        if (cell := task_id.replace(".", "-")) not in notebook.code_cells:
            raise OwnTasksError(f"{path}.py has no cell '# %% {cell}' with the answer to {task_id}")
        if task_id in [task.id for task in library_tasks]:
            raise OwnTasksError(f"{file} describes {task_id}, which the course has already: choose another id")
    task_ids = [description.task_id for description in descriptions]
    if missing := [name for name in added.facts["tasks"] if name not in task_ids]:
        raise OwnTasksError(f"{path}.toml has a line for {missing[0]}, and TASKS in {file} does not hold it: add it")
    return descriptions


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
    lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
    return f", line {lines[-1]}," if lines else ""


def _written_down(baked: Baked, facts: dict[str, Any]) -> Task:
    questions = {
        index: task_questions for (name, index), task_questions in baked.questions.items() if name == facts["id"]
    }
    return task_from(facts, Prepared(questions, facts["formula"]))
