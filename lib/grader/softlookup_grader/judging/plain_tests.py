"""Ordinary test cells of nbgrader's, run beside the student's answers, which can read and fool them.

Source: nbgrader, nbgrader/utils.py, determine_grade.
"""

import re
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode

from softlookup_grader.course.folder import Course
from softlookup_grader.course.notebooks import grade_id, is_graded, is_solution
from softlookup_grader.judging.outputs import clean
from softlookup_grader.sandbox.ends import RunEnd
from softlookup_grader.sandbox.session import Ran


@dataclass(frozen=True)
class Tested:
    """What a test cell came to."""

    fraction: float  # the part of the points that it earns
    verdict: str  # pass, partial, wrong or timeout
    message: str = ""  # what the student reads


def plain_tests(release: NotebookNode) -> list[str]:
    """Names of the test cells that call no check, in order; a check of an unknown task waits for a person."""
    return [
        grade_id(cell)
        for cell in release.cells
        if cell.cell_type == "code" and is_graded(cell) and not is_solution(cell) and not _CHECK.search(cell.source)
    ]


_CHECK = re.compile(r"\bcheck\(")

Hidden = tuple[tuple[str, str], ...]  # names of test cells, each with its whole code


def hidden_tests(course: Course, assignment: str, release: str) -> Hidden:
    """The test cells of the gradebook that differ from the release, since it hides something of them."""
    notebook = nbformat.reads(release, as_version=4)
    names = plain_tests(notebook)
    if not names:
        return ()
    release_sources = {grade_id(cell): cell.source for cell in notebook.cells}
    with course.gradebook() as book:
        cells = book.find_notebook(assignment, assignment).source_cells
        return tuple(
            (cell.name, cell.source)
            for cell in cells
            if cell.name in names and cell.source != release_sources[cell.name]
        )


def about_plain_tests(course: Course, assignment: str) -> list[str]:
    """What an instructor has to know of a release with such tests, a sentence; none if it has no such test."""
    release = course.notebook("release", ".", assignment)
    names = plain_tests(nbformat.read(release, as_version=4)) if release.is_file() else []
    if not names:
        return []
    return [
        f"test cells that check no task ({', '.join(names)}) ran beside the answers and were scored as in nbgrader: an "
        "answer can read them, and can make them pass"
    ]


def score_test(best: float, ran: Ran) -> Tested:
    """Score a test cell as nbgrader does."""
    if ran.end is RunEnd.TIME:
        return Tested(0.0, "timeout", "The test ran out of time.")
    for output in ran.outputs:
        output_type = output.get("output_type") if isinstance(output, dict) else ""
        if output_type == "error":
            message = f"{clean(output.get('ename'), 200)}: {clean(output.get('evalue'), 1000)}"
            return Tested(0.0, "wrong", message.rstrip(": "))
        if output_type == "stream" and output.get("name") == "stderr":
            return Tested(0.0, "wrong", "The test printed to stderr, which counts as a failure.")
        if output_type == "execute_result":
            data = output.get("data")
            return _share(best, clean(data.get("text/plain"), 100) if isinstance(data, dict) else "")
    return Tested(0.0, "wrong", ran.trouble) if ran.trouble else Tested(1.0, "pass")


def _share(best: float, text: str) -> Tested:
    """Partial credit: a number that the cell gave, up to what it is worth; anything else is full credit."""
    try:
        points = float(text)
    except ValueError:
        return Tested(1.0, "pass")
    if not points >= 0 or points >= best:
        return Tested(1.0, "pass")
    return Tested(points / best, "partial" if points else "wrong")
