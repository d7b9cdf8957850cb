"""A case of the comparison with stock nbgrader: a course, what its students hand in, and helpers to write both."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from softlookup_grader.course.folder import Course, use_own_programs
from softlookup_grader.data.errors import CourseError

ASSIGNMENT = "ps1"
CONFIG = "c = get_config()\n"

Edit = Callable[[NotebookNode], None]
Files = Mapping[str, bytes | str | Edit]
"""Contents by path; an edit changes what the release has there."""


@dataclass(frozen=True)
class StockCase:
    """A course that stock nbgrader releases, and what its students hand in.

    Attributes:
        name: A few words with hyphens.
        tries: What it tries, in one sentence.
        source: The files of the assignment's source folder.
        students: What each student hands in, by id.
        config: What the course's nbgrader_config.py says.
        beside: Files of the course's folder itself.
        due: When the assignment is due.
        then: What happens in the course after a first grading; then all is graded once more.
    """

    name: str
    tries: str
    source: Files
    students: Mapping[str, Files]
    config: str = ""
    beside: Files = field(default_factory=dict)
    due: str | None = None
    then: Callable[[Path], None] | None = None


def written(case: StockCase, root: Path) -> Course:
    """Write a case's course, have stock nbgrader release it, and hand in."""
    use_own_programs()
    write({"nbgrader_config.py": CONFIG + case.config, **case.beside}, root)
    course = Course.at(root)
    write(case.source, course.folder("source", ".", ASSIGNMENT))
    with course.gradebook() as book:
        book.update_or_create_assignment(ASSIGNMENT, duedate=case.due)
    release(root)
    for student, files in case.students.items():
        folder = course.folder("submitted", student, ASSIGNMENT)
        folder.mkdir(parents=True)
        write(files, folder, course.folder("release", ".", ASSIGNMENT))
    return course


def write(files: Files, folder: Path, released: Path | None = None) -> None:
    """Write files into a folder; edits change the released notebook of the same name."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            notebook = nbformat.read((released or folder) / name, as_version=4)
            content(notebook)
            content = nbformat.writes(notebook)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def release(root: Path) -> None:
    """Have stock nbgrader release the assignment, once more where it has been."""
    if error := run_nbgrader(root, "generate_assignment", ASSIGNMENT, "--force"):
        raise CourseError(f"stock nbgrader could not release the course: {error}")


def run_nbgrader(root: Path, *arguments: str) -> str:
    """Run a command of stock nbgrader in a course's folder; the end of what it says where it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments], cwd=root, capture_output=True, text=True, errors="replace"
    )
    return done.stderr.strip()[-2000:] if done.returncode else ""


@cache
def of_nbgrader(name: str) -> bytes:
    """A file of nbgrader's tests of its commands, from the installed package."""
    return _package("tests/apps/files", name)


@cache
def of_guide(name: str) -> bytes:
    """A file of nbgrader's user guide, from the installed package."""
    return _package("docs/source/user_guide", name)


def _package(folder: str, name: str) -> bytes:
    import nbgrader

    return Path(nbgrader.__file__).parent.joinpath(folder, name).read_bytes()


def cell(
    source: str,
    name: str = "",
    points: float | None = None,
    *,
    solution: bool = False,
    task: bool = False,
    markdown: bool = False,
) -> NotebookNode:
    """A cell as nbgrader marks it: with points a test, as a solution an answer, with both one that a person reads.

    With a name alone it is locked; without one it is unmarked.
    """
    made = (new_markdown_cell if markdown or task else new_code_cell)(source)
    if name:
        grade = points is not None and not task
        about = {"grade_id": name, "grade": grade, "solution": solution, "task": task}
        about |= {"locked": not solution, "schema_version": 3}
        made.metadata["nbgrader"] = about | ({} if points is None else {"points": points})
    return made


def notebook(*cells: NotebookNode | str, minor: int = 4, kernel: str | None = "python3") -> bytes:
    """A notebook of such cells, a text being an unmarked one; None names no kernel."""
    whole = [{**(cell(entry) if isinstance(entry, str) else entry)} for entry in cells]
    for number, entry in enumerate(whole):
        entry.pop("id", None)
        if minor >= 5:
            entry["id"] = f"cell-{number}"
    about = {"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}} if kernel else {}
    return json.dumps({"cells": whole, "metadata": about, "nbformat": 4, "nbformat_minor": minor}).encode()


def tested(answer: str = "# YOUR CODE HERE\nraise NotImplementedError()", *tests: str, points: float = 2.0) -> bytes:
    """A notebook of one answer, ``answer``, and its tests, ``test1``, ``test2`` and so on, of 2 points each."""
    checks = [cell(test, f"test{number}", points) for number, test in enumerate(tests, 1)]
    return notebook(cell(answer, "answer", solution=True), *checks)


def find(node: NotebookNode, name: str) -> Any:
    """The cell of a name."""
    return next(entry for entry in node.cells if entry.metadata.get("nbgrader", {}).get("grade_id") == name)


def unchanged(node: NotebookNode) -> None:
    """Hand in what was released."""


def answers(sources: Mapping[str, str] | None = None, **more: str) -> Edit:
    """Write into cells by name."""

    def edit(node: NotebookNode) -> None:
        for name, source in {**(sources or {}), **more}.items():
            find(node, name).source = source

    return edit


def without(*names: str) -> Edit:
    """Delete cells by name."""

    def edit(node: NotebookNode) -> None:
        for name in names:
            node.cells.remove(find(node, name))

    return edit


def insert(place: int, *cells: NotebookNode | str) -> Edit:
    """Insert cells before the one of a number, a text being an unmarked one."""

    def edit(node: NotebookNode) -> None:
        node.cells[place:place] = [cell(entry) if isinstance(entry, str) else entry for entry in cells]

    return edit


def marked(name: str, **fields: Any) -> Edit:
    """Change what nbgrader's metadata say of a cell."""

    def edit(node: NotebookNode) -> None:
        find(node, name).metadata["nbgrader"].update(fields)

    return edit


def both(*edits: Edit) -> Edit:
    """Make several changes, in this order."""

    def edit(node: NotebookNode) -> None:
        for change in edits:
            change(node)

    return edit
