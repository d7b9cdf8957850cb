"""What comes in for an instructor: the class list, notebooks, and when they came."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from softlookup_command.shared import EXISTING_FILE, EXISTING_FOLDER, refuse, show_notes
from softlookup_grader.commands.shared import COURSE, course_in, keep_private

if TYPE_CHECKING:
    from softlookup_grader.data.records import Record


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
    from softlookup_grader.data.dates import zone_named
    from softlookup_grader.data.tables import read_table
    from softlookup_grader.platforms.times import read_times, write_times

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
    from softlookup_grader.data.tables import read_table
    from softlookup_grader.platforms.roster import enter, read_roster

    course = course_in(folder)
    with course.gradebook() as book:
        before = [student.id for student in book.students]
    roster = read_roster(read_table(table, "class list"), ids, before)
    click.echo(roster.understood)
    show_notes(roster.notes)
    new = enter(course, roster.students)
    click.echo(f"entered students: {len(roster.students)}, new ones: {len(new)}")


@click.command()
@click.argument("assignment", metavar="NN_topic")
@click.argument("what", type=click.Path(exists=True, path_type=Path), nargs=-1, metavar="[WHAT]...")
@COURSE
@click.option("--worksheet", type=EXISTING_FILE, help="Moodle's grading worksheet, if it does not lie beside the zip.")
@click.option("--roster", type=EXISTING_FILE, help="CSV: whose a folder is, by its name, address or user.")
@click.option("--prefix", default="", help="What stands in front of the student's part of the folders' names.")
@click.option("--id", "ids", metavar="COLUMN", help="The column of the ids in a table, if it is not recognised.")
@click.option("--exchange", is_flag=True, help="Collect from nbgrader's exchange.")
@click.option("--force", is_flag=True, help="Replace notebooks that were collected before.")
def collect(
    assignment: str,
    what: tuple[Path, ...],
    folder: Path | None,
    worksheet: Path | None,
    roster: Path | None,
    prefix: str,
    ids: str | None,
    exchange: bool,
    force: bool,
) -> None:
    """Collect the notebooks of an assignment, and say who is in.

    WHAT is any of: a zip of Moodle's or Canvas's; a folder with such zips, with what was in them, with a folder for
    each person, or with clones side by side; a table with an id and the address of a repository in each row. In what
    came from one person, each notebook with this assignment's cells is taken, whatever it is called.

    Times of commits are not used, since students set them: give the times with 'softlookup times'.
    """
    from softlookup_command.plain_text import plain
    from softlookup_grader.data.tables import read_table
    from softlookup_grader.platforms.collecting import Ways
    from softlookup_grader.platforms.collecting import collect as collect_notebooks

    if not what and not exchange:
        refuse("say what to collect: a zip, a folder, a table of addresses, or --exchange")
    table = read_table(roster, "roster") if roster else None
    ways = Ways(table, prefix, worksheet, ids, exchange, force)
    done = collect_notebooks(course_in(folder), assignment, what, ways)
    for line in done.understood:
        click.echo(line)
    show_notes(done.notes)
    for line in done.summary.lines():
        click.echo(plain(line, 4000))


@click.command()
@click.argument("folder", type=EXISTING_FOLDER, metavar="COURSE", callback=keep_private)
@click.option("--once", is_flag=True, help="Grade what is there, and end: for cron.")
@click.option("--return-feedback", is_flag=True, help="Give feedback back through nbgrader's exchange.")
def watch(folder: Path, once: bool, return_feedback: bool) -> None:
    """Grade what arrives in the folder COURSE.

    Hand-ins arrive in submitted/, in nbgrader's exchange where c.Exchange.root names one, or as a zip of Moodle's or
    Canvas's in dropped/ or dropped/ASSIGNMENT/. A newer hand-in replaces an older one.

    Each graded submission is a line: when, who, which assignment, how many points. Ctrl-C ends it. It goes on where it
    was when it is started again.
    """
    from softlookup_command.plain_text import plain
    from softlookup_grader.platforms.exchanging import exchange_folder
    from softlookup_grader.run.autograding import CourseWatch

    course = course_in(folder)
    if return_feedback and exchange_folder(course) is None:
        refuse("there is no exchange to return feedback to: nbgrader_config.py names none (c.Exchange.root)")

    def say(sentence: str) -> None:
        click.echo(f"softlookup: {plain(sentence, 4000)}", err=True)

    try:
        with CourseWatch(course.root, _show_graded, say, return_feedback) as course_watch:
            course_watch.run(once)
    except KeyboardInterrupt:
        click.echo("softlookup: the watch was ended. Run the same command to go on: nothing is lost.", err=True)
        raise SystemExit(130) from None


def _show_graded(assignment: str, row: "Record") -> None:
    from softlookup_command.plain_text import one_line

    points = f"refused: {one_line(row.reason)}" if row.grade is None else f"{row.grade:g} of {row.max:g}"
    click.echo(f"{datetime.now():%Y-%m-%d %H:%M:%S}  {one_line(row.student)}  {one_line(assignment)}  {points}")


COMMANDS = (students, collect, times, watch)
