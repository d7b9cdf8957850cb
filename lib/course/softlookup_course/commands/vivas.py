"""The command that makes questions on students' own code."""

import secrets
from pathlib import Path

import click

from softlookup_command.shared import show_notes
from softlookup_course.commands.printing import as_pdf
from softlookup_grader.commands.shared import COURSE, course_in, default_course


@click.command()
@click.argument("assignment", metavar="NN_topic")
@COURSE
@click.option("--student", "students", multiple=True, metavar="ID", help="Only this student. Repeatable.")
@click.option("--questions", "count", type=click.IntRange(1, 12), default=5, show_default=True, help="Questions each.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Draws the questions. Default: that of the vivas in the course, else random.",
)
def viva(assignment: str, folder: Path | None, students: tuple[str, ...], count: int, seed: int | None) -> None:
    """Ask students about their own code.

    Each gets questions on the answers that were graded as right: a line is changed, what does the function return?
    Here is a result, which line was changed? And which number stands where after a line? All of it runs in the
    sandbox, so that every answer is a computed one. For each student there are a sheet and a page for an oral exam,
    with the answers; sheets.html and keys.html hold those of the class, to print. They lie in COURSE/viva/NN_topic.
    """
    from softlookup_course.viva.of_class import draw_vivas, write_vivas
    from softlookup_grader.reports.table import LiveProgress, terminal
    from softlookup_grader.reports.vivas import seed_of

    course = course_in(folder)
    if seed is None:
        seed = seed_of(course, assignment)
        seed = secrets.randbelow(10**9) if seed is None else seed
    with LiveProgress(terminal(stderr=True)) as progress:
        vivas, notes = draw_vivas(course, assignment, students=students, count=count, seed=seed, watch=progress)
    files = write_vivas(course, vivas, together=not students)
    for path in (*files, *as_pdf([] if students else files)):
        click.echo(f"wrote {(folder or default_course()) / path.relative_to(course.root)}")
    click.echo(f"questions for {len(vivas)} {'student' if len(vivas) == 1 else 'students'}, seed {seed}")
    show_notes(notes)


COMMANDS = (viva,)
