"""How tables of a slide are drawn and compared."""

import numpy as np

from softlookup_judge.chapters.draws import Rng


def round_to(numbers: np.ndarray, places: int) -> np.ndarray:
    """Numbers as a slide prints them."""
    return np.rint(numbers * 10**places) / 10**places


def near(printed: np.ndarray, true: np.ndarray, places: int) -> np.ndarray:
    """Cell by cell: whether rounding explains what is printed."""
    return np.asarray(np.abs(printed - true) <= 0.5 * 10.0**-places * (1 + 1e-9))


def slipped(rng: Rng, table: np.ndarray, places: int, units: int = 7) -> np.ndarray:
    """A printed table with one cell that is off by so many units of its last place."""
    changed = table.copy()
    changed[tuple(int(rng.integers(n)) for n in table.shape)] += units * 10.0**-places
    return round_to(changed, places)
