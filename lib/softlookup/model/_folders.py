"""What a training command leaves in a folder, and how a model and its tokenizer come back from there."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from torch import nn

from softlookup.model.config import Config
from softlookup.model.rotary_scaling import RotaryScaling
from softlookup.model.weights import load_weights
from softlookup.text.bpe import BytePairTokenizer

Model = TypeVar("Model", bound=nn.Module)


def read_folder(folder: Path, build: Callable[[Config], Model], command: str) -> tuple[Model, BytePairTokenizer]:
    """Read merges.txt, config.json and model.safetensors; ``command`` makes such folders.

    Raises:
        FileNotFoundError: If one of the three files is missing; the message names it.
        CheckpointError: If the weights are not those of the configuration.
    """
    for name in ("merges.txt", "config.json", "model.safetensors"):
        if not (folder / name).exists():
            raise FileNotFoundError(f"{folder / name} is missing; wanted a folder that `{command}` has made")
    tokenizer = BytePairTokenizer.load(folder / "merges.txt")
    fields = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if fields.get("rotary_scaling") is not None:
        fields["rotary_scaling"] = RotaryScaling(**fields["rotary_scaling"])
    model = build(Config(**fields))
    load_weights(model, folder / "model.safetensors")
    return model, tokenizer
