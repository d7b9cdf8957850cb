"""The command that asks learners about their own code."""

import secrets

import click

from softlookup_command.shared import refuse, show_notes
from softlookup_course.commands.meant import NAMED, display_path, meant


@click.command()
@NAMED
@click.option("--questions", "count", type=click.IntRange(1, 12), default=3, show_default=True, help="How many.")
@click.option("--seed", type=click.IntRange(min=0), help="Draws the questions. Default: others each time.")
def quiz(names: tuple[str, ...], count: int, seed: int | None) -> None:
    """Answer questions on your own code.

    A line of an answer of yours that passes is changed: what happens? Answer with a letter; the reason follows.
    NOTEBOOK is run here, as saved: a file, or 04_one_head or 04 in the current folder or in my_work; by default the one
    that you saved last. With a TASK, such as 04.scale, on that answer alone.
    """
    from softlookup_course.at_home.quiz_at_home import home_questions, keep_answer
    from softlookup_course.viva.pages import powers
    from softlookup_course.viva.questions import LETTERS

    target = meant(names)
    path = target.notebook
    click.echo(f"Running {display_path(path)} …")
    chosen_seed = secrets.randbelow(10**9) if seed is None else seed
    questions = home_questions(path, count, chosen_seed, target.task, lambda sentence: show_notes([sentence]))
    if not questions:
        where = "answers that pass and can be changed in several ways, in chapters 2, 4 to 10, 13 and 15"
        what = "solve a task there, save the notebook, and run `softlookup quiz` again"
        refuse(f"there are no questions on {target.task or path.name}: they are on {where}. To have some, {what}")
    if sentence := powers(questions):
        click.echo(sentence)
    correct, warned = 0, False
    for index, question in enumerate(questions, 1):
        click.echo(f"\n{index} of {len(questions)}  ({question.task})\n{question.before}\n\n{question.code}\n")
        for words, blocks in (("Called with", question.call), ("It returns", (question.gives,))):
            if any(blocks):
                click.echo("\n".join([words, *(_indented(block) for block in blocks), ""]))
        click.echo(question.after)
        for letter, option in zip(LETTERS, question.options, strict=True):
            click.echo(f"  {letter}  {_indented(option, 5).lstrip()}")
        answer = click.prompt("Your answer", type=click.Choice(LETTERS, case_sensitive=False), show_choices=False)
        hit = str(answer).upper() == question.letter
        correct += hit
        click.echo(f"{'Right' if hit else f'It is {question.letter}'}: {question.why}")
        if (sentence := keep_answer(path, question, hit)) and not warned:
            show_notes([sentence])
            warned = True
    click.echo(f"\n{correct} of {len(questions)} right")


def _indented(block: str, by: int = 4) -> str:
    return "\n".join(" " * by + line for line in block.split("\n"))


COMMANDS = (quiz,)
