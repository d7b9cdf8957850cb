"""Lecture 001, a layer's operations and what it moves: the table of shapes, and the question it ends with."""

from itertools import product
from math import isclose
from typing import Any

import numpy as np

from softlookup.reference import merge_heads, multi_head_attention, project, softmax, split_heads
from softlookup.slide_audit.intensity_001 import RIDGE

HALF = 2
"""Bytes of a number in half precision."""
B, S, N, D = 2, 5, 3, 4
"""Small sizes to try shapes on, in the lecture's letters."""
H = N * D
GRID = tuple(product((1, 8), (1, 50, 1000), (8, 32), (64, 128)))
"""Sizes b, s, n, d to count for; h is n times d."""


def example() -> tuple[np.ndarray, ...]:
    """X (b, s, h) and four matrices (h, h), drawn."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((B, S, H)), *(rng.standard_normal((H, H)) for _ in range(4))


def dense(rows: int, inner: int, columns: int) -> tuple[int, int]:
    """Operations and numbers moved of a product: a multiply-add is two, factors are read, the result is written."""
    return 2 * rows * inner * columns, rows * inner + inner * columns + rows * columns


def scores(b: int, s: int, n: int, d: int) -> tuple[int, int]:
    """The same for queries times keys, or for weights times values."""
    flops, moved = dense(s, d, s)
    return b * n * flops, b * n * moved


def hidden_layer(b: int, s: int, h: int, width: int = 4) -> tuple[int, int]:
    """The same for both products of the feed-forward network, each a kernel of its own."""
    up, down = dense(b * s, h, width * h), dense(b * s, width * h, h)
    return up[0] + down[0], up[1] + down[1]


def shapes() -> dict[str, Any]:
    x, *weights = example()
    b, s, n, d, h = B, S, N, D, H
    dagger = [project(x, w).reshape(b, s, n, d) for w in weights[:3]]
    q, k, v = (one.transpose(0, 2, 1, 3) for one in dagger)
    k_t = k.swapaxes(-1, -2)
    p = softmax(q @ k_t / np.sqrt(d))
    mixed = p @ v
    turned = mixed.transpose(0, 2, 1, 3)
    a = turned.reshape(b, s, h)
    y = project(a, weights[3])
    found = [one.shape for one in (x, dagger[0], q, k_t, p, mixed, turned, a, y)]
    slide = [(b, s, h), (b, s, n, d), (b, n, s, d), (b, n, d, s), (b, n, s, s), (b, n, s, d), (b, s, n, d)]
    slide += [(b, s, h)] * 2
    w_q, w_k, w_v, w_o = weights
    same = bool(np.allclose(y, multi_head_attention(x, w_q, w_k, w_v, w_o, n)))
    return {"b": b, "d": d, "found": found, "n": n, "s": s, "same": same, "slide": slide}


def projection_ratio() -> dict[str, Any]:
    def both(rows: int, h: int) -> tuple[float, float]:
        flops, moved = dense(rows, h, h)
        return flops / (HALF * moved), 1 / (1 / h + 1 / rows)

    ratios = [true / printed for true, printed in (both(b * s, n * d) for b, s, n, d in GRID)]
    (short, short_printed), (long, long_printed) = both(50, 4096), both(1000, 4096)
    return {
        "long": long,
        "long_printed": long_printed,
        "ratios": ratios,
        "short": short,
        "short_printed": short_printed,
    }


def weights_moved() -> dict[str, Any]:
    def moved(b: int, s: int, n: int, d: int) -> tuple[int, int]:
        only = scores(b, s, n, d)[1]
        return only, only + 2 * b * n * s * s

    b, s, n, d = 1, 1000, 32, 128
    only, all_of_it = moved(b, s, n, d)
    flops = scores(b, s, n, d)[0]
    apart, whole = flops / (HALF * only), (flops + 6 * b * n * s * s) / (HALF * all_of_it)
    printed = [2 * b * s * n * d + b * s * s * n for b, s, n, d in GRID]
    alone = printed == [moved(*sizes)[0] for sizes in GRID]
    together = flops * 2 / (HALF * 4 * b * n * s * d)  # of Q, K, V and the result
    return {
        "all_of_it": all_of_it,
        "alone": alone,
        "apart": apart,
        "d": d,
        "only": only,
        "printed": printed,
        "s": s,
        "sizes": sizes,
        "together": together,
        "whole": whole,
    }


def attention_ratio() -> dict[str, Any]:
    def intensity(b: int, s: int, n: int, d: int) -> float:
        flops, moved = scores(b, s, n, d)
        return flops / (HALF * moved)

    ratios = [intensity(b, s, n, d) * (1 / d + 1 / s) for b, s, n, d in GRID]
    free = all(isclose(intensity(1, s, 1, d), intensity(b, s, n, d)) for b, s, n, d in GRID)
    most = intensity(1, 10**7, 1, 128)
    return {"free": free, "most": most, "ratios": ratios}


def llama_2_7b() -> tuple[int, int, int]:
    """Llama 2 7B's numbers learned, those that stand in products, and layers times width."""
    width, hidden, vocabulary, layers = 4096, 11_008, 32_000, 32
    working = layers * (4 * width * width + 3 * width * hidden) + vocabulary * width
    return working + vocabulary * width + (2 * layers + 1) * width, working, layers * width
