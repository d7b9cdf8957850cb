"""A notebook's sources: its named cells, and what stands beside them of tasks, mistakes and help.

Nothing of a notebook changes once it is read. A course's own tasks make another notebook of the published one.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
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


def solutions(chapter: int, place: Path | None = None) -> Path:
    """The file of a chapter's solutions."""
    return next((place or folder()).glob(f"{chapter:02d}_*.py"))


def is_published(chapter: int) -> bool:
    """Whether the library has solutions of that number; a course's own assignment has none."""
    return any(folder().glob(f"{chapter:02d}_*.py"))


def named_cells(path: Path) -> dict[str, tuple[str, str]]:
    """The named code cells of a file of solutions, in their order: a cell's source, and the name that it is taken from.

    ``# %% 90-split from 05-split`` takes a cell from another chapter; others name themselves.
    """
    return _named_in(path.read_text(encoding="utf-8"), path.parent)


def _named_in(text: str, place: Path) -> dict[str, tuple[str, str]]:
    cells: dict[str, tuple[str, str]] = {}
    for cell in re.split(r"^# %%", text, flags=re.MULTILINE)[1:]:
        head, _, body = cell.partition("\n")
        if match := _NAMED.fullmatch(head):
            name, origin = match["name"], match["origin"]
            cells[name] = body.strip() + "\n", name
            if origin:
                cells[name] = named_cells(solutions(int(origin.partition("-")[0]), place))[origin]
    return cells


def without_marks(source: str) -> str:
    """A solution's source without the marks that nbgrader cuts at."""
    return _MARKS.sub("", source)


@dataclass(frozen=True)
class HelpTexts:
    """What is said of a task to somebody who asks for help, and afterwards.

    Attributes:
        formula: What to compute, in one line of plain text.
        explained: Why the published solution is as it is.
        other: Another right answer: shorter, faster or clearer; empty where there is none worth showing.
        differs: What sets it apart from the published one.
    """

    formula: str
    explained: str
    other: str = ""
    differs: str = ""


@dataclass(frozen=True)
class Beside:
    """What stands beside the cells of one file of solutions.

    Attributes:
        file: The file of facts, for messages.
        facts: Facts of the tasks, edits, and what is said of them.
        help: Help texts, by task.
    """

    file: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    help: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Notebook:
    """A notebook's sources.

    Attributes:
        number: Its number: the chapter's, or one from 90 on.
        name: Its name, "04_one_head".
        named: Its named code cells in their order: source, and the name of the cell that it is taken from.
        beside: What stands beside the published cells, and beside a course's own.
        page: The chapter's page, without ending.
    """

    number: int
    name: str
    named: Mapping[str, tuple[str, str]]
    beside: tuple[Beside, ...]
    page: str = "index"

    @cached_property
    def cells(self) -> Mapping[str, str]:
        """The code cells by name, without nbgrader's marks; constants of variants still carry theirs."""
        return {name: _MARKS.sub("", source).strip() + "\n" for name, (source, _) in self.named.items()}

    def beside_task(self, task_id: str) -> Beside:
        """What stands beside a task's solution: in the library, or in a course's own folder."""
        described = [beside for beside in self.beside if task_id in beside.facts.get("tasks", {})]
        return (described or [self.beside[-1]])[0]

    def origin(self, task_id: str) -> str:
        """The task whose cell a task takes: itself, or one of another chapter."""
        cell = task_id.replace(".", "-")
        _, origin = self.named.get(cell, ("", cell))
        return origin.replace("-", ".", 1)

    def mistakes(self, task_id: str) -> tuple[Mistake, ...]:
        """The known mistakes of a task, as they stand beside its solution; a ValueError if nothing is said of one.

        A line ``no-sqrt = ["scores / math.sqrt(width)", "scores"]`` names a mistake, what it replaces, and by what; a
        list of such pairs makes several edits. What is said of it stands in the table ``says`` of the same file, under
        the task's and the mistake's name ("04.scale:no-sqrt") or the mistake's alone, or in ``mistakes.toml`` for all
        chapters: a sentence, or a table with ``says`` and what else ``Mistake`` has. The table ``sections`` says which
        section of the chapter's page a mistake's verdict links to, where it is not the task's own.

        An answer that is taken from another chapter has its mistakes, too.
        """
        origin = self.origin(task_id)
        if origin != task_id:
            # Its sections are in the other chapter.
            return tuple(replace(mistake, anchor=None) for mistake in published(_number(origin)).mistakes(origin))
        facts = self.beside_task(task_id).facts
        words = _said_often() | facts.get("says", {})
        anchors = {slug: anchor for anchor, slugs in facts.get("sections", {}).items() for slug in slugs}
        if facts["tasks"][task_id].get("page", self.page) != self.page:  # a side page: name the one that they are on
            anchors = {slug: f"{self.page}.html#{anchor}" for slug, anchor in anchors.items()}
        mistakes = []
        for slug, edits in facts.get(task_id, {}).items():
            sentence = words.get(f"{task_id}:{slug}", words.get(slug))
            if sentence is None:
                message = f"{task_id}: the mistake {slug!r} has no sentence for students"
                raise ValueError(f"{message}: write one into the table [says] of {self.name}.toml")
            pairs = [edits] if edits and isinstance(edits[0], str) else edits
            mistakes.append(
                Mistake(
                    slug,
                    edits=tuple((old, new) for old, new in pairs),
                    **{"anchor": anchors.get(slug), **({"says": sentence} if isinstance(sentence, str) else sentence)},
                )
            )
        return tuple(mistakes)

    def help_texts(self, task_id: str) -> HelpTexts:
        """The texts of a task's help, which stand in ``NN_topic.help.toml``; a ValueError if nothing stands there.

        A task ("04.scale") that is taken from another chapter has its texts there.
        """
        origin = self.origin(task_id)
        if origin != task_id:
            return published(_number(origin)).help_texts(origin)
        for beside in self.beside:
            if task_id in beside.help:
                return HelpTexts(**beside.help[task_id])
        raise ValueError(f"{self.name}.help.toml has no table for {task_id}")

    def with_cells(self, added: OwnAssignment, place: str) -> "Notebook":
        """This notebook with a course's own cells among its own; an OwnTasksError if one has the name of another.

        ``place`` is the folder of the own tasks, for messages.
        """
        names, after = list(self.named), added.after.replace(".", "-", 1)
        at = names.index(after) + 1 if after in self.named else len(names)
        cells = _named_in(added.cells, folder())
        if both := sorted(self.named.keys() & cells.keys()):
            raise OwnTasksError(f"{place}/{added.name}.py has a cell {both[0]}, as the course has: choose another id")
        every = {**self.named, **cells}
        named = {name: every[name] for name in (*names[:at], *cells, *names[at:])}
        beside = (*self.beside, Beside(f"{added.name}.toml", added.facts, added.help))
        return Notebook(self.number, added.name, named, beside, self.page)


@dataclass(frozen=True, eq=False)
class Description:
    """What is computed of a task, before its notebook is known.

    Attributes:
        task_id: The task, "04.scale".
        rest: The attributes of ``Task`` that do not stand beside its solution.
        taken_from: The description of a task of another chapter, which this one is, but for ``rest``.
    """

    task_id: str
    rest: Mapping[str, Any]
    taken_from: "Description | None" = None

    def in_notebook(self, notebook: Notebook, before: Sequence[Task] = ()) -> Task:
        """The task, with the facts and the known mistakes that stand beside its solution in ``notebook``.

        In the table ``tasks`` beside it stand name, title, points, minutes, difficulty, anchor and the names of
        results; its page, if it is not the one of the solution's name. It is a ValueError if nothing stands there, or
        something is missing. ``before`` are the tasks that come before it.
        """
        if self.taken_from is not None:
            there = self.taken_from.task
            return replace(there, id=self.task_id, notebook=notebook, before=tuple(before), **self.rest)
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
            **self.rest,
        )

    @cached_property
    def task(self) -> Task:
        """The task in the published notebook, with no task before it."""
        return self.in_notebook(published(_number(self.task_id)))


def in_order(descriptions: Iterable[Description], notebook: Notebook) -> tuple[Task, ...]:
    """The tasks of a notebook, each of which knows those before it."""
    made: list[Task] = []
    for description in descriptions:
        made.append(description.in_notebook(notebook, made))
    return tuple(made)


def described(task_id: str, **rest: Any) -> Description:
    """Describe a task ("04.scale"): ``rest`` are the attributes of ``Task`` that are computed.

    Its name, title, points, known mistakes and such stand beside its solution.
    """
    return Description(task_id, rest)


@cache
def published(number: int) -> Notebook:
    """The sources of one of the library's notebooks; for a number that is free one without cells."""
    if not is_published(number):
        return Notebook(number, f"{number:02d}", {}, ())
    path = solutions(number)
    facts = {"says": {}, **tomllib.loads(path.with_suffix(".toml").read_text(encoding="utf-8"))}
    help_file = path.with_suffix(".help.toml")
    texts = tomllib.loads(help_file.read_text(encoding="utf-8")) if help_file.is_file() else {}
    beside = Beside(str(path.with_suffix(".toml")), facts, texts)
    return Notebook(number, path.stem, named_cells(path), (beside,), path.stem)


@cache
def _said_often() -> dict[str, Any]:
    """What is said of a mistake in several chapters, by its name."""
    return tomllib.loads((folder() / "mistakes.toml").read_text(encoding="utf-8"))["says"]


def _number(task_id: str) -> int:
    return int(task_id.partition(".")[0])
