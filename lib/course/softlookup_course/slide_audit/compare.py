"""Printed tables beside computed ones: which cells are off, and by how many units of the last printed place."""

import numpy as np
from numpy.typing import ArrayLike

from softlookup_course.slide_audit.item import Found


def table(printed: ArrayLike, true: ArrayLike, decimals: int = 2) -> Found:
    """Compare a printed table with the true one, unrounded."""
    printed_cells, true_cells = np.asarray(printed, dtype=float), np.asarray(true, dtype=float)
    if printed_cells.shape != true_cells.shape:
        raise ValueError(f"the printed table has the shape {printed_cells.shape}, the true one {true_cells.shape}")
    unit = 10.0**-decimals
    apart = np.abs(printed_cells - true_cells)
    off = apart > unit / 2 * (1 + 1e-6)
    largest = float((np.abs(printed_cells - true_cells.round(decimals)) / unit).max())
    count, total = int(off.sum()), off.size
    sentence = f"All {total} numbers agree."
    if count:
        many = "numbers are off, the largest" if count > 1 else "numbers is off,"
        sentence = f"{count} of {total} {many} by {apart.max():.{decimals}f}."
    return Found(sentence, not count, printed_cells, true_cells, off, largest, decimals)
