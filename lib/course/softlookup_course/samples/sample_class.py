"""A sample class: students whose names say what they did, to see grading at work and to test it."""

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from softlookup_course.samples.handins import HandIn, answers, broken_ones, filled, rewritten
from softlookup_grader.course.folder import ATTACKS, CONFIG_NAME, Course, new_course
from softlookup_grader.course.notebooks import grade_id, is_graded, is_solution, task_id
from softlookup_grader.course.staging import BEGUN, DECIDED, LOCK
from softlookup_grader.data.errors import CourseError
from softlookup_grader.reports.planted import MARKER
from softlookup_judge.checking.catalogue import STANDARD, Catalogue
from softlookup_judge.data.task import Task

_OURS = (
    *("source", "release", "submitted", "autograded", "feedback", "reports", "logs"),
    *("gradebook.db", ".gradebook.lock", ".grading", ATTACKS, CONFIG_NAME, BEGUN, DECIDED, LOCK),
)

Attackers = Callable[[NotebookNode, NotebookNode, str, Course, Catalogue], Iterable[tuple[str, str]]]
"""Takes a notebook with solutions, the same as released, the assignment's name and the course; hands in what attacks
the grader, and gives for each student who does it the name and what it is."""


def write_sample(
    folder: Path,
    sources: Mapping[str, NotebookNode],
    config: Path,
    force: bool = False,
    hostile: Attackers | None = None,
    mistakes: int | None = None,
    catalogue: Catalogue = STANDARD,
) -> Course:
    """Write a course with a sample class that has handed everything in; one that is there already is made anew."""
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"{folder} is a file: a sample course needs a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).exists() and not force:
        raise CourseError(
            f"{folder} is not empty and not a sample course: choose another folder, or say --force to "
            "replace the submissions, notebooks and gradebook in it"
        )
    if not folder.is_dir() or not any(folder.iterdir()):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
    # It comes first: who is killed has a sample course, which the same command makes anew.
    (folder / MARKER).write_text("{}\n", encoding="utf-8")
    for name in _OURS:
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    course = new_course(folder, config)
    course.release(sources)
    class_record: dict[str, dict[str, Any]] = {}
    first = next(iter(sources), None)
    for name, source in sources.items():
        release = nbformat.read(course.notebook("release", ".", name), as_version=4)
        class_record[name] = {}
        for handin in hand_ins(source, release, mistakes, catalogue):
            if handin.waits and name != first:
                continue
            path = course.notebook("submitted", handin.student, name)
            path.parent.mkdir(parents=True)
            if handin.text is not None:
                path.write_text(handin.text, encoding="utf-8")
            class_record[name][handin.student] = {"did": handin.did, "planted": handin.mistakes}
        if hostile is not None:
            for student, did in hostile(source, release, name, course, catalogue):
                class_record[name][student] = {"did": did, "planted": {}, "hostile": True}
    if hostile is not None:
        (course.root / ATTACKS).touch()
    (course.root / MARKER).write_text(json.dumps(class_record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return course


def hand_ins(
    source: NotebookNode, release: NotebookNode, most: int | None = None, catalogue: Catalogue = STANDARD
) -> Iterable[HandIn]:
    """What each student hands in: right, unfinished, one for each rank of known mistakes (``most``), broken."""
    right_answers = answers(source)
    known = tasks_in(source, catalogue)
    codes = [task.slug for task in known]
    written = {name: text for name, text in right_answers.items() if name not in codes}
    yield HandIn.of("right-as-published", filled(release, right_answers), "the published solution")
    others = {cell_name: rewritten(right_answers[cell_name]) for cell_name in codes}
    yield HandIn.of("right-other-words", filled(release, {**others, **written}), "right, with other names and order")
    half = {cell_name: right_answers[cell_name] for cell_name in codes[: len(codes) // 2]}
    yield HandIn.of("half-done", filled(release, half), "the first half is right, the rest is untouched")
    yield HandIn.of("blank", release, "nothing filled in")
    for rank in range(max((len(_plantable(task)) for task in known), default=0))[:most]:
        wrong, which = dict(right_answers), {}
        for task in known:
            mistakes = _plantable(task)
            if rank < len(mistakes):
                wrong[task.slug] = mistakes[rank].applied_to(right_answers[task.slug])
                which[task.id] = mistakes[rank].slug
        did = f"known mistake number {rank + 1} of every task that has so many, the other tasks right"
        yield HandIn.of(f"mistake-{rank + 1}", filled(release, wrong), did, which)
    yield from broken_ones(release, right_answers, known)


def _plantable(task: Task) -> list[Any]:
    return [mistake for mistake in task.mistakes if mistake.edits]


def tasks_in(source: NotebookNode, catalogue: Catalogue) -> list[Task]:
    """The tasks whose checks stand in a notebook, in its order."""
    return [
        catalogue.task(task_id(grade_id(cell)))
        for cell in source.cells
        if cell.cell_type == "code" and is_graded(cell) and not is_solution(cell)
    ]
