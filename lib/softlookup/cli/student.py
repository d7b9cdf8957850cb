"""Commands for students. Each imports what it needs when it runs."""

import contextlib
import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import click

from softlookup.cli import quizzing
from softlookup.cli.shared import EXISTING_FOLDER, FILE, PATH, refuse


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF JUPYTERLAB]")
def lab(options: tuple[str, ...]) -> None:
    """Open JupyterLab on your copies of the notebooks.

    They lie in the folder my_work.
    Notebooks that are not there yet are copied; nothing that you changed is ever overwritten.
    """
    from softlookup.authoring import find_root
    from softlookup.progress.workplace import WORK, NoLab, give_out, lab_command, lab_environment

    try:
        root = Path(find_root()).resolve()
        command = lab_command(root, options)
    except (FileNotFoundError, NoLab) as error:
        raise click.ClickException(str(error)) from None
    copies = give_out(root)
    if copies.new:
        click.echo(
            f"Copied {len(copies.new)} notebooks to {WORK}/, where you can change them. Git ignores this folder."
        )
    if copies.renewed:
        click.echo(f"Updated, since you had not changed them: {', '.join(copies.renewed)}")
    if copies.assistants:
        click.echo(f"{WORK}/{copies.assistants[0]} asks coding assistants to teach, not to solve. You may delete it.")
    if copies.edited:
        click.echo(
            f"Not updated, since they hold your work (exercises/ has newer versions): {', '.join(copies.edited)}"
        )
    try:
        done = subprocess.run(command, cwd=root, env=lab_environment())
    except KeyboardInterrupt:  # JupyterLab had it too, and has asked what it means
        raise SystemExit(0) from None
    raise SystemExit(done.returncode)


@click.command()
@click.argument("notebook", type=PATH)
@click.option("--timeout", default=60.0, show_default=True, help="Seconds that one cell may take.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for a program, and nothing else.")
def check(notebook: Path, timeout: float, as_json: bool) -> None:
    """Run what of NOTEBOOK is graded, and show its verdicts.

    Notes say which cells do not count, and what to do about it.
    Exit status 0 if every task is right, 1 if not, 2 if the file cannot be run.
    """
    from softlookup.checking.result import HEADLINES
    from softlookup.grading.validate import rehearse

    def step(number: int, total: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\rcell {number} of {total} ", nl=number == total, err=True)

    rehearsal = rehearse(notebook, timeout, step)
    outcomes = rehearsal.outcomes
    if not outcomes:
        refuse(f"{notebook.name} ran, but it contains no checks: is it one of the course's notebooks?")
    right = rehearsal.right
    if as_json:
        click.echo(json.dumps(rehearsal.record(str(notebook)), indent=1))
        raise SystemExit(0 if right == len(outcomes) else 1)
    blank = [outcome.task for outcome in outcomes if outcome.verdict == "blank"]
    for outcome in outcomes:
        if outcome.verdict == "blank":
            continue
        click.echo(f"{outcome.task}: {HEADLINES[outcome.verdict]}, {outcome.points:g} of {outcome.max:g} points")
        if outcome.verdict != "pass" and outcome.message:
            click.echo(click.wrap_text(outcome.message, 100, "    ", "    "))
    if blank:
        click.echo(click.wrap_text(f"{HEADLINES['blank']}: {', '.join(blank)}", 100, "", "    "))
    for remark in rehearsal.remarks:
        click.echo(click.wrap_text(f"note: {remark}", 100, "", "    "))
    if rehearsal.written:
        worth = sum(rehearsal.written.values())
        click.echo(f"a person grades {', '.join(rehearsal.written)} ({worth:g} points)")
    click.echo(f"total: {rehearsal.points:g} of {rehearsal.max:g} points, {right} of {len(outcomes)} tasks right")
    raise SystemExit(0 if right == len(outcomes) else 1)


@click.command()
@click.argument("task", metavar="TASK")
@click.argument("notebook", required=False, type=PATH)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for a program, and nothing else.")
@click.option("--timeout", default=60.0, show_default=True, help="Seconds that one cell may take.")
def hint(task: str, notebook: Path | None, as_json: bool, timeout: float) -> None:
    """Give the next step of help on TASK, such as 04.scale.

    It runs the saved NOTEBOOK (default: the task's, in the current folder or in my_work) up to the check of the task.
    What can be seen of the answer comes first, then the formula, then a worked example; another step once the answer
    has changed. A solution is shown in the notebook alone.
    """
    from softlookup.authoring import find_root
    from softlookup.checking.catalogue import UnknownTask, catalogue_with, look
    from softlookup.grading.hint_at_home import hint_at_home
    from softlookup.progress.reading import notebook_of
    from softlookup.progress.workplace import notebooks_folder

    places = [Path.cwd()]
    with contextlib.suppress(FileNotFoundError):
        places.append(notebooks_folder(Path(find_root())))
    chapter = task.partition(".")[0]
    if notebook is None and chapter.isascii() and chapter.isdigit():
        notebook = next(filter(None, (notebook_of(place, int(chapter)) for place in places)), None)
    catalogue = catalogue_with(look(notebook.resolve().parent if notebook else Path.cwd()))
    try:
        catalogue.task(task)
        if notebook is None:
            there = " or in ".join(map(str, places))
            refuse(f"there is no notebook of {task} in {there}: name it, as in 'softlookup hint {task} FILE'")
        step = hint_at_home(notebook, task, catalogue, timeout)
    except UnknownTask as error:
        refuse(str(error))
    click.echo(json.dumps(step.record(str(notebook)), indent=1) if as_json else step.text())


@click.command()
@click.argument("folder", required=False, type=EXISTING_FOLDER)
@click.option("--json", "file", type=FILE, help="Write the record to this file, for the book's page Your way.")
@click.option("--run", is_flag=True, help="Run the notebooks that you have begun, instead of reading what was saved.")
@click.option("--timeout", default=60.0, show_default=True, help="--run: seconds that one cell may take.")
def progress(folder: Path | None, file: Path | None, run: bool, timeout: float) -> None:
    """Show how far you are, and what to do next.

    It reads the saved notebooks in FOLDER (default: my_work), and sends nothing anywhere. If the book
    is built, its page Your way shows the same.
    """
    from softlookup.authoring import find_root
    from softlookup.checking.catalogue import catalogue_with, here
    from softlookup.checking.own import BAKED, OwnTasks
    from softlookup.grading.validate import rehearse
    from softlookup.progress import as_json, as_script, as_text, read_folder
    from softlookup.progress.report import SCRIPT
    from softlookup.progress.workplace import notebooks_folder

    try:
        root = Path(find_root(folder)).resolve()
    except FileNotFoundError as error:
        if folder is None:
            raise click.ClickException(str(error)) from None
        root = None
    place = notebooks_folder(root) if folder is None and root is not None else folder or Path(".")

    def runs(name: str) -> None:
        if sys.stderr.isatty():
            click.echo(f"running {name} …", err=True)

    handed_out = (*sorted(place.glob(f"*/{BAKED}")), *sorted(place.glob(BAKED)))
    catalogue = catalogue_with(OwnTasks(baked=handed_out)) if handed_out else here()
    execute = (lambda path: rehearse(path, timeout, catalogue=catalogue).notebook) if run else None
    chapters = read_folder(place, catalogue, execute, runs)
    if all(chapter.file is None for chapter in chapters):
        message = f"there is no notebook of the course in {place}: name the folder that contains their folders"
        raise click.ClickException(message)
    record = as_json(chapters, datetime.now().astimezone())
    click.echo(as_text(chapters), nl=False)
    if file is not None:
        file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        click.echo(f"record: {file}")
    book = root / "_build" / "html" if root is not None else None
    page = Path("book", "your_way.html")
    if book is not None and (book / page).is_file():
        (book / SCRIPT).write_text(as_script(record), encoding="ascii")
        click.echo(f"page:   {book / page}")


@click.command()
@click.argument("folder", required=False, type=EXISTING_FOLDER)
@click.option("--again", is_flag=True, help="Overwrite answers that are already in the capstone.")
def assemble(folder: Path | None, again: bool) -> None:
    """Copy your answers into the capstone.

    The answers come from the notebooks in FOLDER (default: my_work).
    """
    from softlookup.authoring import find_root
    from softlookup.authoring.assemble import AssembleError
    from softlookup.authoring.assemble import assemble as bring
    from softlookup.progress.workplace import notebooks_folder

    try:
        answers = bring(folder or notebooks_folder(Path(find_root())), again=again)
    except (AssembleError, FileNotFoundError) as error:
        raise click.ClickException(str(error)) from None
    words = {"kept": "kept, it holds an answer", "blank": "still blank there", "missing": "not found"}
    for answer in answers:
        click.echo(f"{answer.cell:20} {words.get(answer.what, answer.what):26} {answer.source}")


COMMANDS = (lab, check, hint, progress, *quizzing.COMMANDS, assemble)
