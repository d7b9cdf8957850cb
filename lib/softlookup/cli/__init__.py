"""The command line, ``softlookup``, by audience. A command imports what it needs when it runs."""

from typing import Any

import click

from softlookup.cli import author, bench, course, doctor, instructor, reader, student
from softlookup.cli.shared import refuse

AUDIENCES = {
    "For students": student.COMMANDS,
    "For readers": reader.COMMANDS,
    "For instructors": (*course.COMMANDS, *instructor.COMMANDS, *doctor.COMMANDS),
    "For authors": author.COMMANDS,
    "Measurements": bench.COMMANDS,
}


class Commands(click.Group):
    """Turns what users can mend into one sentence; anything else is our fault and keeps its traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except ValueError as error:
            from softlookup.checking.own import OwnTasksError
            from softlookup.grading import BadNotebook, CourseError

            if isinstance(error, BadNotebook | CourseError | OwnTasksError):
                refuse(str(error))
            raise
        except PermissionError as error:
            refuse(f"there is no permission to use {error.filename}: change its permissions, or name another file")
        except OSError as error:
            from softlookup.grading.data.disk import disk_sentence, is_full

            if not is_full(error):
                raise
            refuse(disk_sentence(error.filename or "a file", error))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by audience."""
        width = formatter.width - 6 - max(map(len, self.commands))
        for audience, commands in AUDIENCES.items():
            with formatter.section(audience):
                formatter.write_dl([(str(command.name), command.get_short_help_str(width)) for command in commands])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="softlookup", prog_name="softlookup")
def main() -> None:
    """Soft Lookup: a course on transformers. Make its notebooks, check them, grade a class."""


for _commands in AUDIENCES.values():
    for _command in _commands:
        main.add_command(_command)
