"""Tasks on products: in tiles, with more fused into them, with weights of 4 bits; and the tile for a chip."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.ch18_kernels.launches import grid_of, kernel_task, launch, uneven, whole, within
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.variant import Expression

Results = tuple[np.ndarray, ...]


_ROWS, _COLUMNS = "row after row", "column after column"


def _stored(array: np.ndarray, order: str) -> np.ndarray:
    """A matrix whose numbers lie in memory in an order."""
    return array if order == _ROWS else np.ascontiguousarray(array.T)


def _matrix(memory: np.ndarray, rows: int, cols: int, order: str) -> np.ndarray:
    """The matrix (rows, cols) that lies in memory in an order."""
    return memory.reshape(rows, cols) if order == _ROWS else memory.reshape(cols, rows).T


def _product_cases(rng: Rng, a_stored: str, b_stored: str, a_at: str, b_at: str) -> list[Case]:
    def ask(label: str, m: int, n: int, k: int, tiles: tuple[int, int, int], limited: bool = False) -> Case:
        a = _stored(normal(rng, m, k, dtype="float16"), a_stored)
        b = _stored(normal(rng, k, n, dtype="float16"), b_stored)
        bm, bn, bk = tiles
        rows, cols = grid_of((m, bm), (n, bn))
        read = 2 * (m * k * cols + k * n * rows)
        limits = (read, 4 * m * n, 2 * (2 * bk * (bm + bn) + 4 * bm * bn)) if limited else None
        return launch(label, (rows, cols), (a, b, np.zeros((m, n), "float32"), m, n, k, *tiles), (2,), limits)

    return [
        ask("multiples of the tiles", 16, 32, 32 * whole(rng, 2, 3), (16, 16, 32)),
        ask("no multiple of a tile", whole(rng, 18, 22), whole(rng, 24, 30), whole(rng, 20, 30), (16, 16, 32)),
        ask("one row behind the last tile", 17, 16, whole(rng, 18, 22), (16, 16, 16)),
        ask("smaller than a tile", whole(rng, 6, 8), whole(rng, 3, 5), whole(rng, 9, 14), (16, 16, 16)),
        ask("many steps along k", *_many_steps(rng), (64, 64, 64)),
        ask("bytes of full tiles", *_full_tiles(rng), whole(rng, 81, 95), (16, 32, 16), limited=True),
    ]


def _many_steps(rng: Rng) -> tuple[int, int, int]:
    """Sizes m, n and k with 17 or more steps of 64 along k, and more than 32,768 numbers in both matrices."""
    return whole(rng, 53, 57), whole(rng, 58, 63), uneven(rng, 64, 16, 17)


def _full_tiles(rng: Rng) -> tuple[int, int]:
    """Sizes in full tiles of 16 by 32: where rows behind the end wrap around, they are read in vain."""
    return 32, 32 * whole(rng, 1, 2)


_A_AT = {_ROWS: Expression("rows * k + across"), _COLUMNS: Expression("across * m + rows")}
_B_AT = {_ROWS: Expression("down * n + cols"), _COLUMNS: Expression("cols * k + down")}


@kernel_task(
    "18.product",
    _product_cases,
    variants=tuple(
        {"a_stored": a, "b_stored": b, "a_at": _A_AT[a], "b_at": _B_AT[b]}
        for a, b in ((_ROWS, _ROWS), (_COLUMNS, _ROWS), (_ROWS, _COLUMNS), (_COLUMNS, _COLUMNS))
    ),
)
def _product(
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    m: int,
    n: int,
    k: int,
    BM: int,
    BN: int,
    BK: int,
    a_stored: str,
    b_stored: str,
    a_at: str,
    b_at: str,
) -> Results:
    return within(np.einsum("mk,kn->mn", _matrix(a, m, k, a_stored), _matrix(b, k, n, b_stored)))


def _tile_cases(rng: Rng, stages: int, loaded: str) -> list[Case]:
    rows = {
        "a chip of 64 KiB, float16": (256, 384, 512, 2, 65536),
        "float32": (256, 384, 512, 4, 65536),
        "float32, a chip of 56 KiB": (256, 384, 512, 4, 57344),
        "exactly full": (100, 60, 80, 2, (4 * stages + 4) * 32 * 32),
        "float32, one byte less than full": (100, 60, 80, 4, (8 * stages + 4) * 32 * 32 - 1),
        "sizes that are no multiples": (1000, 130, 77, 2, 200_000),
        "a chip for single numbers": (5, 7, 3, 4, 8 * stages + 4),
        "float64": (64, 64, 64, 8, (16 * stages + 4) * 64 * 64),
        "drawn": (*(int(n) for n in rng.integers(50, 900, 3)), 2, int(rng.integers(10_000, 500_000))),
        "large numbers": (*(int(n) for n in rng.integers(50_000, 90_000, 3)), 2, int(rng.integers(10**8, 10**9))),
    }
    return [Case(label, args) for label, args in rows.items()]


_LOADED = {1: "a tile of each matrix"} | {
    stages: f"{stages} tiles of each matrix, since those of the next {stages - 1} steps are loaded ahead"
    for stages in (3, 4, 5)  # one matrix of two stages would be both matrices of one
}


@graded(
    "18.tile",
    _tile_cases,
    frame="plain",
    variants=tuple({"stages": stages, "loaded": loaded} for stages, loaded in _LOADED.items()),
)
def _tile(
    m: int, n: int, k: int, number_bytes: int, chip_bytes: int, stages: int, loaded: str
) -> tuple[int, int]:  # fmt: skip
    """Downwards from a tile that is too large; the bytes are added up program by program."""
    tile = 2**20
    while tile > 1 and tile * tile * (stages * number_bytes + stages * number_bytes + 4) > chip_bytes:
        tile //= 2
    heights = [min(tile, m - row) for row in range(0, m, tile)]
    widths = [min(tile, n - col) for col in range(0, n, tile)]
    return tile, sum((height + width) * k * number_bytes for height in heights for width in widths)


def _linear_cases(rng: Rng, beta: float, layout: str, product: str, w_at: str) -> list[Case]:
    def ask(label: str, m: int, n: int, k: int, tiles: tuple[int, int, int], limited: bool = False) -> Case:
        x, w, bias = normal(rng, m, k), normal(rng, n, k, scale=k**-0.5), normal(rng, n)
        w = w if layout == _ROW_OF_OUTPUT else np.ascontiguousarray(w.T)
        bm, bn, bk = tiles
        rows, cols = grid_of((m, bm), (n, bn))
        read = 4 * (m * k * cols + k * n * rows + n * rows)
        limits = (read, 4 * m * n, 2 * (4 * bk * (bm + bn) + 8 * bm * bn)) if limited else None
        return launch(label, (rows, cols), (x, w, bias, np.zeros((m, n), "float32"), m, n, k, *tiles), (3,), limits)

    return [
        ask("multiples of the tiles", 16, 32, 32 * whole(rng, 2, 3), (16, 16, 32)),
        ask("no multiple of a tile", whole(rng, 18, 20), whole(rng, 21, 24), whole(rng, 25, 30), (16, 16, 32)),
        ask("fewer outputs than a tile", whole(rng, 18, 22), whole(rng, 5, 8), whole(rng, 20, 24), (16, 16, 16)),
        ask("a single row", 1, whole(rng, 18, 22), uneven(rng, 16, 2, 2), (16, 16, 16)),
        ask("many steps along k", *_many_steps(rng), (64, 64, 64)),
        ask("bytes of full tiles", *_full_tiles(rng), whole(rng, 81, 95), (16, 32, 16), limited=True),
    ]


_ROW_OF_OUTPUT = "`nn.Linear`, (n, k): one row for each output"
_COLUMN_OF_OUTPUT = "GPT-2's layers, (k, n): one column for each output"
_BY_ROW = {"layout": _ROW_OF_OUTPUT, "product": "`z = x @ w.T + bias`", "w_at": Expression("cols * k + down")}
_BY_COLUMN = {"layout": _COLUMN_OF_OUTPUT, "product": "`z = x @ w + bias`", "w_at": Expression("down * n + cols")}


@kernel_task(
    "18.linear",
    _linear_cases,
    variants=tuple(
        {"beta": beta} | layout
        for beta, layout in ((1.702, _BY_ROW), (1.0, _BY_COLUMN), (2.5, _BY_ROW), (0.6, _BY_COLUMN), (2.0, _BY_COLUMN))
    ),
)
def _linear(
    x: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray,
    y: np.ndarray,
    m: int,
    n: int,
    k: int,
    BM: int,
    BN: int,
    BK: int,
    beta: float,
    layout: str,
    product: str,
    w_at: str,
) -> Results:
    w = w.reshape(n, k) if layout == _ROW_OF_OUTPUT else w.reshape(k, n).T
    z = np.einsum("mk,nk->mn", x, w) + bias
    return within(z * (1 + np.tanh(beta * z / 2)) / 2)


def _quantised_cases(rng: Rng, zero: float, first: str, second: str, even: str, odd: str) -> list[Case]:
    def ask(label: str, m: int, n: int, groups: int, tiles: tuple[int, int, int], limited: bool = False) -> Case:
        bm, bn, group = tiles
        k = groups * group
        x = normal(rng, m, k)
        packed = rng.integers(0, 256, (k // 2, n), dtype=np.uint8)
        scales = (0.02 + 0.05 * rng.random((groups, n))).astype(np.float32)
        rows, cols = grid_of((m, bm), (n, bn))
        read = 4 * m * k * cols + (k * n // 2 + 4 * groups * n) * rows
        chip = 2 * (4 * group * (bm + bn) + 8 * bm * bn)
        limits = (read, 4 * m * n, chip) if limited else None
        args = (x, packed, scales, np.zeros((m, n), "float32"), m, n, k, *tiles)
        return launch(label, (rows, cols), args, (3,), limits)

    return [
        ask("multiples of the tiles", 16, 32, 2, (16, 16, 32)),
        ask("no multiple of a tile", whole(rng, 18, 20), whole(rng, 21, 24), 2, (16, 16, 32)),
        ask("a single row, as in decoding", 1, whole(rng, 18, 22), 3, (16, 32, 32)),
        ask("one group of 64", whole(rng, 7, 11), 16, 1, (16, 16, 64)),
        ask("many groups", whole(rng, 53, 57), whole(rng, 58, 63), whole(rng, 13, 15), (64, 64, 64)),
        ask("bytes of full tiles", *_full_tiles(rng), whole(rng, 7, 9), (16, 32, 32), limited=True),
    ]


_LOW, _HIGH = Expression("both & 15"), Expression("both >> 4")
_LOW_FIRST = {"first": "low", "second": "high", "even": _LOW, "odd": _HIGH}
_HIGH_FIRST = {"first": "high", "second": "low", "even": _HIGH, "odd": _LOW}


@kernel_task(
    "18.quantised",
    _quantised_cases,
    # The other half and the same zero point would be a known mistake.
    variants=tuple(
        {"zero": zero} | halves
        for zero, halves in (
            *((8.0, _LOW_FIRST), (7.5, _HIGH_FIRST), (7.0, _LOW_FIRST)),
            *((7.0, _HIGH_FIRST), (7.5, _LOW_FIRST)),
        )
    ),
)
def _quantised(
    x: np.ndarray,
    packed: Any,
    scales: np.ndarray,
    y: np.ndarray,
    m: int,
    n: int,
    k: int,
    BM: int,
    BN: int,
    GROUP: int,
    zero: float,
    first: str,
    second: str,
    even: str,
    odd: str,
) -> Results:
    high_low = np.divmod(packed.astype(np.int64), 16)
    bits = np.stack(high_low if first == "high" else high_low[::-1], axis=1).reshape(k, n)
    return within(x @ ((bits - zero) * np.repeat(scales, GROUP, axis=0)))
