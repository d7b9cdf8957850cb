"""``softlookup talk``: a published model answers."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from softlookup_command.shared import PATH, refuse

if TYPE_CHECKING:
    from softlookup.model import ChatModel


@click.command()
@click.argument("text")
@click.option("--tokens", default=200, show_default=True, type=click.IntRange(min=1), help="Tokens to write at most.")
@click.option("--temperature", default=0.0, show_default=True, type=click.FloatRange(min=0), help="0: no chance.")
@click.option("--seed", default=0, show_default=True, help="Where chance comes from, if the temperature is above 0.")
@click.option("--adapter", type=PATH, help="Talk with a model tuned by softlookup tune: the folder of its adapter.")
def talk(text: str, tokens: int, temperature: float, seed: int, adapter: Path | None) -> None:
    """Let SmolLM2 answer TEXT, run by the code of this course.

    A published model of 135 million weights, small for its kind: check what it says. With --adapter, the tuned model
    answers; it may be of another kind.
    """
    from softlookup.model import load_smollm2

    try:
        chat = load_smollm2() if adapter is None else _tuned(adapter)
        stream = chat.stream(chat.prompt(text), max_new_tokens=tokens, temperature=temperature, seed=seed)
    except (FileNotFoundError, ModuleNotFoundError, ValueError) as error:
        refuse(str(error))
    for fragment in stream:
        click.echo(fragment, nl=False)
    click.echo()


def _tuned(folder: Path) -> "ChatModel":
    """Load the model of an adapter, and merge the adapter into it."""
    from softlookup.model.published.chat_folder import SMOLLM2, load_chat
    from softlookup.model.published.lora import load_adapter, merge_lora, read_adapter_config

    chat = load_chat(read_adapter_config(folder).get("base_model_name_or_path") or SMOLLM2)
    load_adapter(chat.model, folder)
    merge_lora(chat.model)
    return chat


COMMANDS = (talk,)
