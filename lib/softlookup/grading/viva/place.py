"""Where the vivas of a course lie, and what there is of a student in them."""

from collections.abc import Iterator
from pathlib import Path

from softlookup.grading.course.folder import Course
from softlookup.grading.reports.side_by_side import students_on

FOLDER = "viva"
SHEETS, KEYS = "sheets.html", "keys.html"


def folder_of(course: Course, assignment: str, student: str = "") -> Path:
    """Where the vivas of an assignment lie, or those of a student of it."""
    return course.root / FOLDER / assignment / student


def paths_of(course: Course, student: str) -> Iterator[Path]:
    """What the vivas of a course hold of a student: the student's folders, and the files of a whole class."""
    for folder in sorted((course.root / FOLDER).glob("*")):
        if (folder / student).is_dir():
            yield folder / student
        for name in (SHEETS, KEYS):
            path = folder / name
            if path.is_file() and student in students_on(path):
                yield path
                yield from filter(Path.is_file, [path.with_suffix(".pdf")])
