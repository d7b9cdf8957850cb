"""Commands on time: when an assignment is due, and who has more of it."""

from pathlib import Path

import click

from softlookup_grader.commands.shared import COURSE, course_in


@click.command()
@click.argument("names", metavar="[STUDENT] NN_topic", nargs=-1, required=True)
@COURSE
@click.option(
    "--days", type=click.IntRange(0, 3650), default=0, help="Days on the calendar for STUDENT: the same time of day."
)
@click.option("--hours", type=click.IntRange(0, 1000), default=0, help="Elapsed hours for STUDENT.")
@click.option("--until", metavar="DATE", help="When it is due for STUDENT, instead of --days and --hours.")
@click.option("--end", is_flag=True, help="Remove the extension of STUDENT.")
@click.option("--due", metavar="DATE", help="When NN_topic is due for everybody; none removes it.")
@click.option("--start", metavar="DATE", help="When students got NN_topic. Default: its first release.")
def extension(
    names: tuple[str, ...],
    folder: Path | None,
    days: int,
    hours: int,
    until: str | None,
    end: bool,
    due: str | None,
    start: str | None,
) -> None:
    """Give STUDENT more time, or set when NN_topic is due.

    An extension replaces an earlier one. With NN_topic alone, the current dates are shown. Late penalties change when
    the class is graded again.

    DATE is in the course's time zone unless it names one. Without a time of day it is the end of that day, 23:59, and
    for --start the beginning. Days keep the time of day when clocks change, hours do not: 2 days may be 49 hours. When
    the due date moves, extensions by days and hours move with it.
    """
    from softlookup_grader.course.deadlines import (
        as_text,
        as_time,
        deadlines,
        deadlines_text,
        extend,
        set_due,
        set_start,
        understood,
    )
    from softlookup_grader.course.terms import Extension
    from softlookup_grader.data.dates import naive_utc, read_time

    course = course_in(folder)
    assignment, student = names[-1], names[0] if len(names) == 2 else None
    if len(names) > 2:
        raise click.UsageError(f"got {len(names)} names: give NN_topic, or STUDENT and NN_topic")
    length = bool(days or hours or until is not None)
    if student is None and (length or end):
        raise click.UsageError("an extension is for one student: give STUDENT and NN_topic")
    if student is not None and (due is not None or start is not None):
        raise click.UsageError(
            "--due and --start are for everybody: leave out STUDENT, or give --until for STUDENT alone"
        )
    if student is not None and not (length or end):
        raise click.UsageError(
            "the length of the extension is missing: give --days, --hours or --until, or --end to remove it"
        )
    if until is not None and (days or hours):
        raise click.UsageError("--until says when the extension ends: leave out --days and --hours")
    if end and length:
        raise click.UsageError("--end removes the extension: leave out --days, --hours and --until")
    dates = deadlines(course, assignment)
    read = {text: as_time(text, course.zone) for text in (due, until) if text is not None}
    start_time = naive_utc(read_time(start, course.zone)) if start is not None else None
    for text, (_, words) in read.items():
        click.echo(f"read {text!r} as: {words}")
    if start_time is not None:
        click.echo(f"read {start!r} as: {as_text(start_time, course.zone)}")
    if student is not None:
        course.students([student])
        terms = None if end else Extension(days, hours, read[until][0] if until is not None else None)
        if terms is not None:
            click.echo(f"the extension: {understood(dates, terms)}")
        dates = extend(course, assignment, student, terms)
    if due is not None:
        dates = set_due(course, assignment, read[due][0])
    if start_time is not None:
        dates = set_start(course, assignment, start_time)
    click.echo(deadlines_text(dates))


@click.command()
@click.argument("student", required=False)
@COURSE
@click.option("--days", type=click.IntRange(0, 3650), default=0, help="Days after each due date, on the calendar.")
@click.option(
    "--time",
    type=click.FloatRange(1, 100),
    default=1.0,
    metavar="FACTOR",
    help="What the time from the start of an assignment to its due date is multiplied by.",
)
@click.option("--until", metavar="DATE", help="The last due date that it holds for. Default: it has no end.")
@click.option("--end", is_flag=True, help="Remove the accommodation of STUDENT.")
def accommodate(student: str | None, folder: Path | None, days: int, time: float, until: str | None, end: bool) -> None:
    """Give STUDENT more time in all assignments.

    It holds for assignments to come, too. Whatever ends last counts: the days, the time, or an extension of one
    assignment; they are not added. An assignment starts with its first release, or as set by
    'softlookup extension NN_topic --start DATE'.

    An accommodation replaces an earlier one. Without options, accommodations are listed: that of STUDENT, or all. Only
    this command, 'softlookup extension NN_topic' and 'softlookup report' show them; no page for students does.
    """
    from softlookup_grader.course.deadlines import accommodate as give
    from softlookup_grader.course.deadlines import accommodations_text, as_time
    from softlookup_grader.course.terms import Accommodation, accommodation_in_words

    course = course_in(folder)
    more = bool(days or time > 1)
    if student is None and (more or end or until is not None):
        raise click.UsageError("an accommodation is for one student: give STUDENT")
    if end and (more or until is not None):
        raise click.UsageError("--end removes the accommodation: leave out the other options")
    if until is not None and not more:
        raise click.UsageError("what the accommodation gives is missing: give --days or --time")
    if student is not None and more:
        course.students([student])
        when = None
        if until is not None:
            when, words = as_time(until, course.zone)
            click.echo(f"read {until!r} as: {words}")
        terms = Accommodation(days, time, when)
        click.echo(f"the accommodation: {accommodation_in_words(terms, course.zone)}")
        give(course, student, terms)
    elif student is not None and end:
        give(course, student, None)
    click.echo(accommodations_text(course, student))


COMMANDS = (extension, accommodate)
