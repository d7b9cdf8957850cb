"""One number in place of a task's results in one case: enough to see that an answer gives the same."""

import zlib
from functools import lru_cache

import numpy as np

from softlookup_inside.asking.case import Arrays, Case
from softlookup_judge.data.compare import tolerance

_MOST = 1e30
"""Cells beyond it count as it: the sum has to fit into float32."""


def printed(arrays: Arrays) -> float:
    """The number that stands for some results: the sum of their cells, each times a factor of its own, and shapes."""
    cells = _cells(arrays)
    shapes = repr([array.shape for array in arrays]).encode()
    return float((_factors(cells.size) * cells).sum()) + zlib.crc32(shapes) / 2**29


def fits(arrays: Arrays, numbers: np.ndarray, case: Case) -> np.ndarray:
    """Whether results agree with numbers that ``printed`` gave of others, within the case's tolerance; not with NaN."""
    allowed = max((tolerance(array, case) for array in arrays), default=0.0)
    cells = _cells(arrays)
    room = 2 * allowed * float(np.linalg.norm(_factors(cells.size) * (1 + np.abs(cells))))
    gap = np.abs(numbers.astype(np.float64) - printed(arrays))
    rounding = 4 * float(np.finfo(numbers.dtype).eps)
    agrees: np.ndarray = gap <= room + rounding * (np.abs(numbers, dtype=np.float64) + 8)
    return agrees


def _cells(arrays: Arrays) -> np.ndarray:
    """All cells, in their order, as finite numbers."""
    with np.errstate(all="ignore"):
        every = [array.astype(np.float64).ravel() for array in arrays]
        cells = np.nan_to_num(np.concatenate([*every, []]), nan=7.3, posinf=11.7, neginf=-11.7)
    return np.clip(cells, -_MOST, _MOST)


@lru_cache(maxsize=64)
def _factors(count: int) -> np.ndarray:
    """A factor for each cell, between 0.5 and 1.5: neighbours have different ones."""
    positions = np.arange(1, count + 1, dtype=np.uint64)
    return (positions * np.uint64(2654435761) % np.uint64(2**32)) / 2.0**32 + 0.5
