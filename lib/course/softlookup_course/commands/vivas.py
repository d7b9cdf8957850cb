"""The command that makes questions on students' own code."""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import click

from softlookup_command.shared import FOLDER, refuse, show_notes
from softlookup_course.commands.printing import as_pdf
from softlookup_grader.commands.shared import COURSE, course_in, default_course

if TYPE_CHECKING:
    from softlookup_grader.course.folder import Course


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
@click.option("--workers", type=click.IntRange(min=1), help="Students at a time. Default: one per processor.")
@click.option("--minutes", type=click.FloatRange(min=0.1), help="Time of the page with a clock. Default: 2 a question.")
@click.option(
    "--marks",
    type=click.Path(path_type=Path, exists=True),
    metavar="PATH",
    help="Mark answers: a CSV with the columns id and answers, or a folder of files that pages saved.",
)
@click.option("--out", type=FOLDER, help="Default: COURSE/viva/NN_topic.")
def viva(
    assignment: str,
    folder: Path | None,
    students: tuple[str, ...],
    count: int,
    seed: int | None,
    workers: int | None,
    minutes: float | None,
    marks: Path | None,
    out: Path | None,
) -> None:
    """Ask students about their own code.

    Each gets questions on the answers that were graded as right: a line is changed, what happens? And which of four
    versions that all pass was handed in? All of them run in the sandbox, so that every answer is a computed one. For
    each student there are a sheet, its key, a page for an oral exam, and form.html, which has a clock and saves the
    answers in a file; sheets.html and keys.html hold those of the class, to print.

    With --marks, answers are marked, and the points become the column NN_topic_viva of the gradebook.
    """
    from softlookup_course.viva.of_class import draw_vivas, seed_of, write_vivas
    from softlookup_course.viva.vivas import spread
    from softlookup_grader.reports.table import LiveProgress, terminal
    from softlookup_grader.reports.vivas import folder_of

    course = course_in(folder)
    if marks is not None:
        _mark(course, assignment, marks)
        return
    if seed is None:
        seed = seed_of(course, assignment) if out is None else None
        seed = secrets.randbelow(10**9) if seed is None else seed
    with LiveProgress(terminal(stderr=True)) as progress:
        drawn = draw_vivas(
            course, assignment, students=students, count=count, seed=seed, workers=workers, watch=progress
        )
    usual = folder_of(course, assignment)
    out = out or usual
    if out.exists() and not out.is_dir():
        refuse(f"{out} is no folder: name another one with --out")
    shown = (folder or default_course()) / usual.relative_to(course.root) if out == usual else out
    files = write_vivas(course, drawn.vivas, out, together=not students, minutes=minutes)
    for path in (*files, *as_pdf([] if students else files)):
        click.echo(f"wrote {shown / path.relative_to(out)}")
    click.echo(f"questions for {len(drawn.vivas)} {'student' if len(drawn.vivas) == 1 else 'students'}, seed {seed}")
    if sentence := spread(drawn.vivas):
        click.echo(sentence)
    if out != usual:
        click.echo(f"note: 'softlookup forget' finds these files as long as they stay in {out}")
    show_notes(drawn.notes)


def _mark(course: "Course", assignment: str, source: Path) -> None:
    """Mark answers, and say what came of it."""
    from softlookup_course.viva.marks import column, enter, mark

    marked = mark(course, assignment, source)
    enter(course, assignment, marked)
    for student, points in sorted(marked.points.items()):
        click.echo(f"{student}: {points} of {marked.most}")
    count = len(marked.points)
    click.echo(f"entered the points of {count} {'student' if count == 1 else 'students'} as {column(assignment)}")
    show_notes(marked.notes)


COMMANDS = (viva,)
