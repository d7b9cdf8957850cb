"""Printed tables beside computed ones: which cells are off, and by how many units of the last printed place."""

import numpy as np
from numpy.typing import ArrayLike

from softlookup_course.slide_audit.item import Found


def table(printed: ArrayLike, true: ArrayLike, places: int = 2, *, more: str = "") -> Found:
    """Compare a printed table with the true one, unrounded and of the same shape (or it is a ValueError).

    It agrees if every cell is the true one, rounded to the decimal places that the slide prints. ``more`` is a sentence
    to add.
    """
    shown, right = np.asarray(printed, dtype=float), np.asarray(true, dtype=float)
    if shown.shape != right.shape:
        raise ValueError(f"the printed table has the shape {shown.shape}, the true one {right.shape}")
    unit = 10.0**-places
    apart = np.abs(shown - right)
    off = apart > unit / 2 * (1 + 1e-6)
    largest = float((np.abs(shown - right.round(places)) / unit).max())
    count, total = int(off.sum()), off.size
    sentence = f"All {total} numbers agree."
    if count:
        many = "numbers are off, the largest" if count > 1 else "numbers is off,"
        sentence = f"{count} of {total} {many} by {apart.max():.{places}f}."
    return Found(" ".join(filter(None, (sentence, more))), not count, shown, right, off, largest, places)
