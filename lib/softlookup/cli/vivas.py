"""The command that makes questions on students' own code."""

import secrets
from pathlib import Path

import click

from softlookup.cli.shared import COURSE, course_in, default_course, refuse


@click.command()
@click.argument("assignment", metavar="NN_topic")
@COURSE
@click.option("--student", "students", multiple=True, metavar="ID", help="Only this student. Repeatable.")
@click.option("--questions", "count", type=click.IntRange(1, 12), default=5, show_default=True, help="Questions each.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Draws the questions. Default: random. The same seed gives the same ones.",
)
@click.option("--workers", type=click.IntRange(min=1), help="Students at a time. Default: one per processor.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Default: COURSE/viva/NN_topic.")
def viva(
    assignment: str,
    folder: Path | None,
    students: tuple[str, ...],
    count: int,
    seed: int | None,
    workers: int | None,
    out: Path | None,
) -> None:
    """Ask students about their own code.

    Each gets questions on the answers that were graded as right: a line is changed, what happens? The code and its
    changes run in the sandbox, so that every answer is a computed one. For each student there are a sheet, its key and
    a page for an oral exam; sheets.html and keys.html hold those of the class, to print.
    """
    from softlookup.grading.data.plain_text import plain
    from softlookup.grading.viva.of_class import draw_vivas, write_vivas
    from softlookup.grading.viva.place import folder_of
    from softlookup.grading.viva.vivas import spread

    course = course_in(folder)
    seed = secrets.randbelow(10**9) if seed is None else seed
    drawn = draw_vivas(course, assignment, students=students, count=count, seed=seed, workers=workers)
    usual = folder_of(course, assignment)
    out = out or usual
    if out.exists() and not out.is_dir():
        refuse(f"{out} is no folder: name another one with --out")
    shown = (folder or default_course()) / usual.relative_to(course.root) if out == usual else out
    files = write_vivas(course, drawn.vivas, out, together=not students)
    for path in files:
        click.echo(f"wrote {shown / path.relative_to(out)}")
    click.echo(f"questions for {len(drawn.vivas)} {'student' if len(drawn.vivas) == 1 else 'students'}, seed {seed}")
    if sentence := spread(drawn.vivas):
        click.echo(sentence)
    if out != usual:
        click.echo(f"note: 'softlookup forget' does not reach {out}: delete it after the exam")
    for note in drawn.notes:
        click.echo(f"note: {plain(note)}")


COMMANDS = (viva,)
