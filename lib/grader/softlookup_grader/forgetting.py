"""Removing a student's data from a course: gradebook, files, ledgers, reports."""

import contextlib
import glob
import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from softlookup_grader.course import collected, groups, personal, terms
from softlookup_grader.course.archives import archives_with
from softlookup_grader.course.folder import Course
from softlookup_grader.course.leaving import Left, leave, shared_with
from softlookup_grader.data.disk import Shelf, atomic_write, disk_trouble, unfinished
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.locks import lock
from softlookup_grader.data.records import Report
from softlookup_grader.data.tables import read_table
from softlookup_grader.platforms.feedback_zips import zips_with
from softlookup_grader.reports.class_report import read_report
from softlookup_grader.reports.side_by_side import pages_naming
from softlookup_grader.reports.vivas import paths_of

STEPS = ("submitted", "autograded", "feedback")
NOT_REACHED = (
    "Not reached: backups, downloaded zips (also in dropped/), nbgrader's exchange, other CSV files, returned feedback."
)


def kept_of(course: Course, student: str) -> list[str]:
    """What a course holds of a student, one phrase each; it changes nothing."""
    _check(student)
    phrases = _rows(course, student)
    if student in terms.read_granted(course).students():
        phrases.append(f"an entry in {terms.FILE}")
    if any(student in group for table in groups.tables(course).values() for group in table):
        phrases.append(f"an entry in {groups.FILE}")
    for assignment, heir in shared_with(course, student):
        phrases.append(f"the name in the group's notebook of {assignment}, which is left to {heir}")
    phrases += [str(path.relative_to(course.root)) for path in zips_with(course, student)]
    for path in collected.records_naming(course, student):
        phrases.append(f"an entry in {path.relative_to(course.root)}")
    phrases += [str(path.relative_to(course.root)) for path in _paths(course, student)]
    for path in _ledgers(course):
        count = sum(_is_about(line, student) for line in path.read_bytes().splitlines())
        if count:
            phrases.append(f"{count} line{'s' * (count > 1)} of {path.relative_to(course.root)}")
    for path, (dropped, _) in _texts(course, student).items():
        phrases.append(f"{dropped} line{'s' * (dropped > 1)} of {path.relative_to(course.root)}")
    return phrases + [f"an entry in {path.relative_to(course.root)}" for path in _reports(course, student)]


def forget(course: Course, student: str) -> list[str]:
    """Remove all that a course holds of a student, and give what was removed, one phrase each."""
    from nbgrader.api import MissingEntry

    # Held until all is done: a grader that runs meanwhile would write down again what was removed.
    with _no_grader(course):
        removed = kept_of(course, student)
        for path in zips_with(course, student):  # found by the record of what was collected, so they go first
            _remove(path)
        legacy = leave(course, student)
        groups.forget(course, student)
        collected.forget(course, student)
        with course.one_writer(), course.gradebook() as book, contextlib.suppress(MissingEntry):
            book.remove_student(student)
        with course.one_writer():
            terms.forget(course, student)
        for path in _paths(course, student):
            with disk_trouble(path):
                _remove(path)
        for path in _ledgers(course):
            for copy in unfinished(path):
                _remove(copy)
            lines = path.read_bytes().splitlines(keepends=True)
            remaining = [
                _left(line, student, path.parent.name, legacy) for line in lines if not _is_about(line, student)
            ]
            if remaining != lines:
                atomic_write(path, b"".join(remaining))
        for path, (_, content) in _texts(course, student).items():
            atomic_write(path, content)
        for path in _reports(course, student):
            _drop_from_report(path, student)
    return removed


def _check(student: str) -> None:
    if not student or student in (".", "..") or "/" in student or "\0" in student:
        raise CourseError(f"{student!r} cannot be a student's id: give a name that a folder can have")
    try:
        student.encode()
    except UnicodeEncodeError:
        raise CourseError(f"{student!r} is not text in UTF-8 and was never graded: remove its folder by hand") from None


def _rows(course: Course, student: str) -> list[str]:
    """What the gradebook holds."""
    from nbgrader.api import MissingEntry

    with course.gradebook() as book:
        try:
            rows = sorted(row.name for row in book.find_student(student).submissions)
        except MissingEntry:
            return []
        return ["the name in the gradebook", *(f"the grades of {name} in the gradebook" for name in rows)]


def _paths(course: Course, student: str) -> list[Path]:
    """Files and folders that are this student's alone, the inner ones left out."""
    paths: set[Path] = set()
    for step in STEPS:
        # nbgrader lets a course lay out its folders as it likes; a star stands for the assignment.
        folder = getattr(course.directory, f"{step}_directory")
        pattern = course.directory.format_path(folder, glob.escape(student), "*")
        pattern = glob.escape(str(course.root)) + pattern.removeprefix(str(course.root))
        matches = [Path(name) for name in glob.glob(pattern)]
        paths.update(path.parent if path.parent.name == student else path for path in matches)
        usual = course.folder(step, student, "x").parent
        if usual.name == student and os.path.lexists(usual):
            paths.add(usual)
    paths.update((course.root / "logs").glob(f"*/{glob.escape(student)}.log"))
    paths.update(course.root.glob(f"release/*/{personal.FOLDER}/{glob.escape(student)}.ipynb"))
    for folder in (course.root / ".grading").glob("*"):
        shelved = Shelf(folder).path(student)
        paths.update(path for path in (shelved, *unfinished(shelved)) if path.exists())
    paths.update(pages_naming(course.root / "reports", student))
    paths.update(paths_of(course, student))
    paths.update(archives_with(course, student))
    return sorted(paths)


def _remove(path: Path) -> None:
    """Remove a file or a folder; a link goes, and what it points to stays."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _ledgers(course: Course) -> list[Path]:
    """All ledgers of all assignments, those of earlier runs too."""
    return sorted((course.root / ".grading").glob("*/ledger*.jsonl"))


def _is_about(line: bytes, student: str) -> bool:
    """Whether a line of a ledger is about a student."""
    try:
        message: Any = json.loads(line)
    except ValueError:  # a kill may have left a part of a line, and the part may name the student
        return json.dumps(student).encode() in line
    return isinstance(message, dict) and student in (
        message.get("student"),
        message.get("entered"),
        message.get("page"),
    )


def _left(line: bytes, student: str, assignment: str, legacy: Left) -> bytes:
    """Another student's line of a ledger, as if the notebook had always been that of the rest of the group."""
    for old, new in legacy.digests.items():
        line = line.replace(old.encode(), new.encode())
    if b'"given_by":' in line:
        with contextlib.suppress(ValueError):
            message = json.loads(line)
            if message.get("given_by") == student:
                heir = legacy.heirs.get(assignment, message["student"])
                message["given_by"] = "" if heir == message["student"] else heir
                line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
    return line


def _texts(course: Course, student: str) -> dict[Path, tuple[int, bytes]]:
    """Grade tables and logs that name a student: how many lines do, and the text without them."""
    texts = {}
    for path in sorted((course.root / "reports").glob("*.csv")):
        rows = _rows_without(path, student)
        if rows is not None:
            texts[path] = rows
    alone = re.compile(rb"(?<![\w.-])" + re.escape(student.encode()) + rb"(?![\w.-])")
    for path in sorted((course.root / "logs").glob("*.log")):
        lines = path.read_bytes().splitlines(keepends=True)
        remaining = [line for line in lines if not alone.search(line)]
        if len(remaining) < len(lines):
            texts[path] = (len(lines) - len(remaining), b"".join(remaining))
    return texts


def _rows_without(path: Path, student: str) -> tuple[int, bytes] | None:
    """A table without the rows that have a student's id in a cell, None if there is none."""
    try:
        table = read_table(path)
    except CourseError:  # it is empty, or no table
        return None
    remaining = [row for row in table.rows if student not in (cell.strip() for cell in row)]
    dropped, table.rows = len(table.rows) - len(remaining), remaining
    return (dropped, table.content()) if dropped else None


@contextlib.contextmanager
def _no_grader(course: Course) -> Iterator[None]:
    """Hold every assignment's ledger, so that no grader works meanwhile."""
    with contextlib.ExitStack() as stack:
        for folder in sorted({path.parent for path in _ledgers(course)}):
            handle = stack.enter_context(open(folder / "lock", "a"))
            try:
                lock(handle.fileno(), wait=False)
            except BlockingIOError:
                raise CourseError(f"'softlookup grade' is working on {folder.name}: wait until it ends") from None
        yield


def _reports(course: Course, student: str) -> list[Path]:
    """Grade reports that name a student."""
    paths = []
    for path in sorted((course.root / "reports").glob("*.json")):
        try:
            if any(report_row.student == student for report_row in read_report(path).records):
                paths.append(path)
        except CourseError:
            continue
    return paths


def _drop_from_report(path: Path, student: str) -> None:
    from softlookup_grader.reports.table import as_text

    report = read_report(path)
    id_pattern = re.compile(rf"(?<![\w.-]){re.escape(student)}(?![\w.-])")
    records = [
        replace(
            report_row,
            group=group if len(group := tuple(name for name in report_row.group if name != student)) > 1 else (),
            remarks=tuple(remark for remark in report_row.remarks if not id_pattern.search(remark)),
        )
        for report_row in report.records
        if report_row.student != student
    ]
    remaining = Report(report.assignment, report.seed, tuple(records))
    text = json.dumps(remaining.as_json(), indent=2, ensure_ascii=False) + "\n"
    # The table first: who is killed in between is still found in the report.
    if path.with_suffix(".txt").is_file():
        atomic_write(path.with_suffix(".txt"), as_text(remaining).encode("utf-8", "replace"))
    atomic_write(path, text.encode("utf-8", "replace"))
