"""The notebook that a student was given, found or made again: a check at home starts from it, as grading does."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from softlookup_grader.course.folder import Course
from softlookup_grader.course.notebooks import grade_id, is_graded, is_solution, read_notebook, task_id
from softlookup_grader.course.personal import own_release
from softlookup_grader.judging.matching import handed_in, match, text_of
from softlookup_grader.judging.rebuild import ReleasedCheck, released_check
from softlookup_judge.checking.catalogue import Catalogue, course_above
from softlookup_judge.data.notebook import is_published, solutions


def as_released(cells: Sequence[Mapping[str, Any]], path: Path, catalogue: Catalogue) -> NotebookNode | None:
    """The notebook as it was given out: a course's release, or made again from the solutions as its checks ask."""
    notebook = NotebookNode(nbformat=4, nbformat_minor=5, metadata=NotebookNode(), cells=[*map(_sound, cells)])
    checks = [check for cell in notebook.cells if (check := released_check(cell, catalogue)) is not None]
    chapter = _chapter(notebook, checks, path, catalogue)
    if chapter is None:
        return None
    name = solutions(chapter).stem if is_published(chapter) else path.stem
    if (root := course_above(path.resolve().parent)) is not None and (
        release := _in_course(Course.at(root), name, path)
    ):
        return release
    if not is_published(chapter):
        return _with_own([], notebook)
    variants = {check.task.id: check.variant.number for check in checks if check.task.chapter == chapter}
    return _with_own(_made(notebook, chapter, variants, catalogue), notebook)


def _chapter(notebook: NotebookNode, checks: Sequence[ReleasedCheck], path: Path, catalogue: Catalogue) -> int | None:
    """Whose notebook it is, by its answers and headings, or by its name: any notebook may hold a check."""
    chapter_counts = Counter(int(name[:2]) for name in _asked(notebook) if re.match(r"\d\d\.", name))
    chapters = [chapter for chapter, _ in chapter_counts.most_common() if chapter in catalogue.numbers]
    chapters += [check.task.chapter for check in checks if path.stem.startswith(f"{check.task.chapter:02d}_")]
    return chapters[0] if chapters else None


def _sound(cell: Mapping[str, Any]) -> NotebookNode:
    """A cell with nothing but kind, text, id and nbgrader's marks."""
    about = cell.get("metadata")
    about = about.get("nbgrader") if isinstance(about, dict) else None
    cell_type = "code" if cell.get("cell_type") == "code" else "markdown"
    metadata = {"nbgrader": about} if isinstance(about, dict) else {}
    return nbformat.from_dict(
        {"cell_type": cell_type, "source": text_of(cell), "metadata": metadata, "id": cell.get("id")}
    )


def _in_course(course: Course, name: str, path: Path) -> NotebookNode | None:
    released = course.notebook("release", ".", name)
    if personal := own_release(course, name, path.resolve().parent.parent.name):
        return nbformat.reads(personal.decode(), as_version=4)
    return read_notebook(released) if released.is_file() else None


def _made(
    notebook: NotebookNode, chapter: int, variants: dict[str, int], catalogue: Catalogue
) -> Sequence[NotebookNode]:
    """The cells of the published notebook, with the variants that its checks ask for and what a course chose."""
    path = solutions(chapter)
    if any(variants.values()):
        variants = variants | _by_their_text(notebook, path, variants, catalogue)
    there = _asked(notebook) | set(variants)
    points = {task: worth for task, worth in _points(notebook).items() if task in there}
    return _built(path, tuple(sorted(variants.items())), frozenset(there), tuple(sorted(points.items())), catalogue)


@lru_cache(maxsize=8)  # a student presses Validate more than once
def _built(
    path: Path,
    variants: tuple[tuple[str, int], ...],
    there: frozenset[str],
    points: tuple[tuple[str, float], ...],
    catalogue: Catalogue,
) -> Sequence[NotebookNode]:
    from softlookup_judge.authoring import make_release, read_solution
    from softlookup_judge.authoring.choosing import choose, chosen_tasks

    exercise = path.parents[1] / "exercises" / path.stem / f"{path.stem}.ipynb"
    public = exercise.is_file() and not any(variant for _, variant in variants)
    source = (
        nbformat.read(exercise, as_version=4) if public else read_solution(path, dict(variants), catalogue=catalogue)
    )
    usual = {task_id(grade_id(cell)): cell.metadata.nbgrader.points for cell in source.cells if is_graded(cell)}
    drop = [task for task in chosen_tasks(source) if task not in there]
    others = {task: worth for task, worth in points if task in usual and worth != usual[task]}
    if public and not drop and not others:
        return list(source.cells)
    source = read_solution(path, dict(variants), catalogue=catalogue) if public else source
    return list(make_release(choose(source, drop, others)).cells)


def _by_their_text(
    notebook: NotebookNode, path: Path, known: Mapping[str, int], catalogue: Catalogue
) -> dict[str, int]:
    """The variants of tasks whose checks are gone, by what their texts and their cells ask for."""
    from softlookup_judge.authoring import read_solution

    lost = [task for task in catalogue.tasks(int(path.stem[:2])) if task.id not in known and len(task.variants) > 1]
    texts = {text_of(cell).strip() for cell in notebook.cells}
    variants: dict[str, int] = {}
    for variant in range(1, max((len(task.variants) for task in lost), default=0)):
        source = read_solution(
            path, {task.id: min(variant, len(task.variants) - 1) for task in lost}, catalogue=catalogue
        )
        shared_texts = {cell.source.strip() for cell in source.cells if cell.cell_type == "markdown"} & texts
        for task in lost:
            if any(f"Task {task.id} ·" in text for text in shared_texts):
                variants.setdefault(task.id, variant)
    return variants


def _asked(notebook: NotebookNode) -> set[str]:
    """The tasks of which a notebook holds a heading or an answer, and cells of other names."""
    ids = set[str]()
    for cell in notebook.cells:
        names = (grade_id(cell), str(cell.get("id", "")))
        ids |= {task_id(name) for name in names if name and not name.endswith("-check")}
        if cell.cell_type == "markdown":
            ids |= {name.replace("-", ".", 1) for name in re.findall(r"(?m)^(?:### )?Task (\S+) ·", cell.source)}
    return ids


def _points(notebook: NotebookNode) -> dict[str, float]:
    """The points that nbgrader's marks give to tasks."""
    marked = [(cell, cell.metadata.nbgrader.get("points")) for cell in notebook.cells if is_graded(cell)]
    return {task_id(grade_id(cell)): worth for cell, worth in marked if type(worth) in (int, float) and worth >= 0}


def _with_own(cells: Sequence[NotebookNode], notebook: NotebookNode) -> NotebookNode:
    """A notebook of these cells, with the cells of a student's notebook that nbgrader marked and these lack."""
    known = {grade_id(cell): cell for cell in cells if grade_id(cell)}
    matched = match(cells, handed_in(notebook.cells)).cells
    behind: dict[str, list[NotebookNode]] = {"": []}
    last = ""
    for cell in notebook.cells:
        name = grade_id(cell)
        if name in known:
            last = name
        elif name and (is_graded(cell) or is_solution(cell) or cell.metadata.nbgrader.get("locked")):
            behind.setdefault(last, []).append(cell)
    new_cells = list(behind[""])
    for cell in cells:
        name = grade_id(cell)
        if name.endswith("-library") and name in matched:
            # A course's own says where its library and its book are.
            cell = NotebookNode({**cell, "source": matched[name][0].text})
        new_cells += [cell, *behind.get(name, [] if name else [])] if name else [cell]
    return NotebookNode({**notebook, "cells": new_cells})
