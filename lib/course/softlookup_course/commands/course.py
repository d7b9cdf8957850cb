"""``softlookup course``: a part of the chapters as a course of one's own. Each command imports what it needs."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from softlookup_command.shared import EXISTING_FOLDER, FOLDER, refuse
from softlookup_course.commands.releasing import ASSISTANTS, LAST_HELP, PER_STUDENT
from softlookup_course.commands.shared import checkout
from softlookup_grader.commands.shared import keep_private

MINUTES = 75
TITLE = "Transformers"


@click.group()
def course() -> None:
    """Teach a part of the chapters."""


@course.command()
@click.argument("folder", type=FOLDER, callback=keep_private)
@click.option("--chapters", required=True, metavar="LIST", help="Such as 4-8, or 0,2,4-8,90: 90 is the capstone.")
@click.option("--drop", multiple=True, metavar="TASK", help="Leave this task out. Repeatable.")
@click.option("--points", "points", multiple=True, metavar="TASK=NUMBER", help="Points for this task. Repeatable.")
@click.option("--title", help=f"Title of the course and its book. Default: {TITLE}.")
@click.option("--course-seed", "secret", help="A secret word, from which the variants of the tasks are drawn.")
@click.option("--minutes", type=click.IntRange(min=1), help=f"Minutes of a session. Default: {MINUTES}.")
@LAST_HELP
@PER_STUDENT
@ASSISTANTS
def new(
    folder: Path,
    chapters: str,
    drop: tuple[str, ...],
    points: tuple[str, ...],
    title: str | None,
    secret: str | None,
    minutes: int | None,
    **how: Any,
) -> None:
    """Make a course of some chapters in FOLDER.

    FOLDER gets the assignments, as by 'softlookup release', and the pages of the book with a schedule.
    'softlookup course book FOLDER' builds the book. 'softlookup exam --course FOLDER' draws an exam.

    The same command adds chapters later, and brings newer pages. What you have changed in FOLDER stays as it is.
    """
    from softlookup_course.commands.releasing import release_into
    from softlookup_course.exam import ExamError, parse_chapters
    from softlookup_course.part import chapters_of, own_settings, schedule_page, write_pages
    from softlookup_grader import Course
    from softlookup_grader.course.releasing import Released
    from softlookup_judge.authoring import assignments as all_of

    root = checkout()
    known = chapters_of(root)
    try:
        requested = set(parse_chapters(chapters))
    except ExamError as error:
        refuse(str(error))
    if strange := sorted(requested - set(known)):
        refuse(f"there is no chapter {', '.join(map(str, strange))}: choose from {', '.join(map(str, known))}")
    if (folder / "solutions").is_dir():
        refuse(f"{folder} is a checkout of the whole course: name another folder, which is made")
    is_course = (folder / "nbgrader_config.py").is_file()
    there = {number_of(name) for name in Released(Course.at(folder)).assignments} if is_course else set()
    settings = own_settings(folder)
    title = title or str(settings.get("title") or TITLE)
    minutes = minutes or int(settings.get("session_minutes") or MINUTES)
    try:
        schedule_page(root / "book", requested | there, minutes)
    except ValueError as error:
        refuse(f"{error} with --minutes")
    names = [name for name in all_of(root) if number_of(name) in requested]
    options = {"secret": secret, "drop": drop, "points": points, "all_tasks": False, "force": False, **how}
    release_into(root, folder, names, **options, class_later=True)
    dropped = Released(Course.at(folder)).dropped
    done = write_pages(root, folder, requested | there, title, minutes, dropped)
    if there - requested:
        click.echo(f"the course keeps the chapters that it had: {', '.join(map(str, sorted(there - requested)))}")
    for name in done.kept:
        click.echo(f"kept {folder / name} as it is, because it was changed; the checkout has something newer")
    click.echo(f"wrote {len(done.new)} files of the book: 'softlookup course book {folder}' builds it")


def number_of(assignment: str) -> int:
    """The chapter of an assignment, from its name."""
    return int(assignment.partition("_")[0])


@course.command()
@click.argument("folder", type=EXISTING_FOLDER)
@click.option("--fresh", is_flag=True, help="Forget earlier pages and outputs, run every cell anew.")
def book(folder: Path, fresh: bool) -> None:
    """Build the book of the course in FOLDER, in FOLDER/_build/html.

    Warnings are errors. Only pages that have changed, or use something that has, are run.
    """
    script = checkout() / "scripts" / "build_book.py"
    options = ["--fresh"] if fresh else []
    done = subprocess.run([sys.executable, str(script), "--course", str(folder), *options])
    sys.exit(done.returncode)


COMMANDS = (course,)
