"""The command that asks learners about their own code."""

import contextlib
import secrets
from pathlib import Path

import click

from softlookup.cli.shared import refuse


@click.command()
@click.argument("notebook", required=False, metavar="[NN_topic or NOTEBOOK]")
@click.option("--mine", "on_right_answers", is_flag=True, help="Ask about your own answers that pass.")
@click.option("--questions", "count", type=click.IntRange(1, 12), default=3, show_default=True, help="How many.")
@click.option("--seed", type=click.IntRange(min=0), help="Draws the questions. Default: others each time.")
def quiz(notebook: str | None, on_right_answers: bool, count: int, seed: int | None) -> None:
    """Answer questions on your own code.

    A line of an answer of yours is changed: what happens? Answer with a letter; the reason follows. NOTEBOOK is run
    here, as saved; by default it is the one that you saved last.
    """
    from softlookup.grading.course.notebooks import BadNotebook
    from softlookup.grading.quiz_at_home import home_questions
    from softlookup.grading.viva.pages import powers
    from softlookup.grading.viva.questions import LETTERS

    if not on_right_answers:
        refuse("the questions are on your own answers: 'softlookup quiz --mine'")
    path = _notebook(notebook)
    click.echo(f"Running {path.name} …")
    try:
        questions = home_questions(path, count, secrets.randbelow(10**9) if seed is None else seed)
    except BadNotebook as error:
        refuse(str(error))
    if not questions:
        refuse(
            f"there are no questions on {path.name}: they are on answers that pass, of chapters 2, 4 to 10, 13 and 15"
        )
    if sentence := powers(questions):
        click.echo(sentence)
    right = 0
    for number, question in enumerate(questions, 1):
        click.echo(f"\n{number} of {len(questions)}  ({question.task})\n{question.before}\n\n{question.code}\n")
        for words, blocks in (("Called with", question.call), ("It returns", (question.gives,))):
            if any(blocks):
                click.echo("\n".join([words, *(_indented(block) for block in blocks), ""]))
        click.echo(question.after)
        for letter, option in zip(LETTERS, question.options, strict=True):
            click.echo(f"  {letter}  {_indented(option, 5).lstrip()}")
        answer = click.prompt("Your answer", type=click.Choice(LETTERS, case_sensitive=False), show_choices=False)
        hit = str(answer).upper() == question.letter
        right += hit
        click.echo(f"{'Right' if hit else f'It is {question.letter}'}: {question.why}")
    click.echo(f"\n{right} of {len(questions)} right")


def _indented(block: str, by: int = 4) -> str:
    return "\n".join(" " * by + line for line in block.split("\n"))


def _notebook(name: str | None) -> Path:
    """The notebook that is meant: a file, an assignment in the learner's folder, or the last one that was saved."""
    from softlookup.authoring import find_root
    from softlookup.progress.workplace import notebooks_folder

    if name and Path(name).is_file():
        return Path(name)
    folder = Path.cwd()
    with contextlib.suppress(FileNotFoundError):
        folder = notebooks_folder(Path(find_root()))
    if name:
        path = folder / name / f"{name}.ipynb"
        if not path.is_file():
            refuse(f"there is no {name}: name a file, or an assignment in {folder}")
        return path
    saved = sorted(folder.glob("[0-9][0-9]_*/[0-9][0-9]_*.ipynb"), key=lambda path: path.stat().st_mtime)
    if not saved:
        refuse(f"there is no notebook in {folder}: name a file")
    return saved[-1]


COMMANDS = (quiz,)
