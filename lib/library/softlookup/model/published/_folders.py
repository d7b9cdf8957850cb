"""What a training command leaves in a folder, and how a model and its tokenizer come back from there."""

import math
from collections.abc import Callable
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import torch
from torch import nn

from softlookup.model.parts.config import Config
from softlookup.model.parts.rotary_scaling import RotaryScaling
from softlookup.model.whole.weights import CheckpointError, check_fit, fill, model_tensors, read_tensors
from softlookup.text.bpe import BytePairTokenizer
from softlookup_inside.untrusted_files import naming, read_json_object, shortened

Model = TypeVar("Model", bound=nn.Module)
Made = TypeVar("Made", Config, RotaryScaling)


def read_folder(folder: Path, build: Callable[[Config], Model], command: str) -> tuple[Model, BytePairTokenizer]:
    """Read merges.txt, config.json and model.safetensors; ``command`` makes such folders.

    FileNotFoundError, which names it, if one of the three is missing; CheckpointError if the weights are not those of
    the configuration; ValueError, which names it, if another file cannot be used.
    """
    for name in ("merges.txt", "config.json", "model.safetensors"):
        if not (folder / name).exists():
            raise FileNotFoundError(f"{folder / name} is missing; wanted a folder that `{command}` has made")
    tokenizer = BytePairTokenizer.load(folder / "merges.txt")
    config = _read_config(folder / "config.json")
    path = folder / "model.safetensors"
    tensors, _ = read_tensors(path)
    if max(config.n_layers, config.n_decoder_layers or 0) > len(tensors):
        raise CheckpointError(
            f"{path} does not fit this model: it holds {len(tensors)} tensors, and {folder / 'config.json'} has "
            f"{config.n_layers} layers"
        )
    try:
        with torch.device("meta"):  # sizes that are not those of the weights take no memory
            targets = model_tensors(build(config))
    except (RuntimeError, TypeError, ValueError, ArithmeticError) as error:
        raise ValueError(f"{folder / 'config.json'} describes no model: {shortened(str(error), 200)}") from error
    check_fit(targets, tensors, path)
    model = build(config)
    fill(model_tensors(model), tensors, path)
    return model, tokenizer


def _read_config(path: Path) -> Config:
    settings = read_json_object(path)
    with naming(path):
        if settings.get("rotary_scaling") is not None:
            settings["rotary_scaling"] = _made(RotaryScaling, settings["rotary_scaling"])
        return _made(Config, settings)


def _made(description_type: type[Made], settings: object) -> Made:
    """Make a description of what JSON has for its fields, each of which has to be of its type."""
    if not isinstance(settings, dict):
        raise ValueError(f"a {description_type.__name__} is {shortened(settings)}; wanted an object")
    types = get_type_hints(description_type)
    for name, value in settings.items():
        if name not in types:
            raise ValueError(f"{shortened(name)} is no field of a {description_type.__name__}")
        if not _is_of_type(value, types[name]):
            raise ValueError(f"{name} is {shortened(value)}, which is not of the type of this field")
    # JSON writes 1.0 and 1 alike.
    rates = {name for name, hint in types.items() if hint is float or float in get_args(hint)}
    values: dict[str, Any] = {
        name: float(value) if name in rates and type(value) is int else value for name, value in settings.items()
    }
    try:
        return description_type(**values)
    except TypeError as error:
        raise ValueError(str(error)) from error


def _is_of_type(value: object, hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return any(_is_of_type(value, option) for option in get_args(hint))
    if get_origin(hint) is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if hint is float:
        return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
    return type(value) is hint
