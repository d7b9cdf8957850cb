"""Shows which ordinary test cells of an assignment answers pass that solve nothing: they are run as in grading."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import nbformat

from softlookup_grader.course.folder import Course
from softlookup_grader.course.notebooks import grade_id, is_solution, worth
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import GRADED
from softlookup_grader.data.work import ReleasedNotebook, RunSettings, cell_key, packed
from softlookup_grader.judging.examine import SandboxExaminer
from softlookup_grader.judging.plain_tests import plain_tests
from softlookup_grader.judging.settings import settings_for
from softlookup_grader.judging.zygotes import read_release
from softlookup_grader.reports.stub_answers import REPLACED, STUBS, NamesInTests, Stub

_READ_ON = (
    "A check of a judged task computes what is right outside of the answers' process. How to make one of such a cell: "
    "book/instructors_task.md, the page 'A task of your own'."
)


@dataclass(frozen=True)
class ExplainedTest:
    """A test cell that checks no judged task."""

    cell: str  # its key (``cell_key``)
    points: float
    hidden: bool  # whether the release hides some of it
    earned: Mapping[str, float]  # what the answers that pass it earn, by the names of their kinds


def explain_tests(course: Course, assignment: str, sandbox: str = "bubblewrap") -> list[ExplainedTest]:
    """Run the release with answers of each kind in its answer cells."""
    settings = replace(settings_for(course, assignment, sandbox=sandbox), personal=False)
    releases = [(book, read_release(book)) for book in settings.notebooks]
    tests = {
        cell_key(book.name, grade_id(cell), len(releases)): (worth(cell), grade_id(cell) in dict(book.hidden))
        for book, release in releases
        for cell in release.cells
        if grade_id(cell) in plain_tests(release)
    }
    if not tests:
        return []
    with SandboxExaminer(settings) as examiner:
        earned = {stub.name: _earned(examiner, settings, stub) for stub in (*STUBS, REPLACED)}
    return [
        ExplainedTest(key, points, hidden, {name: by_cell[key] for name, by_cell in earned.items() if key in by_cell})
        for key, (points, hidden) in tests.items()
    ]


def _earned(examiner: SandboxExaminer, settings: RunSettings, stub: Stub) -> dict[str, float]:
    """What the graded cells earn that pass with a stub, by their keys."""
    files = {f"{book.name}.ipynb": _answered(book, stub).encode() for book in settings.notebooks}
    graded = examiner.examine(stub.name, packed(files) if settings.packed else files.popitem()[1])
    if graded.status != GRADED:
        raise CourseError(f"the release of {settings.assignment} cannot be run: {graded.reason}")
    return {mark.cell: mark.points or 0.0 for mark in graded.marks if mark.verdict in ("pass", "partial")}


def _answered(book: ReleasedNotebook, stub: Stub) -> str:
    """A released notebook with a stub in each of its answer cells."""
    release, hidden = read_release(book), dict(book.hidden)
    if stub.write is None:
        return book.text
    code = [cell for cell in release.cells if cell.cell_type == "code"]
    sources = {id(cell): hidden.get(grade_id(cell), cell.source) for cell in code if not is_solution(cell)}
    tests = plain_tests(release)
    names = NamesInTests.of(sources.values(), [sources[id(cell)] for cell in code if grade_id(cell) in tests])
    for cell in code:
        if is_solution(cell):
            cell.source = stub.write(names)
    return str(nbformat.writes(release))


def tests_text(assignment: str, tests: list[ExplainedTest]) -> str:
    """The table of an assignment's test cells, for a terminal."""
    if not tests:
        return f"{assignment} has no test cells but those that check judged tasks: there is nothing to explain\n"
    total = sum(test.points for test in tests)
    others = [test.cell for test in tests if REPLACED.name not in test.earned]
    rows = [["test cell", "points", "hidden tests", "passed by"]]
    for test in tests:
        names = ", ".join(_passed(test, stub) for stub in STUBS if stub.name in test.earned)
        rows.append([test.cell, f"{test.points:g}", "yes" if test.hidden else "no", names or "none of these"])
    sums = [["answer", "points", "what it does"]]
    for stub in STUBS:
        sums.append([stub.name, f"{sum(test.earned.get(stub.name, 0.0) for test in tests):g}", stub.says])
    lines = [
        f"{assignment}: its test cells, run beside short answers that solve nothing",
        f"{len(tests) - len(others)} of {len(tests)} pass where an answer turns all cells after it into 'pass'"
        + (f" (not {', '.join(others)})" if others else "")
        + "; no test in the same process can prevent that. These pass with less:",
        "",
        *_aligned(rows),
        "",
        f"Points of {total:g} for an answer that solves nothing:",
        *_aligned(sums),
        "",
        _READ_ON,
    ]
    return "\n".join(lines) + "\n"


def _passed(test: ExplainedTest, stub: Stub) -> str:
    earned = test.earned[stub.name]
    return stub.name if earned == test.points else f"{stub.name} ({earned:g})"


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
