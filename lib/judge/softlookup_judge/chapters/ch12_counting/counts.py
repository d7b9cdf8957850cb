"""Tasks that count products: one, a layer's, an encoder-decoder's; and what this chapter's oracles count with."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded, sized
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.chapters.oracles import torch


def meta(*shape: int, size: int = 2) -> Any:
    """A tensor that has a shape, bytes and no numbers."""
    kinds = {1: torch.int8, 2: torch.float16, 4: torch.float32, 8: torch.float64}
    return torch.empty(shape, device="meta", dtype=kinds[size])


def product_flops(*pairs: tuple[tuple[int, ...], tuple[int, ...]]) -> int:
    """Operations of the products of pairs of shapes: torch says the result's shape, each number of it is a sum."""
    return sum(2 * int((meta(*a) @ meta(*b)).numel()) * a[-1] for a, b in pairs)


def _product_cases(rng: Rng) -> list[Case]:
    random_sizes = tuple(int(rng.integers(low, low + 60)) for low in (3, 70, 150))
    return sized(
        "rows, d_in, d_out, bytes_per_number",
        (2, 3, 5, 4),
        (1, 4096, 4096, 2),
        (1000, 4096, 11008, 2),
        (7, 7, 7, 1),
        (*random_sizes, 4),
    )


@graded("12.product", _product_cases, frame="plain")
def _product(rows: int, d_in: int, d_out: int, bytes_per_number: int) -> tuple[int, int, float]:
    moved = sum(meta(*shape, size=bytes_per_number).nbytes for shape in ((rows, d_in), (d_in, d_out), (rows, d_out)))
    flops = product_flops(((rows, d_in), (d_in, d_out)))
    return flops, moved, flops / moved


def _table_cases(rng: Rng) -> list[Case]:
    random_sizes = tuple(int(rng.integers(low, low + 9)) for low in (2, 12, 3, 25))
    return sized(
        "B, T, N, H, bytes_per_number",
        (1, 50, 32, 128, 2),
        (3, 5, 2, 4, 1),
        (64, 1, 32, 128, 2),
        (2, 1000, 8, 64, 4),
        (*random_sizes, 2),
    )


@graded("12.table", _table_cases, frame="plain")
def _table(batch: int, n_tokens: int, n_heads: int, head_width: int, bytes_per_number: int) -> np.ndarray:
    """From the shapes of products and tensors."""
    d = n_heads * head_width
    f = 4 * d
    x, hidden, square = (batch * n_tokens, d), (batch * n_tokens, f), (batch * n_heads, n_tokens, n_tokens)
    heads = (batch * n_heads, n_tokens, head_width)
    turned = (batch * n_heads, head_width, n_tokens)

    def product(times: int, a: tuple[int, ...], b: tuple[int, ...], out: tuple[int, ...]) -> tuple[int, int]:
        moved = sum(meta(*shape, size=bytes_per_number).nbytes for shape in (a, b, out))
        return times * product_flops((a, b)), times * moved

    scores = meta(*square, size=bytes_per_number)
    rows = [
        product(3, x, (d, d), x),
        product(1, heads, turned, square),
        (6 * scores.numel(), 2 * scores.nbytes),
        product(1, square, heads, heads),
        product(1, x, (d, d), x),
        product(1, x, (d, f), hidden),
        (meta(*hidden).numel(), 2 * meta(*hidden, size=bytes_per_number).nbytes),
        product(1, hidden, (f, d), x),
    ]
    return np.array([(flops, moved, flops / moved) for flops, moved in rows], dtype=np.float64)


Shapes = tuple[int, ...]


def _layer_cases(rng: Rng) -> list[Case]:
    t = int(rng.integers(3, 9))
    return sized(
        "T, S, D, N, K, H, F, gated, causal",
        (3, 3, 4, 2, 2, 2, 16, False, False),
        (1, 1000, 4096, 32, 32, 128, 11008, True, False),
        (1, 1000, 4096, 32, 8, 128, 14336, True, True),
        (5, 9, 10, 6, 2, 7, 30, True, True),
        (8, 8, 12, 4, 4, 3, 48, False, True),
        (5, 9, 10, 6, 3, 7, 31, True, False),
        (t, t + int(rng.integers(1, 20)), int(rng.integers(10, 40)), 6, 3, 11, 50, False, True),
    )


@graded("12.layer", _layer_cases, frame="plain")
def _layer(
    n_tokens: int,
    context: int,
    d_model: int,
    n_heads: int,
    n_kv_heads: int,
    head_width: int,
    d_hidden: int,
    gated: bool,
    causal: bool,
) -> int:
    """The products of shapes; under a causal mask one query after the other, with the keys that it may see."""
    into = [
        ((n_tokens, d_model), (d_model, width))
        for width in (n_heads * head_width, n_kv_heads * head_width, n_kv_heads * head_width)
    ]
    pairs: list[tuple[Shapes, Shapes]] = [*into, ((n_tokens, n_heads * head_width), (n_heads * head_width, d_model))]
    for n_keys, queries in (
        [(context - n_tokens + i + 1, 1) for i in range(n_tokens)] if causal else [(context, n_tokens)]
    ):
        maps = (n_heads, queries, n_keys)
        pairs += [
            ((n_heads, queries, head_width), (n_heads, head_width, n_keys)),
            (maps, (n_heads, n_keys, head_width)),
        ]
    pairs += [((n_tokens, d_model), (d_model, d_hidden))] * (2 if gated else 1) + [
        ((n_tokens, d_hidden), (d_hidden, d_model))
    ]
    return product_flops(*pairs)


def _pair_cases(rng: Rng) -> list[Case]:
    random_sizes = tuple(int(rng.integers(low, low + 8)) for low in (2, 11, 21, 31, 41, 2, 61))
    return sized(
        "B, S, T, D, F, L, V",
        (1, 9, 7, 512, 2048, 6, 37000),
        (3, 5, 4, 6, 10, 2, 11),
        (2, 8, 8, 12, 48, 1, 30),
        (1, 1, 3, 4, 5, 3, 6),
        random_sizes,
    )


@graded("12.encoder-decoder", _pair_cases, frame="plain")
def _pair(
    batch: int, source: int, target: int, d_model: int, d_hidden: int, n_layers: int, vocab_size: int
) -> tuple[int, int]:
    """The products of shapes, one sequence after the other; heads do not change these counts."""

    def looking(asking: int, keys: int) -> list[tuple[Shapes, Shapes]]:
        into = [
            ((asking, d_model), (d_model, d_model)),
            ((keys, d_model), (d_model, d_model)),
            ((keys, d_model), (d_model, d_model)),
        ]
        return [
            *into,
            ((asking, d_model), (d_model, keys)),
            ((asking, keys), (keys, d_model)),
            ((asking, d_model), (d_model, d_model)),
        ]

    def thinking(rows: int) -> list[tuple[Shapes, Shapes]]:
        return [((rows, d_model), (d_model, d_hidden)), ((rows, d_hidden), (d_hidden, d_model))]

    encoder = product_flops(*looking(source, source), *thinking(source))
    decoder = product_flops(*looking(target, target), *looking(target, source), *thinking(target))
    return batch * n_layers * encoder, batch * (
        n_layers * decoder + product_flops(((target, d_model), (d_model, vocab_size)))
    )
