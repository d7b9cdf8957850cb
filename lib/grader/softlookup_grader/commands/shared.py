"""What commands on a course need: the course that is meant."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from softlookup_command.shared import PATH

if TYPE_CHECKING:
    from softlookup_grader.course.folder import Course


def keep_private(ctx: click.Context, _: click.Parameter, folder: Path | None) -> Path | None:
    """Keep what the command writes into its course from other accounts, until the command ends."""
    if not ctx.resilient_parsing:
        from softlookup_grader.data.disk import private

        # The outermost context is closed even where a later option is refused.
        ctx.find_root().with_resource(private(folder or default_course()))
    return folder


COURSE = click.option(
    "--course",
    "folder",
    type=PATH,
    callback=keep_private,
    help="Folder of the course. Default: course, if it exists, else the current folder.",
)
HELP_STEPS = ("nudge", "formula", "example", "solution")
"""The steps of help on a task (``softlookup_judge.data.result.HELP_STEPS``, which takes long to import)."""


def default_course() -> Path:
    """Where a course is looked for if none is named."""
    return Path("course") if Path("course").is_dir() else Path(".")


def course_in(folder: Path | None) -> "Course":
    """The course that is meant."""
    from softlookup_grader.course.folder import Course

    return Course.at(folder or default_course())
