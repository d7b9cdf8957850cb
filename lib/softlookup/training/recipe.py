"""What decides the training of a translator, beside the data: one description, and the file that holds it."""

import json
from dataclasses import dataclass, fields
from pathlib import Path

from softlookup.model.config import Config
from softlookup.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Recipe:
    """What decides a run, beside the data.

    Attributes:
        vocab_size: V, pieces of words shared by both languages.
        d_model: D.
        n_heads: N.
        n_layers: L, of the encoder and of the decoder.
        d_hidden: F.
        max_length: The most pieces that a sentence may have; longer pairs are left out and counted.
        dropout: The share of each sublayer's output that is dropped.
        segmentation_dropout: The share of merges that are skipped when words are cut, anew in each epoch.
        epsilon: Label smoothing.
        consistency: How much the disagreement of two passes with other numbers dropped counts; 0 for one pass.
        consistency_from: The first step of two passes; before it there is one, at half the cost.
        tokens_per_batch: Padded tokens of a batch, both languages together.
        peak: The highest learning rate.
        warmup: Steps over which it rises.
        decay_from: The step from which on it falls, in a straight line to 0 at the last.
        steps: All steps.
        average: The decay of the moving average of weights, which is what is kept at the end.
        seed: Where all chance comes from.

    Raises:
        TypeError: If a field is not of its kind.
        ValueError: If a number is out of range; the message names the field, what was got and what was wanted.
    """

    vocab_size: int = 4000
    d_model: int = 192
    n_heads: int = 4
    n_layers: int = 3
    d_hidden: int = 512
    max_length: int = 256
    dropout: float = 0.3
    segmentation_dropout: float = 0.1
    epsilon: float = 0.1
    consistency: float = 0.0
    consistency_from: int = 1
    tokens_per_batch: int = 2000
    peak: float = 1.5e-3
    warmup: int = 1000
    decay_from: int = 16_000
    steps: int = 20_000
    average: float = 0.9995
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what makes no run, before hours are spent on it."""
        for field in fields(self):
            value = getattr(self, field.name)
            wanted = (int,) if field.type is int else (int, float)
            if isinstance(value, bool) or not isinstance(value, wanted):
                kind = "a whole number" if field.type is int else "a number"
                raise TypeError(f"{field.name} is {value!r}; wanted {kind}")
        for name in ("dropout", "segmentation_dropout", "epsilon", "average"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise ValueError(f"{name} is {getattr(self, name)}; wanted a share, at least 0 and below 1")
        least = {"consistency": 0, "consistency_from": 1, "seed": 0, "max_length": 2, "vocab_size": 5}
        least |= dict.fromkeys(("d_model", "n_heads", "n_layers", "d_hidden"), 1)
        for name, lowest in least.items():
            if not getattr(self, name) >= lowest:
                raise ValueError(f"{name} is {getattr(self, name)}; wanted at least {lowest}")
        if self.d_model % self.n_heads:
            raise ValueError(f"d_model {self.d_model} cannot be cut into {self.n_heads} heads of equal width")
        if not 0.0 < self.peak < float("inf"):
            raise ValueError(f"peak is {self.peak}; wanted a positive, finite rate")
        if not 0 <= self.warmup <= self.decay_from < self.steps:
            raise ValueError(
                f"warmup is {self.warmup}, decay_from {self.decay_from}, steps {self.steps}; "
                "wanted 0 <= warmup <= decay_from < steps"
            )
        if self.tokens_per_batch < 2 * self.max_length:
            raise ValueError(
                f"tokens_per_batch is {self.tokens_per_batch}, max_length {self.max_length}: a batch has to hold the "
                f"longest pair, {2 * self.max_length} tokens"
            )

    @classmethod
    def read(cls, path: str | Path) -> "Recipe":
        """Read a recipe from a JSON file; what it does not name is as above.

        Args:
            path: The file.

        Returns:
            The recipe.

        Raises:
            FileNotFoundError: If there is no such file.
            ValueError: If the file is no JSON object, names something that no recipe has, or holds a number that is
                out of range or no number; the message names the file.
        """
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"there is no recipe {path}")
        try:
            given = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path} is no JSON: {error}") from None
        known = {field.name for field in fields(cls)}
        if not isinstance(given, dict):
            raise ValueError(f"{path} holds a {type(given).__name__}; wanted an object with fields of a recipe")
        if not given.keys() <= known:
            unknown = ", ".join(sorted(given.keys() - known))
            raise ValueError(f"{path} names {unknown}; a recipe has {', '.join(sorted(known))}")
        # JSON writes 1.0 and 1 alike.
        rates = {field.name for field in fields(cls) if field.type is float}
        given = {name: float(value) if name in rates and type(value) is int else value for name, value in given.items()}
        try:
            return cls(**given)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: {error}") from None

    def config(self, tokenizer: Tokenizer) -> Config:
        """Describe the model.

        Args:
            tokenizer: Whose vocabulary the model speaks.

        Returns:
            A pre-LN encoder-decoder with sinusoidal positions and one table for both languages and the output.

        """
        return Config(
            len(tokenizer),
            d_model=self.d_model,
            n_heads=self.n_heads,
            n_layers=self.n_layers,
            d_hidden=self.d_hidden,
            max_length=self.max_length,
            pre_norm=True,
            dropout=self.dropout,
            pad_id=tokenizer.pad_id,
            start_id=tokenizer.start_id,
            end_id=tokenizer.end_id,
        )
