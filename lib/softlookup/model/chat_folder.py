"""A chat model from a folder of the published kind: config.json, model.safetensors and tokenizer.json."""

import json
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
    description = _read_json(folder / "config.json")
    config = llama_config(description)
    tensors, _ = read_tensors(folder / "model.safetensors")
    with torch.device("meta"):  # no room and no numbers for weights that are replaced at once
        model = DecoderLM(config)
    weights = {name: tensor.to(torch.float32) for name, tensor in llama_weights(tensors, config).items()}
    model.load_state_dict(weights, assign=True)
    tokenizer = published_tokenizer(_read_json(folder / "tokenizer.json"), description)
    # The published template puts this sentence before a conversation that has no system message.
    templates = [folder / "tokenizer_config.json", folder / "chat_template.jinja"]
    is_smollm2 = any(path.is_file() and SYSTEM in path.read_text(encoding="utf-8") for path in templates)
    return ChatModel(model.to(device), tokenizer, system=SYSTEM if is_smollm2 else "")


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
    steps = [(step.get("type"), step.get("individual_digits")) for step in cutting.get("pretokenizers", [])]
    if model.get("type") != "BPE" or steps != [("Digits", True), ("ByteLevel", None)]:
        raise ValueError(
            f"tokenizer.json describes a {model.get('type')!r} tokenizer with the steps {steps}; "
            "wanted 'BPE' with single digits before bytes, as SmolLM2 has it"
        )
    number_of = dict(model["vocab"]) | {entry["content"]: entry["id"] for entry in content.get("added_tokens", [])}
    tokens = sorted(number_of, key=number_of.__getitem__)
    if [number_of[token] for token in tokens] != list(range(len(tokens))):
        raise ValueError("tokenizer.json leaves ids out, or gives some of them twice; wanted 0, 1, 2 and so on")
    end, start = (description.get(name) for name in ("eos_token_id", "bos_token_id"))
    if not isinstance(end, int) or not 0 <= end < len(tokens):
        raise ValueError(f"config.json has eos_token_id {end!r}; wanted an id from 0 to {len(tokens) - 1}")
    ids = [description.get("pad_token_id"), start, start, end]
    specials = Specials(*(tokens[end if number is None else number] for number in ids))
    merges = [pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"]]
    names = [entry["content"] for entry in content.get("added_tokens", []) if entry.get("special")]
    return ByteLevelTokenizer(Vocabulary(tokens, specials), [(left, right) for left, right in merges], names)


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}: the folder of a model holds config.json, tokenizer.json")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} holds a {type(content).__name__}; wanted a JSON object")
    return content
