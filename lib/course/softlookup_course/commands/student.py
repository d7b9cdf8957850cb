"""Commands for students. Each imports what it needs when it runs."""

import contextlib
import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import click

from softlookup_command.shared import EXISTING_FOLDER, FILE, refuse
from softlookup_course.commands import quizzing
from softlookup_course.commands.meant import NAMED, Meant, display_path, folder_meant, meant


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF JUPYTERLAB]")
def lab(options: tuple[str, ...]) -> None:
    """Open JupyterLab on your copies of the notebooks.

    They lie in the folder my_work.
    Notebooks that are not there yet are copied; nothing that you changed is ever overwritten.
    """
    from softlookup_course.progress.workplace import WORK, NoLab, give_out, lab_command, lab_environment
    from softlookup_judge.authoring import find_root

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
    except KeyboardInterrupt:  # JupyterLab had it too, and has target what it means
        raise SystemExit(0) from None
    raise SystemExit(done.returncode)


@click.command()
@NAMED
@click.option("--timeout", default=60.0, show_default=True, help="Seconds that one cell may take.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for a program, and nothing else.")
def check(names: tuple[str, ...], timeout: float, as_json: bool) -> None:
    """Run what of a notebook is graded, and show its verdicts.

    NOTEBOOK is a file, or 04_one_head or 04 in the current folder or in my_work; by default the one that you saved
    last. With a TASK, such as 04.scale, its verdict alone. Notes say which cells do not count, and what to do about it.
    Exit status 0 if every task is right, 1 if not, 2 if the file cannot be run.
    """
    from softlookup_course.at_home.validate import rehearse
    from softlookup_judge.data.result import HEADLINES

    def step(index: int, total: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\rcell {index} of {total} ", nl=index == total, err=True)

    target = meant(names)
    if target.searched and not as_json:
        click.echo(f"{display_path(target.notebook)}:")
    rehearsal = rehearse(target.notebook, timeout, step, target.catalogue, target.task)
    outcomes = rehearsal.outcomes
    if not outcomes:
        refuse(f"{target.notebook.name} ran, but it contains no checks: is it one of the course's notebooks?")
    pass_count = rehearsal.pass_count
    if as_json:
        click.echo(json.dumps(rehearsal.to_json(str(target.notebook)), indent=1))
        raise SystemExit(0 if pass_count == len(outcomes) else 1)
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
    if not target.task:
        click.echo(
            f"total: {rehearsal.points:g} of {rehearsal.max:g} points, {pass_count} of {len(outcomes)} tasks right"
        )
    raise SystemExit(0 if pass_count == len(outcomes) else 1)


@click.command()
@NAMED
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for a program, and nothing else.")
@click.option("--timeout", default=60.0, show_default=True, help="Seconds that one cell may take.")
def hint(names: tuple[str, ...], as_json: bool, timeout: float) -> None:
    """Give the next step of help on TASK, such as 04.scale.

    It runs the saved NOTEBOOK (default: the task's, in the current folder or in my_work) up to the check of the task.
    Without a TASK it is the one task of the NOTEBOOK that is not right yet.
    What can be seen of the answer comes first, then the formula, then a worked example; another step once the answer
    has changed. A solution is shown in the notebook alone.
    """
    from softlookup_course.at_home.hint_at_home import hint_at_home

    target = meant(names)
    step = hint_at_home(target.notebook, target.task or _in_need(target), target.catalogue, timeout)
    if step.remark:
        click.echo(f"note: {step.remark}", err=True)
    click.echo(json.dumps(step.to_json(str(target.notebook)), indent=1) if as_json else step.text())


def _in_need(target: Meant) -> str:
    """The one task of a notebook that is not right yet, as far as its checks have said so."""
    from softlookup_course.progress import read_file_of

    chapter = read_file_of(target.notebook, target.catalogue)
    tasks = [state.task.id for state in chapter.tasks if state.state not in ("pass", "blank")]
    if len(tasks) == 1:
        return tasks[0]
    known = f"not right yet: {', '.join(tasks)}" if tasks else "none is known to be wrong"
    example = (tasks or [state.task.id for state in chapter.tasks])[0]
    refuse(f"name the task of {target.notebook.name} as well, as in 'softlookup hint {example}' ({known})")


@click.command()
@click.argument("names", nargs=-1, metavar="[FOLDER or NOTEBOOK] [TASK]")
@click.option("--json", "file", type=FILE, help="Write the record to this file, for the book's page Your way.")
@click.option("--run", is_flag=True, help="Run the notebooks that you have begun, instead of reading what was saved.")
@click.option("--timeout", default=60.0, show_default=True, help="--run: seconds that one cell may take.")
def progress(names: tuple[str, ...], file: Path | None, run: bool, timeout: float) -> None:
    """Show how far you are, and what to do next.

    It reads the saved notebooks in FOLDER (default: my_work), and what 'check', 'hint' and 'quiz' found, and sends
    nothing anywhere. If the book is built, its page Your way shows the same. Of one NOTEBOOK, such as 04, it shows each
    task.
    """
    from softlookup_course.at_home.validate import rehearse
    from softlookup_course.progress import as_json, as_script, as_text, chapter_as_text, read_file_of, read_folder
    from softlookup_course.progress.report import SCRIPT
    from softlookup_judge.authoring import find_root
    from softlookup_judge.checking.catalogue import catalogue_with, here
    from softlookup_judge.data.own import BAKED, OwnTasks

    def runs(name: str) -> None:
        if sys.stderr.isatty():
            click.echo(f"running {name} …", err=True)

    folder = folder_meant(names)
    if folder is None:
        target = meant(names)
        if file is not None:
            refuse("--json writes the record of all notebooks of a folder: leave the notebook out")
        if run:
            rehearse(target.notebook, timeout, catalogue=target.catalogue, task=target.task)
        click.echo(chapter_as_text(read_file_of(target.notebook, target.catalogue), target.task), nl=False)
        return
    handed_out = (*sorted(folder.glob(f"*/{BAKED}")), *sorted(folder.glob(BAKED)))
    catalogue = catalogue_with(OwnTasks(baked=handed_out)) if handed_out else here()
    execute = (lambda path: rehearse(path, timeout, catalogue=catalogue).notebook) if run else None
    chapters = read_folder(folder, catalogue, execute, runs)
    if all(chapter.file is None for chapter in chapters):
        message = f"there is no notebook of the course in {folder}: name the folder that contains their folders"
        raise click.ClickException(message)
    report = as_json(chapters, datetime.now().astimezone())
    click.echo(as_text(chapters), nl=False)
    if file is not None:
        file.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        click.echo(f"record: {file}")
    page = Path("book", "your_way.html")
    with contextlib.suppress(FileNotFoundError):
        book = Path(find_root(folder)).resolve() / "_build" / "html"
        if (book / page).is_file():
            (book / SCRIPT).write_text(as_script(report), encoding="ascii")
            click.echo(f"page:   {book / page}")


@click.command()
@click.argument("folder", required=False, type=EXISTING_FOLDER)
@click.option("--again", is_flag=True, help="Overwrite answers that are already in the capstone.")
def assemble(folder: Path | None, again: bool) -> None:
    """Copy your answers into the capstone.

    The answers come from the notebooks in FOLDER (default: my_work).
    """
    from softlookup_course.progress.workplace import notebooks_folder
    from softlookup_judge.authoring import find_root
    from softlookup_judge.authoring.assemble import AssembleError
    from softlookup_judge.authoring.assemble import assemble as bring

    try:
        answers = bring(folder or notebooks_folder(Path(find_root())), again=again)
    except (AssembleError, FileNotFoundError) as error:
        raise click.ClickException(str(error)) from None
    words = {"kept": "kept, it holds an answer", "blank": "still blank there", "missing": "not found"}
    for answer in answers:
        click.echo(f"{answer.cell:20} {words.get(answer.what, answer.what):26} {answer.source}")


COMMANDS = (lab, check, hint, progress, *quizzing.COMMANDS, assemble)
