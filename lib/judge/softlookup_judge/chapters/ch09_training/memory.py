"""Tasks that count: bytes of a training run, parameters of an encoder-decoder."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded, sized
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.chapters.oracles import torch

RECIPES = ("float32", "autocast", "master")


def _bytes_cases(rng: Rng) -> list[Case]:
    sizes = [(1_000_000, 5_000_000), (65_000_000, 900_000_000), (3, 7)]
    sizes.append((int(rng.integers(10, 99)), int(rng.integers(100, 999))))
    return [
        Case(f"{p:,} parameters, {a:,} activations, {recipe}", (p, a, recipe)) for p, a in sizes for recipe in RECIPES
    ]


SIZES = {"float32": ("float32",) * 4, "autocast": ("float32",) * 4, "master": ("float16",) * 2 + ("float32",) * 3}


@graded("09.bytes", _bytes_cases, frame="plain")
def _bytes(parameters: int, activations: int, recipe: str) -> tuple[int, int]:
    """Sizes as numpy has them: weights, gradients, what the optimiser keeps."""
    each = sum(np.dtype(dtype).itemsize for dtype in SIZES[recipe])
    wide = np.dtype("float32" if recipe == "float32" else "float16").itemsize
    return each * parameters, wide * activations


def _count_cases(rng: Rng) -> list[Case]:
    return sized(
        "V, D, F, L",
        (37_000, 512, 2048, 6),
        (37_000, 1024, 4096, 6),
        (7, 4, 10, 1),
        (11, 6, 9, 3),
        (int(rng.integers(20, 90)), 8, int(rng.integers(9, 30)), 2),
    )


@graded("09.count", _count_cases, frame="plain")
def _count(vocab_size: int, d_model: int, d_hidden: int, n_layers: int) -> int:
    """Counted on torch's own modules, on the device that holds no numbers."""
    from torch import nn

    def layer(attentions: int) -> nn.Module:
        products = [nn.Linear(d_model, d_model, bias=False) for _ in range(4 * attentions)]
        think = [nn.Linear(d_model, d_hidden), nn.Linear(d_hidden, d_model)]
        return nn.ModuleList([*products, *think, *(nn.LayerNorm(d_model) for _ in range(attentions + 1))])

    with torch.device("meta"):
        parts = [nn.Embedding(vocab_size, d_model), *(layer(1 + i % 2) for i in range(2 * n_layers))]
    return sum(p.numel() for p in nn.ModuleList(parts).parameters())
