"""The peer of the bench stock-courses: otter-grader, run here without containers, as ``otter run`` does.

It is installed into an environment apart, under ``_build``, and gets the same submissions in its form: each test cell
becomes a test file that executes the same text, and a call of ``grader.check`` in its place. Submissions are graded one
after the other in one process, by the function that ``otter run`` calls, so that its imports count once. Notebooks
without a test are left out, which makes otter faster.
"""

import json
import subprocess
import time
import venv
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from benchmarks.harness import ROOT
from benchmarks.stock_cases.case import ASSIGNMENT
from softlookup_grader.course.layouts import is_test
from softlookup_grader.course.notebooks import grade_id, worth

OTTER = "otter-grader==7.0.0"

_TEST = """OK_FORMAT = False

from otter.test_files import test_case

name = {name!r}
points = {points!r}


@test_case()
def test_cell(env):
    exec({source!r}, env)
"""

_GRADE = """
import json, sys
from otter.api import grade_submission
if __name__ == "__main__":
    points = {}
    for key, path, autograder in json.load(sys.stdin):
        results = grade_submission(path, autograder, quiet=True).results
        points.update({key + "/" + name: result.score for name, result in results.items()})
    print(json.dumps(points))
"""


class NoOtter(ModuleNotFoundError):
    """otter-grader could not be installed; says why."""


@dataclass(frozen=True)
class OtterClass:
    """A class in otter's form: for each notebook that was handed in its place in the gradebook, its file, its tests."""

    python: Path
    notebooks: tuple[tuple[str, str, str], ...]

    @classmethod
    def of(cls, root: Path, folder: Path) -> "OtterClass":
        """Write the class of a stock course into a folder, in otter's form."""
        python = _python()
        source = root / "source" / ASSIGNMENT
        notebooks = {path.name: nbformat.read(path, as_version=4) for path in sorted(source.glob("*.ipynb"))}
        notebooks = {name: node for name, node in notebooks.items() if any(map(is_test, node.cells))}
        zips = {name: str(_autograder(python, source, name, node, folder)) for name, node in notebooks.items()}
        jobs = []
        for student in sorted((root / "submitted").iterdir()):
            for name in notebooks:
                path = folder / student.name / name
                path.parent.mkdir(exist_ok=True)
                nbformat.write(in_otters_form(nbformat.read(student / ASSIGNMENT / name, as_version=4), name), path)
                jobs.append((f"{student.name}/{path.stem}", str(path), zips[name]))
        return cls(python, tuple(jobs))

    def grade(self) -> tuple[dict[str, float], float]:
        """Grade the class: points by student, notebook and test, and how many seconds it took."""
        began_s = time.perf_counter()
        points = _run([self.python, "-c", _GRADE], json.dumps(self.notebooks))
        return json.loads(points), time.perf_counter() - began_s


def _python() -> Path:
    """The Python of an environment with otter-grader, and with the pandas and kernel that the other graders have."""
    folder = ROOT / "_build" / OTTER.replace("==", "-")
    python = folder / "bin" / "python"
    if not (folder / "bin" / "otter").exists():
        venv.create(folder, clear=True, with_pip=True)
        same = [f"{name}=={version(name)}" for name in ("ipykernel", "nbconvert", "numpy", "pandas")]
        command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", OTTER, *same]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise NoOtter(f"{OTTER} cannot be installed ({(done.stderr.strip().splitlines() or ['pip failed'])[-1]})")
    return python


def _autograder(python: Path, source: Path, name: str, node: NotebookNode, folder: Path) -> Path:
    """What otter grades a notebook by: its tests, and the files beside it, in a zip of ``otter generate``."""
    tests = folder / f"tests-{name}"
    tests.mkdir(parents=True)
    for cell in filter(is_test, node.cells):
        text = _TEST.format(name=grade_id(cell), points=worth(cell), source=cell.source)
        (tests / f"{grade_id(cell)}.py").write_text(text, encoding="utf-8")
    autograder = folder / f"{name}.zip"
    files = [path.name for path in source.iterdir() if path.suffix != ".ipynb"]
    _run([python, "-m", "otter", "generate", "-t", tests, "-o", autograder, *files], cwd=source)
    return autograder


def in_otters_form(handed_in: NotebookNode, name: str) -> NotebookNode:
    """The notebook of a submission with otter's checks in place of tests."""
    checks = [new_code_cell(f"grader.check({grade_id(cell)!r})") if is_test(cell) else cell for cell in handed_in.cells]
    cells = [new_code_cell(f"import otter\ngrader = otter.Notebook({name!r})"), *checks]
    for cell in cells:
        cell.pop("id", None)  # which some formats need and others refuse
    return NotebookNode({**handed_in, "cells": cells, "nbformat_minor": 4})


def _run(command: list[str | Path], standard_input: str = "", cwd: Path | None = None) -> str:
    done = subprocess.run(command, input=standard_input, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"otter-grader failed: {done.stderr.strip()[-500:]}")
    return done.stdout
