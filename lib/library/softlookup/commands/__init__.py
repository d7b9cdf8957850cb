"""The library's commands."""

from softlookup.commands import reader, trainer

AUDIENCES = {"For readers": reader.COMMANDS, "For authors": trainer.COMMANDS}


def explained(error: Exception) -> str | None:
    """No exception of the library is expected here: its commands refuse what they cannot use."""
    return None
