"""Ordinary test cells of nbgrader's, run beside the student's answers, which can read and fool them.

Source: nbgrader, nbgrader/utils.py, determine_grade.
"""

import re
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode

from softlookup_grader.course.folder import Course, find_notebook
from softlookup_grader.course.layouts import checks_task, is_test
from softlookup_grader.course.notebooks import grade_id
from softlookup_grader.judging.outputs import clean
from softlookup_grader.sandbox.ends import RunEnd
from softlookup_grader.sandbox.session import Ran


@dataclass(frozen=True)
class Tested:
    """What a test cell came to."""

    points: float  # what it earns
    verdict: str  # pass, partial, wrong or timeout
    message: str = ""  # what the student reads
    ended_in: float | None = None  # the number that the cell ended with


def plain_tests(release: NotebookNode) -> list[str]:
    """Names of the test cells that call no check, in order; a check of an unknown task waits for a person."""
    return [grade_id(cell) for cell in release.cells if is_test(cell) and not checks_task(cell)]


Hidden = tuple[tuple[str, str], ...]  # names of test cells, each with its whole code


def hidden_tests(course: Course, assignment: str, name: str, release: str) -> Hidden:
    """The test cells of the gradebook that differ from a released notebook, since it hides something of them."""
    notebook = nbformat.reads(release, as_version=4)
    names = plain_tests(notebook)
    if not names:
        return ()
    release_sources = {grade_id(cell): cell.source for cell in notebook.cells}
    with course.gradebook() as book:
        cells = find_notebook(book, assignment, name).source_cells
        return tuple(
            (cell.name, cell.source)
            for cell in cells
            if cell.name in names and cell.source != release_sources[cell.name]
        )


def about_plain_tests(course: Course, assignment: str) -> list[str]:
    """What an instructor has to know of a release with such tests, a sentence; none if it has no such test."""
    releases = [path for path in course.notebooks("release", ".", assignment) if path.is_file()]
    count = sum(len(plain_tests(nbformat.read(path, as_version=4))) for path in releases)
    if not count:
        return []
    return [
        f"test cells that check no task ({count}) ran beside the answers and were scored as in nbgrader: an answer can "
        f"read them, and can make them pass ('softlookup grade {assignment} --explain-tests' shows which)"
    ]


def score_test(best: float, ran: Ran, ignored_stderr: str = "") -> Tested:
    """Score a test cell as nbgrader does; what a pattern finds on stderr is no failure, if there is one."""
    if ran.end is RunEnd.TIME:
        return Tested(0.0, "timeout", "The test ran out of time.")
    for output in ran.outputs:
        output_type = output.get("output_type") if isinstance(output, dict) else ""
        if output_type == "error":
            message = f"{clean(output.get('ename'), 200)}: {clean(output.get('evalue'), 1000)}"
            return Tested(0.0, "wrong", message.rstrip(": "))
        if output_type == "stream" and output.get("name") == "stderr":
            if ignored_stderr and re.search(ignored_stderr, clean(output.get("text"))):
                continue
            return Tested(0.0, "wrong", "The test printed to stderr, which counts as a failure.")
        if output_type == "execute_result":
            data = output.get("data")
            return _scored(best, clean(data.get("text/plain"), 100) if isinstance(data, dict) else "")
    return Tested(0.0, "wrong", ran.trouble) if ran.trouble else Tested(best, "pass")


def _scored(best: float, text: str) -> Tested:
    try:
        return partial_credit(best, float(text))
    except ValueError:
        return Tested(best, "pass")


def partial_credit(best: float, value: float) -> Tested:
    """The points of a test cell that ended in a number: up to what it is worth; what is no share is full credit."""
    if not value >= 0 or value >= best:
        return Tested(best, "pass", ended_in=value)
    return Tested(value, "partial" if value else "wrong", ended_in=value)
