"""Commands for readers. Each imports what it needs when it runs."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from softlookup.cli.shared import FILE, PATH, refuse

if TYPE_CHECKING:
    from softlookup.describing.layer_sizes import ModelLayers
    from softlookup.model import ChatModel

Result = TypeVar("Result")
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


@click.command()
@click.argument("file", metavar="EXAMPLES", type=FILE)
@click.option("--out", required=True, type=PATH, help="Where the adapter, the report and the run's states go.")
@click.option("--model", default="smollm2", show_default=True, help="smollm2, or the folder of a model of its kind.")
@click.option("--rank", default=8, show_default=True, type=click.IntRange(min=1), help="Rank of each change.")
@click.option("--alpha", default=16.0, show_default=True, help="Each change is multiplied by alpha / rank.")
@click.option("--epochs", default=3, show_default=True, type=click.IntRange(min=1), help="Passes over the examples.")
@click.option("--steps", type=click.IntRange(min=1), help="Optimizer steps, instead of epochs.")
@click.option("--learning-rate", default=1e-3, show_default=True, help="The highest; it rises and then falls to 0.")
@click.option("--batch", default=4, show_default=True, type=click.IntRange(min=1), help="Examples in a step.")
@click.option("--seed", default=0, show_default=True, help="Decides the held-out examples, their order and the start.")
@click.option("--device", default="cpu", show_default=True, help="cpu or cuda.")
def tune(file: Path, **options: Any) -> None:
    """Tune a chat model on EXAMPLES by LoRA.

    EXAMPLES holds JSON lines, each {"messages": [{"role": "user", "content": "..."}, {"role": "assistant", "content":
    "..."}]}.

    The loss is that of the assistant's tokens. A tenth of the examples is held out: at the end, the loss on them and
    two sample answers are printed, before and after. The same command continues a run that was stopped or killed.
    """
    from softlookup.post_training.tune import tune_command
    from softlookup.training.command_frame import TrainingRefused

    try:
        status = tune_command(file, **options)
    except (TrainingRefused, ModuleNotFoundError) as refusal:
        refuse(str(refusal))
    sys.exit(status)


@click.command()
@click.argument("file", metavar="CONFIG.json", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON.")
def read(file: Path, as_json: bool) -> None:
    """Read the config.json of a published model, and count it.

    Prints what each layer is, parameters in all and for a token, bytes of the cache and of recurrent states, operations
    for a token, and whether the code of this course can run the model. An entry that is not understood is refused by
    its name.
    """
    import json

    from softlookup.roofline.glance import glance, glance_text

    config, shown = _of_config(file, lambda config: (config, glance(config)))
    if as_json:
        click.echo(json.dumps(shown.as_json(), indent=1))
    else:
        click.echo(f"{glance_text(shown)}\n\nruns in softlookup: {_runs(config, shown.model)}")


@click.command()
@click.argument("file", metavar="CONFIG.json", type=FILE)
@click.option("--devices", required=True, type=click.IntRange(1, 65_536), help="How many cards there are.")
@click.option("--device", default="H100 SXM", show_default=True, help="A card with a data sheet in this library.")
@click.option("--link", default="InfiniBand NDR", show_default=True, help="What joins nodes: the kind of a port.")
@click.option("--node", default=8, show_default=True, type=click.IntRange(min=1), help="Cards of a node.")
@click.option("--ports", type=click.IntRange(min=1), help="Ports of a node.  [default: one for each card]")
@click.option("--tokens", default=2**22, show_default=True, type=click.IntRange(min=1), help="Tokens of a step.")
@click.option("--sequence", default=4096, show_default=True, type=click.IntRange(min=1), help="Tokens of a sequence.")
@click.option("--best", default=6, show_default=True, type=click.IntRange(min=1), help="How many layouts to print.")
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON.")
def plan(file: Path, as_json: bool, **options: Any) -> None:
    """Plan the training of a published model on many cards.

    Prints the fastest layouts that fit: memory of a card, seconds of a step, and what these are spent on. Data, tensor,
    pipeline, context and expert parallelism, ZeRO stages and recomputation are tried.
    """
    import json

    from softlookup.roofline.plan_text import cluster_plan, plan_text

    shown = _of_config(file, lambda config: cluster_plan(config, **options))
    click.echo(json.dumps(shown.as_json(), indent=1) if as_json else plan_text(shown))


def _of_config(file: Path, work: Callable[[Any], Result]) -> Result:
    """What is made of a config.json; what cannot be is refused."""
    from softlookup.untrusted_files import naming, read_json

    try:
        config = read_json(file)
        with naming(file):
            return work(config)
    except FileNotFoundError:
        refuse(f"{file} cannot be read: No such file or directory")
    except ValueError as error:
        refuse(str(error))
    except TypeError as error:
        refuse(f"{file}: {error}")


def _runs(config: Mapping[str, Any], counted: "ModelLayers") -> str:
    """Say whether `softlookup.model` builds the model, or its text decoder; and if not, why."""
    from softlookup.model import decoder_config

    text = {"eos_token_id": 0, **(config.get("text_config") or config)}  # which token ends a text changes no part
    try:
        decoder_config({**text, "model_type": counted.model_type, "tie_word_embeddings": counted.tied})
    except ValueError as refusal:
        return f"no: {refusal}"
    return "yes"


def _tuned(folder: Path) -> "ChatModel":
    """Load the model of an adapter, and merge the adapter into it."""
    from softlookup.model.chat_folder import SMOLLM2, load_chat
    from softlookup.model.lora import load_adapter, merge_lora, read_adapter_config

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
        from softlookup.figures import cross_map
        from softlookup.figures.show import save_figure

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


COMMANDS = (talk, tune, read, plan)
