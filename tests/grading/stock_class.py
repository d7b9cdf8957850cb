"""A course of ordinary nbgrader notebooks: an assignment of two, with a data file, whose cells have the same names."""

from pathlib import Path

import nbformat

from benchmarks.stock_cases.case import ASSIGNMENT, StockCase, cell, notebook, written

FIRST, SECOND = "counting", "letters"
DATA = b"1,2,3\n"
RIGHT = {
    FIRST: "def answer(numbers):\n    total = 0\n    for number in numbers:\n        total += number\n    return total",
    SECOND: "def answer(word):\n    return ''.join(sorted(set(word.lower())))",
}
_TESTS = {FIRST: "assert answer(numbers) == 6", SECOND: "assert answer('Abba') == 'ab'"}
_STARTS = {FIRST: "numbers = [int(n) for n in open('numbers.csv').read().split(',')]", SECOND: "import string"}


def _source(name: str) -> bytes:
    return notebook(
        cell(f"# About {name}", "title", markdown=True),
        cell(_STARTS[name], "start"),
        cell(f"### BEGIN SOLUTION\n{RIGHT[name]}\n### END SOLUTION", "answer", solution=True),
        cell(_TESTS[name], "test", 2 if name == FIRST else 3),
        cell("Why?", "why", 1, solution=True, markdown=True),
    )


def write_stock_course(folder: Path) -> None:
    """Write the course, have nbgrader release it, and put nobody into the class."""
    files = {f"{name}.ipynb": _source(name) for name in (FIRST, SECOND)}
    written(StockCase("stock", "two notebooks", {**files, "numbers.csv": DATA}, {}), folder)


def answered(folder: Path, name: str, answer: str, before: str = "", why: str = "") -> bytes:
    """A released notebook with an answer in it, and a cell in front of it."""
    made = nbformat.read(folder / "release" / ASSIGNMENT / f"{name}.ipynb", as_version=4)
    for part in made.cells:
        part.source = {"answer": answer, "why": why}.get(part.metadata.nbgrader.grade_id) or part.source
    if before:
        made.cells.insert(0, nbformat.v4.new_code_cell(before))
    return nbformat.writes(made).encode()
