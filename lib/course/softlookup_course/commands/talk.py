"""``softlookup talk``: a published model answers, and shows what one of its heads attends to."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from softlookup_command.shared import FILE, PATH, refuse

if TYPE_CHECKING:
    from softlookup.model import ChatModel

_ROWS, _LONGEST = 24, 512
"""Tokens of the answer that a map shows, and tokens of a text for which one is made at most."""


@click.command()
@click.argument("text")
@click.option("--tokens", default=200, show_default=True, type=click.IntRange(min=1), help="Tokens to write at most.")
@click.option("--temperature", default=0.0, show_default=True, type=click.FloatRange(min=0), help="0: no chance.")
@click.option("--seed", default=0, show_default=True, help="Where chance comes from, if the temperature is above 0.")
@click.option("--system", help="What the model is told before the question.")
@click.option("--continue", "bare", is_flag=True, help="Continue TEXT as it stands, instead of answering it.")
@click.option(
    "--attention", nargs=2, type=int, metavar="LAYER HEAD", help="Show what one head attends to. Counted from 1."
)
@click.option("--figure", type=FILE, help="--attention: draw the map here (.svg or .png), instead of listing it.")
@click.option("--adapter", type=PATH, help="Talk with a model tuned by softlookup tune: the folder of its adapter.")
def talk(
    text: str,
    tokens: int,
    temperature: float,
    seed: int,
    system: str | None,
    bare: bool,
    attention: tuple[int, int] | None,
    figure: Path | None,
    adapter: Path | None,
) -> None:
    """Let SmolLM2 answer TEXT, run by the code of this course.

    A published model of 135 million weights, small for its kind: check what it says. With --adapter, the tuned model
    answers; it may be of another kind.
    """
    if figure is not None and (attention is None or figure.suffix not in (".svg", ".png")):
        refuse(f"--figure {figure} needs --attention LAYER HEAD, and a name that ends in .svg or .png")
    if bare and system is not None:
        refuse("--system is for questions: leave it out, or leave --continue out")
    from softlookup.model import load_smollm2

    try:
        chat = load_smollm2() if adapter is None else _tuned(adapter)
        prompt = text if bare else chat.prompt(text, system=system)
        sizes = chat.model.config.n_layers, chat.model.config.n_heads
        if attention is not None and not all(1 <= at <= most for at, most in zip(attention, sizes, strict=True)):
            refuse(f"--attention {attention[0]} {attention[1]}: layers are 1 to {sizes[0]}, heads 1 to {sizes[1]}")
        stream = chat.stream(prompt, max_new_tokens=tokens, temperature=temperature, seed=seed)
    except (FileNotFoundError, ModuleNotFoundError, ValueError) as error:
        refuse(str(error))
    pieces = []
    if bare:
        click.echo(text, nl=False)
    for piece in stream:
        pieces.append(piece)
        click.echo(piece, nl=False)
    click.echo()
    if attention is not None:
        _show_attention(chat, prompt, pieces, attention, figure)


def _tuned(folder: Path) -> "ChatModel":
    """Load the model of an adapter, and merge the adapter into it."""
    from softlookup.model.published.chat_folder import SMOLLM2, load_chat
    from softlookup.model.published.lora import load_adapter, merge_lora, read_adapter_config

    chat = load_chat(read_adapter_config(folder).get("base_model_name_or_path") or SMOLLM2)
    load_adapter(chat.model, folder)
    merge_lora(chat.model)
    return chat


def _show_attention(
    chat: "ChatModel", prompt: str, pieces: list[str], which: tuple[int, int], figure: Path | None
) -> None:
    """List what the answer's tokens attend to, or draw it."""
    known, whole = len(chat.encode(prompt)), prompt + "".join(pieces[:_ROWS])
    if not pieces or len(chat.encode(whole)) > _LONGEST:
        why = "nothing was written" if not pieces else f"the text has more than {_LONGEST} tokens"
        refuse(f"there is no attention map, since {why}")
    tokens, weights_LNTT = chat.attention_maps(whole)
    layer, head = which
    weights_TS = weights_LNTT[layer - 1, head - 1, known:].float().numpy()
    words = [token.replace("Ġ", "▁").replace("Ċ", "↵") for token in tokens]
    title = f"layer {layer}, head {head}"
    if figure is not None:
        from softlookup_course.figures import cross_map
        from softlookup_course.figures.show import save_figure

        words = [word.replace("$", r"\$") for word in words]  # no formulas
        parts = {"row": "token of the answer", "column": "token before it, or itself"}
        save_figure(figure, cross_map, weights_TS, words[known:], words, title, **parts)
        click.echo(f"map of {title}: {figure}", err=True)
        return
    click.echo(f"\n{title}: what each token attends to most (▁ is a space, ↵ a line end)")
    wide = max(map(len, words[known:]))
    for word, weights_S in zip(words[known:], weights_TS, strict=True):
        most = weights_S.argsort()[::-1][:3]
        click.echo(f"  {word:{wide}}  " + ", ".join(f"{words[s]} {weights_S[s]:.2f}" for s in most))


COMMANDS = (talk,)
