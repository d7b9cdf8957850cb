"""The model of chapter 9 on two by two processes and on one: ``softlookup bench grid``.

The encoder-decoder transformer of ``softlookup train`` learns the generated grammar, without dropout, on a grid and
alone. Both curves are kept, in float64 and in float32. Nothing is timed: the processes share the cores of one machine.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.harness import benchmark
from softlookup.model.whole.transformer import Transformer
from softlookup.training.data import BucketedBatches, encode_pairs
from softlookup.training.devices import run_on_ranks
from softlookup.training.grammar_run import grammar_recipe, grammar_splits
from softlookup.training.grid import cut_layers
from softlookup.training.loop import train
from softlookup.training.recipe import Recipe
from softlookup.training.run_folder import learned_tokenizer

DEVICES, TENSOR = 4, 2
DTYPES = ("float64", "float32")


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench: sentences to learn from, and what replaces entries of the recipe."""

    pairs: int = 2000
    steps: int = 30
    changed: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class CurvePair:
    """Losses of one run on one device and on the grid, in nats for each token, by step."""

    largest_difference: float
    alone: list[float]
    grid: list[float]


@dataclass(frozen=True)
class GridResult:
    """``ratio`` is the last loss on the grid to that on one device, in float64; ``curves`` are by dtype."""

    ratio: float
    ratio_of: str
    devices: int
    tensor: int
    d_model: int
    n_heads: int
    n_layers: int
    d_hidden: int
    curves: dict[str, CurvePair]


_QUICK = _Plan(60, 3, (("vocab_size", 120), ("d_model", 16), ("d_hidden", 24), ("n_layers", 1)))


@benchmark("grid", _Plan(), quick=_QUICK)
def bench_grid(sizes: _Plan) -> GridResult:
    """Train by one recipe on one process, and on two by two."""
    changed: dict[str, Any] = dict(sizes.changed)
    recipe = replace(grammar_recipe(), dropout=0.0, **changed)
    pairs = [(pair.english, pair.french) for pair in grammar_splits(sizes.pairs, n_validation=1, n_test=1)[0]]
    curves = {}
    for dtype in DTYPES:
        work = partial(_losses, recipe, sizes.steps, pairs, dtype)
        alone = work(1, torch.device("cpu"), lambda content: None)
        grid = run_on_ranks(partial(work, TENSOR), DEVICES, "cpu", lambda content: None)
        curves[dtype] = CurvePair(max(abs(a - b) for a, b in zip(alone, grid, strict=True)), alone, grid)
    exact = curves["float64"]
    about = "the last training loss on the grid to that on one device, in float64"
    layout = (DEVICES, TENSOR, recipe.d_model, recipe.n_heads, recipe.n_layers, recipe.d_hidden)
    return GridResult(exact.grid[-1] / exact.alone[-1], about, *layout, curves)


def _losses(
    recipe: Recipe,
    steps: int,
    pairs: list[tuple[str, str]],
    dtype: str,
    tensor: int,
    device: torch.device,
    tell: Callable[[Any], None],
) -> list[float]:
    """On one device, or on a rank of a grid where layers are divided among several: the loss of each step."""
    with tempfile.TemporaryDirectory() as folder:
        sentences = [sentence for pair in pairs for sentence in pair]
        tokenizer = learned_tokenizer(sentences, Path(folder) / "merges.txt", recipe.vocab_size, lambda line: None)
    torch.manual_seed(recipe.seed)
    model = Transformer(recipe.config(tokenizer)).to(device, getattr(torch, dtype))
    if tensor > 1:
        cut_layers(model, tensor)
    batches = BucketedBatches(
        encode_pairs(pairs, tokenizer), pad_id=tokenizer.pad_id, tokens_per_batch=recipe.tokens_per_batch
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=recipe.peak, betas=(0.9, 0.98), eps=1e-9)
    options: dict[str, Any] = {"steps": steps, "epsilon": recipe.epsilon, "shared": tensor > 1}
    return train(model, batches, optimizer=optimizer, **options).losses
