"""Kernels in the manner of Triton's tutorials and of public ones, with the names that chapter 18 does not use.

They are read twice, as those of ``kernels.py``; ``CASES`` has the same form, and the numpy answer behind it.
"""

import math
from typing import Any

import numpy as np

from softlookup.tiles import jit, tl


@jit
def seeded_dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    keep = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(keep, tl.load(x + at, mask=mask, other=0.0) / (1 - p), 0.0), mask=mask)


@jit
def persistent_softmax(out, x, n_rows, n_cols, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    cols = tl.max_contiguous(tl.multiple_of(tl.arange(0, BLOCK), BLOCK), BLOCK)
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0), num_stages=STAGES):
        tile = tl.load(x + row * n_cols + cols, mask=cols < n_cols, other=-float("inf"), eviction_policy="evict_first")
        tl.store(out + row * n_cols + cols, tl.softmax(tile), mask=cols < n_cols, cache_modifier=".cs")


@jit
def gelu(tile):
    return 0.5 * tile * (1 + tl.erf(tile * 0.7071067811865476))


@jit
def grouped_matmul(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACT: tl.constexpr
):
    pid = tl.program_id(0)
    rows, cols = tl.cdiv(M, BM), tl.cdiv(N, BN)
    i, j = tl.swizzle2d(pid // cols, pid % cols, rows, cols, GROUP)
    at_m, at_n, at_k = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, tl.cdiv(K, BK), num_stages=3, flatten=True):
        in_k = k * BK + at_k
        left = tl.load(a + at_m[:, None] * K + in_k[None, :], mask=(at_m[:, None] < M) & (in_k[None, :] < K), other=0.0)
        right = tl.load(
            b + in_k[:, None] * N + at_n[None, :], mask=(in_k[:, None] < K) & (at_n[None, :] < N), other=0.0
        )
        acc = tl.dot(left, right, acc, allow_tf32=False)
    if ACT == "gelu":
        acc = gelu(acc)
    tl.store(c + at_m[:, None] * N + at_n[None, :], acc, mask=(at_m[:, None] < M) & (at_n[None, :] < N))


@jit
def described_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    left = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    right = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    result = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    at_m, at_n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(tl.cdiv(K, BK)):
        acc = tl.dot(left.load([at_m, k * BK]), right.load([at_n, k * BK]).T, acc)
    result.store([at_m, at_n], acc.to(result.dtype))


@jit
def norm_backward(dx, dy, x, weight, partial, n, eps, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """A group of rows in each program; the weights' gradient is summed over groups by another kernel."""
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    w = tl.load(weight + cols, mask=mask, other=0.0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for at in tl.static_range(ROWS):
        row = tl.program_id(0) * ROWS + at
        a = tl.load(x + row * n + cols, mask=mask, other=0.0)
        g = tl.load(dy + row * n + cols, mask=mask, other=0.0)
        inverse = tl.rsqrt(tl.sum(a * a) / n + eps)
        a *= inverse
        total += g * a
        g *= w
        tl.store(dx + row * n + cols, (g - a * (tl.sum(a * g) / n)) * inverse, mask=mask)
    tl.store(partial + tl.program_id(0) * n + cols, total, mask=mask)


@jit
def rotary(x, angles, out, H: tl.constexpr):
    """Neighbours are pairs, each turned by its angle."""
    at, pairs = tl.program_id(0) * H + tl.arange(0, H), tl.arange(0, H // 2)
    even, odd = tl.split(tl.reshape(tl.load(x + at), (H // 2, 2)))
    angle = tl.load(angles + tl.program_id(0) * (H // 2) + pairs)
    cos, sin = tl.cos(angle), tl.sin(angle)
    tl.store(out + at, tl.interleave(even * cos - odd * sin, even * sin + odd * cos))


@jit
def routed(scores, expert, slot, counts, T: tl.constexpr, E: tl.constexpr):
    """Each token goes to its best expert, and there behind those before it."""
    rows, experts = tl.arange(0, T), tl.arange(0, E)
    tile = tl.load(scores + rows[:, None] * E + experts[None, :])
    _, best = tl.max(tile, axis=1, return_indices=True)
    is_best = (best[:, None] == experts[None, :]).to(tl.int32)
    before = tl.cumsum(is_best, axis=0) - is_best
    tl.store(expert + rows, best)
    tl.store(slot + rows, tl.sum(before * is_best, axis=1))
    tl.store(counts + experts, tl.sum(is_best, axis=0))


@jit
def quantised_rows(x, q, scales, n, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    tile = tl.load(x + row * n + cols, mask=cols < n, other=0.0)
    scale = tl.max(tl.abs(tile)) / 127.0
    tl.store(q + row * n + cols, tl.clamp(tl.floor(tile / scale + 0.5), -128.0, 127.0).to(tl.int8), mask=cols < n)
    tl.store(scales + row, scale)


@jit
def cross_entropy(logits, labels, losses, V, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    tile = tl.load(logits + row * V + cols, mask=cols < V, other=-float("inf"))
    label = tl.load(labels + row)
    top = tl.max(tile, 0)
    total = tl.sum(tl.exp(tile - top), 0)
    tl.store(losses + row, tl.log(total) + top - tl.load(logits + row * V + label))


@jit
def paged_scores(q, keys, table, out, n, H: tl.constexpr, PAGE: tl.constexpr):
    """A single query against a page of keys: a product with one row."""
    page = tl.load(table + tl.program_id(0))
    rows, h = tl.arange(0, PAGE), tl.arange(0, H)
    query, key = tl.load(q + h)[None, :], tl.load(keys + (page * PAGE + rows)[:, None] * H + h[None, :])
    at = tl.program_id(0) * PAGE + rows
    tl.store(out + at[None, :], tl.dot(query, tl.trans(key), input_precision="ieee"), mask=at[None, :] < n)


def _floats(*shape: int, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype("f")


def _gelu(x: np.ndarray) -> np.ndarray:
    return x / 2 * (1 + np.vectorize(math.erf)(x * 0.7071067811865476))


def _softmax(x: np.ndarray) -> np.ndarray:
    weights = np.exp(x - x.max(1, keepdims=True))
    return np.asarray(weights / weights.sum(1, keepdims=True))


def _norm_gradient(dy: np.ndarray, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    inverse = 1 / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5)
    a, g = x * inverse, dy * w
    return np.asarray((g - a * (a * g).mean(1, keepdims=True)) * inverse)


def _rotated(x: np.ndarray, angles: np.ndarray) -> np.ndarray:
    turned = (x[:, ::2] + 1j * x[:, 1::2]) * np.exp(1j * angles)
    return np.stack([turned.real, turned.imag], -1).reshape(x.shape)


_X, _A, _B, _BT = _floats(5, 20), _floats(70, 48), _floats(48, 40, seed=4), _floats(40, 48, seed=4)
_LABELS = np.array([3, 0, 19, 7, 11], "int64")
_TABLE = np.array([2, 0, 3], "int32")
CASES: dict[str, tuple[Any, ...]] = {
    "seeded dropout": (seeded_dropout, (3,), (_floats(70), _floats(70) * 0, 70, 0.5, 123), {"BLOCK": 32}, (1,), None),
    "persistent softmax": (
        *(persistent_softmax, (2,), (_X * 0, _X, 5, 20), {"BLOCK": 32, "STAGES": 2}, (0,)),
        _softmax(_X),
    ),
    "grouped product": (
        *(grouped_matmul, (15,), (_A, _B, np.zeros((70, 40), "f"), 70, 40, 48)),
        *({"BM": 16, "BN": 16, "BK": 16, "GROUP": 2, "ACT": "gelu"}, (2,), _gelu(_A @ _B)),
    ),
    "described product": (
        *(described_matmul, (5, 3), (_A, _BT, np.zeros((70, 40), "f"), 70, 40, 48)),
        *({"BM": 16, "BN": 16, "BK": 32}, (2,), _A @ _BT.T),
    ),
    "norm backward": (
        *(norm_backward, (3,)),
        (*(_floats(6, 20) * 0, _floats(6, 20), _floats(6, 20, seed=5), _floats(20)), np.zeros((3, 20), "f"), 20, 1e-5),
        *({"BLOCK": 32, "ROWS": 2}, (0, 4)),
        *(_norm_gradient(_floats(6, 20), _floats(6, 20, seed=5), _floats(20)),),
    ),
    "rotary": (
        *(rotary, (5,), (_floats(5, 16), _floats(5, 8, seed=6), np.zeros((5, 16), "f")), {"H": 16}, (2,)),
        _rotated(_floats(5, 16), _floats(5, 8, seed=6)),
    ),
    "routed": (
        *(routed, (1,), (_floats(16, 4), np.zeros(16, "int32"), np.zeros(16, "int32"), np.zeros(4, "int32"))),
        *({"T": 16, "E": 4}, (1, 2, 3), _floats(16, 4).argmax(1)),
    ),
    "quantised rows": (
        *(quantised_rows, (5,), (_X, np.zeros((5, 20), "int8"), np.zeros(5, "f"), 20), {"BLOCK": 32}, (1, 2)),
        np.floor(_X / (np.abs(_X).max(1, keepdims=True) / np.float32(127)) + 0.5),
    ),
    "cross entropy": (
        *(cross_entropy, (5,), (_X, _LABELS, np.zeros(5, "f"), 20), {"BLOCK": 32}, (2,)),
        -np.log(_softmax(_X)[np.arange(5), _LABELS]),
    ),
    "paged scores": (
        *(paged_scores, (3,), (_floats(16), _floats(64, 16, seed=7), _TABLE, np.zeros(40, "f"), 40)),
        *({"H": 16, "PAGE": 16}, (3,)),
        (_floats(64, 16, seed=7).reshape(4, 16, 16)[_TABLE] @ _floats(16)).reshape(-1)[:40],
    ),
}
"""By name: kernel, grid, arguments, arguments by name, positions of what it writes, and what is first of these."""
