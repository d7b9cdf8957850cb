"""Notebooks whose tests are all nbgrader's: the student's own are run, in which the instructor's cells are put back.

Source: nbgrader, nbgrader/converters/autograde.py and nbgrader/preprocessors/overwritecells.py.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from softlookup_grader.course.folder import Course
from softlookup_grader.course.notebooks import (
    CONFLICT,
    MAX_CELLS,
    BadNotebook,
    cells_in,
    grade_id,
    is_locked,
    is_solution,
)
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.work import Limits, StockRun
from softlookup_grader.judging.cleaning import safe_markdown
from softlookup_grader.judging.matching import MAX_SOURCE, Handed, half_character, handed_in, match, same_source
from softlookup_grader.judging.outputs import attached
from softlookup_grader.judging.rebuild import Rebuilt
from softlookup_grader.judging.zygotes import imported

SECTION = "SoftLookup"
"""The section of nbgrader_config.py with what a course sets for this grader."""

TIMEOUT_S = 30  # what nbgrader gives a cell where the course says nothing
_MOST_S = 3600.0  # what a cell gets where the course lets it run for ever
_OUTPUT_KB = 1024  # figures are outputs, too, and people give points for them


def limits_of(course: Course, stock: StockRun) -> Limits:
    """What a stock notebook may use: a cell the time that nbgrader would give it, the rest as the course sets it."""
    timeout = next(
        (
            course.config[name]["timeout"]
            for name in ("Execute", "ExecutePreprocessor")
            if "timeout" in course.config[name]
        ),
        TIMEOUT_S,
    )
    cell_s = float(timeout) if timeout and float(timeout) > 0 else _MOST_S
    total_s = max(Limits.total_s, 4 * cell_s)
    numbers = {"memory_mb": Limits.memory_mb, "disk_mb": Limits.disk_mb, "processes": Limits.processes}
    for name, usual in numbers.items():
        limit = course.config[SECTION].get(name, usual)
        if type(limit) is not int or limit < 1:
            raise CourseError(f"c.{SECTION}.{name} in nbgrader_config.py is {limit!r}: it has to be a whole number")
        numbers[name] = limit
    numbers["disk_mb"] += sum(len(content) for _, content in stock.files) // 1_000_000 + 1
    return Limits(cell_s, total_s=total_s, cpu_s=int(total_s), output_kb=_OUTPUT_KB, **numbers)


def stock_run(course: Course, assignment: str) -> StockRun:
    """The instructor's files beside the notebooks, and what is imported before all submissions."""
    from nbgrader.converters import Autograde  # judges import this module, and need nothing of nbgrader
    from nbgrader.utils import find_all_files

    source = course.folder("source", ".", assignment)
    converter = Autograde(coursedir=course.directory, config=course.config)
    paths = find_all_files(str(source), [*course.directory.ignore, "*.ipynb"]) if source.is_dir() else []
    left_to_students = converter.exclude_overwriting.get(assignment, ())
    contents = {Path(path).relative_to(source).as_posix(): Path(path).read_bytes() for path in paths}
    files = tuple(sorted((path, content) for path, content in contents.items() if path not in left_to_students))
    return StockRun(_preload(course, assignment), files, str(course.config.IgnorePattern.get("pattern", "")))


def _preload(course: Course, assignment: str) -> tuple[str, ...]:
    """The modules that the course names, else those that the instructor's own notebooks import."""
    names = course.config[SECTION].get("preload")
    if names is None:
        folders = [course.folder(step, ".", assignment) for step in ("source", "release")]
        return tuple(
            sorted({name for folder in folders for path in folder.glob("*.ipynb") for name in _imported(path)})
        )
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise CourseError(f"c.{SECTION}.preload in nbgrader_config.py is {names!r}: it has to be a list of modules")
    return tuple(names)


def _imported(path: Path) -> set[str]:
    try:
        return set(
            imported(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
        )
    except Exception:  # noqa: BLE001 - a source that cannot be read is no reason not to grade
        return set()


def as_handed_in(release: NotebookNode, raw: bytes, name: str) -> Rebuilt:
    """The student's own notebook, in its order, with the instructor's text in the cells that are read-only.

    Tests and other read-only cells that are missing are put back behind the cell that stands before them in the
    release; of a cell that occurs several times, the last counts, as in nbgrader.
    """
    cells = cells_in(raw, name)
    remarks: list[str] = []
    if len(cells) > MAX_CELLS:
        remarks.append(f"{name} has {len(cells):,} cells; the first {MAX_CELLS:,} were read.")
        cells = cells[:MAX_CELLS]
    student_cells = handed_in(cells)
    matched = match(release.cells, student_cells)
    if not matched.cells and any(grade_id(cell) for cell in release.cells):
        raise BadNotebook(
            f"{name} has no cell of this assignment: put the answers into the notebook that was handed out, and hand "
            "that in"
        )
    remarks += matched.remarks
    released = {grade_id(cell): cell for cell in release.cells if grade_id(cell)}
    open_texts = {cell.source: cell for cell in release.cells if cell.cell_type == "markdown" and not grade_id(cell)}
    by_place = {several[-1].at: released[cell_name] for cell_name, several in matched.cells.items()}
    back = _missing(release.cells, by_place)
    notebook = NotebookNode({**release, "cells": [_copy(cell) for cell in back.pop(-1, ())]})
    untouched, answers, changed = set(), dict[str, str](), []
    for student_cell in student_cells:
        cell = by_place.get(student_cell.at)
        if cell is None:
            open_cell = None if student_cell.code else open_texts.get(student_cell.text)
            notebook.cells += _unmarked(student_cell) if open_cell is None else [_copy(open_cell)]
        else:
            copied, sentences = _marked(cell, student_cell)
            notebook.cells.append(copied)
            remarks += sentences
            if is_locked(cell) and not same_source(student_cell.text, cell.source, cell.cell_type == "code"):
                changed.append(grade_id(cell))
            elif is_solution(cell) and copied.source == cell.source:
                untouched.add(grade_id(cell))
            elif is_solution(cell):
                answers[grade_id(cell)] = copied.source
        put_back = back.get(student_cell.at, [])
        notebook.cells += [_copy(cell) for cell in put_back]
    gone = [grade_id(cell) for cell in released.values() if is_locked(cell) and grade_id(cell) not in matched.cells]
    for those, what in ((changed, "changed"), (gone, "missing")):
        if those:
            are = "cell was" if len(those) == 1 else "cells were"
            remarks.append(f"The read-only {are} {what}, and put back: {', '.join(those)} in {name}.")
    notebook.nbformat_minor = 5
    for at, cell in enumerate(notebook.cells):
        cell.id = f"cell-{at}"
    return Rebuilt(notebook, tuple(remarks), frozenset(untouched), answers)


def _missing(release: Sequence[NotebookNode], by_place: Mapping[int, NotebookNode]) -> dict[int, list[NotebookNode]]:
    """The read-only cells that a submission lacks, by the place of the cell behind which they belong, -1 in front."""
    positions = {grade_id(cell): at for at, cell in by_place.items()}
    back: dict[int, list[NotebookNode]] = {}
    at = -1
    for cell in release:
        name = grade_id(cell)
        at = positions.get(name, at)
        if name and name not in positions and is_locked(cell):
            back.setdefault(at, []).append(cell)
    return back


def _copy(cell: NotebookNode) -> NotebookNode:
    copied = NotebookNode(cell)
    if cell.cell_type == "code":
        copied.outputs, copied.execution_count = [], None
    return copied


def _marked(cell: NotebookNode, student_cell: Handed) -> tuple[NotebookNode, list[str]]:
    """A cell of the release with what the student wrote in it, and sentences on what was left out."""
    copied = _copy(cell)
    if is_locked(cell):
        return copied, []
    text, remarks = _text(student_cell, f"The cell {grade_id(cell)}")
    if text == cell.source:
        return copied, []
    if cell.cell_type != "code":
        pictures, left_out = attached(student_cell.content)
        if pictures:
            copied.attachments = NotebookNode({name: NotebookNode(kinds) for name, kinds in pictures.items()})
        if left_out:
            remarks.append(f"Attachments of {grade_id(cell)} were left out ({left_out}): only pictures are taken.")
        text, changed = safe_markdown(text, copied.get("attachments", {}))
        if changed:
            remarks.append(f"The answer {grade_id(cell)} held HTML or links that are not shown: they are plain text.")
    elif CONFLICT.search(text):
        remarks.append(
            f"The cell {grade_id(cell)} holds the marks of a Git merge: keep one of the two versions, and delete the "
            "lines with <<<<<<<, ======= and >>>>>>>."
        )
    copied.source = text
    return copied, remarks


def _unmarked(student_cell: Handed) -> list[NotebookNode]:
    """A cell that the student added, or the instructor left open: code runs, text is shown, and nothing else counts."""
    text, _ = _text(student_cell, "")
    if student_cell.code:
        about: dict[str, Any] = {"outputs": [], "execution_count": None}
        return [NotebookNode(cell_type="code", metadata=NotebookNode(), source=text, **about)]
    if student_cell.content.get("cell_type") != "markdown":
        return []
    return [NotebookNode(cell_type="markdown", metadata=NotebookNode(), source=safe_markdown(text, {})[0])]


def _text(student_cell: Handed, what: str) -> tuple[str, list[str]]:
    """What a cell holds; nothing where that is no text or too long."""
    if len(student_cell.text) > MAX_SOURCE:
        return "", [f"{what} has {len(student_cell.text):,} characters, more than are read; it counts as empty."]
    if "\x00" in student_cell.text:
        return "", [f"{what} holds a null character; it counts as empty."]
    half = half_character(student_cell.content)
    return student_cell.text, [
        f"{what} holds the character {half}, which is no text: it was read as a question mark."
    ] * bool(half)
