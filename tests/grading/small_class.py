"""A small course for the tests: some students of the sample class, on the real notebook."""

import base64
import io
import json
from pathlib import Path

import nbformat
from PIL import Image

from benchmarks.nbgrader_autograde import StockAutograder
from benchmarks.nbgrader_class import grade_class
from softlookup_course.samples.sample_class import hand_ins
from softlookup_grader import Course, Report, new_course
from softlookup_judge.authoring import find_root

NAME = "04_one_head"
ROOT = find_root()
STUDENTS = (
    *("right-other-words", "half-done", "mistake-2", "deep-traceback", "prints-a-lot"),
    *("deleted-function", "not-json", "empty-file", "missing-notebook"),
)


def lay(path: Path, content: str | bytes | nbformat.NotebookNode) -> Path:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = nbformat.writes(content) if isinstance(content, nbformat.NotebookNode) else content
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def write_course(folder: Path, source: nbformat.NotebookNode, students: tuple[str, ...]) -> Course:
    """Write a course in which some students of the sample class have handed in."""
    course = new_course(folder, ROOT / "nbgrader_config.py")
    course.release({NAME: source})
    release = nbformat.read(course.notebook("release", ".", NAME), as_version=4)
    planted = {}
    for handin in hand_ins(source, release):
        if handin.student in students:
            path = course.notebook("submitted", handin.student, NAME)
            path.parent.mkdir(parents=True)
            if handin.text is not None:
                path.write_text(handin.text, encoding="utf-8")
            planted[handin.student] = dict(handin.mistakes)
    (course.root / "planted.json").write_text(json.dumps(planted))
    return course


def regrade(course: Course, workers: int = 1) -> Report:
    """Grade the whole class of a course again."""
    return grade_class(course, NAME, StockAutograder(), workers=workers, seed=11)


def picture_of(kind: str, width: int, height: int) -> str:
    """A picture in base64, without anything but its points."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(file, kind)
    return base64.b64encode(file.getvalue()).decode("ascii")
