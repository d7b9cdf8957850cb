"""A chat model from a folder of the published kind: config.json, model.safetensors and tokenizer.json."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from softlookup.model.published.chat import ChatModel
from softlookup.model.published.chat_template import template_system
from softlookup.model.published.families import llama_config, llama_weights
from softlookup.model.published.smollm2 import load_smollm2
from softlookup.model.whole.language import DecoderLM
from softlookup.model.whole.weights import read_tensors
from softlookup.text.tokenizer_json import check_settings, published_tokenizer
from softlookup_inside.untrusted_files import naming, read_json_object, shortened

SMOLLM2 = "smollm2"
"""The name by which load_chat knows the model of load_smollm2."""

_PUBLISHED = "HuggingFaceTB/SmolLM2-135M-Instruct"


def load_chat(name: str | Path = SMOLLM2, *, device: torch.device | str = "cpu") -> ChatModel:
    """Load a chat model by its name or from its folder.

    ``name`` is "smollm2", its published name, or a folder; the model is in float32. ModuleNotFoundError, which says how
    to install it, if the file of SmolLM2 is missing; FileNotFoundError for the folder or its files; ValueError if it
    holds another kind of model, tokenizer or chat template: what differs.
    """
    if str(name) in (SMOLLM2, _PUBLISHED):
        return load_smollm2(device=device)
    folder = Path(name)
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}; wanted {SMOLLM2!r} or the folder of a model")
    description = read_json_object(folder / "config.json")
    with naming(folder):
        model = _read_model(folder, description)
    content = read_json_object(folder / "tokenizer.json")
    with naming(folder / "tokenizer.json"):
        tokenizer = published_tokenizer(content, description)
    if (path := folder / "tokenizer_config.json").exists():
        settings = read_json_object(path)
        with naming(path):
            check_settings(settings, content)
    with naming(folder):
        return ChatModel(model.to(device), tokenizer, system=template_system(folder))


def _read_model(folder: Path, description: Mapping[str, Any]) -> DecoderLM:
    with naming(folder / "config.json"):
        config = llama_config(description)
    tensors = _read_shards(folder)
    if config.n_layers > len(tensors):
        raise ValueError(
            f"{folder / 'config.json'} has {config.n_layers} layers, and there are {len(tensors)} tensors: they are "
            "not of the same model"
        )
    try:
        with torch.device("meta"):  # no room and no numbers for weights that are replaced at once
            model = DecoderLM(config)
    except (RuntimeError, TypeError, ArithmeticError) as error:
        raise ValueError(f"{folder / 'config.json'} describes no model: {shortened(str(error), 200)}") from error
    weights = {name: tensor.to(torch.float32) for name, tensor in llama_weights(tensors, config).items()}
    model.load_state_dict(weights, assign=True)
    return model


def _read_shards(folder: Path) -> dict[str, Tensor]:
    """Read all tensors, of one file or of those that an index names."""
    path, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if path.exists() or not index.exists():
        return read_tensors(path)[0]
    files = read_json_object(index).get("weight_map")
    if not isinstance(files, dict) or not files or not all(map(_is_plain_name, files.values())):
        raise ValueError(
            f"{index} has the weight_map {shortened(files)}; wanted an object with the name of a file of this folder "
            "for each tensor"
        )
    tensors: dict[str, Tensor] = {}
    for name in sorted(set(files.values())):
        part, _ = read_tensors(folder / name)
        if wrong := sorted(part.keys() ^ {tensor for tensor, file in files.items() if file == name}):
            raise ValueError(f"{index} and {folder / name} differ: {shortened(wrong[0])} stands in one of them alone")
        tensors |= part
    return tensors


def _is_plain_name(name: object) -> bool:
    return isinstance(name, str) and name.endswith(".safetensors") and not {"/", "\\", ":", "\0"} & set(name)
