"""Commands for readers. Each imports what it needs when it runs."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from softlookup_command.shared import FILE, PATH, refuse

if TYPE_CHECKING:
    from softlookup.describing.layer_sizes import ModelLayers

Result = TypeVar("Result")


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

    config, model_glance = _of_config(file, lambda config: (config, glance(config)))
    if as_json:
        click.echo(json.dumps(model_glance.as_json(), indent=1))
    else:
        click.echo(f"{glance_text(model_glance)}\n\nruns in softlookup: {_runs(config, model_glance.model)}")


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

    training_plan = _of_config(file, lambda config: cluster_plan(config, **options))
    click.echo(json.dumps(training_plan.as_json(), indent=1) if as_json else plan_text(training_plan))


def _of_config(file: Path, compute: Callable[[Any], Result]) -> Result:
    """What is made of a config.json; what cannot be is refused."""
    from softlookup_inside.untrusted_files import naming, read_json

    try:
        config = read_json(file)
        with naming(file):
            return compute(config)
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


COMMANDS = (tune, read, plan)
