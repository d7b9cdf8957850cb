"""What decides a training run, beside the data: one description, and the file that holds it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeVar

from softlookup.model.parts.config import Config
from softlookup.text.tokenizer import Tokenizer
from softlookup_inside.untrusted_files import read_json, shortened

AnyRecipe = TypeVar("AnyRecipe", bound="RecipeFile")


@dataclass(frozen=True)
class RecipeFile:
    """What all recipes share: fields that are numbers, checked before hours are spent, and a JSON file of them."""

    @classmethod
    def read(cls: type[AnyRecipe], path: str | Path) -> AnyRecipe:
        """Read a recipe from a JSON file; what it does not name is as above.

        FileNotFoundError; ValueError, which names the file, if it is no JSON object, names something that no recipe
        has, or holds a number that is out of range or no number.
        """
        path = Path(path)
        try:
            settings = read_json(path)
        except FileNotFoundError:
            raise FileNotFoundError(f"there is no recipe {path}") from None
        known = {field.name for field in fields(cls)}
        if not isinstance(settings, dict):
            raise ValueError(f"{path} holds a {type(settings).__name__}; wanted an object with fields of a recipe")
        if not settings.keys() <= known:
            unknown = ", ".join(shortened(name) for name in sorted(settings.keys() - known)[:8])
            raise ValueError(f"{path} names {unknown}; a recipe has {', '.join(sorted(known))}")
        # JSON writes 1.0 and 1 alike.
        rates = {field.name for field in fields(cls) if field.type is float}
        settings = {
            name: float(value) if name in rates and type(value) is int else value for name, value in settings.items()
        }
        try:
            return cls(**settings)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: {error}") from None

    def _check_kinds(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            types = (int,) if field.type is int else (int, float)
            if isinstance(value, bool) or not isinstance(value, types):
                expected = "a whole number" if field.type is int else "a number"
                raise TypeError(f"{field.name} is {value!r}; wanted {expected}")

    def _check_shares(self, *names: str) -> None:
        for name in names:
            if not 0.0 <= getattr(self, name) < 1.0:
                raise ValueError(f"{name} is {getattr(self, name)}; wanted a share, at least 0 and below 1")

    def _check_sizes(self, least: Mapping[str, int]) -> None:
        """Refuse sizes below their least, heads that do not fit, and rates that cannot rise and fall."""
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        for name, lowest in least.items():
            if not settings[name] >= lowest:
                raise ValueError(f"{name} is {settings[name]}; wanted at least {lowest}")
        if settings["d_model"] % settings["n_heads"]:
            raise ValueError(
                f"d_model {settings['d_model']} cannot be cut into {settings['n_heads']} heads of equal width"
            )
        if not 0.0 < settings["peak"] < float("inf"):
            raise ValueError(f"peak is {settings['peak']}; wanted a positive, finite rate")
        if not 0 <= settings["warmup"] <= settings["decay_from"] < settings["steps"]:
            raise ValueError(
                f"warmup is {settings['warmup']}, decay_from {settings['decay_from']}, steps {settings['steps']}; "
                "wanted 0 <= warmup <= decay_from < steps"
            )


@dataclass(frozen=True)
class Recipe(RecipeFile):
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
        tokens_per_batch: Padded tokens of a batch, both languages together.
        peak: The highest learning rate.
        warmup: Steps over which it rises.
        decay_from: The step from which on it falls, in a straight line to 0 at the last.
        steps: All steps.
        average: The decay of the moving average of weights, which is what is kept at the end.
        seed: Where all chance comes from.

    TypeError if a field is not of its kind; ValueError, with the field, what was got and what was wanted, if a number
    is out of range.
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
    tokens_per_batch: int = 2000
    peak: float = 1.5e-3
    warmup: int = 1000
    decay_from: int = 16_000
    steps: int = 20_000
    average: float = 0.9995
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what makes no run, before hours are spent on it."""
        self._check_kinds()
        self._check_shares("dropout", "segmentation_dropout", "epsilon", "average")
        least = {"seed": 0, "max_length": 2, "vocab_size": 5}
        least |= dict.fromkeys(("d_model", "n_heads", "n_layers", "d_hidden"), 1)
        self._check_sizes(least)
        if self.tokens_per_batch < 2 * self.max_length:
            raise ValueError(
                f"tokens_per_batch is {self.tokens_per_batch}, max_length {self.max_length}: a batch has to hold the "
                f"longest pair, {2 * self.max_length} tokens"
            )

    def config(self, tokenizer: Tokenizer) -> Config:
        """Describe the model: a pre-LN encoder-decoder with sinusoidal positions and one table for all words."""
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


@dataclass(frozen=True)
class WriterRecipe(RecipeFile):
    """What decides the training of a decoder-only model on one text.

    Attributes:
        vocab_size: V, tokens.
        d_model: D.
        n_heads: N, query heads.
        n_kv_heads: K, key-value heads.
        n_layers: L.
        d_hidden: F.
        max_length: The context, in tokens, and the length of a training window.
        dropout: The share of each sublayer's output that is dropped.
        rows: Windows of a batch.
        peak: The highest learning rate.
        warmup: Steps over which it rises.
        decay_from: The step from which on it falls, in a straight line to 0 at the last.
        steps: All steps.
        weight_decay: AdamW's, on matrices alone.
        seed: Where all chance comes from.

    TypeError if a field is not of its kind; ValueError, with the field, what was got and what was wanted, if a number
    is out of range.
    """

    vocab_size: int = 2000
    d_model: int = 192
    n_heads: int = 6
    n_kv_heads: int = 2
    n_layers: int = 5
    d_hidden: int = 512
    max_length: int = 256
    dropout: float = 0.2
    rows: int = 8
    peak: float = 1.5e-3
    warmup: int = 200
    decay_from: int = 1000
    steps: int = 2000
    weight_decay: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what makes no run, before hours are spent on it."""
        self._check_kinds()
        self._check_shares("dropout", "weight_decay")
        least = {"seed": 0, "max_length": 2, "vocab_size": 5}
        least |= dict.fromkeys(("d_model", "n_heads", "n_kv_heads", "n_layers", "d_hidden", "rows"), 1)
        self._check_sizes(least)

    def config(self, tokenizer: Tokenizer) -> Config:
        """Describe the model: decoder-only, as they are built today.

        It has RMSNorm before each sublayer, rotary positions, SwiGLU, groups of query heads that share keys and values,
        no biases, and one table for input and output.
        """
        return Config(
            len(tokenizer),
            d_model=self.d_model,
            n_heads=self.n_heads,
            n_kv_heads=self.n_kv_heads,
            n_layers=self.n_layers,
            d_hidden=self.d_hidden,
            max_length=self.max_length,
            positions="rotary",
            norm="rms",
            pre_norm=True,
            activation="swiglu",
            hidden_bias=False,
            scale_embeddings=False,
            dropout=self.dropout,
            pad_id=tokenizer.pad_id,
            start_id=tokenizer.start_id,
            end_id=tokenizer.end_id,
        )
