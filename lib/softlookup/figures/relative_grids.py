"""What a score is told of a distance: tables in which every diagonal has one number."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from softlookup.figures.grid import draw_grid
from softlookup.figures.theme import Palette


def relative_grids(tables: Mapping[str, np.ndarray], *, palette: Palette) -> Figure:
    """Draw tables of queries and keys side by side.

    Args:
        tables: For each title, a square table (T, S) of whole numbers or halves.
        palette: The colours to draw in.

    Returns:
        One panel for each table.
    """
    figure = Figure(figsize=(6.9, 2.75))
    said = []
    panels = np.atleast_1d(figure.subplots(1, len(tables)))
    for axes, (title, table) in zip(panels, tables.items(), strict=True):
        table = np.asarray(table, dtype=float)
        decimals = 0 if np.array_equal(table, np.round(table)) else 1
        draw_grid(axes, table, palette, title=title, decimals=decimals)
        said.append(f"{title}, from {table.max():g} to {table.min():g}")
    figure.set_label(
        f"Square tables, queries downwards and keys to the right: {'; '.join(said)}. Along each diagonal the number "
        "is the same."
    )
    return figure
