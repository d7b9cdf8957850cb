"""What lies in the folder of a run beside its states: what it was begun with, its tokenizer, its curve."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from softlookup.model.whole.language import DecoderLM
from softlookup.model.whole.transformer import Transformer
from softlookup.model.whole.weights import CheckpointError, load_weights, save_weights
from softlookup.text.bpe import BytePairTokenizer
from softlookup.training.checkpoint import TrainingState, changed_settings
from softlookup.training.recipe import RecipeFile
from softlookup_inside.untrusted_files import read_json_object

Say = Callable[[str], None]

_LATER = ("steps", "decay_from")


def fixed(recipe: RecipeFile) -> dict[str, Any]:
    """Say what a run that is taken up again must not change: all but its end, and what begins later in it."""
    return {name: value for name, value in asdict(recipe).items() if name not in _LATER}


def same_run(path: Path, recipe: RecipeFile, **data: object) -> None:
    """Write down what the run was begun with, or see that it is still the same: merges are learned before any state.

    ``path`` is settings.json in the folder of the run's states; ``data`` is what it learns from and is chosen by,
    anything that JSON can hold. CheckpointError if the recipe or the data are others, or the file cannot be read.
    """
    digests = {name: hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16] for name, content in data.items()}
    settings = fixed(recipe) | digests
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, settings)
        return
    try:
        had = read_json_object(path)
    except ValueError as error:
        raise CheckpointError(str(error)) from error
    if changes := changed_settings(had, settings):
        raise CheckpointError(
            f"{path.parent.parent} holds a run with other settings: {changes}. Give another folder, or delete this one"
        )


def learned_tokenizer(texts: Iterable[str], path: Path, vocab_size: int, say: Say) -> BytePairTokenizer:
    """Learn merges from the training texts and keep them in a file, or read those that the run has learned before."""
    if path.exists():
        return BytePairTokenizer.load(path)
    tokenizer = BytePairTokenizer.train(texts, vocab_size=vocab_size)
    partial = path.with_suffix(".partial")
    tokenizer.save(partial)
    os.replace(partial, path)
    say(f"learned {len(tokenizer):,} tokens from the training text")
    return tokenizer


def write_json(path: Path, content: object) -> None:
    """Write a file whole or not at all."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    os.replace(partial, path)


def leave_model(
    model: DecoderLM | Transformer,
    folder: Path,
    recipe: RecipeFile,
    best_path: Path,
    state: TrainingState,
    **learned_from: int,
) -> None:
    """Write what a run leaves behind: its best weights in half precision, its sizes, its recipe and its curve.

    ``model``, of the run's sizes, is given the best weights, from ``best_path``; model.safetensors, config.json,
    recipe.json and curve.json go into ``folder``; ``learned_from`` is how much it learned from, for the curve.
    """
    load_weights(model, best_path)
    save_weights(model, folder / "model.safetensors", torch.float16)
    losses = {"best_step": state.best_step, "validation": state.validations, "training": thinned(state.losses)}
    write_json(folder / "config.json", asdict(model.config))
    write_json(folder / "recipe.json", asdict(recipe))
    write_json(folder / "curve.json", learned_from | losses)


def thinned(losses: Sequence[float], points: int = 200) -> list[tuple[int, float]]:
    """Take means of about so many equal stretches: the last step of each, and its mean loss."""
    stretch = max(1, len(losses) // points)
    return [
        (min(start + stretch, len(losses)), round(sum(part) / len(part), 4))
        for start in range(0, len(losses), stretch)
        if (part := losses[start : start + stretch])
    ]
