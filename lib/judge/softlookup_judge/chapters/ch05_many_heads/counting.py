"""Tasks that count what a layer of many heads costs: parameters and operations."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def plain(name: str, *sizes: tuple[Any, ...]) -> list[Case]:
    """One case of plain numbers for each tuple of sizes, labelled by them."""
    return [Case(f"({name}) = {args}", args, frame="plain") for args in sizes]


def _parameter_cases(rng: Rng) -> list[Case]:
    return plain(
        "D, N, K, H, bias",
        (4, 5, 5, 3, False),
        (512, 8, 8, 64, False),
        (512, 8, 8, 64, True),
        (4096, 32, 8, 128, False),
        (6, 4, 1, 5, True),
        (int(rng.integers(5, 90)), 6, 3, int(rng.integers(2, 40)), True),
    )


def _parameters(d_model: int, n_heads: int, n_kv_heads: int, head_width: int, bias: bool) -> int:
    """Counted matrix by matrix, as torch's Linear would hold them, on the device that holds no numbers."""
    import torch

    wide, narrow = n_heads * head_width, n_kv_heads * head_width
    pairs = ((d_model, wide), (d_model, narrow), (d_model, narrow), (wide, d_model))
    layers = [torch.nn.Linear(*pair, bias=bias, device="meta") for pair in pairs]
    return sum(p.numel() for layer in layers for p in layer.parameters())


PARAMETERS = described("05.parameters", cases=_parameter_cases, oracle=_parameters, frame="plain")


def _cost_cases(rng: Rng) -> list[Case]:
    return plain(
        "B, T, D, N, K, H",
        (1, 2, 4, 5, 5, 3),
        (1, 100, 512, 8, 8, 64),
        (3, 7, 10, 4, 2, 5),
        (2, 64, 96, 6, 1, 8),
        (
            int(rng.integers(2, 9)),
            int(rng.integers(11, 40)),
            int(rng.integers(41, 80)),
            6,
            3,
            int(rng.integers(12, 30)),
        ),
    )


def _cost(
    batch: int, n_tokens: int, d_model: int, n_heads: int, n_kv_heads: int, head_width: int
) -> tuple[np.ndarray, np.ndarray]:
    """The multiplications of the products, each counted by adding up a 1, and as many additions."""

    def counted(*pairs: tuple[tuple[int, ...], tuple[int, ...]]) -> int:
        return sum(int(2 * (np.ones(left) @ np.ones(right)).sum()) for left, right in pairs)

    rows, wide, narrow = batch * n_tokens, n_heads * head_width, n_kv_heads * head_width
    into = [((rows, d_model), (d_model, width)) for width in (wide, narrow, narrow)]
    maps = (batch * n_heads, n_tokens, n_tokens)
    heads = (batch * n_heads, n_tokens, head_width)
    return (
        np.array(counted(*into, ((rows, wide), (wide, d_model)))),
        np.array(counted((heads, (heads[0], head_width, n_tokens)), (maps, heads))),
    )


COST = described("05.cost", cases=_cost_cases, oracle=_cost, frame="plain")
