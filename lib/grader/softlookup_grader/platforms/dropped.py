"""Zips of a platform that somebody drops into a course's folder ``dropped/``: collected, and moved away.

``dropped/done/`` and ``dropped/refused/`` hold what was dealt with, each with what collecting came to beside it.
"""

import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from softlookup_command.plain_text import one_line
from softlookup_grader.course.folder import Course
from softlookup_grader.course.notebooks import BadNotebook, cells_in, grade_id, is_solution
from softlookup_grader.data.disk import atomic_write, disk_trouble
from softlookup_grader.data.errors import CourseError, GradebookError
from softlookup_grader.judging.matching import mark_of
from softlookup_grader.platforms.collecting import collect
from softlookup_grader.platforms.items import ArrivedFile, in_zip, open_zip
from softlookup_grader.platforms.sources import Ways

FOLDER, DONE, REFUSED = "dropped", "done", "refused"
_LOOKED_AT = 100  # notebooks of a zip by which its assignment is known


def dropped_zips(course: Course) -> dict[str, Path]:
    """The zips that wait, by their paths in the course's folder."""
    folder = course.root / FOLDER
    paths = [path for pattern in ("*", "*/*") for path in folder.glob(pattern) if path.suffix.casefold() == ".zip"]
    waiting = [path for path in sorted(paths) if path.parent not in (folder / DONE, folder / REFUSED)]
    return {one_line(path.relative_to(course.root).as_posix()): path for path in waiting}


def collect_dropped(course: Course, path: Path, assignments: Sequence[str]) -> str:
    """Collect a zip for the assignment whose folder it lies in, or whose notebooks it holds; gives that assignment.

    What is in it counts in the place of what was collected before. The zip is moved away; CourseError if it is refused.
    """
    try:
        assignment, lines = _collected(course, path, assignments)
    except GradebookError:
        raise  # which is no fault of the zip
    except CourseError as error:
        _move(path, course.root / FOLDER / REFUSED, [str(error)])
        raise CourseError(f"it was moved to {FOLDER}/{REFUSED}: {error}") from error
    _move(path, course.root / FOLDER / DONE, lines)
    return assignment


def _collected(course: Course, path: Path, assignments: Sequence[str]) -> tuple[str, list[str]]:
    archive = open_zip(path)
    if isinstance(archive, str):
        raise CourseError(archive)
    folder = path.parent.name if path.parent != course.root / FOLDER else ""
    if folder and folder not in assignments:
        raise CourseError(f"its folder {one_line(folder)} is called as no assignment that was released")
    with archive:
        assignment = folder or _assignment_of(in_zip(archive), _answer_cells(course, assignments))
    done = collect(course, assignment, [path], Ways(force=True))
    return assignment, [*done.understood, *done.notes, *done.summary.lines()]


def _answer_cells(course: Course, assignments: Sequence[str]) -> dict[str, set[str]]:
    """The names of the cells for answers, by assignment."""
    names: dict[str, set[str]] = {}
    for assignment in assignments:
        releases = [path for path in course.notebooks("release", ".", assignment) if path.is_file()]
        cells = [cell for path in releases for cell in cells_in(path.read_bytes(), path.name)]
        names[assignment] = {grade_id(cell) for cell in cells if is_solution(cell)}
    return names


def _assignment_of(items: Iterable[ArrivedFile], answers: Mapping[str, set[str]]) -> str:
    """The assignment that most notebooks belong to, by the names of their cells; CourseError if that is none."""
    notebooks = (item for item in items if item.name.casefold().endswith(".ipynb") and not item.hidden)
    counts: Counter[str] = Counter()
    for item in islice(notebooks, _LOOKED_AT):
        try:
            cells = cells_in(item.read(), item.name)
        except BadNotebook:
            continue
        marks = {mark for cell in cells for mark in (mark_of(cell), str(cell.get("id", "")))}
        hits = {assignment: len(marks & names) for assignment, names in answers.items()}
        best = max(hits, key=lambda assignment: hits[assignment], default="")
        counts[best] += bool(hits.get(best))
    for assignment, count in counts.most_common(1):
        if count:
            return assignment
    raise CourseError(
        f"it holds no notebook of an assignment that was released: put it into {FOLDER}/ASSIGNMENT/ to say which it is"
    )


def _move(path: Path, folder: Path, lines: Sequence[str]) -> None:
    """Move a zip into a folder, with lines beside it; one of the same name is not written over."""
    with disk_trouble(folder):
        folder.mkdir(exist_ok=True)
        target = folder / path.name
        if target.exists():
            target = folder / f"{path.stem}-{time.strftime('%Y%m%d-%H%M%S')}{path.suffix}"
        atomic_write(target.with_name(f"{target.name}.txt"), "".join(f"{line}\n" for line in lines).encode())
        os.replace(path, target)
