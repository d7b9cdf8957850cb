"""Tasks on products: in tiles, with more fused into them, with weights of 4 bits; and the tile for a chip."""

from typing import Any

import numpy as np

from softlookup.checking.inside.case import Case
from softlookup.checking.published import described
from softlookup.tasks.ch18_kernels.launches import grid_of, kernel_task, launch, within
from softlookup.tasks.draws import Rng, normal

Results = tuple[np.ndarray, ...]


def _product_cases(rng: Rng) -> list[Case]:
    def ask(label: str, m: int, n: int, k: int, tiles: tuple[int, int, int], limited: bool = False) -> Case:
        a, b = normal(rng, m, k, dtype="float16"), normal(rng, k, n, dtype="float16")
        bm, bn, bk = tiles
        rows, cols = grid_of((m, bm), (n, bn))
        read = 2 * (m * k * cols + k * n * rows)
        limits = (read, 4 * m * n, 2 * (2 * bk * (bm + bn) + 4 * bm * bn)) if limited else None
        return launch(label, (rows, cols), (a, b, np.zeros((m, n), "float32"), m, n, k, *tiles), (2,), limits)

    return [
        ask("multiples of the tiles", 16, 32, 64, (16, 16, 32)),
        ask("no multiple of a tile", 20, 21, 25, (16, 16, 16)),
        ask("one row behind the last tile", 17, 16, 18, (16, 16, 16)),
        ask("smaller than a tile", 7, 5, 9, (16, 16, 16)),
        ask("many steps along k", 4, 6, 150, (16, 16, 16)),
        ask("bytes of 32 by 64 by 32", 32, 64, 32, (16, 32, 16), limited=True),
    ]


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
) -> Results:
    return within(np.einsum("mk,kn->mn", a, b))


PRODUCT = kernel_task("18.product", _product_cases, _product)


def _tile_cases(rng: Rng) -> list[Case]:
    rows = {
        "a chip of 64 KiB, float16": (256, 384, 512, 2, 65536),
        "float32": (256, 384, 512, 4, 65536),
        "exactly full": (100, 60, 80, 2, 8 * 32 * 32),
        "one byte less than full": (100, 60, 80, 2, 8 * 32 * 32 - 1),
        "sizes that are no multiples": (1000, 130, 77, 2, 200_000),
        "a chip for single numbers": (5, 7, 3, 4, 12),
        "float64": (64, 64, 64, 8, 20 * 64 * 64),
        "drawn": (*(int(n) for n in rng.integers(50, 900, 3)), 2, int(rng.integers(10_000, 500_000))),
    }
    return [Case(label, args, frame="plain") for label, args in rows.items()]


def _tile(m: int, n: int, k: int, number_bytes: int, chip_bytes: int) -> tuple[int, int]:
    """Downwards from a tile that is too large; the bytes are added up program by program."""
    tile = 2**20
    while tile * tile * (2 * number_bytes + 4) > chip_bytes:
        tile //= 2
    heights = [min(tile, m - row) for row in range(0, m, tile)]
    widths = [min(tile, n - col) for col in range(0, n, tile)]
    return tile, sum((height + width) * k * number_bytes for height in heights for width in widths)


TILE = described("18.tile", cases=_tile_cases, oracle=_tile, frame="plain")


def _linear_cases(rng: Rng, beta: float) -> list[Case]:
    def ask(label: str, m: int, n: int, k: int, tiles: tuple[int, int, int], limited: bool = False) -> Case:
        x, w, bias = normal(rng, m, k), normal(rng, n, k, scale=k**-0.5), normal(rng, n)
        bm, bn, bk = tiles
        rows, cols = grid_of((m, bm), (n, bn))
        read = 4 * (m * k * cols + k * n * rows + n * rows)
        limits = (read, 4 * m * n, 2 * (4 * bk * (bm + bn) + 8 * bm * bn)) if limited else None
        return launch(label, (rows, cols), (x, w, bias, np.zeros((m, n), "float32"), m, n, k, *tiles), (3,), limits)

    return [
        ask("multiples of the tiles", 16, 32, 64, (16, 16, 32)),
        ask("no multiple of a tile", 18, 21, 25, (16, 16, 16)),
        ask("fewer outputs than a tile", 20, 6, 20, (16, 16, 16)),
        ask("a single row", 1, 20, 33, (16, 16, 16)),
        ask("bytes of 32 by 32 by 40", 32, 32, 40, (16, 32, 16), limited=True),
    ]


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
) -> Results:
    z = np.einsum("mk,nk->mn", x, w) + bias
    return within(z * (1 + np.tanh(beta * z / 2)) / 2)


LINEAR = kernel_task(
    "18.linear", _linear_cases, _linear, variants=tuple({"beta": beta} for beta in (1.702, 1.0, 2.5, 0.6))
)


def _quantised_cases(rng: Rng) -> list[Case]:
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
        ask("no multiple of a tile", 18, 21, 2, (16, 16, 32)),
        ask("a single row, as in decoding", 1, 20, 3, (16, 32, 32)),
        ask("one group of 64", 9, 16, 1, (16, 16, 64)),
        ask("bytes of 20 by 32 by 64", 20, 32, 2, (16, 32, 32), limited=True),
    ]


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
) -> Results:
    bits = np.stack(np.divmod(packed.astype(np.int64), 16)[::-1], axis=1).reshape(k, n)
    return within(x @ ((bits - 8) * np.repeat(scales, GROUP, axis=0)))


QUANTISED = kernel_task("18.quantised", _quantised_cases, _quantised)
