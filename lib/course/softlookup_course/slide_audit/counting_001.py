"""Lecture 001, a layer's operations and what it moves: the table of shapes, and the question it ends with."""

from itertools import product
from typing import Any

import numpy as np

from softlookup.reference import multi_head_attention, project, softmax
from softlookup_course.slide_audit.intensity_001 import RIDGE as RIDGE
from softlookup_course.slide_audit.operations import draw_normal

HALF = 2
"""Bytes of a number in half precision."""
B, S, N, D = 2, 5, 3, 4
"""Small sizes to try shapes on, in the lecture's letters."""
H = N * D
GRID = tuple(product((1, 8), (1, 50, 1000), (8, 32), (64, 128)))
"""Sizes b, s, n, d to count for; h is n times d."""


def example() -> list[np.ndarray]:
    """X (b, s, h) and four matrices (h, h), drawn."""
    return draw_normal((B, S, H), *[(H, H)] * 4)


def dense(rows: int, inner: int, columns: int) -> tuple[int, int]:
    """Operations and numbers moved of a product: a multiply-add is two, factors are read, the result is written."""
    return 2 * rows * inner * columns, rows * inner + inner * columns + rows * columns


def scores(b: int, s: int, n: int, d: int) -> tuple[int, int]:
    """The same for queries times keys, or for weights times values."""
    flops, moved = dense(s, d, s)
    return b * n * flops, b * n * moved


def hidden_layer(b: int, s: int, h: int) -> tuple[int, int]:
    """The same for both products of the feed-forward network, each a kernel of its own."""
    up, down = dense(b * s, h, 4 * h), dense(b * s, 4 * h, h)
    return up[0] + down[0], up[1] + down[1]


def per_byte(counted: tuple[int, int]) -> float:
    """FLOP/byte in half precision, of operations and numbers moved."""
    return counted[0] / (HALF * counted[1])


def shapes() -> dict[str, Any]:
    x, *weights = example()
    b, s, n, d, h = B, S, N, D, H
    dagger = [project(x, w).reshape(b, s, n, d) for w in weights[:3]]
    q, k, v = (heads.transpose(0, 2, 1, 3) for heads in dagger)
    k_t = k.swapaxes(-1, -2)
    p = softmax(q @ k_t / np.sqrt(d))
    mixed = p @ v
    turned = mixed.transpose(0, 2, 1, 3)
    a = turned.reshape(b, s, h)
    y = project(a, weights[3])
    computed = [array.shape for array in (x, dagger[0], q, k_t, p, mixed, turned, a, y)]
    slide = [(b, s, h), (b, s, n, d), (b, n, s, d), (b, n, d, s), (b, n, s, s), (b, n, s, d), (b, s, n, d)]
    slide += [(b, s, h)] * 2
    w_q, w_k, w_v, w_o = weights
    same = bool(np.allclose(y, multi_head_attention(x, w_q, w_k, w_v, w_o, n)))
    return {"b": b, "d": d, "found": computed, "n": n, "s": s, "same": same, "slide": slide}


def llama_2_7b() -> tuple[int, int, int]:
    """Llama 2 7B's numbers learned, those that stand in products, and layers times width."""
    width, hidden, vocabulary, layers = 4096, 11_008, 32_000, 32
    working = layers * (4 * width * width + 3 * width * hidden) + vocabulary * width
    return working + vocabulary * width + (2 * layers + 1) * width, working, layers * width
