"""Feedback as the zip files that Moodle and Canvas take back, under the names that they gave to what was collected.

Source: Moodle, mod/assign/feedback/file/importziplib.php: "NAME_PARTICIPANT_assignsubmission_file" in a path names the
student. Canvas, app/models/assignment.rb: the first two numbers of a name are the user and the attachment, under whose
name the file is shown; so Canvas gets notebooks, since notebooks were handed in: several of a student as one.
"""

import contextlib
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell

from softlookup_command.plain_text import one_line
from softlookup_grader.course.arrived import arrivals
from softlookup_grader.course.collected import records_naming
from softlookup_grader.course.folder import Course
from softlookup_grader.course.grade_sheet import SheetRow, read_sheet
from softlookup_grader.course.notebooks import task_id
from softlookup_grader.data.disk import disk_trouble
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import REFUSED, Report
from softlookup_grader.data.tables import amount
from softlookup_grader.data.work import cell_key
from softlookup_grader.platforms.owners import CANVAS, MOODLE

PLATFORMS = ("moodle", "canvas")
_DEAD_LINK = re.compile(r'<a href="(?!https?:|#|mailto:)[^"]*"[^>]*>(.*?)</a>', re.S)


@dataclass
class Returned:
    """What was packed."""

    # each file that was written, and how many students' feedback it has
    zips: dict[Path, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # who is in none of them, and why, one sentence each


def feedback_zips(course: Course, assignment: str, report: Report | None = None) -> Returned:
    """Pack the feedback of everybody whose notebook came from Moodle or Canvas; links into this computer's files go."""
    lines = {line.student: line for line in read_sheet(course, assignment, report)}
    reasons = {row.student: row.reason for row in report.records} if report else {}
    sources = {student: about.source for student, about in arrivals(course, assignment).by_student.items()}
    came = {student: name for student, source in sources.items() if (name := _platforms_name(source))}
    packed: set[str] = set()
    returned = Returned()
    if not came:
        raise CourseError(
            f"nothing of {assignment} came from Moodle or Canvas, whose names are needed to give feedback back: run "
            f"'softlookup collect {assignment} ZIP' with the zip that they give for download"
        )
    with contextlib.ExitStack() as stack:
        zips = {name: stack.enter_context(_Zip(_place(course, assignment, name))) for name in PLATFORMS}
        for student, name in came.items():
            pages = _pages(course, assignment, student)
            if not pages:
                why = f"there is no feedback page, which 'softlookup grade {assignment}' makes"
                returned.notes.append(f"{one_line(student)} got no feedback: {why}")
                continue
            packed.add(student)
            if MOODLE.search(name):
                texts = {path.stem: path.read_text(encoding="utf-8", errors="replace") for path in pages}
                zips["moodle"].add(
                    {_moodle_name(name, stem): _DEAD_LINK.sub(r"\1", page) for stem, page in texts.items()}
                )
            else:
                notebook = _notebook(course, assignment, lines.get(student), reasons.get(student, ""))
                zips["canvas"].add({name if name.endswith(".ipynb") else f"{name}.ipynb": notebook})
    returned.zips = {archive.path: archive.count for archive in zips.values() if archive.count}
    others = sorted(name for name in lines if name not in packed and _pages(course, assignment, name))
    if others:
        names = ", ".join(map(one_line, others))
        returned.notes.append(f"these students' notebooks came from no platform, so no zip has their feedback: {names}")
    return returned


def zips_with(course: Course, student: str) -> list[Path]:
    """The zips that may hold a student's feedback."""
    assignments = [path.stem for path in records_naming(course, student)]
    return [path for name in assignments for to in PLATFORMS if (path := _place(course, name, to)).is_file()]


def _place(course: Course, assignment: str, platform: str) -> Path:
    return course.root / "reports" / f"{assignment}-feedback-{platform}.zip"


def _platforms_name(source: str) -> str:
    """The name that Moodle or Canvas gave to what a student handed in; empty if it came from elsewhere.

    >>> _platforms_name("ben_7102_9_work.zip/a.ipynb"), _platforms_name("one-head-ben/ben_7102_9_a.ipynb")
    ('ben_7102_9_work.zip', '')
    """
    name = source.partition("/")[0]
    return name if MOODLE.search(name) or CANVAS.match(name) else ""


def _pages(course: Course, assignment: str, student: str) -> list[Path]:
    """The feedback pages of a student."""
    pages = (path.with_suffix(".html") for path in course.notebooks("feedback", student, assignment))
    return [page for page in pages if page.is_file()]


def _moodle_name(part: str, notebook: str) -> str:
    """Where a page stands in the zip: Moodle takes the second word between underscores for the participant.

    >>> _moodle_name("Ada_King_81_assignsubmission_file_04_one_head.ipynb", "04_one_head")
    'Ada King_81_assignsubmission_file_/04_one_head.html'
    """
    match = MOODLE.search(part)
    assert match is not None
    name = part[: match.start()].replace("_", " ").strip() or "Participant"
    return f"{name}_{match[1]}_assignsubmission_file_/{notebook}.html"


class _Zip:
    """A zip that is there once it is whole; one without entries is none, and an earlier one goes."""

    def __init__(self, path: Path) -> None:
        self.path, self.count = path, 0
        self._fresh = path.with_name(f".{path.name}.{os.getpid()}")

    def __enter__(self) -> "_Zip":
        with disk_trouble(self.path):
            self.path.parent.mkdir(exist_ok=True)
            self._archive = zipfile.ZipFile(self._fresh, "w", zipfile.ZIP_DEFLATED)
        return self

    def add(self, files: Mapping[str, str]) -> None:
        """Add the feedback of a student."""
        for name, content in files.items():
            with disk_trouble(self.path):
                self._archive.writestr(name, content.encode("utf-8", "replace"))
        self.count += 1

    def __exit__(self, error_type: object, *_: object) -> None:
        with disk_trouble(self.path):
            self._archive.close()
            if error_type is None and self.count:
                os.replace(self._fresh, self.path)
                return
            self._fresh.unlink(missing_ok=True)
            if error_type is None:
                self.path.unlink(missing_ok=True)


def _notebook(course: Course, assignment: str, line: SheetRow | None, reason: str) -> str:
    """The graded notebooks as one with points and comments in front; these alone where nothing could be graded."""
    notebook = nbformat.v4.new_notebook()
    paths = course.notebooks("autograded", line.student, assignment) if line and line.status != REFUSED else []
    for path in paths:
        with contextlib.suppress(OSError, ValueError, nbformat.ValidationError):
            graded = nbformat.read(path, as_version=4)
            notebook.metadata = graded.metadata
            notebook.cells += [new_markdown_cell(f"# {path.stem}")] * (len(paths) > 1) + graded.cells
    notebook.metadata.pop("widgets", None)
    for at, cell in enumerate(notebook.cells):
        cell.id = f"cell-{at}"
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            html = output.get("data", {}).get("text/html")
            if html:
                output["data"]["text/html"] = _DEAD_LINK.sub(r"\1", "".join(html))
    notebook.cells.insert(0, new_markdown_cell("\n".join(_summary(course, assignment, line, reason))))
    return nbformat.writes(notebook)


def _summary(course: Course, assignment: str, line: SheetRow | None, reason: str) -> Iterator[str]:
    """Points of each task, and what people wrote."""
    if line is None or line.status == REFUSED:
        why = f": {escape(reason, quote=False).rstrip('.')}" if reason else ""
        yield f"# {assignment}\n\nThis notebook could not be graded{why}."
        return
    yield f"# {assignment}: {amount(line.score)} / {amount(line.max)}\n"
    if line.penalty:
        yield f"Late: {amount(line.penalty)} points were subtracted from {amount(line.raw)}.\n"
    yield "| task | points |\n|---|---|"
    for name, cell in line.cells.items():
        yield f"| {task_id(name)} | {amount(cell.points) if cell.entered else '–'} / {amount(cell.max)} |"
    for name, comment in _comments(course, assignment, line.student):
        yield f"\n**{task_id(name)}**: {escape(comment, quote=False)}"


def _comments(course: Course, assignment: str, student: str) -> list[tuple[str, str]]:
    from nbgrader.api import MissingEntry

    with course.gradebook() as book:
        try:
            notebooks = sorted(book.find_submission(assignment, student).notebooks, key=lambda row: str(row.name))
        except MissingEntry:
            return []
        return [
            (cell_key(notebook.name, comment.name, len(notebooks)), comment.comment)
            for notebook in notebooks
            for comment in notebook.comments
            if comment.comment
        ]
