"""The published solutions, and what becomes of them with known mistakes in them.

A known mistake is an edit of the published solution. What it gives is computed by running the edited solution, on the
judge's side alone: nothing of this is there where a submission runs.
"""

import ast
import contextlib
import re
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

from softlookup.checking import slips
from softlookup.checking.habits import HABIT
from softlookup.checking.own import OwnTasksError, in_use, kept, own_assignments
from softlookup.checking.rewriting import carried_over
from softlookup.checking.task import Mistake, Task
from softlookup.checking.variant import Variant, variant_of

_NAMED = re.compile(r" (?P<name>[\w-]+)(?: from (?P<origin>[\w-]+))?")
_MARKS = re.compile(r"^\s*### (?:BEGIN|END) SOLUTION\n?", re.MULTILINE)
CONSTANT = re.compile(r"^(?P<name>\s*\w+) = .+?  # variant (?P<task>[\w.-]+):(?P<key>\w+)$", re.MULTILINE)
"""A line whose value differs between variants: ``tau = 1.0  # variant 04.scale:tau``."""


class NoEdit(ValueError):
    """Edits do not fit into the published solution: what one of them replaces is not there."""


def folder() -> Path:
    """Where the published solutions lie: in the checkout, or beside the installed library's own parts."""
    home = Path(__file__).parents[1]
    beside = home / "solutions"
    return beside if beside.is_dir() else home.parents[1] / "solutions"


@dataclass(frozen=True)
class _Statement:
    """A statement of a notebook: what it defines, and which names it uses."""

    tree: ast.stmt
    defines: frozenset[str]
    uses: frozenset[str]


def named_cells(path: Path) -> dict[str, tuple[str, str]]:
    """The named code cells of a file of solutions, in their order.

    Returns:
        By name, a cell's source and the name of the cell that it is taken from. ``# %% 90-split from 05-split`` takes a
        cell from another chapter; others name themselves.
    """
    return _named_in(path.read_text(encoding="utf-8"), path.parent)


def _named_in(text: str, place: Path) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for cell in re.split(r"^# %%", text, flags=re.MULTILINE)[1:]:
        head, _, body = cell.partition("\n")
        if match := _NAMED.fullmatch(head):
            name, origin = match["name"], match["origin"]
            found[name] = body.strip() + "\n", name
            if origin:
                found[name] = named_cells(solutions(int(origin.partition("-")[0]), place))[origin]
    return found


def solutions(chapter: int, place: Path | None = None) -> Path:
    """The file of a chapter's solutions."""
    return next((place or folder()).glob(f"{chapter:02d}_*.py"))


def is_published(chapter: int) -> bool:
    """Whether the library has solutions of that number; a course's own assignment has none."""
    return any(folder().glob(f"{chapter:02d}_*.py"))


@kept
def named(chapter: int) -> dict[str, tuple[str, str]]:
    """The named code cells of a chapter, as ``named_cells`` reads them, a course's own among them."""
    theirs = named_cells(solutions(chapter)) if is_published(chapter) else {}
    own = own_assignments().get(chapter)
    if own is None:
        return theirs
    names, after = list(theirs), own.after.replace(".", "-", 1)
    at = names.index(after) + 1 if after in theirs else len(names)
    mine = _named_in(own.cells, folder())
    if both := sorted(theirs.keys() & mine.keys()):
        raise OwnTasksError(
            f"{in_use().place}/{own.name}.py has a cell {both[0]}, as the course has: choose another id"
        )
    return {name: ({**theirs, **mine})[name] for name in (*names[:at], *mine, *names[at:])}


def without_marks(source: str) -> str:
    """A solution's source without the marks that nbgrader cuts at."""
    return _MARKS.sub("", source)


@kept
def cells(chapter: int) -> dict[str, str]:
    """The code cells of a chapter's notebook in their order, by name; constants of variants still carry their marks."""
    return {name: without_marks(source).strip() + "\n" for name, (source, _) in named(chapter).items()}


@cache
def _beside(chapter: int) -> dict[str, Any]:
    """What stands beside a chapter's solutions: facts of the tasks, edits, and what is said of them."""
    return {"says": {}, **tomllib.loads(solutions(chapter).with_suffix(".toml").read_text(encoding="utf-8"))}


def described(task_id: str, **rest: Any) -> Task:
    """A task, with the facts and the known mistakes that stand beside its solution.

    Args:
        task_id: The task, "04.scale". In the table ``tasks`` beside its solution stand name, title, points, minutes,
            difficulty, anchor and the names of results; its page, if it is not the one of the solution's name.
        rest: The other attributes of ``Task``: what is computed.

    Raises:
        ValueError: If nothing stands there.
    """
    chapter = int(task_id.partition(".")[0])
    own = own_assignments().get(chapter)
    page = {"page": solutions(chapter).stem} if is_published(chapter) else {"page": "index", "anchor": ""}
    facts = _beside_task(task_id).get("tasks", {}).get(task_id)
    if facts is None:
        file = f"{own.name}.toml" if own else solutions(chapter).with_suffix(".toml")
        raise ValueError(f"{file} has no line for {task_id} in its table [tasks]")
    facts = page | facts
    needed = ("name", "title", "points", "minutes", "difficulty", "returns", "anchor")
    if missing := [name for name in needed if name not in facts]:
        raise ValueError(f"the line for {task_id} in the table [tasks] lacks {', '.join(missing)}")
    if isinstance(facts["returns"], str):
        raise ValueError(f'the line for {task_id} needs a list of names, returns = ["{facts["returns"]}"]')
    facts["returns"] = tuple(facts["returns"])
    return Task(id=task_id, mistakes=_mistakes(task_id), **facts, **rest)


def _beside_task(task_id: str) -> Mapping[str, Any]:
    """What stands beside a task's solution: in the library, or in a course's folder of own tasks."""
    chapter = int(task_id.partition(".")[0])
    own = own_assignments().get(chapter)
    if is_published(chapter) and (own is None or task_id in _beside(chapter).get("tasks", {})):
        return _beside(chapter)
    return own.facts if own else {}


@cache
def _said_often() -> dict[str, Any]:
    """What is said of a mistake in several chapters, by its name."""
    return tomllib.loads((folder() / "mistakes.toml").read_text(encoding="utf-8"))["says"]


def _mistakes(task_id: str) -> tuple[Mistake, ...]:
    """The known mistakes of a task, as they stand beside its solution.

    A line ``no-sqrt = ["scores / math.sqrt(width)", "scores"]`` names a mistake, what it replaces, and by what; a list
    of such pairs makes several edits. What is said of it stands in the table ``says`` of the same file, under the
    task's and the mistake's name ("04.scale:no-sqrt") or the mistake's alone, or in ``mistakes.toml`` for all chapters:
    a sentence, or a table with ``says`` and what else ``Mistake`` has.

    An answer that is taken from another chapter has its mistakes, too.

    Raises:
        ValueError: If nothing is said of a mistake.
    """
    origin = _origin(task_id)
    if origin != task_id:
        return _mistakes(origin)
    beside = _beside_task(task_id)
    words = _said_often() | beside["says"]
    found = []
    for slug, edits in beside.get(task_id, {}).items():
        said = words.get(f"{task_id}:{slug}", words.get(slug))
        if said is None:
            raise ValueError(f"{task_id}: nothing is said of the mistake {slug!r}")
        pairs = [edits] if edits and isinstance(edits[0], str) else edits
        found.append(
            Mistake(
                slug,
                edits=tuple((old, new) for old, new in pairs),
                **({"says": said} if isinstance(said, str) else said),
            )
        )
    return tuple(found)


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


@kept
def help_texts(task_id: str) -> HelpTexts:
    """The texts of a task's help, which stand in ``solutions/NN_topic.help.toml``.

    Args:
        task_id: The task, "04.scale". One that is taken from another chapter has its texts there.

    Raises:
        ValueError: If nothing stands there.
    """
    origin = _origin(task_id)
    if origin != task_id:
        return help_texts(origin)
    chapter = int(task_id.partition(".")[0])
    own = own_assignments().get(chapter)
    texts = {**(own.help if own else {}), **(_help_beside(chapter) if is_published(chapter) else {})}
    if task_id not in texts:
        raise ValueError(f"{own.name if own else solutions(chapter).stem}.help.toml has no table for {task_id}")
    return HelpTexts(**texts[task_id])


@cache
def _help_beside(chapter: int) -> dict[str, Any]:
    """The help texts that stand beside a chapter's solutions, by task."""
    path = solutions(chapter).with_suffix(".help.toml")
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _origin(task_id: str) -> str:
    """The task whose cell a task takes: itself, or one of another chapter."""
    cell = task_id.replace(".", "-")
    _, origin = named(int(task_id.partition(".")[0])).get(cell, ("", cell))
    return origin.replace("-", ".", 1)


def solution(variant: Variant) -> str:
    """The published solution's cell, with a variant's constants and under its convention."""
    return in_variant(variant, cells(variant.task.chapter)[variant.task.slug])


def in_variant(variant: Variant, source: str) -> str:
    """An answer's source with the constants of a variant, carried over to its convention."""
    return _carried_over(variant, with_constants(variant, source))


def _carried_over(variant: Variant, source: str) -> str:
    task, convention = variant.task, variant.convention
    return source if convention is None else carried_over(source, task.name, convention, torch=task.frame == "torch")


def with_constants(variant: Variant, source: str) -> str:
    """An answer's source with the constants of a variant on the lines that are marked as such."""
    values = variant.constants

    def fill(match: re.Match[str]) -> str:
        return f"{match['name']} = {values[match['key']]!r}" if match["task"] == variant.task.id else match[0]

    return CONSTANT.sub(fill, source).strip() + "\n"


def planted(variant: Variant, slugs: Sequence[str]) -> str:
    """The published solution's cell with known mistakes in it, planted in the first order in which they fit.

    Args:
        variant: Which variant's solution.
        slugs: The known mistakes.

    Raises:
        NoEdit: If they fit in no order, as where both replace the same place.
    """
    return _first_order(variant, slugs, lambda source: _carried_over(variant, source))


def _first_order(variant: Variant, slugs: Sequence[str], finished: Callable[[str], str]) -> str:
    """What is made of the published solution with known mistakes in it, in the first order in which that is Python."""
    task, reasons = variant.task, []
    for order in permutations(slugs):
        source = with_constants(variant, cells(task.chapter)[task.slug])
        try:
            for slug in order:
                source = task.mistake(slug).applied_to(source)
            source = finished(source)
            with _quiet():
                compile(source, "<together>", "exec")
        except ValueError as error:
            reasons.append(str(error))
        except SyntaxError:
            reasons.append("together they are no Python")
        else:
            return source
    raise NoEdit(f"{task.id}, {' and '.join(slugs)}: {reasons[0]}")


@kept
def with_earlier(variant: Variant, known: tuple[str, ...] = ()) -> str:
    """The published solution in the published convention, behind the functions of earlier tasks that it calls.

    Args:
        variant: Which variant's constants.
        known: The known mistakes that are planted in it.

    Raises:
        NoEdit: If the mistakes do not fit in together.
    """
    task, source = variant.task, _first_order(variant, known, str)
    names = {facts["name"] for facts in _beside_task(task.id).get("tasks", {}).values()}
    earlier = [one.tree for one in _needed(task.chapter, task.slug, source)]
    functions = [ast.unparse(one) for one in earlier if isinstance(one, ast.FunctionDef) and one.name in names]
    return "\n\n".join([*functions, source])


@kept
def _names_above(task: Task, source: str) -> dict[str, Any]:
    return _before(task.chapter, task.slug, source)


def with_habits(variant: Variant, slugs: tuple[str, ...]) -> Any:
    """The published function of a task with habits in it; there are too many of them for all to be kept.

    Args:
        variant: Which variant's.
        slugs: The habits, and known mistakes beside them.

    Raises:
        ValueError: If they do not fit in together.
    """
    task, own = variant.task, [slug for slug in slugs if slug.startswith(HABIT)]
    source = with_earlier(variant, tuple(slug for slug in slugs if slug not in own))
    if variant.convention is not None:
        return _made(task, _carried_over(variant, slips.planted(source, own, ast.unparse)), {})
    space = dict(_names_above(task, source))
    try:
        with _quiet():
            code = slips.planted(source, own, lambda tree: compile(tree, f"<published {task.id}>", "exec"))
    except SyntaxError:
        raise NoEdit(f"{task.id}, {' and '.join(slugs)}: together they are no Python") from None
    exec(code, space)
    return space[task.name]


@kept
def answer(variant: Variant, slugs: tuple[str, ...] = ()) -> Any:
    """The published function of a task, with known mistakes planted in it.

    Args:
        variant: Which variant's.
        slugs: The known mistakes; none gives the published one.

    Raises:
        NoEdit: If the mistakes do not fit in together.
    """
    return _made(variant.task, planted(variant, slugs), {})


def composed(variant: Variant, own: Mapping[str, Any]) -> Any:
    """The published function of a task, made of other functions than the published ones.

    Args:
        variant: Which variant's.
        own: What stands in place of functions of earlier tasks, by name.
    """
    return _made(variant.task, solution(variant), own)


def _made(task: Task, source: str, own: Mapping[str, Any]) -> Any:
    space = {**_before(task.chapter, task.slug, source), **own}
    with _quiet():
        exec(compile(source, f"<published {task.id}>", "exec"), space)
    return space[task.name]


def names_used(task: Task) -> frozenset[str]:
    """The names that the published solution of a task uses and does not define itself."""
    nodes = list(ast.walk(ast.parse(solution(variant_of(task)))))
    names = [one for one in nodes if isinstance(one, ast.Name)]
    own = {one.id for one in names if not isinstance(one.ctx, ast.Load)} | {
        one.arg for one in nodes if isinstance(one, ast.arg)
    }
    return frozenset(one.id for one in names) - own


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Python warns of some wrong code ("'int' object is not subscriptable")."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _before(chapter: int, name: str, source: str) -> dict[str, Any]:
    """What stands above a cell in its notebook and is needed by this source: definitions alone."""
    return _run(tuple(one.tree for one in _needed(chapter, name, source)))


def _needed(chapter: int, name: str, source: str) -> list[_Statement]:
    """The statements above a cell that this source needs, in their order."""
    needed = set().union(*(one.uses for one in _statements(source)))
    taken: list[_Statement] = []
    for one in reversed(_above(chapter, name)):
        if one.defines & needed:
            taken.append(one)
            needed |= one.uses
    return taken[::-1]


@cache
def _run(trees: tuple[ast.stmt, ...]) -> dict[str, Any]:
    """The names that some statements define; statements are the same where they are the same objects."""
    space: dict[str, Any] = {"__name__": "softlookup_published"}
    exec(compile(ast.Module(list(trees), []), "<published>", "exec"), space)
    return space


@kept
def _above(chapter: int, name: str) -> tuple[_Statement, ...]:
    found: list[_Statement] = []
    for cell in cells(chapter):
        if cell == name:
            return tuple(found)
        found += _cell_statements(chapter, cell)
    raise KeyError(f"chapter {chapter} has no cell {name!r}")


@kept
def _cell_statements(chapter: int, cell: str) -> tuple[_Statement, ...]:
    return tuple(_statements(cells(chapter)[cell]))


def _statements(source: str) -> Iterator[_Statement]:
    for tree in ast.parse(source).body:
        if isinstance(tree, ast.Import | ast.ImportFrom):
            defines = {(one.asname or one.name).partition(".")[0] for one in tree.names}
        elif isinstance(tree, ast.FunctionDef | ast.ClassDef):
            defines = {tree.name}
        else:
            walked = [one for one in ast.walk(tree) if isinstance(one, ast.Name)]
            defines = {one.id for one in walked if isinstance(one.ctx, ast.Store)}
        uses = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
        yield _Statement(tree, frozenset(defines), frozenset(uses))
