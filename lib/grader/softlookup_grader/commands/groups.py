"""The command for groups, whose members hand in one notebook."""

from pathlib import Path

import click

from softlookup_command.shared import EXISTING_FILE
from softlookup_grader.commands.shared import COURSE, course_in


@click.command()
@click.argument("assignment", metavar="NN_topic")
@click.argument("table", type=EXISTING_FILE, metavar="[TABLE]", required=False)
@COURSE
@click.option("--end", is_flag=True, help="Remove the groups that a table gave.")
def groups(assignment: str, table: Path | None, folder: Path | None, end: bool) -> None:
    """Say who hands in NN_topic together, or list the groups.

    TABLE has a row for each group with the ids of its members, or a column of ids and one of groups. It replaces an
    earlier one. Without a table, a line in one of the notebook's first cells counts: "Group: ada, ben".

    One notebook is graded for all members. Who hands in a notebook of their own is graded by that. Grades change when
    the class is graded again.
    """
    from softlookup_command.plain_text import one_line
    from softlookup_grader.course.groups import set_table, sharing
    from softlookup_grader.data.tables import read_table
    from softlookup_grader.platforms.group_table import read_groups

    if table is not None and end:
        raise click.UsageError("--end removes the groups: leave out the table")
    course = course_in(folder)
    course.require(assignment)
    if table is not None:
        group_table = read_table(table, "table of groups")
        members = read_groups(course, group_table)
        click.echo(group_table.understood())
        set_table(course, assignment, members)
    elif end:
        set_table(course, assignment, ())
    shared = sharing(course, assignment)
    for group in shared.table:
        click.echo(f"by the table: {', '.join(map(one_line, group))}")
    for group in shared.groups:
        click.echo(f"one notebook for {', '.join(map(one_line, group))}: {one_line(group[0])} handed it in")
    for student, why in shared.undecided.items():
        click.echo(f"{one_line(student)} has no notebook: {why}")
    for student, sentences in shared.remarks.items():
        for sentence in sentences:
            click.echo(f"{one_line(student)}: {sentence}")
    if not (shared.table or shared.groups or shared.remarks):
        click.echo(f"{assignment} has no groups")


COMMANDS = (groups,)
