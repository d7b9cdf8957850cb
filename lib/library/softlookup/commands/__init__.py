"""The library's commands."""

from softlookup.commands import reader, trainer

AUDIENCES = {"For readers": reader.COMMANDS, "For authors": trainer.COMMANDS}
