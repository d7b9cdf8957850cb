"""What ``softlookup exam`` draws and prints."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from softlookup_course.exam import Sheet


def draw_sheets(
    seed: int,
    *,
    chapters: str | None,
    route: str | None,
    points: int,
    include: Sequence[str],
    exclude: Sequence[str],
    versions: str,
    folder: Path | None = None,
) -> "list[Sheet]":
    """Draw a sheet for each version; with a course's folder, only on its chapters and the tasks it has kept."""
    from softlookup_course.exam import ExamError, draw_sheet, parse_chapters

    if chapters and route:
        raise click.UsageError("--chapters and --route cannot be combined: give one of them")
    requested = parse_chapters(chapters) if chapters else None
    if route:
        from softlookup_course.curriculum import ROUTES

        requested = [chapter for chapter in ROUTES[route].chapters if 0 < chapter < 90]
    if folder is not None:
        taught, dropped = _of_course(folder)
        requested = [chapter for chapter in requested or taught if chapter in taught]
        if not requested:
            raise ExamError(f"none of these chapters is in the course {folder}: it has {', '.join(map(str, taught))}")
        exclude = [*exclude, *(question for question in _about(dropped) if question not in (*include, *exclude))]
    letters = [letter.strip() for letter in versions.split(",")] if versions else [""]
    if versions and not all(letter.isalnum() and letter.isascii() and len(letter) <= 8 for letter in letters):
        raise ExamError(f"the versions are {versions!r}: give letters such as A,B")
    if len(set(letters)) < len(letters):
        raise ExamError(f"the versions are {versions!r}: give each letter once")
    return [draw_sheet(seed, requested, points, include=include, exclude=exclude, version=letter) for letter in letters]


def _of_course(folder: Path) -> tuple[list[int], set[str]]:
    """The chapters of a course that exams ask about, and the tasks that were left out of it."""
    from softlookup_course.exam.bank import QUESTIONS
    from softlookup_grader import Course
    from softlookup_grader.course.releasing import Released

    released = Released(Course.at(folder))
    numbers = {int(name.partition("_")[0]) for name in released.assignments}
    return sorted(numbers & {question.chapter for question in QUESTIONS}), released.dropped


def _about(tasks: set[str]) -> list[str]:
    """The questions that expect a mistake known from one of these tasks."""
    from softlookup_course.exam.bank import QUESTIONS

    if not tasks:
        return []
    return [question.id for question in QUESTIONS if tasks & {mistake.task for mistake in question.draw(0).expected}]


def show(exam_sheet: "Sheet | None" = None, key_alone: bool = False) -> str:
    """A sheet and its key as text; without a sheet, the list of all questions."""
    from softlookup_course.exam import key_markdown, sheet_markdown
    from softlookup_course.exam.bank import QUESTIONS
    from softlookup_course.exam.written import KIND_SAYS

    if exam_sheet is None:
        rows = [
            f"{question.id:32} {question.points:2} points {question.minutes:3} min  {KIND_SAYS[question.question_type]}"
            for question in QUESTIONS
        ]
        return "\n".join(rows)
    key = key_markdown(exam_sheet) + "\n"
    return key if key_alone else f"{sheet_markdown(exam_sheet)}\n---\n\n{key}"
