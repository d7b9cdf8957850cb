"""A chat model from a folder of the published kind: config.json, model.safetensors and tokenizer.json."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from softlookup.model.chat import ChatModel
from softlookup.model.language import DecoderLM
from softlookup.model.published import llama_config, llama_weights
from softlookup.model.smollm2 import SYSTEM, load_smollm2
from softlookup.model.weights import read_tensors
from softlookup.text.byte_level import ByteLevelTokenizer
from softlookup.text.vocabulary import Specials, Vocabulary
from softlookup.untrusted_files import (
    decode_utf8,
    is_pair_list,
    is_text_list,
    naming,
    read_bytes,
    read_json_object,
    shortened,
)

SMOLLM2 = "smollm2"
"""The name by which load_chat knows the model of load_smollm2."""

_PUBLISHED = "HuggingFaceTB/SmolLM2-135M-Instruct"


def load_chat(name: str | Path = SMOLLM2, *, device: torch.device | str = "cpu") -> ChatModel:
    """Load a chat model by its name or from its folder.

    Args:
        name: "smollm2" or its published name for the model of load_smollm2; anything else is a folder.
        device: Where to put the model.

    Returns:
        The model, in float32.

    Raises:
        ModuleNotFoundError: If the file of SmolLM2 is not installed; the message says how to install it.
        FileNotFoundError: If the folder or a file of it is missing.
        ValueError: If the folder holds another kind of model or tokenizer; the message names what differs.

    Book: 13_beyond_text.html#beyond-text-published.
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
    # The published template puts this sentence before a conversation that has no system message.
    templates = [folder / "tokenizer_config.json", folder / "chat_template.jinja"]
    is_smollm2 = any(path.exists() and SYSTEM in decode_utf8(read_bytes(path), path) for path in templates)
    with naming(folder):
        return ChatModel(model.to(device), tokenizer, system=SYSTEM if is_smollm2 else "")


def _read_model(folder: Path, description: Mapping[str, Any]) -> DecoderLM:
    with naming(folder / "config.json"):
        config = llama_config(description)
    tensors, _ = read_tensors(folder / "model.safetensors")
    if config.n_layers > len(tensors):
        raise ValueError(
            f"{folder / 'config.json'} has {config.n_layers} layers, and {folder / 'model.safetensors'} holds "
            f"{len(tensors)} tensors: they are not of the same model"
        )
    try:
        with torch.device("meta"):  # no room and no numbers for weights that are replaced at once
            model = DecoderLM(config)
    except (RuntimeError, TypeError, ArithmeticError) as error:
        raise ValueError(f"{folder / 'config.json'} describes no model: {shortened(str(error), 200)}") from error
    weights = {name: tensor.to(torch.float32) for name, tensor in llama_weights(tensors, config).items()}
    model.load_state_dict(weights, assign=True)
    return model


def published_tokenizer(content: Mapping[str, Any], description: Mapping[str, Any]) -> ByteLevelTokenizer:
    """Make the tokenizer that a tokenizer.json describes, where it is of SmolLM2's kind.

    Args:
        content: What tokenizer.json holds.
        description: What config.json holds; it names the ids of special tokens.

    Raises:
        ValueError: If the file describes another kind of tokenizer.

    Source: Radford et al. 2019 (bytes and merges); Allal et al. 2025 (single digits).
    """
    model, cutting = content.get("model") or {}, content.get("pre_tokenizer") or {}
    _check_types(model, cutting, added := content.get("added_tokens") or [])
    steps = [(step.get("type"), step.get("individual_digits")) for step in cutting.get("pretokenizers", [])]
    if model.get("type") != "BPE" or steps != [("Digits", True), ("ByteLevel", None)]:
        raise ValueError(
            f"tokenizer.json describes a {shortened(model.get('type'))!r} tokenizer with the steps "
            f"{shortened(steps, 200)}; wanted 'BPE' with single digits before bytes, as SmolLM2 has it"
        )
    number_of = dict(model["vocab"]) | {entry["content"]: entry["id"] for entry in added}
    tokens = sorted(number_of, key=number_of.__getitem__)
    if [number_of[token] for token in tokens] != list(range(len(tokens))):
        raise ValueError("tokenizer.json leaves ids out, or gives some of them twice; wanted 0, 1, 2 and so on")
    end: Any
    end, start = (description.get(name) for name in ("eos_token_id", "bos_token_id"))
    ids = [description.get("pad_token_id"), start, start, end]
    for name, number in (("eos_token_id", end), ("bos_token_id", start), ("pad_token_id", ids[0])):
        if (number is None and name == "eos_token_id") or not _is_id_or_none(number, len(tokens)):
            raise ValueError(f"config.json has {name} {shortened(number)}; wanted an id from 0 to {len(tokens) - 1}")
    specials = Specials(*(tokens[end if number is None else number] for number in ids))
    merges = [pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"]]
    names = [entry["content"] for entry in added if entry.get("special")]
    return ByteLevelTokenizer(Vocabulary(tokens, specials), [(left, right) for left, right in merges], names)


def _is_id_or_none(number: object, n_tokens: int) -> bool:
    return number is None or (type(number) is int and 0 <= number < n_tokens)


def _check_types(model: object, cutting: object, added: object) -> None:
    """Refuse parts of a tokenizer.json that are not of the type that every such file has there."""
    if not isinstance(model, dict) or not isinstance(cutting, dict):
        raise ValueError("tokenizer.json has a model or a pre_tokenizer that is no object")
    ids, merges, steps = model.get("vocab"), model.get("merges"), cutting.get("pretokenizers", [])
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise ValueError(f"tokenizer.json has the pretokenizers {shortened(steps)}; wanted a list of objects")
    if model.get("type") != "BPE":
        return  # what another type has is not looked at
    if not isinstance(ids, dict) or not all(type(number) is int for number in ids.values()):
        raise ValueError(f"tokenizer.json has the vocab {shortened(ids)}; wanted an object with an id for each token")
    is_text = is_text_list(merges) and all(pair.count(" ") == 1 for pair in merges or [])
    if not is_text and not is_pair_list(merges):
        raise ValueError(f"tokenizer.json has the merges {shortened(merges)}; wanted a list of pairs of tokens")
    if not isinstance(added, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("content"), str) and type(entry.get("id")) is int
        for entry in added
    ):
        raise ValueError(f"tokenizer.json has the added_tokens {shortened(added)}; wanted objects with content and id")
