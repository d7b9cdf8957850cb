"""The kernels that the figure of chapter 18 plays, with what each is launched with.

Letters of its own: n columns of a row or sides of a matrix, BLOCK the side of a tile that the reader chooses.
"""

# A kernel has no annotations but Triton's: its arguments are arrays outside and pointers inside.
# mypy: disable-error-code="no-untyped-def, name-defined"

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlookup.tiles import Kernel, jit, tl

SIDE = 128
"""Rows and columns of the matrices, and tokens of the attention."""
HEAD_WIDTH = 32
TILES = (16, 32, 64, 128)


@jit
def softmax_of_rows(x, y, n, BLOCK: tl.constexpr, COLUMNS: tl.constexpr):
    """Read each row once, whole."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = rows[:, None] * n + tl.arange(0, COLUMNS)[None, :]
    scores = tl.load(x + at)
    powers = tl.exp(scores - tl.max(scores, 1, keep_dims=True))
    tl.store(y + at, powers / tl.sum(powers, 1, keep_dims=True))


@jit
def softmax_in_three_reads(x, y, n, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """Read each row for its maximum, for its sum, and for its results."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = rows[:, None] * n + tl.arange(0, BLOCK)[None, :]
    largest = tl.full((ROWS, 1), float("-inf"), tl.float32)
    for start in range(0, n, BLOCK):
        largest = tl.maximum(largest, tl.max(tl.load(x + at + start), 1, keep_dims=True))
    total = tl.zeros((ROWS, 1), tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.sum(tl.exp(tl.load(x + at + start) - largest), 1, keep_dims=True)
    for start in range(0, n, BLOCK):
        tl.store(y + at + start, tl.exp(tl.load(x + at + start) - largest) / total)


@jit
def matrix_product(a, b, out, n, BLOCK: tl.constexpr):
    """Read a row of tiles of a and a column of tiles of b for each tile of the product."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        inner = start + tl.arange(0, BLOCK)
        a_tile = tl.load(a + rows * n + inner[None, :])
        b_tile = tl.load(b + inner[:, None] * n + columns)
        total += tl.dot(a_tile, b_tile)
    tl.store(out + rows * n + columns, total)


@jit
def causal_attention(q, k, v, out, scale, BLOCK: tl.constexpr, H: tl.constexpr):
    """Keep the scores of one pair of blocks at a time; blocks that lie in the future are not read."""
    tokens, width = tl.arange(0, BLOCK)[:, None], tl.arange(0, H)[None, :]
    rows = tl.program_id(0) * BLOCK + tokens
    queries = tl.load(q + rows * H + width) * scale
    largest = tl.full((BLOCK, 1), float("-inf"), tl.float32)
    total, mixed = tl.zeros((BLOCK, 1), tl.float32), tl.zeros((BLOCK, H), tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * BLOCK, BLOCK):
        at = (start + tokens) * H + width
        scores = tl.dot(queries, tl.trans(tl.load(k + at)))
        scores = tl.where(rows >= start + tl.trans(tokens), scores, float("-inf"))
        before, largest = largest, tl.maximum(largest, tl.max(scores, 1, keep_dims=True))
        weights, shrink = tl.exp(scores - largest), tl.exp(before - largest)
        total = total * shrink + tl.sum(weights, 1, keep_dims=True)
        mixed = mixed * shrink + tl.dot(weights, tl.load(v + at))
    tl.store(out + rows * H + width, mixed / total)


@dataclass(frozen=True)
class PlayedKernel:
    """A kernel, and how it is launched with each size of a tile."""

    title: str  # what it computes
    kernel: Kernel  # the kernel
    launch: Callable[[int], tuple[Any, dict[str, Any]]]  # gives for a size the grid and the arguments by name
    tiles: tuple[int, ...] = TILES  # the sizes
    tile_name: str = "side of a tile"  # what the size is, for the slider


def _numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(18).normal(size=shape).astype(np.float32)


def _rows(tile: int) -> tuple[Any, dict[str, Any]]:
    x = _numbers(SIDE, SIDE)
    return (SIDE // tile,), {"x": x, "y": np.zeros_like(x), "n": SIDE, "BLOCK": tile, "COLUMNS": SIDE}


def _three_reads(tile: int) -> tuple[Any, dict[str, Any]]:
    x, rows = _numbers(SIDE, SIDE), 64
    return (SIDE // rows,), {"x": x, "y": np.zeros_like(x), "n": SIDE, "BLOCK": tile, "ROWS": rows}


def _product(tile: int) -> tuple[Any, dict[str, Any]]:
    a, b = _numbers(2, SIDE, SIDE)
    return (SIDE // tile, SIDE // tile), {"a": a, "b": b, "out": np.zeros_like(a), "n": SIDE, "BLOCK": tile}


def _attention(tile: int) -> tuple[Any, dict[str, Any]]:
    q, k, v = _numbers(3, SIDE, HEAD_WIDTH)
    args = {"q": q, "k": k, "v": v, "out": np.zeros_like(q), "scale": HEAD_WIDTH**-0.5}
    return (SIDE // tile,), {**args, "BLOCK": tile, "H": HEAD_WIDTH}


KERNELS = {
    "product": PlayedKernel("matrix product", matrix_product, _product),
    "softmax": PlayedKernel("softmax of rows, read once", softmax_of_rows, _rows, tile_name="rows of a tile"),
    "three-reads": PlayedKernel(
        "softmax of rows, read three times", softmax_in_three_reads, _three_reads, TILES[1:], "columns of a tile"
    ),
    "attention": PlayedKernel("causal attention", causal_attention, _attention, tile_name="queries and keys of a tile"),
}
"""By their names; ``kernel_player.KernelPlayer`` takes them."""
