"""What comes in for an instructor: the class list, notebooks from repositories, and when they came."""

from pathlib import Path

import click

from softlookup.cli.shared import COURSE, EXISTING_FILE, EXISTING_FOLDER, FILE, course_in, show_notes


@click.command()
@click.argument("assignment", metavar="NN_topic")
@click.argument("table", type=EXISTING_FILE, metavar="FILE.csv")
@COURSE
@click.option(
    "--zone", default="", help="Time zone of times that name none, such as Europe/London. Default: the course's."
)
def times(assignment: str, table: Path, folder: Path | None, zone: str) -> None:
    """Write when submissions came, from a table.

    FILE.csv has a column with the time (time, datetime, submitted at, or Moodle's "Last modified (submission)") and one
    with the student (id, lms_user_id, email). Late penalties follow when the class is graded again.
    """
    from softlookup.grading.data.dates import zone_named
    from softlookup.grading.data.tables import read_table
    from softlookup.grading.platforms.times import read_times, write_times

    course = course_in(folder)
    arrivals = read_times(course, assignment, read_table(table), zone_named(zone) if zone else course.zone)
    click.echo(arrivals.understood)
    show_notes(arrivals.notes)
    write_times(course, assignment, arrivals.came)
    click.echo(f"wrote the times of {len(arrivals.came)} {'student' if len(arrivals.came) == 1 else 'students'}")


@click.command()
@click.argument("table", type=EXISTING_FILE, metavar="FILE.csv")
@COURSE
@click.option("--id", "ids", metavar="COLUMN", help="The column of the ids, if it is not recognised.")
def students(table: Path, folder: Path | None, ids: str | None) -> None:
    """Enter the students of a class list into the gradebook.

    FILE.csv has a column of ids; first_name, last_name, email and lms_user_id can be there, too. An empty cell changes
    nothing.
    """
    from softlookup.grading.data.tables import read_table
    from softlookup.grading.platforms.roster import enter, read_roster

    course = course_in(folder)
    roster = read_roster(read_table(table, "class list"), ids)
    click.echo(roster.understood)
    show_notes(roster.notes)
    new = enter(course, roster.students)
    click.echo(f"entered students: {len(roster.students)}, new ones: {len(new)}")


@click.command()
@click.argument("assignment", metavar="NN_topic")
@click.argument("repositories", type=EXISTING_FOLDER, metavar="DIR")
@COURSE
@click.option("--roster", type=FILE, help="CSV: whose a repository is, by its name, address or user.")
@click.option("--prefix", default="", help="What stands in front of the student's part of the repositories' names.")
@click.option("--force", is_flag=True, help="Replace notebooks that were collected before.")
def collect(
    assignment: str, repositories: Path, folder: Path | None, roster: Path | None, prefix: str, force: bool
) -> None:
    """Collect notebooks from a folder of git repositories.

    DIR holds one clone for each student, side by side. What is checked out counts. Times of commits are not used, since
    students set them: give the times with 'softlookup times'.
    """
    from softlookup.grading.data.tables import read_table
    from softlookup.grading.platforms.repositories import collect_repositories

    table = read_table(roster, "roster") if roster else None
    done = collect_repositories(course_in(folder), assignment, repositories, roster=table, prefix=prefix, force=force)
    show_notes(done.notes)
    click.echo(f"collected from {len(done.students)} of {len(done.students) + len(done.notes)} repositories")


COMMANDS = (students, collect, times)
