"""What commands of all parts need: types of arguments, and refusals in one sentence."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import click

from softlookup_command.plain_text import plain

PATH = click.Path(path_type=Path)
FILE, EXISTING_FILE = (click.Path(exists, dir_okay=False, path_type=Path) for exists in (False, True))
FOLDER, EXISTING_FOLDER = (click.Path(exists, file_okay=False, path_type=Path) for exists in (False, True))


class Refusal(click.ClickException):
    """Something the user can mend: one sentence on stderr, exit status 2."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        """Print the sentence."""
        click.echo(f"softlookup: {self.format_message()}", file=file or sys.stderr)


def refuse(sentence: str) -> NoReturn:
    """Stop with one sentence for the user."""
    # A sentence may hold what a student chose: an id, a file's name.
    sentence = plain(sentence, 4000)
    raise Refusal(sentence if sentence.endswith((".", "?")) else sentence + ".") from None


def show_notes(sentences: Iterable[str]) -> None:
    """Show what else is to be said; a sentence may hold what a student chose."""
    for sentence in sentences:
        click.echo(f"note: {plain(sentence, 4000)}")
