"""Feedback pages: nbgrader's own, with links that lead into the book, and a page for what could not be graded."""

import contextlib
import html
import logging
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.converters import GenerateFeedback
from nbgrader.utils import capture_log, temp_attrs
from traitlets.config import Config

from softlookup.checks.panel import BOOK
from softlookup.grading.course import Course
from softlookup.grading.disk import atomic_write
from softlookup.grading.pool import Answer, Pool
from softlookup.grading.pool_worker import Doing

_REFUSED_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<body style="font: 1.1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem">
<h1>{title}</h1><p>This notebook could not be graded: {reason}.</p>
<p>Mend it, look that it opens in JupyterLab, and hand it in again.</p></body></html>
"""


def page_of(course: Course, assignment: str, student: str) -> Path:
    """Where a student's feedback page lies."""
    return course.notebook("feedback", student, assignment).with_suffix(".html")


def feedback_converter(course: Course) -> GenerateFeedback:
    """Get nbgrader's feedback converter; the template is named, so that other HTML settings of the course stay away."""
    converter = GenerateFeedback(coursedir=course.directory, config=course.config)
    config = Config()
    config.HTMLExporter.template_name = "feedback"
    converter.update_config(config)
    converter.force = True
    converter.log.setLevel(logging.INFO)
    return converter


def make_page(course: Course, assignment: str, student: str) -> None:
    """Make the page of a graded submission from autograded/ and the gradebook.

    Args:
        course: The course's folder.
        assignment: Name of the assignment.
        student: The student's id.

    Raises:
        RuntimeError: If nbgrader cannot make it.
    """
    with temp_attrs(course.directory, assignment_id=assignment, student_id=student):
        result: dict[str, Any] = capture_log(feedback_converter(course))
    print(result.get("log", ""), result.get("error", ""))
    if not result["success"]:
        raise RuntimeError(f"nbgrader made no feedback page for {student}")
    mend_links(course, page_of(course, assignment, student))


def refused_page(course: Course, assignment: str, student: str, reason: str) -> None:
    """Write the page of a submission that could not be graded.

    Args:
        course: The course's folder.
        assignment: Name of the assignment.
        student: The student's id.
        reason: Why, one sentence.
    """
    says = _REFUSED_PAGE.format(title=html.escape(assignment), reason=html.escape(reason).rstrip("."))
    atomic_write(page_of(course, assignment, student), says.encode("utf-8", "replace"))


def remove_page(course: Course, assignment: str, student: str) -> None:
    """Take away a student's feedback."""
    shutil.rmtree(course.folder("feedback", student, assignment), ignore_errors=True)


def mend_links(course: Course, page: Path) -> None:
    """Let a feedback page's links into the book lead there: a verdict writes them as seen from exercises/.

    The book is where SOFTLOOKUP_BOOK says, else the one that is built in a folder above the course.

    Args:
        course: The course's folder.
        page: The page; it is left as it is where no book is found.
    """
    if not page.is_file() or "SOFTLOOKUP_BOOK" in os.environ:
        return
    built = [folder / "_build" / "html" for folder in course.root.resolve().parents]
    book = next((folder for folder in built if (folder / "index.html").is_file()), None)
    if book is not None:
        text = page.read_text(encoding="utf-8")
        address = Path(os.path.relpath(book, page.resolve().parent)).as_posix()
        page.write_text(text.replace(f'href="{BOOK}', f'href="{address}/'), encoding="utf-8")


@dataclass(frozen=True)
class _Paging:
    """What a worker does: the page of one student; a payload is the reason why there is nothing but that to tell."""

    course: Course
    assignment: str

    @contextlib.contextmanager
    def __call__(self) -> Iterator[Doing]:
        def make(student: str, reason: bytes) -> bytes:
            if reason:
                refused_page(self.course, self.assignment, student, reason.decode())
            else:
                make_page(self.course, self.assignment, student)
            return b""

        yield make


def make_pages(course: Course, assignment: str, wanted: Iterable[tuple[str, str]], *, workers: int) -> Iterator[Answer]:
    """Make feedback pages, several at a time.

    Args:
        course: The course's folder.
        assignment: Name of the assignment.
        wanted: Students, each with the reason why the submission was refused, empty if it was graded.
        workers: How many processes at most.

    Yields:
        An answer for each student, with a failure where no page could be made.
    """
    pool = Pool(_Paging(course, assignment), workers, log=course.log("feedback"), patience_s=300.0)
    jobs = ((student, reason.encode("utf-8", "replace")) for student, reason in wanted)
    yield from pool.run(jobs)
