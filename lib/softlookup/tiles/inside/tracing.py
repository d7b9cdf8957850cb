"""Recording a launch: every program of the grid runs once, with pointers in place of arrays."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from softlookup.tiles.inside.language import Pointer
from softlookup.tiles.inside.operations import KernelError
from softlookup.tiles.inside.recording import WIDTH, Record, recording

MOST_PROGRAMS = 4096
"""Programs that a launch may have."""


def checked_grid(grid: Any) -> tuple[int, ...]:
    """A grid as a tuple of one to three counts.

    Raises:
        KernelError: If it is something else, or too large.
    """
    sizes = tuple(grid) if isinstance(grid, tuple | list) else (grid,)
    whole = all(isinstance(n, int | np.integer) and not isinstance(n, bool) and n > 0 for n in sizes)
    if not whole or not 1 <= len(sizes) <= 3 or np.prod(sizes, dtype=np.float64) > MOST_PROGRAMS:
        raise KernelError(f"a grid is one to three counts, together at most {MOST_PROGRAMS:,} programs; got {grid!r}")
    return tuple(map(int, sizes))


def record(kernel: Callable[..., Any], grid: Any, args: Sequence[Any]) -> Record:
    """Record what all programs of a launch do.

    Args:
        kernel: The kernel, or what wraps it.
        grid: How many programs there are, along up to three axes.
        args: What it is called with. Of arrays shape and dtype count alone.

    Returns:
        The rows, int64 (rows, 9), and the constants, float64.

    Raises:
        KernelError: If the kernel does what the language does not know.
    """
    function = getattr(kernel, "__wrapped__", kernel)
    grid = checked_grid(grid)
    pointers = [Pointer(at, arg.dtype) if isinstance(arg, np.ndarray) else arg for at, arg in enumerate(args)]
    with recording(grid) as now:
        for number, program in enumerate(np.ndindex(*grid)):
            now.begin(number, tuple(map(int, program)))
            function(*pointers)
    return np.array(now.rows, np.int64).reshape(-1, WIDTH), np.array(now.constants, np.float64)
