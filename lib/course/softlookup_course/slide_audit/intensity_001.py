"""Lecture 001, arithmetic intensity and the roofline: the definition, the minimum, an A100, and three loops or one."""

from collections.abc import Callable
from typing import Any

import numpy as np

from softlookup_course.slide_audit.operations import draw_normal

PEAK = 312e12
"""FLOP/s: half precision on an A100's matrix units, dense, as the slide's table prints it."""
CORES = 19.5e12
"""FLOP/s: float32 on its ordinary cores."""
PCIE, SXM = 1935e9, 2039e9
"""Bytes/s of its memory in the two forms that the slide's table has."""
SLIDE_BANDWIDTH = 800e9
"""Bytes/s as the slide's division has it."""
RIDGE = PEAK / SXM

FLOAT = 4
"""Bytes of a float in the slide's loops."""


def attainable(intensity: float, peak: float = PEAK, bandwidth: float = SXM) -> float:
    """The most operations a second at an intensity: the smaller of peak and bandwidth times intensity."""
    return min(peak, bandwidth * intensity)


class Watched:
    """An array that counts how often its places are read and written."""

    def __init__(self, numbers: np.ndarray) -> None:
        self.numbers, self.reads, self.writes = numbers, 0, 0

    def __getitem__(self, at: int) -> float:
        self.reads += 1
        return float(self.numbers[at])

    def __setitem__(self, at: int, value: float) -> None:
        self.writes += 1
        self.numbers[at] = value


def add(a: Watched, b: Watched, c: Watched) -> None:
    for i in range(len(c.numbers)):
        c[i] = a[i] + b[i]


def mul(a: Watched, b: Watched, c: Watched) -> None:
    for i in range(len(c.numbers)):
        c[i] = a[i] * b[i]


def three_loops(a: Watched, b: Watched, c: Watched, d: Watched, e: Watched, tmp1: Watched, tmp2: Watched) -> None:
    add(a, b, tmp1)
    mul(tmp1, c, tmp2)
    add(tmp2, d, e)


def one_loop(a: Watched, b: Watched, c: Watched, d: Watched, e: Watched, *_: Watched) -> None:
    for i in range(len(e.numbers)):
        e[i] = d[i] + (a[i] + b[i]) * c[i]


def watched(loop: Callable[..., None], arrays: int, n: int = 16) -> tuple[int, int, np.ndarray]:
    """Run a loop on so many watched arrays of n numbers: reads and writes for each place, and the result."""
    watched_arrays = [Watched(numbers) for numbers in draw_normal(*[n] * arrays)]
    loop(*watched_arrays)
    reads, writes = (sum(getattr(array, what) for array in watched_arrays) // n for what in ("reads", "writes"))
    return reads, writes, watched_arrays[2 if arrays == 3 else 4].numbers


def rows_needed(ridge: float, width: int = 4096) -> int:
    """How many rows must meet a square matrix, in half precision, for an intensity at the ridge."""
    return int(np.ceil(ridge * width / (width - 2 * ridge)))


def a100_table() -> dict[str, Any]:
    clock, multiprocessors = 1.41e9, 108
    matrix_units = 4 * multiprocessors
    dense = {
        "FP64": (9.7, 32 * multiprocessors * 2),
        "FP32": (19.5, 64 * multiprocessors * 2),
        "FP64 Tensor Core": (19.5, matrix_units * 32),
        "TF32": (156.0, matrix_units * 256),
        "FP16": (312.0, matrix_units * 512),
        "INT8": (624.0, matrix_units * 1024),
    }
    computed = {name: each * clock / 1e12 for name, (_, each) in dense.items()}
    rates = all(abs(computed[name] - printed) < 5e-3 * printed for name, (printed, _) in dense.items())
    return {"clock": clock, "made": computed, "multiprocessors": multiprocessors, "rates": rates}
