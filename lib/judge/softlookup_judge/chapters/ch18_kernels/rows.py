"""Tasks on rows and vectors: a sum with a mask, softmax of a row that fits and of one that does not, a fused norm."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import variants_by
from softlookup_judge.chapters.ch18_kernels.launches import (
    FAR_BELOW,
    SHARES,
    grid_of,
    kernel_task,
    launch,
    uneven,
    whole,
    within,
)
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.variant import Expression

Results = tuple[np.ndarray, ...]


def _add_cases(rng: Rng) -> list[Case]:
    def ask(label: str, n: int, block: int, a: float, limited: bool = False) -> Case:
        x, y = normal(rng, n), normal(rng, n)
        limits = (8 * n, 4 * n, 16 * block) if limited else None
        return launch(label, grid_of((n, block)), (x, y, np.zeros_like(x), a, n, block), (2,), limits)

    return [
        ask("four tiles, the last one not full", uneven(rng, 32, 3, 3), 32, -1.5),
        ask("a multiple of the tile", 16 * whole(rng, 3, 6), 16, 0.25),
        ask("fewer numbers than a tile", whole(rng, 3, 14), 16, 3.0),
        ask("one program", 32, 32, -0.5),
        ask("a = 0", 8 * whole(rng, 4, 7), 8, 0.0),
        ask("more than 65,536 numbers", uneven(rng, 4096, 16, 16), 4096, 1.5),
        ask("bytes of a multiple of the tile", 128 * whole(rng, 4, 8), 128, -2.0, limited=True),
        ask("bytes with a last tile that is not full", uneven(rng, 128, 4, 7), 128, 2.5, limited=True),
    ]


@kernel_task("18.add", _add_cases)
def _add(x: np.ndarray, y: np.ndarray, out: np.ndarray, a: float, n: int, BLOCK: int) -> Results:
    return within(np.add(y, np.multiply(x, a)))


def _row_limits(rows: int, n: int, block: int, passes: int, tiles: int) -> tuple[int, int, int]:
    return 4 * passes * rows * n, 4 * rows * n, 4 * tiles * block


def _softmax_cases(rng: Rng, tau: float) -> list[Case]:
    def ask(label: str, rows: int, n: int, block: int, scale: float = 1.0, limited: bool = False) -> Case:
        x = normal(rng, rows, n, scale=scale * tau)
        limits = _row_limits(rows, n, block, 1, 4) if limited else None
        return launch(label, (rows,), (x, np.zeros_like(x), n, block), (1,), limits)

    return [
        ask("five rows, shorter than a tile", 5, whole(rng, 70, 120), 128),
        ask("rows as long as a tile", 3, 64, 64),
        ask("numbers of a few hundred", 4, whole(rng, 40, 60), 64, scale=200.0),
        _asked("all numbers far below zero", np.float32(tau) * _below_zero(rng, -150), 32),
        ask("rows of a single number", 3, 1, 16),
        _asked("a large number among thousands", np.float32(tau) * _with_a_peak(rng, 2), 32_768),
        ask("bytes of rows as long as a tile", whole(rng, 4, 6), 256, 256, limited=True),
        ask("bytes of rows shorter than a tile", whole(rng, 6, 9), whole(rng, 150, 250), 256, limited=True),
    ]


def _asked(label: str, x: np.ndarray, block: int) -> Case:
    return launch(label, (len(x),), (x, np.zeros_like(x), x.shape[1], block), (1,))


def _below_zero(rng: Rng, about: float, n: int = 20) -> np.ndarray:
    """A row of numbers about one, and one of numbers far below it where the largest has all of the weight."""
    far = FAR_BELOW - 500 * rng.permutation(n)
    return np.stack([about + rng.standard_normal(n), far]).astype(np.float32)


def _with_a_peak(rng: Rng, rows: int) -> np.ndarray:
    """Rows of tens of thousands of numbers, each with a share below 1e-4, and a large one as heavy as all others."""
    n = whole(rng, 33_000 // rows, 37_000 // rows)
    x = normal(rng, rows, n)
    x[np.arange(rows), rng.integers(n, size=rows)] = np.log(n) + 0.5
    return x


def _shares(x: np.ndarray) -> np.ndarray:
    """By the logarithm of the sum of exponentials."""
    return np.exp(x - np.logaddexp.reduce(x, axis=-1, keepdims=True))


@kernel_task("18.softmax", _softmax_cases, variants=variants_by(tau=(2.0, 0.8, 4.0, 1.5)))
def _softmax(x: np.ndarray, y: np.ndarray, n: int, BLOCK: int, tau: float) -> Results:
    return within(_shares(x / tau))


def _online_cases(rng: Rng, stored: str, position: str, at: str) -> list[Case]:
    def ask(label: str, x: np.ndarray, block: int, limited: bool = False) -> Case:
        rows, n = x.shape
        # A maximum and a sum for each lane, and what is computed of them, are five tiles; half of a row is more.
        limits = _row_limits(rows, n, block, 2, 5) if limited else None
        x = x if stored == _BY_ROWS else np.ascontiguousarray(x.T)
        args = (x, np.zeros_like(x), n, block)
        return launch(label, (rows,), args, (1,), limits, *([SHARES] if limited else []))

    rising = np.sort(normal(rng, 1, 50, scale=80.0), axis=-1)
    return [
        ask("rows in tiles, the last one not full", normal(rng, 2, uneven(rng, 32, 3, 3)), 32),
        ask("the numbers rise", rising, 16),
        ask("the numbers fall", np.ascontiguousarray(rising[:, ::-1]), 16),
        ask("numbers of a few hundred", normal(rng, 2, uneven(rng, 16, 2, 2), scale=200.0), 16),
        ask("the maximum comes last", np.concatenate([normal(rng, 1, 32), np.full((1, 1), 30, "float32")], 1), 16),
        ask("all numbers far below zero", _below_zero(rng, -300), 16),
        ask("all numbers far below zero, in full tiles", _below_zero(rng, -300, 32), 16),
        ask("a row that fits into one tile", normal(rng, 2, 16), 16),
        ask("a large number among thousands", _with_a_peak(rng, 1), 2048),
        ask("bytes of rows in several tiles", normal(rng, 2, whole(rng, 321, 352), scale=4.0), 32, limited=True),
    ]


_BY_ROWS, _BY_COLUMNS = "row after row", "column after column"


@kernel_task(
    "18.online",
    _online_cases,
    variants=(
        {"stored": _BY_ROWS, "position": "i * n + j", "at": Expression("row * n + cols")},
        {"stored": _BY_COLUMNS, "position": "j * rows + i", "at": Expression("cols * tl.num_programs(0) + row")},
    ),
)
def _online(x: np.ndarray, y: np.ndarray, n: int, BLOCK: int, stored: str, position: str, at: str) -> Results:
    rows = x.reshape(-1, n) if stored == _BY_ROWS else x.reshape(n, -1).T
    probabilities = _shares(rows)
    return within((probabilities if stored == _BY_ROWS else probabilities.T).reshape(x.shape))


def _norm_cases(rng: Rng) -> list[Case]:
    def ask(
        label: str,
        rows: int,
        n: int,
        block: int,
        eps: float,
        scale: float,
        added: float = 1.0,
        limited: bool = False,
        cancels: bool = False,
    ) -> Case:
        x, residual = (normal(rng, rows, n, dtype="float16", scale=size) for size in (scale, added))
        if cancels:
            residual[-1] = -x[-1]
        weight = (1 + 0.3 * normal(rng, n)).astype(np.float16)
        limits = (6 * rows * n, 4 * rows * n, 24 * block) if limited else None
        args = (x, residual, weight, np.zeros_like(x), np.zeros_like(x), n, eps, block)
        return launch(label, (rows,), args, (3, 4), limits, tolerance=4e-3)

    return [
        ask("four rows, shorter than a tile", 4, whole(rng, 70, 120), 128, 1e-5, 1.0),
        ask("rows as long as a tile, one of zeros in sum", 3, 64, 64, 1e-5, 2.0, cancels=True),
        ask("numbers of a few hundred", 3, whole(rng, 70, 120), 128, 1e-5, 300.0),
        ask("a large eps", 2, whole(rng, 40, 60), 64, 0.5, 0.5),
        ask("numbers of about a hundredth", 2, whole(rng, 40, 60), 64, 1e-6, 0.01, 0.01),
        ask("rows of more than 16,384 numbers", 2, whole(rng, 17_000, 25_000), 32_768, 1e-5, 0.1, 0.1),
        ask("bytes of rows as long as a tile", whole(rng, 4, 5), 256, 256, 1e-5, 2.0, limited=True),
        ask("bytes of rows shorter than a tile", whole(rng, 4, 7), whole(rng, 150, 250), 256, 1e-5, 1.0, limited=True),
    ]


@kernel_task("18.norm", _norm_cases)
def _norm(
    x: np.ndarray, residual: np.ndarray, w: np.ndarray, total: np.ndarray, y: np.ndarray, n: int, eps: float, BLOCK: int
) -> Results:
    both = x + residual
    length = np.linalg.norm(both, axis=-1, keepdims=True) / np.sqrt(n)
    return within(both, w * both / np.hypot(length, np.sqrt(eps)))
