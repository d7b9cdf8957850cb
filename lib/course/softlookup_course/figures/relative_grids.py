"""How a score depends on distance: tables in which every diagonal has one number."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.grid import draw_grid
from softlookup_course.figures.theme import Palette


def relative_grids(tables: Mapping[str, np.ndarray], words: Sequence[str] = (), *, palette: Palette) -> Figure:
    """Draw square tables of queries and keys, whole numbers or halves, side by side; NaN where a key is masked.

    By title, three in a row; the first of a row names the queries. The words, or none, name rows and columns.
    """
    columns = min(3, len(tables))
    rows = -(-len(tables) // columns)
    figure = Figure(figsize=(6.6 if columns > 2 else 5.6, 2.7 * rows))
    descriptions = []
    panels = np.ravel(figure.subplots(rows, columns))
    for spare in panels[len(tables) :]:
        spare.set_axis_off()
    for number, (axes, (title, table)) in enumerate(zip(panels, tables.items(), strict=False)):
        table = np.asarray(table, dtype=float) + 0.0  # no minus before zero
        masked = np.isnan(table)
        decimals = 0 if np.array_equal(table[~masked], np.round(table[~masked])) else 1
        queries = words if number % columns == 0 else ()
        draw_grid(axes, table, palette, title=title, rows=queries, columns=words, decimals=decimals, hidden=masked)
        axes.tick_params(axis="x", rotation=90)
        axes.set_title(title, size=10)
        descriptions.append(f"{title}, from {np.nanmax(table):g} to {np.nanmin(table):g}")
    figure.set_label(
        f"Position terms of the scores, a row for each query and a column for each key: {'; '.join(descriptions)}. "
        "Along each diagonal the term is constant."
    )
    return figure
