"""Commands for authors of tasks. Each imports what it needs when it runs."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from softlookup_command.shared import refuse
from softlookup_course.commands.shared import checkout
from softlookup_grader.commands.shared import COURSE, default_course

if TYPE_CHECKING:
    from softlookup_judge.checking.catalogue import Catalogue


@click.command()
@click.option("--check", is_flag=True, help="Change nothing, and fail if a notebook does not match solutions/.")
def exercises(check: bool) -> None:
    """Make exercises/ from solutions/."""
    from softlookup_judge.authoring import build_exercises

    root = checkout()
    stale = [str(Path(path).resolve().relative_to(root)) for path in build_exercises(root, check=check)]
    if check and stale:
        message = f"stale: {', '.join(stale)}; run 'softlookup exercises' and commit what it writes"
        click.echo(message, err=True)
        raise SystemExit(1)
    if check:
        click.echo("exercises/ matches solutions/")
    else:
        click.echo("wrote " + ", ".join(stale) if stale else "nothing to do: exercises/ matches solutions/")


@click.command()
@click.argument("task_id", metavar="[TASK]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Everything about each task, its known mistakes too, as JSON.")
@click.option("--test", is_flag=True, help="Try the course's own tasks: right answer, oracle, each known mistake.")
@COURSE
def tasks(task_id: str | None, as_json: bool, test: bool, folder: Path | None) -> None:
    """List the graded tasks, a course's own among them.

    Of one TASK, its known mistakes and what students are told. Own tasks lie in the folder tasks of a course.
    """
    from softlookup_judge.checking.catalogue import UnknownTask, catalogue_with, find_own_tasks
    from softlookup_judge.data.own import FOLDER, read_tasks

    if folder is not None and not folder.is_dir():
        refuse(f"there is no folder {folder}")
    # Tasks are written before their course is released, so that no course's folder is asked for.
    has_folder = folder is not None or (default_course() / FOLDER).is_dir()
    course_tasks = read_tasks((folder or default_course()) / FOLDER) if has_folder else find_own_tasks(Path.cwd())
    catalogue = catalogue_with(course_tasks)
    if test:
        _try_own_tasks(catalogue, course_tasks.folder)
    try:
        chosen_tasks = catalogue.tasks() if task_id is None else [catalogue.task(task_id)]
    except UnknownTask as error:
        refuse(str(error))
    if as_json:
        from softlookup_course.in_page.packing import why_not

        records = [{**task.summary(), "in_page": not why_not(task)} for task in chosen_tasks]
        click.echo(json.dumps(records, indent=2, ensure_ascii=False))
        return
    from rich.table import Table

    from softlookup_grader.reports.table import terminal

    if task_id is not None:
        table = Table("known mistake", "what students are told", title=f"{chosen_tasks[0].id}, {chosen_tasks[0].title}")
        for mistake in chosen_tasks[0].mistakes:
            table.add_row(mistake.slug, mistake.says)
        terminal().print(table)
        return
    table = Table("id", "title", "points", "minutes", "difficulty", "known mistakes")
    for task in chosen_tasks:
        cells = (f"{task.points:g}", task.minutes, f"{task.difficulty} of 3", len(task.mistakes))
        table.add_row(task.id, task.title, *map(str, cells))
    terminal().print(table)


def _try_own_tasks(catalogue: "Catalogue", folder: str) -> NoReturn:
    from softlookup_judge.authoring import read_solution
    from softlookup_judge.checking.trial import problems
    from softlookup_judge.data.own import FOLDER, OwnTasksError

    assignments = catalogue.course_tasks.assignments
    own_tasks = [task for chapter in sorted(assignments) for task in catalogue.own_tasks(chapter)]
    if not own_tasks:
        refuse(f"there are no own tasks in {folder}: they lie in the folder {FOLDER} of a course (--course)")
    root, failed = checkout(), 0
    for assignment in assignments.values():
        path = root / "solutions" / f"{assignment.name}.py"
        read_solution(path, catalogue=catalogue)  # refuses what students could not be given
    for task in own_tasks:
        sentences = problems(task)
        page = root / "book" / f"{task.page}.md"
        text = page.read_text(encoding="utf-8") if page.is_file() else ""
        if page.parent.is_dir() and task.anchor and f"({task.anchor})=" not in text:
            sentences.append(f"it links to {task.book_url}, and book/{task.page}.md has no section ({task.anchor})=.")
        if not sentences:
            try:
                catalogue.for_students(task.chapter, [task.id])  # as a release does
            except OwnTasksError as error:
                sentences.append(f"{error}.")
        failed += bool(sentences)
        many = "1 known mistake is" if len(task.mistakes) == 1 else f"{len(task.mistakes)} known mistakes are"
        click.echo(
            f"{task.id}: the answer agrees with the oracle; {many} rejected and named" * (not sentences),
            nl=not sentences,
        )
        for sentence in sentences:
            click.echo(click.wrap_text(f"{task.id}: {sentence}", 100, "", "    "))
    raise SystemExit(1 if failed else 0)


COMMANDS = (exercises, tasks)
