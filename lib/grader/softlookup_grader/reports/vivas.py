"""Where the vivas of a course lie, and what there is of a student in them."""

from collections.abc import Iterator
from pathlib import Path

from softlookup_grader.course.folder import Course
from softlookup_grader.reports.side_by_side import students_on

FOLDER = "viva"
SHEETS, KEYS, SEED = "sheets.html", "keys.html", "seed.txt"
SHEET, ORAL = "sheet.html", "oral.html"


def folder_of(course: Course, assignment: str) -> Path:
    """Where the vivas of an assignment lie."""
    return course.root / FOLDER / assignment


def seed_of(course: Course, assignment: str) -> int | None:
    """The seed of the vivas that lie in a course, None if there are none: sheets on paper keep their keys."""
    path = folder_of(course, assignment) / SEED
    text = path.read_text("utf-8", "replace").strip() if path.is_file() else ""
    return int(text) if text.isdecimal() else None


def paths_of(course: Course, student: str) -> Iterator[Path]:
    """What vivas hold of a student: the student's folders, and the files of a whole class."""
    for folder in sorted((course.root / FOLDER).glob("*")):
        if (folder / student).is_dir():
            yield folder / student
        for path in (folder / SHEETS, folder / KEYS):
            if path.is_file() and student in students_on(path):
                yield path
                yield from filter(Path.is_file, [path.with_suffix(".pdf")])
