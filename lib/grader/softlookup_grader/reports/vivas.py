"""Where the vivas of a course lie, and what there is of a student in them.

The course remembers the folders outside of its own that vivas were written to, so that ``forget`` finds them there.
"""

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from softlookup_grader.course.folder import Course
from softlookup_grader.data.disk import atomic_write, unfinished
from softlookup_grader.data.errors import CourseError
from softlookup_grader.reports.side_by_side import students_on

FOLDER = "viva"
RECORD = ".vivas.json"
SHEETS, KEYS = "sheets.html", "keys.html"
SHEET, KEY, ORAL, FORM, QUESTIONS = "sheet.html", "key.html", "oral.html", "form.html", "viva.json"


def folder_of(course: Course, assignment: str, student: str = "") -> Path:
    """Where the vivas of an assignment lie, or those of a student of it."""
    return course.root / FOLDER / assignment / student


def remember(course: Course, folder: Path) -> None:
    """Note a folder that vivas are written to; nothing to do where ``forget`` looks anyway.

    Raises:
        CourseError: If the record is damaged, or the disk refuses it.
    """
    folder = folder.resolve()
    if folder.parent == (course.root / FOLDER).resolve():
        return
    with course.one_writer():
        folders = folders_elsewhere(course)
        if folder not in folders:
            _write(course, [*folders, folder])


def folders_elsewhere(course: Course) -> list[Path]:
    """The other folders that vivas were written to.

    Raises:
        CourseError: If the record is damaged.
    """
    path = course.root / RECORD
    if not path.is_file():
        return []
    try:
        return [course.root.resolve() / Path(text) for text in json.loads(path.read_text(encoding="utf-8"))["folders"]]
    except (ValueError, KeyError, TypeError) as error:
        raise CourseError(
            f"{path} is damaged: it lists the folders that vivas were written to with --out; write them there again, "
            'as {"folders": ["/path"]}'
        ) from error


def reachable(course: Course) -> list[Path]:
    """Those of the other folders that can be changed; an empty one may be that of a disk that is not mounted."""
    return [folder for folder in folders_elsewhere(course) if _is_reachable(folder)]


def unreachable(course: Course) -> list[Path]:
    """Those of the other folders that are not there, are empty, or cannot be changed."""
    return [folder for folder in folders_elsewhere(course) if not _is_reachable(folder)]


def let_go(course: Course, folders: Sequence[Path]) -> None:
    """Take from the record those of some folders that hold nobody's viva any more."""
    with course.one_writer():
        before = folders_elsewhere(course)
        rest = [folder for folder in before if folder not in folders or _has_vivas(folder)]
        if rest != before:
            _write(course, rest)


def paths_of(course: Course, student: str) -> Iterator[Path]:
    """What vivas hold of a student: the student's folders, and the files of a whole class.

    Outside of the course's own folder only what the vivas consist of, and says that it is about the student.
    """
    for folder in sorted((course.root / FOLDER).glob("*")):
        if (folder / student).is_dir():
            yield folder / student
        yield from _of_class(folder, student)
    for folder in reachable(course):
        yield from _of_student(folder / student, student)
        yield from _of_class(folder, student)


def _of_class(folder: Path, student: str) -> Iterator[Path]:
    for name in (SHEETS, KEYS):
        path = folder / name
        if path.is_file() and student in students_on(path):
            yield path
            yield from filter(Path.is_file, [path.with_suffix(".pdf")])


def _of_student(folder: Path, student: str) -> Iterator[Path]:
    """The folder, if it holds nothing but the student's viva, else the files of that."""
    if folder.is_symlink() or not folder.is_dir():
        return
    names = [SHEET, KEY, ORAL, FORM, QUESTIONS]
    files = [path for path in map(folder.joinpath, names) if student in _students(path)]
    if files:
        files += [copy for name in names for copy in unfinished(folder / name)]
    if files and set(folder.iterdir()) == set(files):
        yield folder
    else:
        yield from files


def _students(path: Path) -> list[str]:
    """Whom a file of a viva is about; nobody where it is none."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        if path.is_file() and not path.is_symlink():
            return [json.loads(path.read_text("utf-8"))["student"]] if path.name == QUESTIONS else students_on(path)
    return []


def _is_reachable(folder: Path) -> bool:
    try:
        return os.access(folder, os.R_OK | os.W_OK | os.X_OK) and any(folder.iterdir())
    except OSError:
        return False


def _has_vivas(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (SHEETS, KEYS)) or any(
        path.is_file() for name in (SHEET, KEY, ORAL, FORM, QUESTIONS) for path in folder.glob(f"*/{name}")
    )


def _write(course: Course, folders: Sequence[Path]) -> None:
    root = course.root.resolve()
    # A course that is moved takes along what lies in it.
    texts = [str(folder.relative_to(root) if folder.is_relative_to(root) else folder) for folder in folders]
    text = json.dumps({"folders": texts}, indent=1, ensure_ascii=False) + "\n"
    atomic_write(course.root / RECORD, text.encode("utf-8", "replace"), mode=0o600)
