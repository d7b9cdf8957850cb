"""Commands that train the shipped models. Each imports what it needs when it runs."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from softlookup_command.shared import EXISTING_FILE, EXISTING_FOLDER, PATH, refuse


@click.command()
@click.argument("folder", required=False, type=EXISTING_FOLDER)
@click.option("--source", default="en", show_default=True, help="Suffix of the files in the source language.")
@click.option("--target", default="fr", show_default=True, help="Suffix of the files in the target language.")
@click.option("--recipe", type=EXISTING_FILE, help="A JSON file of settings.")
@click.option("--begin", type=EXISTING_FOLDER, help="Continue a translator.")
@click.option("--out", type=PATH, help="Write the translator to this folder.")
@click.option("--device", default="cpu", show_default=True, help="cpu or cuda.")
@click.option("--devices", default=1, show_default=True, help="Processes that share each batch; with cuda a GPU each.")
@click.option("--shard", is_flag=True, help="Divide weights and optimizer states among the devices too (FSDP).")
@click.option("--tensor", default=1, show_default=True, help="Divide each layer among this many of the devices.")
@click.option("--minutes", type=float, help="Stop after this many minutes; the same command continues.")
def train(folder: Path | None, **options: Any) -> None:
    """Train a translator.

    FOLDER holds train.en and train.fr (or .gz); without it, a small generated grammar is the training data.

    val.en and val.fr choose the best weights. The same command continues a run that was stopped or killed, also with
    another number of devices: the batches stay the same.
    """
    from softlookup.training.command import train_command

    _trained(train_command, folder, options)


@click.command("train-writer")
@click.argument("file", type=EXISTING_FILE)
@click.option("--recipe", type=EXISTING_FILE, help="A JSON file of settings.")
@click.option("--out", type=PATH, default="writer", show_default=True, help="The model's folder.")
@click.option("--device", default="cpu", show_default=True, help="cpu or cuda.")
@click.option("--minutes", type=float, help="Stop after this many minutes; the same command continues.")
def train_writer(file: Path, **options: Any) -> None:
    """Train a decoder-only language model on a text.

    FILE holds the text, perhaps packed by gzip (FILE.gz).

    The last tenth of the text is held out and chooses the best weights. The same command continues a run that was
    stopped or killed.
    """
    from softlookup.training.writer_command import train_writer_command

    _trained(train_writer_command, file, options)


def _trained(command: Callable[..., int], what: Path | None, options: dict[str, Any]) -> NoReturn:
    from softlookup.training.command_frame import TrainingRefused

    try:
        status = command(what, **options)
    except TrainingRefused as refusal:
        refuse(str(refusal))
    sys.exit(status)


COMMANDS = (train, train_writer)
