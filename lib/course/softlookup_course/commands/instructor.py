"""Commands for instructors: releases, sample classes, exams, slides. Each imports what it needs when it runs."""

import shutil
from pathlib import Path
from typing import Any

import click

from softlookup_command.shared import EXISTING_FILE, EXISTING_FOLDER, FOLDER, PATH
from softlookup_course.commands.printing import as_pdf, live_figures
from softlookup_course.commands.releasing import ASSISTANTS, LAST_HELP, PER_STUDENT, release_into
from softlookup_course.commands.shared import beside, checkout, sources
from softlookup_grader.commands.shared import COURSE, default_course, keep_private


@click.command()
@click.argument("assignments", metavar="[NN_topic]...", nargs=-1)
@COURSE
@click.option("--course-seed", "secret", help="A secret word, from which the variants of the tasks are drawn.")
@LAST_HELP
@click.option("--drop", multiple=True, metavar="TASK", help="Leave this task out. Repeatable.")
@click.option("--points", "points", multiple=True, metavar="TASK=NUMBER", help="Points for this task. Repeatable.")
@click.option("--all-tasks", is_flag=True, help="Forget earlier --drop and --points of these assignments.")
@click.option(
    "--force", is_flag=True, help="Release with another secret word, and replace changed sources; copies are kept."
)
@PER_STUDENT
@ASSISTANTS
def release(assignments: tuple[str, ...], folder: Path | None, **options: Any) -> None:
    """Put assignments into a course: those named, or all.

    In a course of 'softlookup course new', all are those of its chapters.

    Without a seed they are the public ones, whose solutions are published. The seed is not stored, only a fingerprint
    by which another word is refused: keep it, to release the same variants again.

    A source that you changed is left as it is and named. What --drop, --points, --last-help and --assistants chose
    holds for later releases of the same assignment, too.
    """
    release_into(checkout(), folder or default_course(), assignments, **options)


@click.command()
@click.argument("folder", metavar="DIR", type=PATH, callback=keep_private)
@click.option("--force", is_flag=True, help="Write into a folder that is not empty.")
@click.option(
    "--hostile",
    is_flag=True,
    help="Add students who attack the grader (in a clone of the repository). Grade them in the sandbox alone.",
)
@click.option(
    "--mistakes",
    type=click.IntRange(min=0),
    help="How many students hand in known mistakes, one of each task. Default: as many as it takes for all.",
)
@click.option("--tasks", "task_folder", type=EXISTING_FOLDER, help="A folder of own tasks, which is copied into DIR.")
def sample(folder: Path, force: bool, hostile: bool, mistakes: int | None, task_folder: Path | None) -> None:
    """Write a course with a sample class into DIR.

    The names of the students say what they handed in: right answers, half done ones, each known mistake, broken files.
    """
    from softlookup_course.samples.sample_class import write_sample
    from softlookup_judge.checking.catalogue import catalogue_with
    from softlookup_judge.data.own import FOLDER, read_tasks

    attackers = beside("attacks.writing").hand_in_all if hostile else None
    root = checkout()
    catalogue = catalogue_with(read_tasks(task_folder or folder / FOLDER))
    notebooks = sources(root, catalogue)
    course = write_sample(folder, notebooks, root / "nbgrader_config.py", force, attackers, mistakes, catalogue)
    if task_folder is not None and task_folder.resolve() != (folder / FOLDER).resolve():
        shutil.copytree(task_folder, folder / FOLDER, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    click.echo(f"wrote a course with {len(course.students())} students into {folder}")
    click.echo(f"next: softlookup grade {min(notebooks)} --course {folder}")


@click.command()
@click.option("--seed", type=click.IntRange(min=0), help="Seed for the questions and their numbers.")
@click.option("--chapters", help="Such as 2-8 or 1,4,6-9. Default: all.")
@click.option("--route", type=click.Choice(["introduction", "systems"]), help="The chapters of a route instead.")
@click.option(
    "--course", "folder", type=PATH, help="A course's folder: its chapters, without the tasks left out there."
)
@click.option("--points", default=60, show_default=True, help="Points of the sheet.")
@click.option("--include", multiple=True, metavar="ID", help="A question that has to be on it. Repeatable.")
@click.option("--exclude", multiple=True, metavar="ID", help="A question that must not be on it. Repeatable.")
@click.option("--versions", default="", metavar="A,B", help="Versions: the same questions with other numbers.")
@click.option("--key", "key_alone", is_flag=True, help="Print the key alone. Default: the sheet, and the key after it.")
@click.option("--list", "listing", is_flag=True, help="List all questions with their ids.")
@click.option(
    "--from", "edited", type=EXISTING_FILE, metavar="FILE.md", help="Make the page and PDF of an edited sheet or key."
)
@click.option("--out", type=FOLDER, help="Write sheet and key here: .md, .html, .pdf.")
def exam(seed: int | None, listing: bool, edited: Path | None, out: Path | None, **options: Any) -> None:
    """Draw an exam sheet and its key.

    The same seed gives the same sheet. All sums can be done by hand.
    """
    from softlookup_course.commands.exams import draw_sheets, show
    from softlookup_course.exam import ExamError, write_exam, write_page

    try:
        if listing:
            click.echo(show())
            return
        if edited is not None:
            pages = [write_page(edited, out or edited.parent)]
        elif seed is None:
            raise click.UsageError("Missing option '--seed'")
        else:
            key_alone = options.pop("key_alone")
            sheets = draw_sheets(seed, **options)
            if out is None:
                click.echo("\n".join(show(exam_sheet, key_alone) for exam_sheet in sheets), nl=False)
                return
            pages = [path for exam_sheet in sheets for path in write_exam(exam_sheet, out)]
        for path in (*pages, *as_pdf(pages)):
            click.echo(f"wrote {path}")
    except (ExamError, FileNotFoundError, ValueError) as error:
        raise click.ClickException(str(error)) from None


@click.command()
@click.argument("chapters", nargs=-1, type=int, metavar="[CHAPTER]...")
@click.option("--out", required=True, type=FOLDER, help="Write them here.")
def slides(chapters: tuple[int, ...], out: Path) -> None:
    """Make slides of chapters' figures and formulas.

    They come from the page of each CHAPTER; without CHAPTER, from all pages.

    They open by a double click and need no network. Outputs come from the last build of the book, or from running the
    page. Interactive figures are shown as pictures, and a PDF is made, if the book is built and Chromium is there.
    """
    from softlookup_course.curriculum.export import write_slides
    from softlookup_course.curriculum.pages import PageError

    try:
        written = []
        for path in write_slides(chapters, out, live=live_figures):
            written.append(path)
            click.echo(f"wrote {path}")
        for path in as_pdf(written, "?print-pdf"):
            click.echo(f"wrote {path}")
    except (PageError, FileNotFoundError, RuntimeError) as error:
        raise click.ClickException(str(error)) from None


COMMANDS = (release, sample, exam, slides)
