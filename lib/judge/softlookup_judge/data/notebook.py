"""A notebook's sources: its named cells, and what stands beside them of tasks, mistakes and help."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, wraps
from pathlib import Path
from typing import Any

from softlookup_judge.data.own import OwnAssignment, OwnTasksError
from softlookup_judge.data.task import Mistake, Task

_NAMED = re.compile(r" (?P<name>[\w-]+)(?: from (?P<origin>[\w-]+))?")
_MARKS = re.compile(r"^\s*### (?:BEGIN|END) SOLUTION\n?", re.MULTILINE)


def folder() -> Path:
    """Where the published solutions lie: in the checkout, or beside the installed library's own parts."""
    home = Path(__file__).parents[1]
    beside = home / "solutions"
    return beside if beside.is_dir() else home.parents[2] / "solutions"


def solutions(chapter: int, directory: Path | None = None) -> Path:
    """The file of a chapter's solutions."""
    return next((directory or folder()).glob(f"{chapter:02d}_*.py"))


def is_published(chapter: int) -> bool:
    """Whether the library has solutions of that number; a course's own assignment has none."""
    return any(folder().glob(f"{chapter:02d}_*.py"))


def named_cells(path: Path) -> dict[str, tuple[str, str]]:
    """Named code cells in order: source and origin; ``# %% 90-split from 05-split`` takes another chapter's."""
    return _named_in(path.read_text(encoding="utf-8"), path.parent)


def _named_in(text: str, directory: Path) -> dict[str, tuple[str, str]]:
    cells: dict[str, tuple[str, str]] = {}
    for cell in re.split(r"^# %%", text, flags=re.MULTILINE)[1:]:
        head, _, body = cell.partition("\n")
        if match := _NAMED.fullmatch(head):
            name, origin = match["name"], match["origin"]
            cells[name] = body.strip() + "\n", name
            if origin:
                cells[name] = named_cells(solutions(int(origin.partition("-")[0]), directory))[origin]
    return cells


def without_marks(source: str) -> str:
    """A solution's source without the marks that nbgrader cuts at."""
    return _MARKS.sub("", source)


@dataclass(frozen=True)
class HelpTexts:
    """What is said of a task to somebody who asks for help, and afterwards; ``other`` is another right answer."""

    formula: str
    explained: str
    other: str = ""
    differs: str = ""


@dataclass(frozen=True)
class Beside:
    """What stands beside the cells of one file of solutions: facts with edits, and help, by task."""

    file: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    help: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Notebook:
    """A notebook's sources: code cells by name with their origin, and what stands beside them."""

    chapter: int
    name: str
    code_cells: Mapping[str, tuple[str, str]]
    beside: tuple[Beside, ...]
    page: str = "index"

    @cached_property
    def cells(self) -> Mapping[str, str]:
        """The code cells by name, without nbgrader's marks; constants of variants still carry theirs."""
        return {name: _MARKS.sub("", source).strip() + "\n" for name, (source, _) in self.code_cells.items()}

    def beside_task(self, task_id: str) -> Beside:
        """What stands beside a task's solution: in the library, or in a course's own folder."""
        matching = [beside for beside in self.beside if task_id in beside.facts.get("tasks", {})]
        return (matching or [self.beside[-1]])[0]

    def origin(self, task_id: str) -> str:
        """The task whose cell a task takes: itself, or one of another chapter."""
        cell = task_id.replace(".", "-")
        _, origin = self.code_cells.get(cell, ("", cell))
        return origin.replace("-", ".", 1)

    def mistakes(self, task_id: str) -> tuple[Mistake, ...]:
        """The known mistakes of a task, or of the task it is taken from (the file's format: CONTRIBUTING.md)."""
        origin = self.origin(task_id)
        if origin != task_id:
            # Its sections are in the other chapter.
            return tuple(replace(mistake, anchor=None) for mistake in published(_number(origin)).mistakes(origin))
        facts = self.beside_task(task_id).facts
        words = _said_often() | facts.get("says", {})
        anchors = {
            name: anchor for anchor, mistake_names in facts.get("sections", {}).items() for name in mistake_names
        }
        if facts["tasks"][task_id].get("page", self.page) != self.page:  # a side page: name the one that they are on
            anchors = {name: f"{self.page}.html#{anchor}" for name, anchor in anchors.items()}
        mistakes = []
        for name, edits in facts.get(task_id, {}).items():
            sentence = words.get(f"{task_id}:{name}", words.get(name))
            if sentence is None:
                message = f"{task_id}: the mistake {name!r} has no sentence for students"
                raise ValueError(f"{message}: write one into the table [says] of {self.name}.toml")
            pairs = [edits] if edits and isinstance(edits[0], str) else edits
            mistakes.append(
                Mistake(
                    name,
                    edits=tuple((old, new) for old, new in pairs),
                    **{"anchor": anchors.get(name), **({"says": sentence} if isinstance(sentence, str) else sentence)},
                )
            )
        return tuple(mistakes)

    def help_texts(self, task_id: str) -> HelpTexts:
        """The texts of a task's help, or of the task it is taken from; a ValueError if there are none."""
        origin = self.origin(task_id)
        if origin != task_id:
            return published(_number(origin)).help_texts(origin)
        for beside in self.beside:
            if task_id in beside.help:
                return HelpTexts(**beside.help[task_id])
        raise ValueError(f"{self.name}.help.toml has no table for {task_id}")

    def with_cells(self, added: OwnAssignment, directory: str) -> "Notebook":
        """This notebook with a course's own cells behind the task that they name."""
        names, after = list(self.code_cells), added.after.replace(".", "-", 1)
        at = names.index(after) + 1 if after in self.code_cells else len(names)
        cells = _named_in(added.cells, folder())
        if both := sorted(self.code_cells.keys() & cells.keys()):
            raise OwnTasksError(
                f"{directory}/{added.name}.py has a cell {both[0]}, as the course has: choose another id"
            )
        every = {**self.code_cells, **cells}
        code_cells = {name: every[name] for name in (*names[:at], *cells, *names[at:])}
        beside = (*self.beside, Beside(f"{added.name}.toml", added.facts, added.help))
        return Notebook(self.chapter, added.name, code_cells, beside, self.page)


@dataclass(frozen=True, eq=False)
class Description:
    """What is computed of a task, before its notebook is known, or the task of another chapter that it repeats."""

    task_id: str
    attributes: Mapping[str, Any]
    taken_from: "Description | None" = None

    def in_notebook(self, notebook: Notebook, before: Sequence[Task] = ()) -> Task:
        """The task, with the facts and known mistakes beside its solution; a ValueError if something is missing."""
        if self.taken_from is not None:
            there = self.taken_from.task
            return replace(there, id=self.task_id, notebook=notebook, before=tuple(before), **self.attributes)
        beside = notebook.beside_task(self.task_id)
        facts = beside.facts.get("tasks", {}).get(self.task_id)
        if facts is None:
            raise ValueError(f"{beside.file} has no line for {self.task_id} in its table [tasks]")
        usual = {"page": notebook.page} if notebook.page != "index" else {"page": "index", "anchor": ""}
        facts = usual | facts
        needed = ("name", "title", "points", "minutes", "difficulty", "returns", "anchor")
        if missing := [name for name in needed if name not in facts]:
            raise ValueError(f"the line for {self.task_id} in the table [tasks] lacks {', '.join(missing)}")
        if isinstance(facts["returns"], str):
            raise ValueError(f'the line for {self.task_id} needs a list of names, returns = ["{facts["returns"]}"]')
        facts["returns"] = tuple(facts["returns"])
        return Task(
            id=self.task_id,
            mistakes=notebook.mistakes(self.task_id),
            notebook=notebook,
            before=tuple(before),
            **facts,
            **self.attributes,
        )

    @cached_property
    def task(self) -> Task:
        """The task in the published notebook, with no task before it."""
        return self.in_notebook(published(_number(self.task_id)))


def in_order(descriptions: Iterable[Description], notebook: Notebook) -> tuple[Task, ...]:
    """The tasks of a notebook, each of which knows those before it."""
    tasks: list[Task] = []
    for description in descriptions:
        tasks.append(description.in_notebook(notebook, tasks))
    return tuple(tasks)


def described(
    task_id: str, cases: Callable[..., Any], oracle: Callable[..., Any], *, asks_in: str = "", **attributes: Any
) -> Description:
    """Describe a task ("04.scale") by the attributes of ``Task`` that do not stand beside its solution.

    Cases take the frame of their task, or ``asks_in``.
    """
    frame = asks_in or attributes.get("frame", "torch")

    @wraps(cases)
    def framed(*args: Any, **constants: Any) -> Any:
        return [case if case.frame != "torch" else replace(case, frame=frame) for case in cases(*args, **constants)]

    chosen = cases if frame == "torch" else framed
    return Description(task_id, {"cases": chosen, "oracle": oracle, **attributes})


@cache
def published(chapter: int) -> Notebook:
    """The sources of one of the library's notebooks; for a number that is free one without cells."""
    if not is_published(chapter):
        return Notebook(chapter, f"{chapter:02d}", {}, ())
    path = solutions(chapter)
    facts = {"says": {}, **tomllib.loads(path.with_suffix(".toml").read_text(encoding="utf-8"))}
    help_file = path.with_suffix(".help.toml")
    texts = tomllib.loads(help_file.read_text(encoding="utf-8")) if help_file.is_file() else {}
    beside = Beside(str(path.with_suffix(".toml")), facts, texts)
    return Notebook(chapter, path.stem, named_cells(path), (beside,), path.stem)


@cache
def _said_often() -> dict[str, Any]:
    """What is said of a mistake in several chapters, by its name."""
    return tomllib.loads((folder() / "mistakes.toml").read_text(encoding="utf-8"))["says"]


def _number(task_id: str) -> int:
    return int(task_id.partition(".")[0])
