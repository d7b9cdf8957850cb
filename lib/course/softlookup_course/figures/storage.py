"""One row of memory, two ways to read it: turned round, or cut anew."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette


def reading_order(rows: int, columns: int, *, palette: Palette) -> Figure:
    """Draw a table, its memory, and the two tables that `transpose` and `reshape` make of it.

    The table and its strip of memory above; below it turned, and cut anew. Cells of the table's first row are coloured
    everywhere.
    """
    table = np.arange(1, rows * columns + 1).reshape(rows, columns)
    tables = [
        (f"x, shape ({rows}, {columns})", table),
        (f"x.transpose(0, 1), shape ({columns}, {rows})", table.T),
        (f"x.reshape({columns}, {rows})", table.reshape(columns, rows)),
    ]
    figure = Figure(figsize=(6.6, 0.1 + 0.29 * (columns + 4.1)))
    axes = figure.subplots()
    wide = 7.6
    for k, (name, numbers) in enumerate(tables):
        x = k * wide + (wide - 1.6 - numbers.shape[1]) / 2
        axes.text(k * wide + (wide - 1.6) / 2, -0.25, name, ha="center", va="bottom", size=9.5, color=palette.ink)
        _draw(axes, x, 0.0, numbers, columns, palette)
    strip = table.reshape(1, -1)
    middle = (3 * wide - 1.6) / 2
    below = columns + 1.5
    axes.text(middle, below - 0.25, "memory: one row", ha="center", va="bottom", size=9.5, color=palette.muted)
    _draw(axes, middle - strip.size / 2, below, strip, columns, palette)
    axes.set(xlim=(-0.6, 3 * wide - 1.0), ylim=(below + 1.3, -1.3), aspect="equal")
    axes.set_axis_off()
    figure.set_label(
        f"A table of {rows} by {columns} numbers lies in memory row after row. After a transpose, its rows become "
        f"columns: {table.T.tolist()}. After a reshape, the numbers stay in order and the rows mix: "
        f"{table.reshape(columns, rows).tolist()}. The first row is coloured in all of them."
    )
    return figure


def _draw(axes: Axes, x: float, y: float, numbers: np.ndarray, first: int, palette: Palette) -> None:
    """A table as boxes; the numbers up to ``first`` are coloured."""
    for (i, j), number in np.ndenumerate(numbers):
        in_first = number <= first
        face = palette.query if in_first else palette.key
        box = Rectangle((x + j, y + i), 1, 1, facecolor=face, alpha=0.3 if in_first else 0.1, edgecolor="none")
        axes.add_patch(box)
        axes.add_patch(Rectangle((x + j, y + i), 1, 1, fill=False, edgecolor=palette.paper, linewidth=2))
        weight = "bold" if in_first else "normal"
        axes.text(x + j + 0.5, y + i + 0.5, str(number), ha="center", va="center", size=10, weight=weight)
