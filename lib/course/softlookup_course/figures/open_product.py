"""A matrix product whose result the reader is to find: two tables of numbers, and cells that hold a question mark."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.grid import draw_grid
from softlookup_course.figures.theme import Palette


def open_product(
    x_TD: np.ndarray,
    w_DV: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    palette: Palette,
) -> Figure:
    """Draw two matrices of whole numbers, (T, D) and (D, V), and their product, with a question mark in every cell.

    ``rows`` and ``columns`` are a word for each of the product's.
    """
    n_rows, n_columns = len(x_TD), w_DV.shape[1]
    figure = Figure(figsize=(6.3, 2.1))
    left, middle, right = figure.subplots(1, 3)
    rows_in_words = "; ".join(f"{word} {' '.join(f'{n:g}' for n in row)}" for word, row in zip(rows, x_TD, strict=True))
    weights = "; ".join(f"{word} {' '.join(f'{n:g}' for n in row)}" for word, row in zip(columns, w_DV.T, strict=True))
    figure.set_label(f"The rows of X: {rows_in_words}. The columns of W: {weights}. Their product is to be found.")
    draw_grid(left, x_TD, palette, title="$X$", rows=rows, decimals=0)
    draw_grid(middle, w_DV, palette, title="$W$", columns=columns, decimals=0)
    for t in range(n_rows):
        for v in range(n_columns):
            right.add_patch(Rectangle((v, t), 1, 1, fill=False, edgecolor=palette.faint, linewidth=0.8))
            right.text(v + 0.5, t + 0.52, "?", ha="center", va="center", size=10, color=palette.ink)
    right.set(xlim=(-0.03, n_columns + 0.03), ylim=(n_rows + 0.03, -0.03), aspect="equal", title="scores $XW$")
    right.set_xticks(np.arange(n_columns) + 0.5, columns)
    right.set_yticks(np.arange(n_rows) + 0.5, rows)
    right.tick_params(length=0, labelsize=9)
    right.xaxis.tick_top()
    right.spines[:].set_visible(False)
    return figure
