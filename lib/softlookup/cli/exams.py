"""What ``softlookup exam`` draws and prints."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from softlookup.exam import Sheet


def drawn(
    seed: int,
    *,
    chapters: str | None,
    route: str | None,
    points: int,
    include: Sequence[str],
    exclude: Sequence[str],
    versions: str,
) -> "list[Sheet]":
    """Draw one sheet, or one for each version.

    Raises:
        ExamError: If there is no such sheet.
    """
    from softlookup.exam import ExamError, draw_sheet, parse_chapters

    if chapters and route:
        raise click.UsageError("--chapters and --route cannot be combined: give one of them")
    asked = parse_chapters(chapters) if chapters else None
    if route:
        from softlookup.curriculum import ROUTES

        asked = [number for number in ROUTES[route].chapters if 0 < number < 90]
    letters = [letter.strip() for letter in versions.split(",")] if versions else [""]
    if versions and not all(letter.isalnum() and letter.isascii() and len(letter) <= 8 for letter in letters):
        raise ExamError(f"the versions are {versions!r}: give letters such as A,B")
    if len(set(letters)) < len(letters):
        raise ExamError(f"the versions are {versions!r}: give each letter once")
    return [draw_sheet(seed, asked, points, include=include, exclude=exclude, version=letter) for letter in letters]


def show(sheet: "Sheet | None" = None, key_alone: bool = False) -> str:
    """A sheet and its key as text; without a sheet, the list of all questions."""
    from softlookup.exam import key_markdown, sheet_markdown
    from softlookup.exam.bank import QUESTIONS
    from softlookup.exam.written import KIND_SAYS

    if sheet is None:
        rows = [f"{one.id:32} {one.points:2} points {one.minutes:3} min  {KIND_SAYS[one.kind]}" for one in QUESTIONS]
        return "\n".join(rows)
    key = key_markdown(sheet) + "\n"
    return key if key_alone else f"{sheet_markdown(sheet)}\n---\n\n{key}"
