"""What students get: assignments for a platform, and the answers. Each command imports what it needs when it runs."""

from datetime import UTC, datetime
from pathlib import Path

import click

from softlookup_command.shared import EXISTING_FILE, FOLDER, show_notes
from softlookup_course.commands.shared import checkout
from softlookup_grader.commands.shared import COURSE, course_in, default_course


@click.command()
@click.argument("assignment", metavar="NN_topic")
@COURSE
@click.option("--out", type=FOLDER, help="Write into this folder. Default: the folder handout of the course.")
@click.option(
    "--moodle",
    "table",
    type=EXISTING_FILE,
    metavar="FILE.csv",
    help="The assignment's grading worksheet: make the zip by which Moodle gives each student their own notebook.",
)
def handout(assignment: str, folder: Path | None, out: Path | None, table: Path | None) -> None:
    """Pack what students get of an assignment.

    That is one notebook if the release holds nothing else; otherwise a zip with a README for students. Of an assignment
    that was released for each student it is a zip with a folder for each, or with --moodle one that Moodle distributes.
    """
    from softlookup_course.giving_out.handout import make_handout
    from softlookup_grader.course.archives import HANDOUT
    from softlookup_grader.data.tables import read_table
    from softlookup_grader.platforms.worksheet import WORKSHEET, worksheet_of

    course = course_in(folder)
    worksheet = worksheet_of(course, read_table(table, WORKSHEET)) if table else None
    done = make_handout(course, assignment, worksheet)
    path = _write(done.content, done.file, course.root / HANDOUT, (folder or default_course()) / HANDOUT, out)
    if not done.students:
        click.echo(f"wrote {path}: put it on your platform as it is")
    elif table:
        click.echo(f"wrote the notebooks of {_students(done.students)} to {path}")
        click.echo(
            "Moodle gives each student their own: in the assignment, with Feedback files switched on, choose Upload "
            "multiple feedback files in a zip"
        )
    else:
        click.echo(f"wrote the notebooks of {_students(done.students)} to {path}, a folder for each")
        click.echo(
            "Moodle gives each student their own by a zip that --moodle FILE.csv makes, from the assignment's grading "
            "worksheet. Canvas takes files back only for those who have handed in: send students their folders"
        )
    click.echo(f"help at home {done.help}")
    if done.dead_links:
        click.echo(
            "note: links to the book lead to ../../_build/html, which a student of a platform does not have: set book "
            "under softlookup_launch in the course's _config.yml, and release again"
        )
    show_notes(done.unknown)
    if done.file.endswith(".ipynb"):  # a zip has it in its README
        click.echo(f"to be said beside it:\n\n{done.words}", nl=False)


@click.command()
@click.argument("assignment", metavar="NN_topic")
@COURSE
@click.option("--out", type=FOLDER, help="Write into this folder. Default: the folder published of the course.")
@click.option("--early", is_flag=True, help="Although somebody can still hand in.")
@click.option("--course-seed", "secret", help="The secret word of the course, for notebooks of single students.")
def solutions(assignment: str, folder: Path | None, out: Path | None, early: bool, secret: str | None) -> None:
    """Make the answers to an assignment, to be published.

    They come from the course's own source, and tell behind each task which known mistakes the class made: counts
    alone, none below three, and none of a class of fewer than ten.

    Until the last deadline, with all extensions, it refuses.
    """
    from softlookup_course.giving_out.solutions import make_solutions
    from softlookup_grader.course.archives import PUBLISHED
    from softlookup_grader.reports.class_report import read_report
    from softlookup_judge.checking.catalogue import catalogue_of

    course = course_in(folder)
    graded = course.root / "reports" / f"{assignment}.json"
    done = make_solutions(
        course,
        assignment,
        catalogue_of(course.root),
        report=read_report(graded) if graded.is_file() else None,
        now=None if early else datetime.now(UTC),
        root=checkout,
        secret=secret,
    )
    path = _write(done.content, done.file, course.root / PUBLISHED, (folder or default_course()) / PUBLISHED, out)
    whose = (
        f"to the notebooks of {_students(done.students)}, a folder for each" if done.students else f"to {assignment}"
    )
    click.echo(f"wrote the answers {whose}: {path}")
    if done.mistakes:
        click.echo(f"with known mistakes of {done.graded} graded submissions: {done.mistakes}, nobody is named")
    show_notes(done.notes)


def _write(content: bytes, file: str, folder: Path, display_folder: Path, out: Path | None) -> Path:
    """Write a file; where it lies, as the instructor would name it."""
    from softlookup_grader.data.disk import atomic_write

    atomic_write((out or folder) / file, content)
    if out is None:  # what a release of another form left there must not be handed out by mistake
        for ending in {".ipynb", ".zip"} - {Path(file).suffix}:
            (folder / file).with_suffix(ending).unlink(missing_ok=True)
    return (out or display_folder) / file


def _students(count: int) -> str:
    return f"{count} {'student' if count == 1 else 'students'}"


COMMANDS = (handout, solutions)
