"""A printed matrix beside the true one, with the cells that differ framed."""

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.grid import draw_grid
from softlookup_course.figures.theme import Palette


def wrong_cells(printed: np.ndarray, true: np.ndarray, decimals: int) -> np.ndarray:
    """Find the cells of a printed matrix that are off by more than rounding to so many decimals can explain.

    Other shapes than the true one's are a ValueError: "printed has shape A, but true has shape B".
    """
    printed, true = np.asarray(printed, dtype=float), np.asarray(true, dtype=float)
    if printed.shape != true.shape:
        raise ValueError(f"printed has shape {printed.shape}, but true has shape {true.shape}")
    # Half a unit of the last digit, and a hair more, so that a tie may be rounded either way.
    return np.abs(printed - true) > 0.5 * 10.0**-decimals + 1e-9


def comparison(
    printed: np.ndarray,
    true: np.ndarray,
    name: str,
    *,
    decimals: int = 2,
    sums: bool = False,
    palette: Palette,
) -> Figure:
    """Draw what was printed beside what is true; cells that no rounding to ``decimals`` explains are framed.

    ``name`` is what the matrix is. With ``sums`` the names of the rows are their sums, as a check on weights.
    """
    printed, true = np.asarray(printed, dtype=float), np.asarray(true, dtype=float)
    wrong = wrong_cells(printed, true, decimals)
    low = float(min(np.min(printed), np.min(true)))
    high = float(max(np.max(printed), np.max(true)))
    figure = Figure(figsize=(6.2, 0.52 * len(printed) + 0.6))
    left, right = figure.subplots(1, 2)
    figure.set_label(
        f"Two grids, {wrong.shape[0]} by {wrong.shape[1]}, of {name.replace('$', '')}. Left as printed, with "
        f"{wrong.sum()} of {wrong.size} cells framed as wrong; right as computed."
        + (f" The printed rows sum to {', '.join(f'{s:.3f}' for s in printed.sum(axis=1))}." if sums else "")
    )
    for axes, values, marked, title in (
        (left, printed, wrong, f"printed: {wrong.sum()} of {wrong.size} wrong"),
        (right, true, None, f"computed: {name}"),
    ):
        rows = [f"Σ {row.sum():.3f}" for row in values] if sums else ()
        draw_grid(
            axes,
            values,
            palette,
            title=title,
            rows=rows,
            bounds=(low, high),
            decimals=decimals,
            marked=marked,
        )
    return figure
