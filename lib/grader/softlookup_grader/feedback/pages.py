"""Feedback pages: nbgrader's own, with links that lead into the book, and a page for what could not be graded."""

import contextlib
import functools
import html
import logging
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from nbgrader.converters import GenerateFeedback
from nbgrader.utils import capture_log, temp_attrs
from traitlets.config import Config

from softlookup_command.plain_text import visible
from softlookup_grader.course.folder import Course
from softlookup_grader.course.releasing import Released
from softlookup_grader.data.disk import atomic_write
from softlookup_grader.data.records import HandMark, Record, TaskMark
from softlookup_grader.feedback.page_head import TEMPLATE, policy_tag
from softlookup_grader.judging.cleaning import POLICY
from softlookup_grader.workers.pool import JobResult, WorkerPool
from softlookup_grader.workers.pool_worker import Doing
from softlookup_judge.data.result import BOOK

PATIENCE_S = 60.0  # seconds that one page may take

_PLAIN_PAGE = """<!doctype html>
<html lang="en"><head>{policy}<meta charset="utf-8"><title>{title}</title></head>
<body style="font: 1.1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem">
<h1>{title}</h1>{body}</body></html>
"""
_REFUSED = """<p>This notebook could not be graded: {reason}.</p>
<p>Mend it, look that it opens in JupyterLab, and hand it in again.</p>"""
_UNMADE = """<p>Score: {score:g} / {max:g}</p><ul>{rows}</ul>
<p>The page with the whole notebook could not be made, so here are the points alone. Ask whoever graded it.</p>"""


def page_of(course: Course, assignment: str, student: str) -> Path:
    """Where a student's feedback page lies, the first of several notebooks."""
    return course.notebooks("feedback", student, assignment)[0].with_suffix(".html")


def pages_of(course: Course, assignment: str, student: str, refused: bool = False) -> list[Path]:
    """Where the pages of a student lie: one for each graded notebook, one alone where nothing could be graded."""
    if refused:
        return [page_of(course, assignment, student)]
    names = [path.stem for path in course.notebooks("autograded", student, assignment) if path.is_file()]
    folder = course.folder("feedback", student, assignment)
    return [folder / f"{name}.html" for name in names] or [page_of(course, assignment, student)]


def feedback_converter(course: Course) -> GenerateFeedback:
    """Get nbgrader's feedback converter; the template is named, so that other HTML settings of the course stay away."""
    converter = GenerateFeedback(coursedir=course.directory, config=course.config)
    config = Config()
    config.HTMLExporter.template_name = "feedback"
    config.HTMLExporter.template_file = str(TEMPLATE)
    config.HTMLExporter.filters = {
        "local_head": "softlookup_grader.feedback.page_head.feedback_head",
        "markdown2html": "softlookup_grader.feedback.page_markdown.page_markdown",
        "highlight_code": "softlookup_grader.feedback.page_code.highlighted",
    }
    converter.update_config(config)
    converter.force = True
    converter.log.setLevel(logging.INFO)
    return converter


def make_page(course: Course, assignment: str, student: str) -> None:
    """Make the page of a graded submission from autograded/ and the gradebook."""
    with temp_attrs(course.directory, assignment_id=assignment, student_id=student):
        result: dict[str, Any] = capture_log(feedback_converter(course))
    print(result.get("log", ""), result.get("error", ""))
    if not result["success"]:
        raise RuntimeError(f"nbgrader made no feedback page for {student}")
    for page in pages_of(course, assignment, student):
        finish_page(course, page)


def refused_page(course: Course, assignment: str, student: str, reason: str) -> None:
    """Write the page of a submission that could not be graded, with the reason, one sentence."""
    _write_plain(course, assignment, student, _REFUSED.format(reason=html.escape(reason).rstrip(".")))


def points_page(course: Course, assignment: str, row: Record) -> None:
    """Write a page with the points alone, for a student whose notebook's page could not be made."""
    marks: dict[str, TaskMark | HandMark] = {**row.tasks, **row.by_hand}
    rows = [f"<li>{html.escape(name)}: {mark.points or 0:g} / {mark.max:g}</li>" for name, mark in marks.items()]
    body = _UNMADE.format(score=row.score, max=row.max, rows="".join(rows))
    _write_plain(course, assignment, row.student, body)


def _write_plain(course: Course, assignment: str, student: str, body: str) -> None:
    says = _PLAIN_PAGE.format(policy=policy_tag(POLICY), title=html.escape(assignment), body=body)
    atomic_write(page_of(course, assignment, student), visible(says).encode("utf-8", "replace"))


def remove_page(course: Course, assignment: str, student: str) -> None:
    """Take away a student's feedback."""
    shutil.rmtree(course.folder("feedback", student, assignment), ignore_errors=True)


def finish_page(course: Course, page: Path) -> None:
    """Let a page's links into the book lead where SOFTLOOKUP_BOOK or the course says, and no sign turn its text."""
    if not page.is_file():
        return
    before = page.read_text(encoding="utf-8")
    text = visible(before)
    if "SOFTLOOKUP_BOOK" not in os.environ and (address := Released(course).book_from(page.parent)):
        text = text.replace(f'href="{BOOK}', f'href="{html.escape(address)}/')
    if text != before:
        page.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def _paging(course: Course, assignment: str) -> Iterator[Doing]:
    """What a worker does: the page of one student; a payload is the reason why there is nothing but that to tell."""

    def make(student: str, reason: bytes) -> bytes:
        if reason:
            refused_page(course, assignment, student, reason.decode())
        else:
            make_page(course, assignment, student)
        return b""

    yield make


def make_pages(
    course: Course, assignment: str, students: Iterable[tuple[str, str]], *, workers: int
) -> Iterator[JobResult]:
    """Make feedback pages, several at a time, in so many processes at most."""
    make = functools.partial(_paging, course, assignment)
    pool = WorkerPool(make, workers, log=course.log("feedback"), patience_s=PATIENCE_S)
    yield from pool.run((student, reason.encode("utf-8", "replace")) for student, reason in students)
