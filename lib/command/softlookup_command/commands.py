"""The command ``softlookup``: one program, whose commands come from the parts of the project that are installed.

Each part names a module of its own under the entry point ``softlookup.commands``. That module has ``AUDIENCES``, its
commands by whom they are for, and where it knows exceptions that a user can mend, ``explained``, which gives their
sentence, and None for any other.
"""

from functools import cache
from importlib.metadata import distributions, entry_points
from types import ModuleType
from typing import Any

import click

from softlookup_command.shared import refuse

AUDIENCES = ("For students", "For readers", "For instructors", "For authors", "Measurements")
"""In the order in which the help lists them."""


@cache
def parts() -> tuple[ModuleType, ...]:
    """The modules with commands of all parts that are installed, by name."""
    points = {point.name: point for point in entry_points(group="softlookup.commands")}
    return tuple(points[name].load() for name in sorted(points))


@cache
def by_audience() -> dict[str, tuple[click.Command, ...]]:
    """All commands by whom they are for; an audience without any is left out."""
    audiences = {
        audience: tuple(command for part in parts() for command in part.AUDIENCES.get(audience, ()))
        for audience in AUDIENCES
    }
    return {audience: commands for audience, commands in audiences.items() if commands}


class Commands(click.Group):
    """Turns what users can mend into one sentence; anything else is our fault and keeps its traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except (ValueError, OSError) as error:
            for explained in (part.explained for part in parts() if hasattr(part, "explained")):
                if sentence := explained(error):
                    refuse(sentence)
            if isinstance(error, PermissionError):
                refuse(f"there is no permission to use {error.filename}: change its permissions, or name another file")
            raise

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command by its name."""
        return next((c for commands in by_audience().values() for c in commands if c.name == cmd_name), None)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return [str(command.name) for commands in by_audience().values() for command in commands]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by audience."""
        width = formatter.width - 6 - max(map(len, self.list_commands(ctx)), default=0)
        for audience, commands in by_audience().items():
            with formatter.section(audience):
                formatter.write_dl([(str(command.name), command.get_short_help_str(width)) for command in commands])


def _say_version(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    """Show the version and exit."""
    if is_asked and not ctx.resilient_parsing:
        names = ("softlookup-command", "softlookup-all")
        versions = [each.version for name in names for each in distributions(name=name)]
        click.echo(f"softlookup, version {versions[0]}")
        ctx.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_say_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Soft Lookup: a course on transformers. Make its notebooks, check them, grade a class."""
