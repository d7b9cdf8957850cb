"""How a score depends on distance: tables in which every diagonal has one number."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from softlookup.figures.grid import draw_grid
from softlookup.figures.theme import Palette


def relative_grids(tables: Mapping[str, np.ndarray], *, palette: Palette) -> Figure:
    """Draw tables of queries and keys side by side.

    Args:
        tables: For each title, a square table (T, S) of whole numbers or halves; NaN where a key is masked.
        palette: The colours to draw in.

    Returns:
        One panel for each table, two in a row.
    """
    columns = min(2, len(tables))
    rows = -(-len(tables) // columns)
    figure = Figure(figsize=(5.6, 2.7 * rows))
    descriptions = []
    panels = np.ravel(figure.subplots(rows, columns))
    for spare in panels[len(tables) :]:
        spare.set_axis_off()
    for axes, (title, table) in zip(panels, tables.items(), strict=False):
        table = np.asarray(table, dtype=float) + 0.0  # no minus before zero
        masked = np.isnan(table)
        decimals = 0 if np.array_equal(table[~masked], np.round(table[~masked])) else 1
        draw_grid(axes, table, palette, title=title, decimals=decimals, hidden=masked)
        descriptions.append(f"{title}, from {np.nanmax(table):g} to {np.nanmin(table):g}")
    figure.set_label(
        f"Position terms of the scores, a row for each query and a column for each key: {'; '.join(descriptions)}. "
        "Along each diagonal the term is constant."
    )
    return figure
