"""The published solutions as a student's namespace, with some cells replaced."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib import import_module
from types import CodeType
from typing import Any

import numpy as np

from benchmarks.strangers import ANSWERS, StrangerAnswer, read_answers, submitted
from softlookup_judge import CheckResult, check, get_task, tasks
from softlookup_judge.authoring import assignments, find_root, read_solution, solution_cells
from softlookup_judge.checking.catalogue import CHAPTERS
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.variant import variant_of

ROOT = find_root()


@cache
def source_notebook(chapter: int) -> Any:
    """The source notebook of a chapter."""
    name = next(n for n in assignments(ROOT) if n.startswith(f"{chapter:02d}_"))
    return read_solution(ROOT / "solutions" / f"{name}.py")


@cache
def solutions(chapter: int) -> dict[str, str]:
    """Source of every solution cell, by grade id."""
    return solution_cells(source_notebook(chapter))


def world(chapter: int, cells: dict[str, str] | None = None) -> dict[str, Any]:
    """Run the notebook's code cells, checks left out, with some solution cells replaced."""
    namespace: dict[str, Any] = {"__name__": "__main__", "np": np}
    replaced = cells or {}
    for grade_id, cell_id, source in code_cells(chapter):
        exec(compiled(replaced.get(grade_id, source), cell_id), namespace)
    return namespace


def written(task_id: str, source: str) -> Any:
    """What a task asks for, where its cell holds this source."""
    task = get_task(task_id)
    return world(task.chapter, {task.slug: source})[task.name]


def edited_source(task_id: str, edits: Sequence[tuple[str, str]]) -> str:
    """The published cell with some text replaced."""
    task = get_task(task_id)
    source = solutions(task.chapter)[task.slug]
    for old, new in edits:
        assert old in source, old
        source = source.replace(old, new)
    return source


def edited(task_id: str, edits: Sequence[tuple[str, str]]) -> Any:
    """What a task asks for, in the published form with some text replaced."""
    return written(task_id, edited_source(task_id, edits))


@cache
def code_cells(chapter: int) -> list[tuple[str, str, str]]:
    """The grade id, id and source of a notebook's code cells, checks left out."""
    cells = [(cell.metadata.get("nbgrader", {}), cell) for cell in source_notebook(chapter).cells]
    return [
        (grader.get("grade_id", ""), cell.id, cell.source)
        for grader, cell in cells
        if cell.cell_type == "code" and not grader.get("grade")
    ]


@lru_cache(maxsize=512)
def compiled(source: str, cell_id: str) -> CodeType:
    """A cell's code; every cell has a file name of its own, as in a kernel."""
    return compile(source, f"<submission {cell_id}>", "exec")


def everywhere(task_id: str, obj: Any, seeds: Iterable[int] = (0,)) -> Iterator[CheckResult]:
    """Verdicts at home, and as in grading with other inputs."""
    variant = variant_of(get_task(task_id))
    yield check(task_id, obj)
    for seed in seeds:
        yield judge(variant, LocalStudent(variant, obj), seed=seed)


def results(task_id: str, source: str, seeds: Iterable[int] = (0,)) -> list[CheckResult]:
    """The verdicts on a cell with this source."""
    return list(everywhere(task_id, written(task_id, source), seeds))


ALL_TASKS = tasks()
ALL_MISTAKES = [(task, mistake) for task in ALL_TASKS for mistake in task.mistakes]
RIGHT = {
    task_id: answers
    for chapter in sorted(CHAPTERS)
    for task_id, answers in import_module(f"right_answers_{chapter:02d}").RIGHT.items()
}


@cache
def strangers() -> dict[str, list[StrangerAnswer]]:
    """Right answers to the published variants among those that people wrote for the benchmark, by task."""
    right: dict[str, list[StrangerAnswer]] = {}
    for each in read_answers([ANSWERS]):
        if each.right and not each.variant:
            right.setdefault(each.task, []).append(each)
    return right


@cache
def right_answers(task_id: str) -> list[Any]:
    """All right answers to a task that are written in other ways than the published one."""
    return [*RIGHT[task_id], *(submitted(each) for each in strangers().get(task_id, ()))]


def constant_variants(task):
    """The numbers of the variants that differ in constants alone, the published one among them."""
    return [n for n in range(len(task.variants)) if not task.conventions or task.conventions[n] is None]


def constants_of(task):
    """The constants of the variants that differ in constants alone, the published ones first."""
    return [task.variants[number] for number in constant_variants(task)]
